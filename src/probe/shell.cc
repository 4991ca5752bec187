// SPDX-License-Identifier: Apache-2.0
// system and popen, whose insides start /bin/sh without passing our hooks.
//
// system is done again here, to the letter of POSIX: it may last for hours, during which the
// process's own `environ` must stay untouched (a thread cancelled in it is so when it returns).
// popen makes a FILE that only libc can make, so there `environ` points to a copy with our entries
// for the moment in which the shell is started. A setenv of another thread in that moment copies
// our array: then our entries are taken out of its copy, and the old array is not put back.

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/environment.h"
#include "probe/export.h"
#include "probe/next.h"
#include "probe/slot.h"
#include "wire/run_table.h"

using namespace lowtide::probe;

namespace {

constexpr char kShell[] = "/bin/sh";

// In the page that fork wipes, so that a child never inherits a lock that is held.
struct Lock {
  explicit Lock(uint32_t* word) : word_(word) {
    while (__atomic_exchange_n(word_, 1, __ATOMIC_ACQUIRE) != 0) sched_yield();
  }
  ~Lock() { __atomic_store_n(word_, 0, __ATOMIC_RELEASE); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  uint32_t* word_;
};

// While any thread is in system(), INT and QUIT are ignored; the first in saves, the last restores.
struct sigaction saved_interrupt;
struct sigaction saved_quit;

void ignore_interrupts() {
  const Lock lock(&own->shell_lock);
  if (own->shells++ != 0) return;
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGINT, &ignore, &saved_interrupt);
  sigaction(SIGQUIT, &ignore, &saved_quit);
}

void heed_interrupts() {
  const Lock lock(&own->shell_lock);
  if (--own->shells != 0) return;
  sigaction(SIGINT, &saved_interrupt, nullptr);
  sigaction(SIGQUIT, &saved_quit, nullptr);
}

int run_shell(const char* command) {
  ignore_interrupts();
  sigset_t block;
  sigset_t before;
  sigemptyset(&block);
  sigaddset(&block, SIGCHLD);
  sigprocmask(SIG_BLOCK, &block, &before);

  sigset_t defaults;
  sigemptyset(&defaults);
  if (saved_interrupt.sa_handler != SIG_IGN) sigaddset(&defaults, SIGINT);
  if (saved_quit.sa_handler != SIG_IGN) sigaddset(&defaults, SIGQUIT);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &before);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  char* const arguments[] = {const_cast<char*>("sh"), const_cast<char*>("-c"),
                             const_cast<char*>(command), nullptr};
  pid_t shell = -1;
  const int error = with_addition(environ, true, [&](char* const* with) {
    return next().posix_spawn(&shell, kShell, nullptr, &attributes, arguments, with);
  });
  posix_spawnattr_destroy(&attributes);
  int status = 127 << 8;  // What POSIX wants when the shell could not be executed.
  if (error == 0) {
    pid_t waited;
    do {
      waited = wait4(shell, &status, 0, nullptr);
    } while (waited < 0 && errno == EINTR);
    if (waited != shell) status = -1;
  }
  const int saved_errno = error != 0 ? error : errno;
  heed_interrupts();
  sigprocmask(SIG_SETMASK, &before, nullptr);
  errno = saved_errno;
  return status;
}

void take_out_added(char** environment, char* const* added, size_t from) {
  char** kept = environment;
  for (char** entry = environment; *entry != nullptr; ++entry)
    if (*entry != added[from] && *entry != added[from + 1]) *kept++ = *entry;
  *kept = nullptr;
}

}  // namespace

LOWTIDE_EXPORT int system(const char* command) {
  if (command == nullptr || !can_join(AT_FDCWD, kShell, 0)) return next().system(command);
  const int saved_errno = errno;
  const int status = run_shell(command);
  if (status != -1 && status != 127 << 8) errno = saved_errno;
  return status;
}

LOWTIDE_EXPORT FILE* popen(const char* command, const char* type) {
  if (!can_join(AT_FDCWD, kShell, 0)) return next().popen(command, type);
  const Lock lock(&own->shell_lock);
  const Addition plan = plan_addition(environ);
  // An LD_PRELOAD of the target's own cannot be taken out again of a copy: leave such children be.
  if (plan.entries == 0 || plan.entries > kMostEntries || plan.old_preload != nullptr)
    return next().popen(command, type);
  // Never unmapped: another thread may be reading through it. A page or two, once.
  static char** entries;
  static size_t room;
  if (plan.entries > room) {
    const size_t more = plan.entries * 2;
    const long pages = syscall(SYS_mmap, nullptr, more * sizeof(char*), PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == -1) return next().popen(command, type);
    entries = reinterpret_cast<char**>(pages);
    room = more;
  }
  char** before = environ;
  char unused[1];
  write_addition(plan, before, entries, unused);
  environ = entries;
  FILE* stream = next().popen(command, type);
  if (environ == entries)
    environ = before;
  else
    take_out_added(environ, entries, plan.entries - 3);
  return stream;
}

// SPDX-License-Identifier: Apache-2.0
#include "probe/run_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "probe/copy_memory.h"
#include "probe/maps.h"
#include "probe/slot.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

namespace lowtide::probe {
namespace {

struct Guard {
  sigjmp_buf start;
  Guard* outer;
};

Guard* guard;  // The copy has one thread.

void on_fault(int) {
  if (guard != nullptr) siglongjmp(guard->start, 1);
  syscall(SYS_exit_group, 3);
}

void set_signals() {
  static char stack[1 << 16];
  stack_t own_stack{};
  own_stack.ss_sp = stack;
  own_stack.ss_size = sizeof stack;
  sigaltstack(&own_stack, nullptr);
  struct sigaction action {};
  action.sa_handler = on_fault;
  action.sa_flags = SA_ONSTACK | SA_NODEFER;
  sigset_t open;
  sigemptyset(&open);
  const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
  for (const int fault : faults) {
    sigaction(fault, &action, nullptr);
    sigaddset(&open, fault);
  }
  action = {};
  action.sa_handler = SIG_DFL;
  const int ends[] = {SIGALRM, SIGTERM};
  for (const int end : ends) {
    sigaction(end, &action, nullptr);
    sigaddset(&open, end);
  }
  sigprocmask(SIG_UNBLOCK, &open, nullptr);
}

void write_file(const char* path, const char* text) {
  const int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  syscall(SYS_write, file, text, strlen(text));
  close(file);
}

// Our fork-like clone has a descriptor table of its own, so the target's stays as it is.
int keep_only(int socket) {
  const int last = 3;
  if (socket != last) {
    syscall(SYS_dup3, socket, last, O_CLOEXEC);
    socket = last;
  }
  if (syscall(SYS_close_range, last + 1, ~0u, 0) != 0) {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    const rlim_t end = limit.rlim_cur < 65536 ? limit.rlim_cur : 65536;
    for (int file = last + 1; file < static_cast<int>(end); ++file) close(file);
  }
  for (int file = 0; file < last; ++file) close(file);
  for (int file = 0; file < last; ++file) open("/dev/null", O_RDWR);
  return socket;
}

void set_end(uint64_t milliseconds) {
  itimerval end{};
  end.it_value.tv_sec = static_cast<time_t>(milliseconds / 1000 + 2);
  end.it_value.tv_usec = static_cast<suseconds_t>(milliseconds % 1000 * 1000);
  setitimer(ITIMER_REAL, &end, nullptr);
}

}  // namespace

void run_copy(lowtide_copy& copy, int socket) {
  in_copy = true;
  set_end(copy.ask.walk_limit_ms);
  set_signals();
  syscall(SYS_setsid);
  prctl(PR_SET_NAME, "lowtide-copy", 0, 0, 0);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  socket = keep_only(socket);
  write_file("/proc/self/oom_score_adj", "1000");
  errno = 0;
  setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + 10);

  copy.out.open(socket, false);
  read_ranges(copy);
  copy.started_ns = now_ns();
  copy.deadline_ns = copy.started_ns + uint64_t{copy.ask.walk_limit_ms} * 1000000u;
  lowtide_walk_cpython(&copy);
  copy.out.flush();
  syscall(SYS_exit_group, 0);
  __builtin_unreachable();
}

}  // namespace lowtide::probe

using lowtide::probe::guard;

bool lowtide_copy::guarded(void (*body)(void*), void* argument) {
  lowtide::probe::Guard here;
  here.outer = guard;
  if (sigsetjmp(here.start, 0) != 0) {
    guard = guard->outer;
    return false;
  }
  guard = &here;
  body(argument);
  guard = here.outer;
  return true;
}

uint64_t lowtide_copy::now_ns() const { return lowtide::probe::now_ns(); }

bool lowtide_copy::late() {
  if (late_countdown-- > 0) return false;
  late_countdown = 255;
  if (now_ns() < deadline_ns) return false;
  late_countdown = 0;  // Late for ever.
  return true;
}

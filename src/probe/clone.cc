// SPDX-License-Identifier: Apache-2.0
#include "probe/clone.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace lowtide::probe {
namespace {

// With no flags and no exit signal; the stack is our own, copied. getpid() may be a cached one.
long clone_once() { return syscall(SYS_clone, 0, 0, 0, 0, 0); }

void say_pid(int32_t* copy_pid) {
  __atomic_store_n(copy_pid, static_cast<int32_t>(syscall(SYS_getpid)), __ATOMIC_RELEASE);
}

}  // namespace

Cloned clone_self(int32_t* copy_pid) {
  const long first = clone_once();
  if (first < 0) return {false, errno, 0};
  if (first > 0) return {false, 0, static_cast<int32_t>(first)};
  say_pid(copy_pid);
  syscall(SYS_prctl, PR_SET_NAME, "lowtide-copy", 0, 0, 0);
  const long second = clone_once();
  if (second != 0) syscall(SYS_exit_group, second < 0 ? errno : 0);
  say_pid(copy_pid);
  return {true, 0, 0};
}

int reap_first(int32_t first) {
  int status = 0;
  pid_t reaped;
  do {
    reaped = wait4(first, &status, __WALL, nullptr);
  } while (reaped < 0 && errno == EINTR);
  return reaped == first && WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

}  // namespace lowtide::probe

// SPDX-License-Identifier: Apache-2.0
// A process that is about to give up system calls (seccomp) must not be killed for one of ours:
// from then on the probe sleeps and makes no call the program has not made. What it executes is
// watched.
//
// PR_SET_NO_NEW_PRIVS is what an unprivileged program has to say before it may install a filter,
// also one that it installs by the seccomp system call, which passes no hook.

#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe/export.h"
#include "probe/slot.h"

using namespace lowtide::probe;

LOWTIDE_EXPORT int prctl(int option, ...) {
  va_list list;
  va_start(list, option);
  unsigned long words[4];
  for (auto& word : words) word = va_arg(list, unsigned long);  // What libc does, too.
  va_end(list);
  if (option == PR_SET_SECCOMP || option == PR_SET_NO_NEW_PRIVS) fall_asleep();
  return static_cast<int>(syscall(SYS_prctl, option, words[0], words[1], words[2], words[3]));
}

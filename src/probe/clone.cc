// SPDX-License-Identifier: Apache-2.0
#include "probe/clone.h"

#include <errno.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace lowtide::probe {

#if defined(__x86_64__)

Cloned clone_self() {
  volatile long copy = -ECHILD;
  long result = SYS_clone;
  constexpr long kFlags = CLONE_VM | CLONE_VFORK;
  constexpr long kInCopy = -10000;  // No error has this number.
  // rdx, r10 and r8 (tids, tls) are unused with these flags; rcx and r11 belong to the kernel.
  asm volatile(
      "xor %%esi, %%esi\n\t"  // The helper's stack: ours, while we are stopped.
      "syscall\n\t"
      "test %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "mov %[clone], %%eax\n\t"
      "xor %%edi, %%edi\n\t"
      "xor %%esi, %%esi\n\t"
      "syscall\n\t"
      "test %%rax, %%rax\n\t"
      "jz 2f\n\t"
      "mov %%rax, (%[copy])\n\t"
      "mov %[exit], %%eax\n\t"
      "xor %%edi, %%edi\n\t"
      "syscall\n\t"
      "2:\n\t"
      "mov %[in_copy], %%rax\n\t"
      "1:\n\t"
      : "+a"(result)
      : "D"(kFlags), [copy] "r"(&copy), [clone] "i"(SYS_clone), [exit] "i"(SYS_exit),
        [in_copy] "i"(kInCopy)
      : "rcx", "r11", "rsi", "memory", "cc");
  if (result == kInCopy) return {Side::Copy, 0, 0};
  if (result < 0) return {Side::Target, static_cast<int>(-result), 0};
  const auto helper = static_cast<pid_t>(result);
  while (wait4(helper, nullptr, __WALL, nullptr) < 0 && errno == EINTR) {
  }
  if (copy < 0) return {Side::Target, static_cast<int>(-copy), 0};
  return {Side::Target, 0, static_cast<int32_t>(copy)};
}

#else

Cloned clone_self() { return {Side::Target, ENOSYS, 0}; }

#endif

}  // namespace lowtide::probe

// SPDX-License-Identifier: Apache-2.0
// The last words of a process: its peak, since the recorder may look too late.

#include <errno.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe/copy_memory.h"
#include "probe/export.h"
#include "probe/next.h"
#include "probe/slot.h"

using namespace lowtide::probe;

namespace {

void say_exited() {
  const auto* known = __atomic_load_n(&own->slot, __ATOMIC_RELAXED);
  if (in_copy || known == nullptr) return;  // A fork child that did nothing needs no slot.
  const int saved_errno = errno;
  if (auto* slot = own_slot()) {
    rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) == 0)
      slot->peak_rss = static_cast<uint64_t>(usage.ru_maxrss) * 1024;
    // What still runs here after us must not touch a slot that soon is another's.
    __atomic_store_n(&own->slot, &nobody, __ATOMIC_RELEASE);
    __atomic_store_n(&slot->state, LOWTIDE_SLOT_EXITED, __ATOMIC_RELEASE);
  }
  errno = saved_errno;
}

__attribute__((destructor)) void at_exit() { say_exited(); }

[[noreturn]] void end(int status) {
  say_exited();
  for (;;) syscall(SYS_exit_group, status);
}

}  // namespace

LOWTIDE_EXPORT void _exit(int status) { end(status); }
LOWTIDE_EXPORT void _Exit(int status) { end(status); }

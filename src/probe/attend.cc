// SPDX-License-Identifier: Apache-2.0
#include "probe/attend.h"

#include <errno.h>

#include "probe/modules.h"

namespace lowtide::probe {

constinit thread_local int inside;
constinit thread_local bool in_allocator;

__attribute__((noinline, cold)) void attend_rarely(const void* caller) {
  if (inside != 0 || in_allocator) return;
  ++inside;
  const int saved_errno = errno;
  if (auto* slot = own_slot(); slot != nullptr) {
    if (__atomic_load_n(&slot->want_allocator, __ATOMIC_ACQUIRE) != 0) report_allocator(slot);
    uint32_t handled = __atomic_load_n(&own->handled, __ATOMIC_RELAXED);
    const uint32_t id = __atomic_load_n(&slot->request, __ATOMIC_ACQUIRE);
    if (id != 0 && id != handled && !in_loader(caller) &&
        __atomic_compare_exchange_n(&own->handled, &handled, id, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED))
      start_answer(slot, id);
  }
  errno = saved_errno;
  --inside;
}

}  // namespace lowtide::probe

// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a hook does besides forwarding: look whether the recorder wants something.
//
// The usual cost is three loads from two cache lines. Hooks that a signal handler may rightly call
// while this thread is inside malloc are told apart by `inside`: nothing rare starts while it is
// not zero.

#include "probe/slot.h"

namespace lowtide::probe {

// Depth of this thread in malloc and in our own rare work. Initial-exec: no allocation.
extern constinit thread_local int inside;

void attend_rarely(const void* caller);

__attribute__((always_inline)) inline void attend() {
  const auto* slot = __atomic_load_n(&own->slot, __ATOMIC_RELAXED);
  if (__builtin_expect(
          slot != nullptr && (__atomic_load_n(&slot->request, __ATOMIC_RELAXED) |
                              __atomic_load_n(&slot->want_allocator, __ATOMIC_RELAXED)) == 0,
          1))
    return;
  attend_rarely(__builtin_return_address(0));
}

// Answers request `id` with a thread; in request.cc.
void start_answer(lowtide_slot* slot, uint32_t id);
// Fills slot->allocator from glibc; in allocator.cc.
void report_allocator(lowtide_slot* slot);

}  // namespace lowtide::probe

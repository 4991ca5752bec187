// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a hook does besides forwarding: look whether the recorder wants something.
//
// The usual cost is three loads from two cache lines. A signal handler may rightly call some hooks
// while this thread is inside malloc, whose lock anything rare would wait for: it does not start
// while `in_allocator` is set.

#include "probe/slot.h"

namespace lowtide::probe {

// Initial-exec, so reading them allocates nothing.
extern constinit thread_local int inside;         // depth of this thread in our own rare work
extern constinit thread_local bool in_allocator;  // set, not counted: a count costs 2 ns a call

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

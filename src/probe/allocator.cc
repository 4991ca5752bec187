// SPDX-License-Identifier: Apache-2.0
// What glibc's malloc says about itself.
//
// mallinfo sums `uordblks` and `fordblks` over all arenas; `hblkhd` (chunks with a mapping of
// their own) is process-wide and not part of `uordblks`; `keepcost` is the main arena's top only.
// Chunks in a thread's cache count as in use. It takes each arena's lock in turn and walks its
// free lists, so it is done when asked for and never by the clock.

#include <malloc.h>

#include "probe/attend.h"
#include "probe/modules.h"
#include "probe/next.h"

namespace lowtide::probe {
namespace {

struct Mallinfo2 {  // glibc 2.33's struct mallinfo2
  size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost;
};

Mallinfo2 ask() {
  if (auto* wide = reinterpret_cast<Mallinfo2 (*)()>(find_anywhere("mallinfo2"))) return wide();
  Mallinfo2 info{};
  auto* narrow = reinterpret_cast<struct mallinfo (*)()>(find_anywhere("mallinfo"));
  if (narrow == nullptr) return info;
  const auto old = narrow();  // Counts modulo 4 GiB.
  info.hblkhd = static_cast<unsigned>(old.hblkhd);
  info.uordblks = static_cast<unsigned>(old.uordblks);
  info.fordblks = static_cast<unsigned>(old.fordblks);
  info.keepcost = static_cast<unsigned>(old.keepcost);
  return info;
}

}  // namespace

void report_allocator(lowtide_slot* slot) {
  __atomic_store_n(&slot->want_allocator, 0, __ATOMIC_RELAXED);
  if (!next().malloc_is_libc) return;
  const auto info = ask();
  slot->allocator.in_use = info.uordblks + info.hblkhd;
  slot->allocator.free = info.fordblks;
  slot->allocator.mapped = info.hblkhd;
  slot->allocator.releasable = info.keepcost;
  __atomic_store_n(&slot->allocator.updated_ns, now_ns(), __ATOMIC_RELEASE);
}

}  // namespace lowtide::probe

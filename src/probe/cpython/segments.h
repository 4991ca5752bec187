// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where the variables of a loaded module lie: its writable segments, .bss included, by its own
// program headers. The memory map alone does not say where .bss ends: the kernel joins it with
// whatever anonymous memory comes next.

#include "probe/copy.h"
#include "probe/cpython/object.h"

namespace lowtide::probe::cpython {

struct Segment {
  Address begin, end;
};

// The writable segments of the module whose file is mapped from `range` on: up to `room` of
// them; 0 if this is not the start of a module.
int writable_segments(lowtide_copy& copy, const Range& range, Segment* segments, int room);

}  // namespace lowtide::probe::cpython

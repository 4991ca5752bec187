// SPDX-License-Identifier: Apache-2.0
#pragma once

// The copy's own memory map, read once.

#include "probe/copy.h"

namespace lowtide::probe {

// Sets copy.ranges and copy.range_count; both empty when /proc/self/maps cannot be read.
void read_ranges(lowtide_copy& copy);

}  // namespace lowtide::probe

// SPDX-License-Identifier: Apache-2.0
#pragma once

// Heaps of a recording as graphs.

#include <cstdint>
#include <vector>

#include "heap/graph.h"
#include "lowtide/result.h"
#include "recording/recording.h"

namespace lowtide::cli {

// Decompresses and decodes one heap of a recording.
Result<heap::Graph> load_heap(const recording::Reader& reading, const recording::HeapInfo& info);

// The heaps of one process, oldest first, whole ones only.
std::vector<recording::HeapInfo> heaps_of(const std::vector<recording::HeapInfo>& all,
                                          std::int64_t process);

// Of `heaps`, the ones worth reading when each takes seconds: all of them where they are small;
// else the first, the last and some between, evenly.
std::vector<recording::HeapInfo> worth_reading(const std::vector<recording::HeapInfo>& heaps);

}  // namespace lowtide::cli

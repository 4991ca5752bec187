// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is more and what is less between two heaps of one program, or of two runs of it.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/units.h"
#include "heap/suspects.h"

namespace lowtide::heap {

struct Difference {
  std::string what;  // a type: "builtins.dict", or a folded path: "module app → _history : list"
  std::int64_t count_before = 0, count_after = 0;
  Bytes before, after;  // of types what they retain, of paths their own bytes
  std::int64_t count() const { return count_after - count_before; }
  Bytes bytes() const { return after - before; }
};

struct Diff {
  std::vector<Difference> types;  // the largest change in bytes first
  std::vector<Difference> paths;
  Bytes reachable_before, reachable_after;
  Bytes garbage_before, garbage_after;
};

// At most `most` of each; what did not change is left out.
Diff diff(const Census& before, const Census& after, std::size_t most);

}  // namespace lowtide::heap

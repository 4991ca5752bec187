// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which pages of memory exist: one that was never written to holds no object and costs nothing.
// Asked of the kernel for the copy, which has the target's private pages; of memory that is shared
// (files, shared anonymous) a copy's table says nothing.

#include <stddef.h>
#include <stdint.h>

#include "probe/cpython/object.h"

namespace lowtide::probe::cpython {

class Pagemap {
 public:
  // In memory now. True for all where /proc is not mounted.
  bool present(Address page) { return entry(page) & kPresent; }
  // Of [begin, begin + bytes): in memory or swapped out.
  uint64_t touched(Address begin, uint64_t bytes);

 private:
  static constexpr uint64_t kPresent = 1ull << 63, kSwapped = 1ull << 62;
  static constexpr size_t kEntries = 512;

  uint64_t entry(Address page);

  int file_ = -1;
  bool opened_ = false;
  Address first_ = 0;
  size_t known_ = 0;
  uint64_t entries_[kEntries];
};

}  // namespace lowtide::probe::cpython

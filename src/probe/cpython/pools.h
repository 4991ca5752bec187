// SPDX-License-Identifier: Apache-2.0
#pragma once

// pymalloc's pools, found by the objects in them: the table of arenas has no symbol.
//
//     arena 256 KiB (1 MiB from 3.10) = pools of 4 KiB (16 KiB) = a header and blocks of one size
//
// A pool in which no object was met is not counted, so "in use" is a little low.

#include <stddef.h>
#include <stdint.h>

#include "probe/copy.h"
#include "probe/cpython/object.h"

namespace lowtide::probe::cpython {

class Pools {
 public:
  bool open(lowtide_copy* copy, int minor);
  // A block of `bytes` at `block` was met.
  void note(Address block, uint64_t bytes) {
    if (bytes == 0 || bytes > 512) return;
    Address pool = block & ~(pool_size_ - 1);
    if (pool != last_) add(pool, bytes);
  }
  // In a pool: one that `note` has seen, or memory that reads as one.
  bool holds(Address address) const;
  // Of an address that it holds: could a block in use begin here?
  bool could_start(Address block, uint64_t bytes) const;
  uint64_t bytes_in_use() const { return in_use_; }
  uint64_t bytes_of_arenas() const;

 private:
  void add(Address pool, uint64_t bytes);
  bool reads_as_pool(Address pool) const;

  lowtide_copy* copy_ = nullptr;
  Address pool_size_ = 0, arena_size_ = 0;
  Address last_ = 0;
  Address* slots_ = nullptr;
  size_t slot_count_ = 0, count_ = 0;
  uint64_t in_use_ = 0;
  uint8_t* arenas_ = nullptr;  // a bit each arena index
  uint64_t arena_count_ = 0;
};

}  // namespace lowtide::probe::cpython

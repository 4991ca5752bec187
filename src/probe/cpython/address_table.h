// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which object has which id. Ids are given out as objects are first met, from 1, and the list of
// addresses is also the queue of the walk: who stands at `next` has been met and not yet read.
//
//     addresses: | - | 0x7f..10 | 0x7f..80 | 0x55..40 | ...      8 bytes an object
//     slots:     open addressing, ids                            6 to 12 bytes an object
//
// Alignment leaves the low three bits of an address free: they say what lies there.

#include <stddef.h>
#include <stdint.h>

#include "probe/copy.h"
#include "probe/cpython/object.h"

namespace lowtide::probe::cpython {

enum class Place : uint8_t {
  Object = 0,
  Namespace = 1,   // an object: a dict that is some object's __dict__
  Frame = 2,       // an interpreter's frame that is no object (3.11 on)
  Storage = 3,     // native memory that tensors share
  NativeNode = 4,  // a node of an autograd graph: C++, no object
};

class AddressTable {
 public:
  bool open(Arena* arena);
  // The id of what lies there, a new one if it was never met. 0 when memory has run out.
  uint32_t meet(Address address, Place place, bool* first = nullptr);
  // The id, or 0.
  uint32_t find(Address address) const;
  uint32_t count() const { return count_; }  // ids are 1 to count
  Address address(uint32_t id) const { return addresses_[id] & ~Address{7}; }
  Place place(uint32_t id) const { return static_cast<Place>(addresses_[id] & 7); }
  bool full() const { return full_; }

 private:
  size_t slot_of(Address address) const { return (address >> 3) * 0x9e3779b97f4a7c15ull >> shift_; }
  bool grow_slots();
  bool grow_addresses();

  Arena* arena_ = nullptr;
  Address* addresses_ = nullptr;
  uint32_t* slots_ = nullptr;
  size_t capacity_ = 0;    // of addresses_
  size_t slot_count_ = 0;  // a power of two
  int shift_ = 0;
  uint32_t count_ = 0;
  bool full_ = false;
};

}  // namespace lowtide::probe::cpython

// SPDX-License-Identifier: Apache-2.0
#include "probe/cpython/address_table.h"

namespace lowtide::probe::cpython {

namespace {
inline constexpr size_t kFirstCapacity = 1 << 16;
}

bool AddressTable::open(Arena* arena) {
  arena_ = arena;
  capacity_ = kFirstCapacity;
  slot_count_ = kFirstCapacity * 2;
  shift_ = 64 - 17;
  addresses_ = static_cast<Address*>(arena_->map(capacity_ * sizeof(Address)));
  slots_ = static_cast<uint32_t*>(arena_->map(slot_count_ * sizeof(uint32_t)));
  full_ = !addresses_ || !slots_;
  return !full_;
}

bool AddressTable::grow_addresses() {
  size_t larger = capacity_ + capacity_ / 2;
  auto* moved = static_cast<Address*>(arena_->map(larger * sizeof(Address)));
  if (!moved) return false;
  memcpy(moved, addresses_, capacity_ * sizeof(Address));
  arena_->release(addresses_, capacity_ * sizeof(Address));
  addresses_ = moved;
  capacity_ = larger;
  return true;
}

bool AddressTable::grow_slots() {
  size_t larger = slot_count_ * 2;
  auto* slots = static_cast<uint32_t*>(arena_->map(larger * sizeof(uint32_t)));
  if (!slots) return false;
  arena_->release(slots_, slot_count_ * sizeof(uint32_t));
  slots_ = slots;
  slot_count_ = larger;
  --shift_;
  for (uint32_t id = 1; id <= count_; ++id) {
    size_t i = slot_of(address(id));
    while (slots_[i]) i = (i + 1) & (slot_count_ - 1);
    slots_[i] = id;
  }
  return true;
}

uint32_t AddressTable::meet(Address address, Place place, bool* first) {
  size_t i = slot_of(address);
  for (; slots_[i]; i = (i + 1) & (slot_count_ - 1)) {
    uint32_t id = slots_[i];
    if ((addresses_[id] & ~Address{7}) != address) continue;
    // An object may turn out to be a namespace after it was met; whoever says so is right.
    if (place == Place::Namespace) addresses_[id] = address | static_cast<Address>(place);
    if (first) *first = false;
    return id;
  }
  if (full_) return 0;
  if ((count_ + 2 > capacity_ && !grow_addresses()) ||
      (count_ + 1 > slot_count_ / 3 * 2 && !grow_slots())) {
    full_ = true;
    return 0;
  }
  uint32_t id = ++count_;
  addresses_[id] = address | static_cast<Address>(place);
  for (i = slot_of(address); slots_[i];) i = (i + 1) & (slot_count_ - 1);
  slots_[i] = id;
  if (first) *first = true;
  return id;
}

uint32_t AddressTable::find(Address address) const {
  for (size_t i = slot_of(address); slots_[i]; i = (i + 1) & (slot_count_ - 1))
    if ((addresses_[slots_[i]] & ~Address{7}) == address) return slots_[i];
  return 0;
}

}  // namespace lowtide::probe::cpython

// SPDX-License-Identifier: Apache-2.0
#include "probe/cpython/pools.h"

namespace lowtide::probe::cpython {

namespace {
// struct pool_header
inline constexpr int kBlocksUsed = 0, kArenaIndex = 32, kSizeClass = 36, kNextOffset = 40,
                     kLastOffset = 44, kHeader = 48;
inline constexpr size_t kFirstSlots = 1 << 12;
inline constexpr uint32_t kMostArenas = 1 << 20;
}  // namespace

bool Pools::open(lowtide_copy* copy, int minor) {
  copy_ = copy;
  pool_size_ = minor >= 10 ? 16384 : 4096;
  arena_size_ = minor >= 10 ? 1 << 20 : 256 << 10;
  slot_count_ = kFirstSlots;
  slots_ = static_cast<Address*>(copy->arena.map(slot_count_ * sizeof(Address)));
  arenas_ = static_cast<uint8_t*>(copy->arena.map(kMostArenas / 8));
  return slots_ && arenas_;
}

bool Pools::holds(Address address) const {
  Address pool = address & ~(pool_size_ - 1);
  for (size_t i = (pool >> 12) * 0x9e3779b97f4a7c15ull >> 32 & (slot_count_ - 1); slots_[i];
       i = (i + 1) & (slot_count_ - 1))
    if (slots_[i] == pool) return true;
  return reads_as_pool(pool);
}

// A pool that holds nothing but lost objects was never met. Its header says the size of its blocks
// twice, as a class and as the offset of the last one.
bool Pools::reads_as_pool(Address pool) const {
  if (!copy_->readable(pool, kHeader)) return false;
  uint64_t size = (uint64_t{at<uint32_t>(pool, kSizeClass)} + 1) * 16;
  uint32_t used = at<uint32_t>(pool, kBlocksUsed), next = at<uint32_t>(pool, kNextOffset);
  return size <= 512 && at<uint32_t>(pool, kLastOffset) == pool_size_ - size && used != 0 &&
         used <= pool_size_ / size && next > kHeader && next <= pool_size_ &&
         at<uint32_t>(pool, kArenaIndex) < kMostArenas;
}

bool Pools::could_start(Address block, uint64_t bytes) const {
  Address pool = block & ~(pool_size_ - 1);
  uint64_t size = (uint64_t{at<uint32_t>(pool, kSizeClass)} + 1) * 16;
  uint64_t offset = block - pool;
  return offset >= kHeader && (offset - kHeader) % size == 0 && bytes <= size &&
         offset < at<uint32_t>(pool, kNextOffset);
}

void Pools::add(Address pool, uint64_t bytes) {
  size_t i = (pool >> 12) * 0x9e3779b97f4a7c15ull >> 32 & (slot_count_ - 1);
  for (; slots_[i]; i = (i + 1) & (slot_count_ - 1)) {
    if (slots_[i] != pool) continue;
    last_ = pool;
    return;
  }
  // Not from pymalloc (PYTHONMALLOC=malloc, another allocator): the header is somebody's data.
  if (!reads_as_pool(pool)) return;
  uint32_t arena = at<uint32_t>(pool, kArenaIndex), used = at<uint32_t>(pool, kBlocksUsed);
  uint64_t block = (uint64_t{at<uint32_t>(pool, kSizeClass)} + 1) * 16;
  if (block < bytes || block > bytes + 15) return;
  if (count_ + 1 > slot_count_ / 2) {
    size_t larger = slot_count_ * 2;
    auto* slots = static_cast<Address*>(copy_->arena.map(larger * sizeof(Address)));
    if (!slots) return;
    for (size_t j = 0; j < slot_count_; ++j) {
      if (!slots_[j]) continue;
      size_t k = (slots_[j] >> 12) * 0x9e3779b97f4a7c15ull >> 32 & (larger - 1);
      while (slots[k]) k = (k + 1) & (larger - 1);
      slots[k] = slots_[j];
    }
    copy_->arena.release(slots_, slot_count_ * sizeof(Address));
    slots_ = slots;
    slot_count_ = larger;
    i = (pool >> 12) * 0x9e3779b97f4a7c15ull >> 32 & (slot_count_ - 1);
    while (slots_[i]) i = (i + 1) & (slot_count_ - 1);
  }
  slots_[i] = pool;
  ++count_;
  last_ = pool;
  in_use_ += used * block;
  if (!(arenas_[arena / 8] & (1 << arena % 8))) {
    arenas_[arena / 8] = static_cast<uint8_t>(arenas_[arena / 8] | 1 << arena % 8);
    ++arena_count_;
  }
}

uint64_t Pools::bytes_of_arenas() const { return arena_count_ * arena_size_; }

}  // namespace lowtide::probe::cpython

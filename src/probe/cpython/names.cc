// SPDX-License-Identifier: Apache-2.0
#include "probe/cpython/names.h"

namespace lowtide::probe::cpython {

namespace {

inline constexpr size_t kFirstSlots = 1 << 13;
inline constexpr size_t kCacheSlots = 1 << 12;

uint64_t hash_of(const char* data, size_t count) {
  uint64_t hash = 0xcbf29ce484222325ull ^ count;
  for (; count >= 8; data += 8, count -= 8) {
    uint64_t word;
    memcpy(&word, data, 8);
    hash = (hash ^ word) * 0x9fb21c651e98df25ull;
    hash ^= hash >> 32;
  }
  uint64_t word = 0;
  memcpy(&word, data, count);
  hash = (hash ^ word) * 0x9fb21c651e98df25ull;
  hash ^= hash >> 29;
  hash *= 0xff51afd7ed558ccdull;
  hash ^= hash >> 32;
  return hash ? hash : 1;
}

}  // namespace

Line& Line::add(const char* data, size_t count) {
  size_t room = sizeof text_ - 1 - size_;
  if (count > room) count = room;
  memcpy(text_ + size_, data, count);
  size_ += count;
  return *this;
}

Line& Line::add(const char* text) { return add(text, strlen(text)); }

Line& Line::add(int64_t value) {
  char digits[24];
  size_t used = sizeof digits;
  bool negative = value < 0;
  uint64_t rest = negative ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  do {
    digits[--used] = static_cast<char>('0' + rest % 10);
    rest /= 10;
  } while (rest);
  if (negative) digits[--used] = '-';
  return add(digits + used, sizeof digits - used);
}

Line& Line::add(const Python& python, Address str, size_t most) {
  if (!str || !is_str(str)) return *this;
  size_t room = sizeof text_ - 1 - size_;
  size_ += to_utf8(text_of(python, str), text_ + size_, room < most ? room : most);
  return *this;
}

bool Names::open(Arena* arena, Writer* out) {
  arena_ = arena;
  out_ = out;
  slot_count_ = kFirstSlots;
  entries_ = static_cast<Entry*>(arena_->map(slot_count_ * sizeof(Entry)));
  cache_ = static_cast<Cached*>(arena_->map(kCacheSlots * sizeof(Cached)));
  return entries_ && cache_;
}

bool Names::grow() {
  size_t larger = slot_count_ * 2;
  auto* entries = static_cast<Entry*>(arena_->map(larger * sizeof(Entry)));
  if (!entries) return false;
  for (size_t i = 0; i < slot_count_; ++i) {
    if (!entries_[i].id) continue;
    size_t j = entries_[i].hash & (larger - 1);
    while (entries[j].id) j = (j + 1) & (larger - 1);
    entries[j] = entries_[i];
  }
  arena_->release(entries_, slot_count_ * sizeof(Entry));
  entries_ = entries;
  slot_count_ = larger;
  return true;
}

uint32_t Names::intern(const char* data, size_t count) {
  if (count == 0) return 0;
  uint64_t hash = hash_of(data, count);
  size_t i = hash & (slot_count_ - 1);
  for (; entries_[i].id; i = (i + 1) & (slot_count_ - 1))
    if (entries_[i].hash == hash) return entries_[i].id;
  if (count_ + 1 > slot_count_ / 2) {
    if (!grow()) return 0;
    for (i = hash & (slot_count_ - 1); entries_[i].id;) i = (i + 1) & (slot_count_ - 1);
  }
  entries_[i] = {hash, ++count_};
  if (!out_) return count_;
  out_->byte('S');
  out_->text(data, count);
  return count_;
}

uint32_t Names::intern(const Python& python, Address str, size_t most) {
  if (!str) return 0;
  Cached& cached = cache_[(str >> 4) & (kCacheSlots - 1)];
  if (cached.str == str) return cached.id;
  if (!is_str(str)) return 0;
  Text text = text_of(python, str);
  uint32_t id;
  if (text.ascii && text.length <= most) {
    id = intern(reinterpret_cast<const char*>(text.data), text.length);
  } else {
    Line line;
    id = intern(line.add(python, str, most));
  }
  cached = {str, id};
  return id;
}

}  // namespace lowtide::probe::cpython

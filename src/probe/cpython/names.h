// SPDX-License-Identifier: Apache-2.0
#pragma once

// Text that is sent once: a STRING record when it is first needed, its position afterwards.
// The text itself is not kept, only 64 bits of hash: 16 bytes a string. Two texts that
// share a hash would be taken for one; among a million that is a chance of 1 in 36 million.

#include <stddef.h>
#include <stdint.h>

#include "probe/copy.h"
#include "probe/cpython/object.h"

namespace lowtide::probe::cpython {

// Built in place, without memory of its own; what does not fit is cut.
class Line {
 public:
  Line& add(const char* text);
  Line& add(const char* data, size_t count);
  Line& add(int64_t number);
  Line& add(const Python& python, Address str, size_t most = 200);
  const char* data() const { return text_; }
  size_t size() const { return size_; }
  const char* sentence() {
    text_[size_] = 0;
    return text_;
  }

 private:
  char text_[512];
  size_t size_ = 0;
};

class Names {
 public:
  bool open(Arena* arena, Writer* out);  // without `out` nothing is sent
  // 0 for "", and for any new text once memory has run out.
  uint32_t intern(const char* data, size_t count);
  uint32_t intern(const char* text) { return intern(text, strlen(text)); }
  uint32_t intern(const Line& line) { return intern(line.data(), line.size()); }
  // A str object's text. What an address says does not change during a walk, so a small cache
  // answers for the attribute names that every instance repeats.
  uint32_t intern(const Python& python, Address str, size_t most = 200);
  uint32_t count() const { return count_; }

 private:
  struct Entry {
    uint64_t hash;
    uint32_t id;
  };
  struct Cached {
    Address str;
    uint32_t id;
  };
  bool grow();

  Arena* arena_ = nullptr;
  Writer* out_ = nullptr;
  Entry* entries_ = nullptr;
  size_t slot_count_ = 0;
  Cached* cache_ = nullptr;
  uint32_t count_ = 0;
};

}  // namespace lowtide::probe::cpython

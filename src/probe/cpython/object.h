// SPDX-License-Identifier: Apache-2.0
#pragma once

// Objects of CPython as bytes at addresses. No Python.h: one probe reads every version, so what
// moved between versions comes from offsets.h and what never did stands here.
//
//     [ dict or values | weakrefs ]  [ gc next | gc prev ]  refcnt | type | size or fields ...
//       pre-header, 3.11 on            collectable only      ^ an object's address
//
// Reads may fault; whoever calls runs under the copy's guard.

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "probe/copy.h"
#include "probe/cpython/offsets.h"

namespace lowtide::probe::cpython {

using Address = uintptr_t;

template <typename T>
T at(Address base, ptrdiff_t offset) {
  T value;
  memcpy(&value, reinterpret_cast<const char*>(base) + offset, sizeof value);
  return value;
}

inline Address pointer(Address base, ptrdiff_t offset) { return at<Address>(base, offset); }
inline int64_t number(Address base, ptrdiff_t offset) { return at<int64_t>(base, offset); }
inline Address type_of(Address object) { return pointer(object, 8); }
inline int64_t var_size(Address object) { return number(object, 16); }

inline constexpr int kObjectSize = 16;
inline constexpr int kGcHeaderSize = 16;

// PyTypeObject; the same in 3.8 to 3.14.
namespace type_field {
inline constexpr int kName = 24, kBasicSize = 32, kItemSize = 40, kFlags = 168, kDoc = 176,
                     kTraverse = 184, kWeaklistOffset = 208, kMembers = 240, kGetters = 248,
                     kBase = 256, kDict = 264, kDictOffset = 288, kIsGc = 328, kBases = 336,
                     kMro = 344, kCache = 352, kSubclasses = 360, kWeaklist = 368, kDel = 376,
                     kFinalize = 392;
}

namespace type_flag {
inline constexpr uint64_t kInlineValues = 1ull << 2;    // 3.13 on
inline constexpr uint64_t kManagedWeakref = 1ull << 3;  // 3.12 on
inline constexpr uint64_t kManagedDict = 1ull << 4;     // 3.11 on
inline constexpr uint64_t kHeapType = 1ull << 9, kCollectable = 1ull << 14;
inline constexpr uint64_t kLong = 1ull << 24, kList = 1ull << 25, kTuple = 1ull << 26,
                          kBytes = 1ull << 27, kStr = 1ull << 28, kDict = 1ull << 29,
                          kException = 1ull << 30, kType = 1ull << 31;
}  // namespace type_flag

inline uint64_t flags_of_type(Address type) { return at<uint64_t>(type, type_field::kFlags); }
inline bool is_str(Address object) {
  return (flags_of_type(type_of(object)) & type_flag::kStr) != 0;
}
inline bool is_tuple(Address object) {
  return (flags_of_type(type_of(object)) & type_flag::kTuple) != 0;
}
inline bool is_dict(Address object) {
  return (flags_of_type(type_of(object)) & type_flag::kDict) != 0;
}
inline bool is_type(Address object) {
  return (flags_of_type(type_of(object)) & type_flag::kType) != 0;
}

// The interpreter that is being read: its version and the functions of it that may be called,
// all of them plain reads in C.
struct Python {
  int minor = 0;
  const Offsets* offsets = nullptr;
  Address interpreter = 0;  // PyInterpreterState*
  Address thread = 0;       // PyThreadState* of the copy's thread
  Address none = 0;
  int tuple_items = 24;  // 3.14 has a hash before them

  void* (*thread_head)(void*) = nullptr;
  void* (*thread_next)(void*) = nullptr;
  int (*code_line)(void*, int) = nullptr;
  void (*gc_track)(void*) = nullptr;
  int (*gc_enabled)() = nullptr;  // 3.10 on

  // 0 where the number means nothing: immortal.
  uint64_t refcount(Address object) const {
    if (minor < 12) return at<uint64_t>(object, 0);
    uint32_t low = at<uint32_t>(object, 0);
    return static_cast<int32_t>(low) < 0 ? 0 : low;
  }
  Address field(Address base, int offset) const { return offset < 0 ? 0 : pointer(base, offset); }
};

// The characters of a str, wherever its layout keeps them.
struct Text {
  const uint8_t* data = nullptr;
  size_t length = 0;
  int kind = 0;  // bytes a character; 0: not a readable str
  bool ascii = false;
};
Text text_of(const Python& python, Address str);
// UTF-8 of at most `room` bytes; returns how many.
size_t to_utf8(const Text& text, char* out, size_t room);
bool interned(const Python& python, Address str);
bool text_is(const Python& python, Address str, const char* ascii);

// The entries of a dict, split (one key table for many instances) or not.
struct DictEntries {
  Address entries = 0;
  size_t count = 0;
  size_t stride = 0;
  ptrdiff_t key_at = 0, value_at = 0;
  Address values = 0;       // split: the values lie here
  bool owns_values = true;  // false: they are inside an instance, which refers to them itself

  Address key(size_t i) const {
    return pointer(entries, static_cast<ptrdiff_t>(i * stride) + key_at);
  }
  Address value(size_t i) const {
    return values ? pointer(values, static_cast<ptrdiff_t>(i * 8))
                  : pointer(entries, static_cast<ptrdiff_t>(i * stride) + value_at);
  }
};
DictEntries dict_entries(const Python& python, Address dict);
// Only the keys of a PyDictKeysObject.
DictEntries keys_entries(const Python& python, Address keys);
uint64_t keys_size(const Python& python, Address keys);
uint64_t shared_keys_usable(const Python& python, Address keys);
// The value at an ASCII key, or 0. Looks at each entry: hashes are the program's secret.
Address dict_find(const Python& python, Address dict, const char* key);

// The dict in a type, which 3.12 on keeps in the interpreter for builtin types.
Address type_dict(const Python& python, Address type);
// The interpreter's part of a builtin type (3.12 on), or 0.
Address static_type_state(const Python& python, Address type);

}  // namespace lowtide::probe::cpython

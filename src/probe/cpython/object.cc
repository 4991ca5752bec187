// SPDX-License-Identifier: Apache-2.0
#include "probe/cpython/object.h"

namespace lowtide::probe::cpython {

namespace {

namespace keys_field {  // PyDictKeysObject
inline constexpr int kRefcount = 0;
// 3.8 to 3.10
inline constexpr int kSize = 8, kOldUsable = 24, kOldEntries = 32;
// 3.11 on
inline constexpr int kLog2Size = 8, kLog2IndexBytes = 9, kKind = 10, kUsable = 16, kEntries = 24;
}  // namespace keys_field

inline constexpr int kDictKeys = 32, kDictValues = 40;
inline constexpr uint8_t kGeneralKeys = 0;
inline constexpr int64_t kMostEntries = int64_t{1} << 40;

int index_bytes(int64_t size) {
  if (size <= 0xff) return 1;
  if (size <= 0xffff) return 2;
  return size <= 0xffffffff ? 4 : 8;
}

// Non-ASCII code points as UTF-8; surrogates come out as they are.
size_t encode(uint32_t c, char* out) {
  if (c < 0x80) {
    out[0] = static_cast<char>(c);
    return 1;
  }
  if (c < 0x800) {
    out[0] = static_cast<char>(0xc0 | (c >> 6));
    out[1] = static_cast<char>(0x80 | (c & 0x3f));
    return 2;
  }
  if (c < 0x10000) {
    out[0] = static_cast<char>(0xe0 | (c >> 12));
    out[1] = static_cast<char>(0x80 | ((c >> 6) & 0x3f));
    out[2] = static_cast<char>(0x80 | (c & 0x3f));
    return 3;
  }
  out[0] = static_cast<char>(0xf0 | ((c >> 18) & 7));
  out[1] = static_cast<char>(0x80 | ((c >> 12) & 0x3f));
  out[2] = static_cast<char>(0x80 | ((c >> 6) & 0x3f));
  out[3] = static_cast<char>(0x80 | (c & 0x3f));
  return 4;
}

}  // namespace

Text text_of(const Python& python, Address str) {
  Text text;
  uint32_t state = at<uint32_t>(str, 32);
  if (python.minor >= 14) state >>= 14;  // `interned` has grown to 16 bits
  int kind = static_cast<int>((state >> 2) & 7);
  bool compact = (state >> 5) & 1, ascii = (state >> 6) & 1;
  if (kind != 1 && kind != 2 && kind != 4) return text;
  int64_t length = number(str, 16);
  if (length < 0) return text;
  const Offsets& o = *python.offsets;
  Address data = compact ? str + static_cast<Address>(ascii ? o.str_ascii_size : o.str_compact_size)
                         : pointer(str, o.str_compact_size);
  if (!data) return text;
  text.data = reinterpret_cast<const uint8_t*>(data);
  text.length = static_cast<size_t>(length);
  text.kind = kind;
  text.ascii = ascii;
  return text;
}

size_t to_utf8(const Text& text, char* out, size_t room) {
  size_t used = 0;
  for (size_t i = 0; i < text.length && text.kind; ++i) {
    uint32_t c = 0;
    memcpy(&c, text.data + i * static_cast<size_t>(text.kind), static_cast<size_t>(text.kind));
    char bytes[4];
    size_t count = encode(c, bytes);
    if (used + count > room) break;
    memcpy(out + used, bytes, count);
    used += count;
  }
  return used;
}

bool interned(const Python& python, Address str) {
  uint32_t state = at<uint32_t>(str, 32);
  return (python.minor >= 14 ? state & 0xffff : state & 3) == 1;
}

bool text_is(const Python& python, Address str, const char* ascii) {
  if (!str || !is_str(str)) return false;
  Text text = text_of(python, str);
  size_t length = strlen(ascii);
  return text.kind == 1 && text.length == length && memcmp(text.data, ascii, length) == 0;
}

DictEntries keys_entries(const Python& python, Address keys) {
  DictEntries view;
  int64_t size, count;
  Address start = keys + static_cast<Address>(python.offsets->dict_keys_size);
  if (python.minor >= 11) {
    int log2_size = at<uint8_t>(keys, keys_field::kLog2Size);
    int log2_index = at<uint8_t>(keys, keys_field::kLog2IndexBytes);
    if (log2_size > 40 || log2_index > 44) return view;
    size = int64_t{1} << log2_size;
    count = number(keys, keys_field::kEntries);
    start += Address{1} << log2_index;
    bool general = at<uint8_t>(keys, keys_field::kKind) == kGeneralKeys;
    view.stride = general ? 24 : 16;
    view.key_at = general ? 8 : 0;
  } else {
    size = number(keys, keys_field::kSize);
    if (size < 0 || size > kMostEntries) return view;
    count = number(keys, keys_field::kOldEntries);
    start += static_cast<Address>(size * index_bytes(size));
    view.stride = 24;
    view.key_at = 8;
  }
  view.value_at = view.key_at + 8;
  view.entries = start;
  if (count >= 0 && count <= size) view.count = static_cast<size_t>(count);
  return view;
}

DictEntries dict_entries(const Python& python, Address dict) {
  Address keys = pointer(dict, kDictKeys);
  if (!keys) return {};
  DictEntries view = keys_entries(python, keys);
  Address values = pointer(dict, kDictValues);
  if (values && python.minor >= 13) {
    size_t capacity = at<uint8_t>(values, 0);
    view.owns_values = at<uint8_t>(values, 2) == 0;
    if (view.count > capacity) view.count = capacity;
    values += 8;
  }
  view.values = values;
  return view;
}

uint64_t keys_size(const Python& python, Address keys) {
  uint64_t header = static_cast<uint64_t>(python.offsets->dict_keys_size);
  if (python.minor >= 11) {
    uint64_t size = uint64_t{1} << at<uint8_t>(keys, keys_field::kLog2Size);
    uint64_t index = uint64_t{1} << at<uint8_t>(keys, keys_field::kLog2IndexBytes);
    uint64_t entry = at<uint8_t>(keys, keys_field::kKind) == kGeneralKeys ? 24 : 16;
    return header + index + (size << 1) / 3 * entry;
  }
  int64_t size = number(keys, keys_field::kSize);
  return header + static_cast<uint64_t>(size * index_bytes(size) + (size << 1) / 3 * 24);
}

uint64_t shared_keys_usable(const Python& python, Address keys) {
  if (python.minor >= 11)
    return static_cast<uint64_t>(number(keys, keys_field::kUsable) +
                                 number(keys, keys_field::kEntries));
  return static_cast<uint64_t>(number(keys, keys_field::kSize) << 1) / 3;
}

Address dict_find(const Python& python, Address dict, const char* key) {
  if (!dict) return 0;
  DictEntries entries = dict_entries(python, dict);
  for (size_t i = 0; i < entries.count; ++i) {
    Address name = entries.key(i);
    if (name && text_is(python, name, key)) return entries.value(i);
  }
  return 0;
}

Address static_type_state(const Python& python, Address type) {
  const Offsets& o = *python.offsets;
  if (o.interp_static_types < 0) return 0;
  if (!(flags_of_type(type) & (1u << 1))) return 0;  // static builtin
  int64_t index = number(type, type_field::kSubclasses);
  if (index < 1 || index > o.static_type_count) return 0;
  --index;
  int64_t offset = o.interp_static_types + index * o.static_type_size;
  if (o.static_type_ext >= 0 && index >= o.static_type_ext_first)
    offset = o.interp_static_types + o.static_type_ext +
             (index - o.static_type_ext_first) * o.static_type_size;
  Address state = python.interpreter + static_cast<Address>(offset);
  return pointer(state, 0) == type ? state : 0;
}

Address type_dict(const Python& python, Address type) {
  if (Address state = static_type_state(python, type))
    return pointer(state, python.offsets->static_type_dict);
  return pointer(type, type_field::kDict);
}

}  // namespace lowtide::probe::cpython

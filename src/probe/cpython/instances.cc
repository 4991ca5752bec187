// SPDX-License-Identifier: Apache-2.0
// What any instance may have on top of what its family has: named fields, a dict, values that
// lie in or beside it under its class's keys; and what only tp_traverse shows.
#include "probe/cpython/walk.h"

namespace lowtide::probe::cpython {

namespace {

inline constexpr int kDictBefore = -24;    // 3.11 on: the dict, or from 3.12 the values, tagged
inline constexpr int kValuesBefore = -32;  // 3.11

void read_values(Walk& walk, Address type, Address values, size_t most) {
  Address keys = pointer(type, walk.python.offsets->heap_type_cached_keys);
  if (!keys) return;
  DictEntries entries = keys_entries(walk.python, keys);
  size_t count = entries.count < most ? entries.count : most;
  for (size_t i = 0; i < count; ++i) {
    Address value = pointer(values, static_cast<ptrdiff_t>(i * 8));
    Address key = entries.key(i);
    if (value && key) walk.edge(LOWTIDE_EDGE_ATTRIBUTE, walk.names.intern(walk.python, key), value);
  }
}

// 3.11 and 3.12 keep the values of an instance in a block of their own, which sys.getsizeof leaves
// out.
void read_separate_values(Walk& walk, Address type, Address values) {
  read_values(walk, type, values, 256);
  uint64_t before = at<uint8_t>(values, -1);  // bytes of bookkeeping before the values
  Address keys = pointer(type, walk.python.offsets->heap_type_cached_keys);
  if (!keys || before == 0) return;
  uint64_t bytes = before + shared_keys_usable(walk.python, keys) * 8;
  if (bytes > 4096) return;
  walk.facts.native += bytes;
  walk.pools.note(values - before, bytes);
}

void read_managed_dict(Walk& walk, Address object, const TypeInfo& info) {
  Address dict = pointer(object, kDictBefore);
  if (walk.python.minor == 11) {
    if (Address values = pointer(object, kValuesBefore))
      read_separate_values(walk, info.type, values);
  } else if (walk.python.minor == 12) {
    if (dict & 1) {
      read_separate_values(walk, info.type, dict + 1);
      dict = 0;
    }
  } else if (info.inline_values) {
    Address values = object + static_cast<Address>(info.basic_size);
    uint64_t capacity = at<uint8_t>(values, 0);
    walk.facts.native += 8 + capacity * 8 + ((capacity + 7) & ~uint64_t{7});
    if (at<uint8_t>(values, 3)) read_values(walk, info.type, values + 8, at<uint8_t>(values, 0));
  }
  if (dict) walk.edge(LOWTIDE_EDGE_INTERNAL, walk.word(Word::DictName), dict, Place::Namespace);
}

}  // namespace

void read_instance(Walk& walk, Address object, const TypeInfo& info) {
  for (uint32_t i = 0; i < info.field_count; ++i) {
    const Field& field = info.fields[i];
    walk.edge(field.kind, field.name, pointer(object, field.offset),
              field.namespace_dict ? Place::Namespace : Place::Object);
  }
  // Of a type that the collector is not told about, the hints are all there is.
  if (!info.collectable && !info.traverse)
    for (uint32_t i = 0; i < info.hint_count; ++i) {
      const Field& hint = info.hints[i];
      Address target = hint.offset ? pointer(object, hint.offset) : 0;
      if (walk.likely(target)) walk.edge(hint.kind, hint.name, target);
    }
  if (info.managed_dict) {
    read_managed_dict(walk, object, info);
  } else if (info.dict_offset && info.family != Family::Type) {
    int64_t offset = info.dict_offset;
    if (offset < 0) {  // counted from the end of a variable-sized object
      int64_t size = var_size(object);
      if (info.family == Family::Long && walk.python.minor >= 12) size >>= 3;
      if (size < 0) size = -size;
      offset += (info.basic_size + size * info.item_size + 7) & ~int64_t{7};
    }
    if (offset >= kObjectSize)
      walk.edge(LOWTIDE_EDGE_INTERNAL, walk.word(Word::DictName), pointer(object, offset),
                Place::Namespace);
  }
  walk.traverse_rest(info, object);
}

// The bytes a type says an instance has, before anything it allocates apart.
static uint64_t fixed_size(const Walk& walk, Address object, const TypeInfo& info) {
  int64_t size = info.basic_size;
  // Frames and generators say that they vary, and have no count of items.
  if (info.item_size && info.family != Family::Generator && info.family != Family::Frame) {
    int64_t count = var_size(object);
    if (info.family == Family::Long && walk.python.minor >= 12) count >>= 3;
    size += (count < 0 ? -count : count) * info.item_size;
  }
  return static_cast<uint64_t>(size);
}

static uint64_t dict_size(const Walk& walk, Address dict) {
  Address keys = pointer(dict, 32), values = pointer(dict, 40);
  if (!keys) return 0;
  if (values) {
    uint64_t bytes = shared_keys_usable(walk.python, keys) * 8;
    if (walk.python.minor < 13 && at<int64_t>(keys, 0) == 1) bytes += keys_size(walk.python, keys);
    return bytes;
  }
  return at<int64_t>(keys, 0) == 1 ? keys_size(walk.python, keys) : 0;
}

static uint64_t str_size(const Walk& walk, Address str) {
  const Offsets& o = *walk.python.offsets;
  Text text = text_of(walk.python, str);
  uint32_t state = at<uint32_t>(str, 32);
  if (walk.python.minor >= 14) state >>= 14;
  bool compact = (state >> 5) & 1;
  uint64_t characters = text.kind ? (text.length + 1) * static_cast<uint64_t>(text.kind) : 0;
  uint64_t size;
  if (compact && text.ascii) {
    size = static_cast<uint64_t>(o.str_ascii_size) + text.length + 1;
  } else if (compact) {
    size = static_cast<uint64_t>(o.str_compact_size) + characters;
  } else {
    size = static_cast<uint64_t>(o.str_size) + characters;
  }
  Address data = reinterpret_cast<Address>(text.data);
  if (!(compact && text.ascii)) {
    Address utf8 = pointer(str, o.str_ascii_size + 8);
    if (utf8 && utf8 != data) size += static_cast<uint64_t>(number(str, o.str_ascii_size)) + 1;
  }
  if (walk.python.minor < 12) {
    Address wide = pointer(str, 40);
    if (wide && wide != data) {
      int64_t length = compact && text.ascii ? static_cast<int64_t>(text.length) : number(str, 64);
      size += static_cast<uint64_t>(length + 1) * 4;
    }
  }
  return size;
}

// From 3.11 the frame lies inside, as large as its code says.
static uint64_t generator_size(const Walk& walk, Address generator, uint64_t otherwise) {
  const Offsets& o = *walk.python.offsets;
  if (walk.python.minor < 11) return otherwise;
  Address frame = generator + static_cast<Address>(o.generator_frame);
  Address code = pointer(frame, o.inner_code);
  if (at<int8_t>(generator, o.generator_state) > 0 || !code || type_of(code) != walk.code_type)
    return static_cast<uint64_t>(o.generator_frame + o.inner_fast);
  int slots = at<int>(code, o.code_fast_count) + at<int>(code, o.code_stack_size);
  return static_cast<uint64_t>(o.generator_frame + o.inner_fast + slots * 8);
}

static uint64_t frame_size(const Walk& walk, Address frame, uint64_t otherwise) {
  const Offsets& o = *walk.python.offsets;
  bool inside = walk.python.minor >= 11;
  Address inner = inside ? pointer(frame, o.frame_inner) : 0;
  Address code = inside ? (inner ? pointer(inner, o.inner_code) : 0) : pointer(frame, o.frame_code);
  if (!code || type_of(code) != walk.code_type) return otherwise;
  int64_t slots = at<int>(code, o.code_stack_size);
  if (inside)
    return static_cast<uint64_t>(o.frame_data + o.inner_fast +
                                 (slots + at<int>(code, o.code_fast_count)) * 8);
  slots += at<int>(code, o.code_local_count);
  const int tuples[] = {o.code_cellvars, o.code_freevars};
  for (int offset : tuples)
    if (Address names = pointer(code, offset); names && is_tuple(names)) slots += var_size(names);
  return static_cast<uint64_t>(o.frame_fast + slots * 8);
}

uint64_t object_size(const Walk& walk, Address object, const TypeInfo& info) {
  const Python& python = walk.python;
  uint64_t before = static_cast<uint64_t>(info.pre_header);
  if ((python.minor < 11 || python.minor >= 13) && info.collectable && info.is_collectable) {
    bool allocated = info.family != Family::Type || (flags_of_type(object) & type_flag::kHeapType);
    if (!allocated) before = 0;
  }
  uint64_t size = fixed_size(walk, object, info);
  if (info.family != Family::Type && info.family != Family::Str)
    const_cast<Walk&>(walk).pools.note(object - before, size + before);
  switch (info.family) {
    case Family::List:
      size += static_cast<uint64_t>(number(object, 32)) * 8;
      break;
    case Family::Dict:
      size += dict_size(walk, object);
      break;
    case Family::OrderedDict:
      size += dict_size(walk, object) + static_cast<uint64_t>(number(object, 72)) * 8 +
              static_cast<uint64_t>(number(object, 16)) * 32;
      break;
    case Family::Set:
      if (pointer(object, 40) != object + 64)
        size += (static_cast<uint64_t>(number(object, 32)) + 1) * 16;
      break;
    case Family::Str:
      size = str_size(walk, object);
      const_cast<Walk&>(walk).pools.note(object, size);
      break;
    case Family::Deque: {
      uint64_t blocks = static_cast<uint64_t>(number(object, 40) + var_size(object) + 63) / 64;
      size += (blocks ? blocks : 1) * 528;
      break;
    }
    case Family::Type:
      if (!(flags_of_type(object) & type_flag::kHeapType)) {
        size = static_cast<uint64_t>(python.offsets->type_size);
      } else {
        // 3.13 counts the fields of the metaclass.
        size = python.minor >= 13 ? static_cast<uint64_t>(info.basic_size)
                                  : static_cast<uint64_t>(python.offsets->heap_type_size);
        if (Address keys = pointer(object, python.offsets->heap_type_cached_keys))
          size += keys_size(python, keys);
      }
      break;
    case Family::Long: {
      // A subclass's own fields are left out, as int.__sizeof__ does.
      int64_t digits = python.minor >= 12 ? number(object, 16) >> 3 : var_size(object);
      if (digits < 0) digits = -digits;
      if (digits == 0 && python.minor >= 11) digits = 1;
      size = 24 + static_cast<uint64_t>(digits) * 4;
      break;
    }
    case Family::Code:
      size = (size + 7) & ~uint64_t{7};
      break;
    case Family::Frame:
      size = frame_size(walk, object, size);
      break;
    case Family::Generator:
      size = generator_size(walk, object, size);
      break;
    default:
      break;
  }
  return size + before;
}

}  // namespace lowtide::probe::cpython

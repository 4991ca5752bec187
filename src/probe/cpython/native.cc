// SPDX-License-Identifier: Apache-2.0
// Objects that own memory outside the interpreter: buffers, arrays, images.
#include "probe/cpython/walk.h"

namespace lowtide::probe::cpython {

namespace {

inline constexpr int kMapData = 16;  // of mmap.mmap; its size is next

// PyArrayObject_fields; numpy 1 and 2 agree.
inline constexpr int kArrayData = 16, kArrayRank = 24, kArrayShape = 32, kArrayBase = 48,
                     kArrayDescr = 56, kArrayFlags = 64;
inline constexpr int kOwnsData = 4;
inline constexpr int kMostDimensions = 64;
inline constexpr int kObjectNumber = 17;  // NPY_OBJECT

// The two layouts of PyArray_Descr.
struct DescrLayout {
  bool wide;  // numpy 2: 64-bit item size
  int fields;
};

int64_t item_size(Address descr, const DescrLayout& layout) {
  return layout.wide ? number(descr, 40) : at<int>(descr, 32);
}

DescrLayout descr_layout(Walk& walk) {
  static constexpr DescrLayout kOne{false, 48}, kTwo{true, 96};
  Address numpy = dict_find(walk.python, loaded_modules(walk.python), "numpy");
  if (!numpy) return kTwo;
  Address version = dict_find(walk.python, pointer(numpy, kObjectSize), "__version__");
  if (!version || !is_str(version)) return kTwo;
  Text text = text_of(walk.python, version);
  return text.kind == 1 && text.length && text.data[0] == '1' ? kOne : kTwo;
}

void name_dtype(Address descr, int64_t size, Line* line) {
  char kind = at<char>(descr, 24);
  switch (kind) {
    case 'b':
      line->add("bool");
      return;
    case 'i':
      line->add("int").add(size * 8);
      return;
    case 'u':
      line->add("uint").add(size * 8);
      return;
    case 'f':
      line->add("float").add(size * 8);
      return;
    case 'c':
      line->add("complex").add(size * 8);
      return;
    case 'O':
      line->add("object");
      return;
    case 'S':
      line->add("bytes").add(size);
      return;
    case 'U':
      line->add("str").add(size / 4);
      return;
    case 'M':
      line->add("datetime64");
      return;
    case 'm':
      line->add("timedelta64");
      return;
    case 'V':
      line->add("void").add(size);
      return;
    default:
      line->add("dtype");
      return;
  }
}

int64_t small_int(const Walk& walk, Address object) {
  if (!(flags_of_type(type_of(object)) & type_flag::kLong)) return -1;
  int64_t size = walk.python.minor >= 12 ? number(object, 16) >> 3 : number(object, 16);
  return size == 0 ? 0 : size == 1 ? at<uint32_t>(object, 24) : -1;
}

// References inside the items of a structured array: {name: (dtype, offset, ...)}.
void read_fields(Walk& walk, Address data, int64_t count, int64_t stride, Address fields) {
  if (!fields || !is_dict(fields)) return;
  DictEntries entries = dict_entries(walk.python, fields);
  for (size_t i = 0; i < entries.count; ++i) {
    Address value = entries.value(i), key = entries.key(i);
    if (!value || !key || !is_tuple(value) || var_size(value) < 2) continue;
    Address descr = pointer(value, walk.python.tuple_items);
    int64_t offset = small_int(walk, pointer(value, walk.python.tuple_items + 8));
    if (at<int>(descr, 28) != kObjectNumber || offset < 0 || offset + 8 > stride) continue;
    uint32_t name = walk.names.intern(walk.python, key);
    for (int64_t item = 0; item < count; ++item)
      walk.edge(LOWTIDE_EDGE_ATTRIBUTE, name, pointer(data, item * stride + offset));
  }
}

void read_ndarray(Walk& walk, Address array) {
  Address data = pointer(array, kArrayData), base = pointer(array, kArrayBase);
  Address descr = pointer(array, kArrayDescr), shape = pointer(array, kArrayShape);
  int rank = at<int>(array, kArrayRank);
  walk.internal(Word::Base, base);
  walk.edge(LOWTIDE_EDGE_INTERNAL, walk.names.intern("dtype"), descr);
  if (rank < 0 || rank > kMostDimensions || !descr) return;
  DescrLayout layout = descr_layout(walk);
  int64_t size = item_size(descr, layout), count = 1;
  if (size < 0 || size > int64_t{1} << 32) return;
  Line label;
  name_dtype(descr, size, &label);
  label.add(" (");
  for (int i = 0; i < rank; ++i) {
    int64_t extent = number(shape, i * 8);
    if (extent < 0 || __builtin_mul_overflow(count, extent, &count)) return;
    label.add(extent).add(i + 1 < rank ? ", " : rank == 1 ? "," : "");
  }
  label.add(")");
  bool owner = at<int>(array, kArrayFlags) & kOwnsData;
  if (!owner && base) label.add(" view");
  walk.facts.label = walk.names.intern(label);
  int64_t bytes = 0;
  if (!owner || __builtin_mul_overflow(count, size, &bytes)) return;
  walk.facts.native += walk.touched(data, static_cast<uint64_t>(bytes));
  if (!data || !walk.copy.readable(data, static_cast<size_t>(bytes))) return;
  if (at<int>(descr, 28) == kObjectNumber) {
    for (int64_t i = 0; i < count; ++i)
      walk.edge(LOWTIDE_EDGE_ITEM, static_cast<uint32_t>(i), pointer(data, i * 8));
  } else if (at<char>(descr, 24) == 'V') {
    read_fields(walk, data, count, size, pointer(descr, layout.fields));
  }
}

// Pillow's ImagingMemoryInstance. Older ones open with the mode's name, newer with an enum of 4
// bytes, which shifts what follows by 4: only sizes that agree with one another are believed.
void read_image(Walk& walk, Address object) {
  Address image = pointer(object, kObjectSize);
  if (!image || !walk.copy.readable(image, 96)) return;
  for (int shift = 0; shift >= -4; shift -= 4) {
    int width = at<int>(image, 20 + shift), height = at<int>(image, 24 + shift);
    for (int tail = 80; tail >= 72; tail -= 8) {
      int pixel = at<int>(image, tail), line = at<int>(image, tail + 4);
      bool fits = width > 0 && height > 0 && width < 1 << 20 && height < 1 << 20 &&
                  (pixel == 1 || pixel == 2 || pixel == 4) && line >= width * pixel &&
                  line < width * pixel + 64;
      if (!fits) continue;
      walk.facts.native += static_cast<uint64_t>(line) * static_cast<uint64_t>(height);
      Line label;
      label.add(int64_t{width}).add("x").add(int64_t{height});
      walk.facts.label = walk.names.intern(label);
      return;
    }
  }
}

// mmap.mmap: address and size. Private anonymous memory is counted; what is shared or a file's may
// be other people's too and is only said.
void read_memory_map(Walk& walk, Address object) {
  Address data = pointer(object, kMapData);
  int64_t size = number(object, kMapData + 8);
  if (!data || size <= 0) return;  // closed
  Line label;
  label.add(size).add(" bytes");
  const Range* range = walk.range_of(data);
  if (range && !range->name[0])
    walk.facts.native += walk.touched(data, static_cast<uint64_t>(size));
  else if (range)
    label.add(strncmp(range->name, "/dev/zero", 9) == 0 ? ", shared" : ", of a file");
  walk.facts.label = walk.names.intern(label);
}

void object_at(Walk& walk, Address object, int offset, const char* name) {
  Address target = pointer(object, offset);
  if (walk.likely(target)) walk.edge(LOWTIDE_EDGE_INTERNAL, walk.names.intern(name), target);
}

}  // namespace

void read_native(Walk& walk, Address object, const TypeInfo& info) {
  switch (info.family) {
    case Family::NdArray:
      return read_ndarray(walk, object);
    case Family::ImagingCore:
      return read_image(walk, object);
    case Family::Tensor:
      return read_tensor(walk, object);
    case Family::DType: {
      DescrLayout layout = descr_layout(walk);
      Line label;
      name_dtype(object, item_size(object, layout), &label);
      walk.facts.label = walk.names.intern(label);
      object_at(walk, object, 16, "typeobj");
      for (int offset = layout.fields; offset <= layout.fields + 8; offset += 8)
        if (offset + 8 <= info.basic_size) object_at(walk, object, offset, "");
      return;
    }
    case Family::ByteArray:  // ob_alloc, ob_bytes
      if (number(object, 24) > 0) walk.facts.native += static_cast<uint64_t>(number(object, 24));
      return;
    case Family::Array: {  // ob_item, allocated, ob_descr
      int64_t allocated = number(object, 32);
      int item = at<int>(pointer(object, 40), 4);
      if (allocated < 0 || item < 1 || item > 16) return;
      walk.facts.native += static_cast<uint64_t>(allocated * item);
      Line label;
      label.add(pointer(object, 40) ? reinterpret_cast<const char*>(pointer(object, 40)) : "", 1);
      label.add(" (").add(var_size(object)).add(",)");
      walk.facts.label = walk.names.intern(label);
      return;
    }
    case Family::BytesIO:
      return object_at(walk, object, 16, "buffer");
    case Family::StringIO: {
      // A buffer of code points, or a writer that is still gathering pieces.
      int64_t room = number(object, 40);
      if (pointer(object, 16) && room > 0 && room < int64_t{1} << 40 && at<int>(object, 48) == 1)
        walk.facts.native += static_cast<uint64_t>(room) * 4;
      // The pieces: two lists of them until 3.11, then one str that is being written.
      object_at(walk, object, 56, "buffer");
      if (walk.python.minor < 12) object_at(walk, object, 64, "buffer");
      return;
    }
    case Family::MemoryMap:
      return read_memory_map(walk, object);
    case Family::CtypesData: {
      int64_t size = number(object, 40);
      Address own = object + 72, block = pointer(object, 16);
      if (at<int>(object, 24) && block != own && size > 0 && size < int64_t{1} << 46)
        walk.facts.native += walk.touched(block, static_cast<uint64_t>(size));
      walk.internal(Word::Base, pointer(object, 32));
      walk.edge(LOWTIDE_EDGE_INTERNAL, walk.names.intern("_objects"), pointer(object, 64));
      return;
    }
    default:
      return;
  }
}

}  // namespace lowtide::probe::cpython

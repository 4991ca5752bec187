// SPDX-License-Identifier: Apache-2.0
// Tensors of PyTorch: C++ objects behind a Python one, in layouts that move with each release.
//
//     Tensor --> TensorImpl --> StorageImpl        the memory, counted once for all its views
//                    \--> AutogradMeta --> MulBackward0 --> ... --> AccumulateGrad --> TensorImpl
//
// What does not move is that each of these begins with a pointer into a virtual table of a torch
// library, and the table leads to the class's name. So an object is read word by word, as far as
// malloc says it goes, and what points to another such object is taken for a reference.
//
// A C++ object and its Python one name each other, and only one of them owns: when Python drops its
// last reference while C++ goes on (autograd has saved the tensor), the Python object lives on,
// owned by the C++ one.
#include "probe/cpython/walk.h"

namespace lowtide::probe::cpython {

namespace {

inline constexpr Address kUnknownSize = 256, kMostBytes = 8192, kMostBuffer = 4096;
inline constexpr int64_t kMostStorage = int64_t{1} << 46;
inline constexpr int kMostRank = 5;  // larger shapes lie elsewhere

// The mangled name of the class of the object that begins here, or null if none of torch's does.
const char* class_of(Walk& walk, Address object) {
  if (!object || object % 8 || !walk.copy.readable(object, 64)) return nullptr;
  Address table = pointer(object, 0);
  if (table % 8) return nullptr;
  const Range* range = walk.range_of(table);
  if (!range || range->name[0] != '/' || table - range->begin < 16) return nullptr;
  const char* file = strrchr(range->name, '/');
  if (!strstr(file, "torch") && !strstr(file, "c10")) return nullptr;
  Address type = pointer(table, -8);
  if (type % 8 || !walk.copy.readable(type, 16)) return nullptr;
  Address name = pointer(type, 8);
  if (!walk.copy.readable(name, 8)) return nullptr;
  const char* text = reinterpret_cast<const char*>(name);
  if (*text == '*') ++text;
  return *text == 'N' || *text == 'S' || (*text >= '1' && *text <= '9') ? text : nullptr;
}

// "N5torch8autograd9generated12MulBackward0E" as "torch::autograd::generated::MulBackward0";
// what templates add is left out.
void demangle(const char* name, Line* line) {
  if (*name == 'N') ++name;
  for (bool first = true; *name >= '1' && *name <= '9'; first = false) {
    size_t count = 0;
    while (*name >= '0' && *name <= '9') count = count * 10 + static_cast<size_t>(*name++ - '0');
    if (count == 0 || count > 200 || strnlen(name, count) < count) return;
    if (!first) line->add("::");
    line->add(name, count);
    name += count;
  }
}

// How far a block of glibc's malloc goes from here; an object inside a larger one says nonsense.
Address block_size(Walk& walk, Address block) {
  if (block % 16 || !walk.copy.readable(block - 8, 8)) return 0;
  uint64_t header = at<uint64_t>(block, -8);
  Address size = (header & ~uint64_t{7}) - 8;
  if (header & 4 && size > kMostBytes) return 0;
  return size >= 24 && size <= kMostBytes && walk.copy.readable(block, size) ? size : 0;
}

bool refer(Walk& walk, Address target, const char* name) {
  const char* kind = class_of(walk, target);
  if (!kind || strstr(kind, "_Sp_counted")) return kind != nullptr;
  // Objects that every tensor names and none owns.
  if (strstr(kind, "PyInterpreter") || strstr(kind, "Allocator")) return true;
  bool storage = strstr(kind, "StorageImpl") != nullptr;
  walk.edge(LOWTIDE_EDGE_NATIVE, walk.names.intern(storage ? "storage" : name), target,
            storage ? Place::Storage : Place::NativeNode);
  return true;
}

// Is this word of `inner` the pointer to its Python object? Then the object is `*wrapper` if
// `inner` owns it, else 0. Whose: its own pointer leads back, behind a flag in torch 1.9 to 2.9.
//   until 2.9   the lowest bit says that it is owned
//   2.10 on     it is owned while C++ has a second reference; the count's highest bit says that
//               there is an object
bool names_wrapper(Walk& walk, Address inner, Address word, Address* wrapper) {
  Address object = word & ~Address{7};
  if ((word & 7) > 1 || object < 4096 || !walk.likely(object)) return false;
  if (!walk.copy.readable(object, 32)) return false;
  bool owned = word & 1;
  if (pointer(object, kObjectSize) == inner) {
    uint64_t counts = at<uint64_t>(inner, 8);
    owned = owned || (counts >> 63 && (counts & 0xffffffff) > 1);
  } else if (pointer(object, kObjectSize + 8) != inner) {
    return false;
  }
  *wrapper = owned ? object : 0;
  return true;
}

// The shape stands behind the pointer to the Python object: rank, five sizes and five strides,
// then the offset, the number of elements and the type. Believed if the number is right.
void label_tensor(Walk& walk, Address tensor, Address impl) {
  static constexpr const char* kTypes[] = {"uint8",     "int8",      "int16",      "int32",
                                           "int64",     "float16",   "float32",    "float64",
                                           "complex32", "complex64", "complex128", "bool"};
  for (int slot = 40; slot <= 96; slot += 8) {
    if ((pointer(impl, slot) & ~Address{7}) != tensor) continue;
    int64_t rank = number(impl, slot + 8), elements = 1;
    if (rank < 0 || rank > kMostRank) return;
    Line shape;
    shape.add(" (");
    for (int i = 0; i < rank; ++i) {
      int64_t extent = number(impl, slot + 16 + i * 8);
      if (extent < 0 || __builtin_mul_overflow(elements, extent, &elements)) return;
      shape.add(extent).add(i + 1 < rank ? ", " : rank == 1 ? "," : "");
    }
    if (number(impl, slot + 8 + 88 + 8) != elements) return;
    uint16_t type = at<uint16_t>(impl, slot + 8 + 88 + 16);
    Line label;
    label.add(type < sizeof kTypes / sizeof kTypes[0] ? kTypes[type]
              : type == 15                            ? "bfloat16"
                                                      : "tensor");
    label.add(shape.data(), shape.size()).add(")");
    walk.facts.label = walk.names.intern(label);
    return;
  }
}

}  // namespace

// A tensor, or the Python face of a node of the graph: the C++ object is the first field, or the
// second where the first says whether it is owned.
void read_tensor(Walk& walk, Address object) {
  for (int offset : {16, 24}) {
    Address inner = pointer(object, offset);
    const char* kind = class_of(walk, inner);
    if (!kind) continue;
    refer(walk, inner, "impl");
    if (strstr(kind, "TensorImpl")) label_tensor(walk, object, inner);
    return;
  }
}

void read_native_node(Walk& walk, Address node) {
  walk.facts.type = walk.names.intern("C++ object");
  if (const char* kind = class_of(walk, node)) {
    Line name;
    demangle(kind, &name);
    if (name.size()) walk.facts.type = walk.names.intern(name);
  }
  Address size = block_size(walk, node);
  walk.facts.native = size;
  if (!size) size = walk.copy.readable(node, kUnknownSize) ? kUnknownSize : 64;
  for (Address word = node + 8; word + 8 <= node + size; word += 8) {
    Address target = pointer(word, 0);
    if (target < 4096 || target == node) continue;
    Address wrapper = 0;
    if (names_wrapper(walk, node, target, &wrapper)) {
      walk.internal(Word::Wrapper, wrapper);
      continue;
    }
    if (target % 8 || refer(walk, target, "")) continue;
    if (walk.plausible(target)) {
      walk.edge(LOWTIDE_EDGE_INTERNAL, 0, target);
      continue;
    }
    // The elements of a vector.
    Address room = block_size(walk, target);
    if (!room || room > kMostBuffer) continue;
    for (Address item = target; item + 8 <= target + room; item += 8)
      if (Address inner = pointer(item, 0); inner >= 4096 && inner != node) refer(walk, inner, "");
  }
}

// StorageImpl: counts, pointer, its context and deleter, device, size. Two words of counts until
// 2.9, then one with the weak count, never 0, in its upper half.
void read_storage(Walk& walk, Address storage) {
  walk.facts.type = walk.names.intern("torch storage");
  walk.facts.flags |= LOWTIDE_NODE_STORAGE;
  if (!walk.copy.readable(storage, 64)) return;
  if (Address end = storage + block_size(walk, storage); end > storage + 64)
    for (Address word = storage + 64; word + 8 <= end; word += 8) {
      Address wrapper = 0;
      if (names_wrapper(walk, storage, pointer(word, 0), &wrapper))
        walk.internal(Word::Wrapper, wrapper);
    }
  Address fields = storage + (at<uint64_t>(storage, 8) >> 32 ? 16 : 24);
  Address data = pointer(fields, 0);
  int device = at<int8_t>(fields, 24);
  int64_t bytes = number(fields, 32);
  if (bytes < 0 || bytes > kMostStorage) return;
  if (device == 0) {
    if (bytes == 0 || !data || !walk.copy.readable(data, static_cast<size_t>(bytes))) return;
    walk.facts.native = walk.touched(data, static_cast<uint64_t>(bytes));
  } else {
    // Not this machine's memory: said, not counted.
    Line label;
    label.add("on another device, ").add(bytes).add(" bytes");
    walk.facts.label = walk.names.intern(label);
  }
}

}  // namespace lowtide::probe::cpython

// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the walk needs to know of a type, found out when its first object is met.
//
// A type is read as its nearest ancestor in `families` is: a subclass of list has a list's
// items. On top come the fields that are named: __slots__ and C members, the instance's dict, and
// the class itself. If the C part of the type may hold more than that, `traverse` finds it, without
// names.

#include <stddef.h>
#include <stdint.h>

#include <initializer_list>

#include "probe/copy.h"
#include "probe/cpython/names.h"
#include "probe/cpython/object.h"

namespace lowtide::probe::cpython {

enum class Family : uint8_t {
  Generic,
  Leaf,  // refers to nothing but its class
  List,
  Tuple,
  Dict,
  OrderedDict,
  Set,
  Str,
  Long,
  ByteArray,
  Function,
  Code,
  BuiltinFunction,
  Module,
  Type,
  Frame,
  Generator,
  Weakref,
  Exception,
  Deque,
  LruCache,
  HamtBitmap,
  NdArray,
  DType,
  Array,
  BytesIO,
  StringIO,
  MemoryMap,
  CtypesData,
  ImagingCore,
  Tensor,
  Element,
  Pickler,
  Buffered,
  DateTime,
};

using Traverse = int (*)(Address object, int (*visit)(void*, void*), void* argument);

struct Field {
  int32_t offset;
  uint32_t name;
  uint8_t kind;
  bool namespace_dict;
};

struct TypeInfo {
  Address type = 0;
  uint32_t name = 0;
  Family family = Family::Generic;
  bool wanted = false;  // of the type that --show asks for
  bool heap = false, collectable = false, user = false, finalizer = false;
  bool managed_dict = false, inline_values = false;
  int16_t pre_header = 0;   // bytes before the object that sys.getsizeof counts
  int32_t dict_offset = 0;  // 0: none, or one of the two above
  int64_t basic_size = 0, item_size = 0;
  Traverse traverse = nullptr;
  Address is_collectable = 0;  // tp_is_gc: asks each object
  uint64_t base_basic = 0;     // basic size of the ancestor that gave the family
  const Field* fields = nullptr;
  uint32_t field_count = 0;
  // Names for what `traverse` shows, by where it lies; at 0, for what lies nowhere in the object.
  const Field* hints = nullptr;
  uint32_t hint_count = 0;
};

inline constexpr uint32_t kMostHints = 16;
// The private fields of a C type of the standard library, as Types::parse reads them, or null.
const char* stdlib_fields(const char* type_name, int minor);

class Types {
 public:
  // `wanted`: the name of a type, whole or its last part, whose TypeInfo says so; or null.
  bool open(lowtide_copy* copy, const Python* python, Names* names, const char* wanted);
  // Null if `type` is no readable type, or memory has run out.
  const TypeInfo* info(Address type);
  // Is this the address of a type some object has? Never adds.
  bool known(Address type) const { return find(type) != nullptr; }
  Address lowest() const { return lowest_; }
  Address highest() const { return highest_; }
  size_t count() const { return count_; }
  const TypeInfo* nth(size_t i) const { return order_[i]; }

 private:
  struct Known {  // a type of the interpreter whose layout is known
    Address type;
    Family family;
    bool whole;  // its named fields are all it holds
    const Field* fields;
    uint32_t count;
  };
  const TypeInfo* find(Address type) const;
  TypeInfo* add(Address type);
  void know(const char* symbol, Family family, bool whole, const char* fields);
  void describe_known();
  const Known* known_type(Address type) const;
  void family_by_name(TypeInfo* info, Address type, const char* name);
  uint32_t parse(const char* fields, Field* found, uint32_t room);
  void collect_hints(TypeInfo* info, Address type);
  void collect_fields(TypeInfo* info, Address type, const Known* known);
  void set_fields(TypeInfo* info, std::initializer_list<Field> fields);
  bool from_outside(Address module_name);
  Address module_name(Address type, const char* full_name);

  lowtide_copy* copy_ = nullptr;
  const Python* python_ = nullptr;
  Names* names_ = nullptr;
  TypeInfo** slots_ = nullptr;
  size_t slot_count_ = 0;
  size_t count_ = 0;
  TypeInfo** order_ = nullptr;  // as they were met; as large as slots_
  Known known_[96];
  size_t known_count_ = 0;
  Address lowest_ = ~Address{0}, highest_ = 0;
  Address subtype_traverse_ = 0;
  Address modules_ = 0;  // sys.modules
  const char* wanted_ = nullptr;
  char library_[512];  // where the standard library lies, with a closing slash
  size_t library_size_ = 0;
};

// sys.modules, or 0.
Address loaded_modules(const Python& python);

}  // namespace lowtide::probe::cpython

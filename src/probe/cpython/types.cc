// SPDX-License-Identifier: Apache-2.0
#include "probe/cpython/types.h"

namespace lowtide::probe::cpython {

namespace {

inline constexpr size_t kFirstSlots = 1 << 12;
inline constexpr int kDeepest = 200;  // base classes; a longer chain is a loop
inline constexpr uint32_t kMostFields = 1024;

// PyMemberDef
inline constexpr int kMemberSize = 40, kMemberType = 8, kMemberOffset = 16, kMemberFlags = 24;
inline constexpr int kGetterSize = 40;  // PyGetSetDef
inline constexpr int kObjectMember = 6, kObjectExMember = 16, kRelativeMember = 8;

struct ByName {
  const char* name;
  Family family;
  int64_t basic_size;  // at least
};
// Types that no symbol exports. A class made in Python never has a dot in tp_name.
inline constexpr ByName kByName[] = {
    {"collections.deque", Family::Deque, 72},
    {"functools._lru_cache_wrapper", Family::LruCache, 120},
    {"numpy.ndarray", Family::NdArray, 80},
    {"numpy.dtype", Family::DType, 80},
    {"array.array", Family::Array, 64},
    {"_io.BytesIO", Family::BytesIO, 40},
    {"_io.StringIO", Family::StringIO, 48},
    {"mmap.mmap", Family::MemoryMap, 48},
    {"_ctypes._CData", Family::CtypesData, 72},
    {"ImagingCore", Family::ImagingCore, 24},
    {"torch._C.TensorBase", Family::Tensor, 32},
    {"torch._C._TensorBase", Family::Tensor, 32},
    {"torch._C.StorageBase", Family::Tensor, 32},
    {"xml.etree.ElementTree.Element", Family::Element, 48},
    {"_pickle.Pickler", Family::Pickler, 144},
    {"_io.BufferedReader", Family::Buffered, 136},
    {"_io.BufferedWriter", Family::Buffered, 136},
    {"_io.BufferedRandom", Family::Buffered, 136},
    {"datetime.datetime", Family::DateTime, 48},
    {"datetime.time", Family::DateTime, 40},
};

bool same(const char* a, const char* b) { return strcmp(a, b) == 0; }

bool has_getter(Address type, const char* name) {
  Address entry = pointer(type, type_field::kGetters);
  for (int i = 0; entry && i < 64 && pointer(entry, 0); ++i, entry += kGetterSize)
    if (same(reinterpret_cast<const char*>(pointer(entry, 0)), name)) return true;
  return false;
}

}  // namespace

Address loaded_modules(const Python& python) {
  Address modules = python.field(python.interpreter, python.offsets->interp_modules);
  return modules && is_dict(modules) ? modules : 0;
}

// `fields` is "name@offset ..."; a '-' before the name makes it INTERNAL, a '+' a dict that is
// a namespace.
uint32_t Types::parse(const char* fields, Field* found, uint32_t room) {
  uint32_t count = 0;
  for (const char* p = fields; *p && count < room;) {
    Field field{0, 0, LOWTIDE_EDGE_ATTRIBUTE, false};
    if (*p == '-' || *p == '+') field.kind = LOWTIDE_EDGE_INTERNAL;
    field.namespace_dict = *p == '+';
    if (*p == '-' || *p == '+') ++p;
    const char* name = p;
    while (*p != '@') ++p;
    field.name = names_->intern(name, static_cast<size_t>(p - name));
    for (++p; *p >= '0' && *p <= '9'; ++p) field.offset = field.offset * 10 + (*p - '0');
    if (*p == ' ') ++p;
    found[count++] = field;
  }
  return count;
}

void Types::know(const char* symbol, Family family, bool whole, const char* fields) {
  Address type = reinterpret_cast<Address>(copy_->find<char>(symbol));
  if (!type || known_count_ == sizeof known_ / sizeof known_[0]) return;
  Field found[24];
  uint32_t count = parse(fields, found, 24);
  auto* kept = static_cast<Field*>(copy_->arena.take(sizeof(Field) * (count + 1)));
  if (!kept) return;
  memcpy(kept, found, sizeof(Field) * count);
  known_[known_count_++] = {type, family, whole, kept, count};
}

void Types::describe_known() {
  const Offsets& o = *python_->offsets;
  know("PyList_Type", Family::List, true, "");
  know("PyTuple_Type", Family::Tuple, true, "");
  know("PyDict_Type", Family::Dict, true, "");
  know("PyODict_Type", Family::OrderedDict, true, "");
  know("PySet_Type", Family::Set, true, "");
  know("PyFrozenSet_Type", Family::Set, true, "");
  know("PyUnicode_Type", Family::Str, true, "");
  know("PyBytes_Type", Family::Leaf, true, "");
  know("PyLong_Type", Family::Long, true, "");
  know("PyFloat_Type", Family::Leaf, true, "");
  know("PyComplex_Type", Family::Leaf, true, "");
  know("PyByteArray_Type", Family::ByteArray, true, "");
  know("PyCode_Type", Family::Code, true, "");
  know("PyType_Type", Family::Type, true, "");
  know("PyFrame_Type", Family::Frame, true, "");
  know("PyGen_Type", Family::Generator, true, "");
  know("PyCoro_Type", Family::Generator, true, "");
  know("PyAsyncGen_Type", Family::Generator, true, "");
  know("_PyWeakref_RefType", Family::Weakref, true, "");
  know("_PyWeakref_ProxyType", Family::Weakref, true, "");
  know("_PyWeakref_CallableProxyType", Family::Weakref, true, "");
  know("PyFunction_Type", Family::Function, true, "");
  know("PyModule_Type", Family::Module, false, "");
  know("PyCFunction_Type", Family::BuiltinFunction, true, "__self__@24 -__module__@32");
  know("PyCMethod_Type", Family::BuiltinFunction, true,
       "__self__@24 -__module__@32 -defining_class@56");
  know("PyCell_Type", Family::Generic, true, "-cell_contents@16");
  know("PyMethod_Type", Family::Generic, true, "__func__@16 __self__@24");
  know("PyInstanceMethod_Type", Family::Generic, true, "__func__@16");
  know("PyStaticMethod_Type", Family::Generic, true, "__func__@16");
  know("PyClassMethod_Type", Family::Generic, true, "__func__@16");
  know("PyProperty_Type", Family::Generic, false, "fget@16 fset@24 fdel@32 -__doc__@40");
  know("PyTraceBack_Type", Family::Generic, true, "tb_next@16 tb_frame@24");
  know("PyDictProxy_Type", Family::Generic, true, "-mapping@16");
  know("PySlice_Type", Family::Generic, true, "start@16 stop@24 step@32");
  know("PyRange_Type", Family::Generic, true, "start@16 stop@24 step@32 -length@40");
  know("PyListIter_Type", Family::Generic, true, "-sequence@24");
  know("PyListRevIter_Type", Family::Generic, true, "-sequence@24");
  know("PyTupleIter_Type", Family::Generic, true, "-sequence@24");
  know("PySeqIter_Type", Family::Generic, true, "-sequence@24");
  know("PyCallIter_Type", Family::Generic, true, "-callable@16 -sentinel@24");
  know("PyDictIterKey_Type", Family::Generic, false, "-dict@16");
  know("PyDictIterValue_Type", Family::Generic, false, "-dict@16");
  know("PyDictIterItem_Type", Family::Generic, false, "-dict@16");
  know("PyDictKeys_Type", Family::Generic, true, "-mapping@16");
  know("PyDictValues_Type", Family::Generic, true, "-mapping@16");
  know("PyDictItems_Type", Family::Generic, true, "-mapping@16");
  know("PyEnum_Type", Family::Generic, false, "-iterator@24");
  know("PySuper_Type", Family::Generic, true, "__thisclass__@16 __self__@24 __self_class__@32");
  know("PyMemberDescr_Type", Family::Generic, true,
       "-__objclass__@16 -__name__@24 -__qualname__@32");
  know("PyGetSetDescr_Type", Family::Generic, true,
       "-__objclass__@16 -__name__@24 -__qualname__@32");
  know("PyMethodDescr_Type", Family::Generic, true,
       "-__objclass__@16 -__name__@24 -__qualname__@32");
  know("PyClassMethodDescr_Type", Family::Generic, true,
       "-__objclass__@16 -__name__@24 -__qualname__@32");
  know("PyWrapperDescr_Type", Family::Generic, true,
       "-__objclass__@16 -__name__@24 -__qualname__@32");
  know("_PyMethodWrapper_Type", Family::Generic, true, "-descriptor@16 __self__@24");
  know("_PyManagedBuffer_Type", Family::Generic, true, "-object@40");
  know("PyMemoryView_Type", Family::Generic, true, "-buffer@24");
  know("PyContext_Type", Family::Generic, true, "-previous@16 -vars@24");
  know("PyContextVar_Type", Family::Generic, true, "name@16 default@24");
  know("PyContextToken_Type", Family::Generic, true, "-context@16 var@24 old_value@32");
  know("PyModuleDef_Type", Family::Leaf, true, "");
  know("PyEllipsis_Type", Family::Leaf, true, "");

  Line exception;
  exception.add("args@").add(o.exception_args).add(" __traceback__@").add(o.exception_traceback);
  exception.add(" __context__@").add(o.exception_context).add(" __cause__@").add(o.exception_cause);
  if (o.exception_notes >= 0) exception.add(" __notes__@").add(o.exception_notes);
  if (auto* base = copy_->find<Address>("PyExc_BaseException"); base && known_count_ < 96) {
    // The type itself is static in the interpreter; only the pointer to it is exported.
    know("PyExc_BaseException", Family::Exception, true, exception.sentence());
    known_[known_count_ - 1].type = *base;
  }
}

const Types::Known* Types::known_type(Address type) const {
  for (size_t i = 0; i < known_count_; ++i)
    if (known_[i].type == type) return &known_[i];
  return nullptr;
}

bool Types::open(lowtide_copy* copy, const Python* python, Names* names, const char* wanted) {
  wanted_ = wanted;
  copy_ = copy;
  python_ = python;
  names_ = names;
  slot_count_ = kFirstSlots;
  slots_ = static_cast<TypeInfo**>(copy->arena.map(slot_count_ * sizeof(TypeInfo*)));
  order_ = static_cast<TypeInfo**>(copy->arena.map(slot_count_ * sizeof(TypeInfo*)));
  if (!slots_ || !order_) return false;
  describe_known();
  modules_ = loaded_modules(*python);

  // The traverse function that every class made in Python shares has no symbol: importlib's are
  // such classes.
  Address sys = python->field(python->interpreter, python->offsets->interp_sysdict);
  if (Address spec = dict_find(*python, sys, "__spec__"))
    if (flags_of_type(type_of(spec)) & type_flag::kHeapType)
      subtype_traverse_ = pointer(type_of(spec), type_field::kTraverse);

  Address os = modules_ ? dict_find(*python, modules_, "os") : 0;
  Address file = os ? dict_find(*python, pointer(os, kObjectSize), "__file__") : 0;
  if (file && is_str(file)) {
    library_size_ = to_utf8(text_of(*python, file), library_, sizeof library_ - 1);
    while (library_size_ && library_[library_size_ - 1] != '/') --library_size_;
  }
  return true;
}

const TypeInfo* Types::find(Address type) const {
  size_t i = (type >> 4) * 0x9e3779b97f4a7c15ull >> 32 & (slot_count_ - 1);
  for (; slots_[i]; i = (i + 1) & (slot_count_ - 1))
    if (slots_[i]->type == type) return slots_[i];
  return nullptr;
}

TypeInfo* Types::add(Address type) {
  if (count_ + 1 > slot_count_ / 2) {
    size_t larger = slot_count_ * 2;
    auto** slots = static_cast<TypeInfo**>(copy_->arena.map(larger * sizeof(TypeInfo*)));
    auto** order = static_cast<TypeInfo**>(copy_->arena.map(larger * sizeof(TypeInfo*)));
    if (!slots || !order) return nullptr;
    memcpy(order, order_, count_ * sizeof(TypeInfo*));
    copy_->arena.release(order_, slot_count_ * sizeof(TypeInfo*));
    order_ = order;
    for (size_t i = 0; i < slot_count_; ++i) {
      if (!slots_[i]) continue;
      size_t j = (slots_[i]->type >> 4) * 0x9e3779b97f4a7c15ull >> 32 & (larger - 1);
      while (slots[j]) j = (j + 1) & (larger - 1);
      slots[j] = slots_[i];
    }
    copy_->arena.release(slots_, slot_count_ * sizeof(TypeInfo*));
    slots_ = slots;
    slot_count_ = larger;
  }
  auto* info = static_cast<TypeInfo*>(copy_->arena.take(sizeof(TypeInfo)));
  if (!info) return nullptr;
  *info = TypeInfo{};
  info->type = type;
  size_t i = (type >> 4) * 0x9e3779b97f4a7c15ull >> 32 & (slot_count_ - 1);
  while (slots_[i]) i = (i + 1) & (slot_count_ - 1);
  slots_[i] = info;
  order_[count_++] = info;
  if (type < lowest_) lowest_ = type;
  if (type > highest_) highest_ = type;
  return info;
}

void Types::family_by_name(TypeInfo* info, Address type, const char* name) {
  for (const ByName& entry : kByName) {
    if (!same(name, entry.name)) continue;
    if (number(type, type_field::kBasicSize) < entry.basic_size) continue;
    info->family = entry.family;
    info->base_basic = static_cast<uint64_t>(number(type, type_field::kBasicSize));
    if (entry.family == Family::Deque || entry.family == Family::LruCache ||
        entry.family == Family::Element)
      info->traverse = nullptr;
    return;
  }
  // A node of torch's autograd graph: one static class for each operation.
  if (number(type, type_field::kBasicSize) >= 32 && has_getter(type, "next_functions")) {
    info->family = Family::Tensor;
    return;
  }
  if (same(name, "hamt_bitmap_node")) {
    info->family = Family::HamtBitmap;
    info->traverse = nullptr;
  }
}

// Every object pointer that tp_members describes, in the type and its bases, and what is known
// of the base's layout.
void Types::collect_fields(TypeInfo* info, Address type, const Known* known) {
  Field found[64];
  uint32_t count = 0;
  if (known)
    for (uint32_t i = 0; i < known->count && count < 64; ++i) found[count++] = known->fields[i];
  Address stop = known ? known->type : 0;
  for (int depth = 0; type && type != stop && depth < kDeepest; ++depth) {
    Address member = pointer(type, type_field::kMembers);
    for (uint32_t i = 0; member && i < kMostFields && count < 64; ++i, member += kMemberSize) {
      Address name = pointer(member, 0);
      if (!name) break;
      int kind = at<int>(member, kMemberType);
      if (kind != kObjectMember && kind != kObjectExMember) continue;
      if (at<int>(member, kMemberFlags) & kRelativeMember) continue;
      int64_t offset = number(member, kMemberOffset);
      if (offset < kObjectSize || offset + 8 > number(type, type_field::kBasicSize)) continue;
      bool twice = false;
      for (uint32_t j = 0; j < count; ++j) twice = twice || found[j].offset == offset;
      if (twice || offset == info->dict_offset) continue;
      const char* text = reinterpret_cast<const char*>(name);
      found[count++] = {static_cast<int32_t>(offset), names_->intern(text, strnlen(text, 200)),
                        LOWTIDE_EDGE_ATTRIBUTE, false};
    }
    type = pointer(type, type_field::kBase);
  }
  if (count == 0) return;
  auto* kept = static_cast<Field*>(copy_->arena.take(sizeof(Field) * count));
  if (!kept) return;
  memcpy(kept, found, sizeof(Field) * count);
  info->fields = kept;
  info->field_count = count;
}

// The first of the type and its bases that stdlib_fields.cc describes.
void Types::collect_hints(TypeInfo* info, Address type) {
  for (int depth = 0; type && depth < kDeepest; ++depth) {
    const char* name = reinterpret_cast<const char*>(pointer(type, type_field::kName));
    if (const char* fields = stdlib_fields(name, python_->minor)) {
      Field found[kMostHints];
      uint32_t count = parse(fields, found, kMostHints);
      auto* kept = static_cast<Field*>(copy_->arena.take(sizeof(Field) * count));
      if (!kept) return;
      memcpy(kept, found, sizeof(Field) * count);
      info->hints = kept;
      info->hint_count = count;
      return;
    }
    type = pointer(type, type_field::kBase);
  }
}

void Types::set_fields(TypeInfo* info, std::initializer_list<Field> fields) {
  auto* kept = static_cast<Field*>(copy_->arena.take(sizeof(Field) * fields.size()));
  if (!kept) return;
  memcpy(kept, fields.begin(), sizeof(Field) * fields.size());
  info->fields = kept;
  info->field_count = static_cast<uint32_t>(fields.size());
  info->traverse = nullptr;
}

Address Types::module_name(Address type, const char*) {
  if (!(flags_of_type(type) & type_flag::kHeapType)) return 0;
  Address module = dict_find(*python_, type_dict(*python_, type), "__module__");
  return module && is_str(module) ? module : 0;
}

// Is a module someone's own: installed beside or outside the standard library?
bool Types::from_outside(Address module_name_str) {
  Line name;
  name.add(*python_, module_name_str);
  const char* text = name.sentence();
  if (same(text, "__main__")) return true;
  Address module = modules_ ? dict_find(*python_, modules_, text) : 0;
  if (!module) return false;
  Address file = 0;
  if (const TypeInfo* info = this->info(type_of(module)); info && info->family == Family::Module)
    file = dict_find(*python_, pointer(module, kObjectSize), "__file__");
  if (!file || !is_str(file)) return false;
  char path[512];
  size_t size = to_utf8(text_of(*python_, file), path, sizeof path - 1);
  path[size] = 0;
  if (strstr(path, "/site-packages/") || strstr(path, "/dist-packages/")) return true;
  return library_size_ == 0 || size < library_size_ || memcmp(path, library_, library_size_) != 0;
}

const TypeInfo* Types::info(Address type) {
  if (const TypeInfo* found = find(type)) return found;
  if (type % 8 || !copy_->readable(type, static_cast<size_t>(python_->offsets->type_size)))
    return nullptr;
  Address metatype = type_of(type);
  if (!copy_->readable(metatype, static_cast<size_t>(python_->offsets->type_size)) ||
      !(flags_of_type(metatype) & type_flag::kType))
    return nullptr;
  Address tp_name = pointer(type, type_field::kName);
  if (!copy_->readable(tp_name, 1)) return nullptr;
  TypeInfo* info = add(type);
  if (!info) return nullptr;

  const Offsets& o = *python_->offsets;
  const char* full_name = reinterpret_cast<const char*>(tp_name);
  uint64_t flags = flags_of_type(type);
  info->heap = flags & type_flag::kHeapType;
  info->collectable = flags & type_flag::kCollectable;
  info->is_collectable = pointer(type, type_field::kIsGc);
  info->managed_dict = python_->minor >= 11 && (flags & type_flag::kManagedDict);
  info->inline_values = python_->minor >= 13 && (flags & type_flag::kInlineValues);
  bool managed =
      info->managed_dict || (python_->minor >= 12 && (flags & type_flag::kManagedWeakref));
  info->pre_header =
      static_cast<int16_t>((info->collectable ? kGcHeaderSize : 0) + (managed ? 16 : 0));
  info->basic_size = number(type, type_field::kBasicSize);
  info->item_size = number(type, type_field::kItemSize);
  int64_t dict_offset = number(type, type_field::kDictOffset);
  info->dict_offset = info->managed_dict ? 0 : static_cast<int32_t>(dict_offset);

  // What C code of the type may hold, seen through the classes made in Python on top of it.
  Address solid = type;
  for (int depth = 0; depth < kDeepest; ++depth) {
    if (pointer(solid, type_field::kTraverse) != subtype_traverse_ || !subtype_traverse_) break;
    Address base = pointer(solid, type_field::kBase);
    if (!base) break;
    solid = base;
  }
  info->traverse = reinterpret_cast<Traverse>(pointer(solid, type_field::kTraverse));

  const Known* known = nullptr;
  Address ancestor = type;
  for (int depth = 0; ancestor && depth < kDeepest; ++depth) {
    if ((known = known_type(ancestor)) != nullptr) break;
    family_by_name(info, ancestor,
                   reinterpret_cast<const char*>(pointer(ancestor, type_field::kName)));
    if (info->family != Family::Generic) break;
    ancestor = pointer(ancestor, type_field::kBase);
  }
  if (known) {
    info->family = known->family;
    info->base_basic = static_cast<uint64_t>(number(known->type, type_field::kBasicSize));
    bool only_that =
        pointer(solid, type_field::kTraverse) == pointer(known->type, type_field::kTraverse);
    if (known->whole && only_that) info->traverse = nullptr;
    // A C type that extends a container with fields of its own: `traverse` gives its items too.
    bool container = known->family >= Family::List && known->family <= Family::Set;
    if (container && info->traverse && !only_that) info->family = Family::Generic;
  }
  if (same(full_name, "collections.defaultdict") && known) {
    info->family = Family::Dict;
    info->traverse = nullptr;
  }
  collect_fields(info, type, known);
  collect_hints(info, type);
  if (same(full_name, "functools._lru_list_elem"))
    set_fields(info, {{24, names_->intern("next"), LOWTIDE_EDGE_INTERNAL, false},
                      {40, names_->intern("key"), LOWTIDE_EDGE_INTERNAL, false},
                      {48, names_->intern("result"), LOWTIDE_EDGE_ATTRIBUTE, false}});
  if (same(full_name, "managedbuffer"))
    set_fields(info, {{40, names_->intern("object"), LOWTIDE_EDGE_INTERNAL, false}});

  Address module = module_name(type, full_name);
  Line name;
  if (info->heap) {
    if (module) name.add(*python_, module, 120).add(".");
    Address qualname = pointer(type, o.heap_type_qualname);
    if (qualname && is_str(qualname))
      name.add(*python_, qualname);
    else
      name.add(full_name, strnlen(full_name, 200));
    if (module) info->user = from_outside(module);
  } else {
    size_t length = strnlen(full_name, 200);
    size_t dot = length;
    while (dot && full_name[dot - 1] != '.') --dot;
    if (!dot) name.add("builtins.");
    name.add(full_name, length);
    if (dot > 1) {
      Address found = 0;
      char package[200];
      memcpy(package, full_name, dot - 1);
      package[dot - 1] = 0;
      if (modules_) found = dict_find(*python_, modules_, package);
      if (found) {
        Address dict = pointer(found, kObjectSize);
        Address its_name = dict && is_dict(dict) ? dict_find(*python_, dict, "__name__") : 0;
        if (its_name && is_str(its_name)) info->user = from_outside(its_name);
      }
    }
  }
  info->name = names_->intern(name);
  if (wanted_) {
    const char* whole = name.sentence();
    const char* last = strrchr(whole, '.');
    info->wanted = same(whole, wanted_) || (last && same(last + 1, wanted_));
    if (!strncmp(whole, "builtins.", 9)) info->wanted = info->wanted || same(whole + 9, wanted_);
  }
  info->finalizer = pointer(type, type_field::kDel) != 0;
  if (info->heap && !info->finalizer && pointer(type, type_field::kFinalize)) {
    for (Address t = type; t && !info->finalizer; t = pointer(t, type_field::kBase))
      info->finalizer = (flags_of_type(t) & type_flag::kHeapType) &&
                        dict_find(*python_, type_dict(*python_, t), "__del__") != 0;
  }
  return info;
}

}  // namespace lowtide::probe::cpython

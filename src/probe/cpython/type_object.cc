// SPDX-License-Identifier: Apache-2.0
// Classes: those made at run time, and the interpreter's and extensions' static ones, whose
// tp_traverse shows nothing.
#include "probe/cpython/walk.h"

namespace lowtide::probe::cpython {

void read_type(Walk& walk, Address type, const TypeInfo&) {
  const Offsets& o = *walk.python.offsets;
  constexpr uint8_t kInternal = LOWTIDE_EDGE_INTERNAL;
  bool heap = flags_of_type(type) & type_flag::kHeapType;
  if (!heap) {
    walk.facts.flags |= LOWTIDE_NODE_STATIC;
    walk.facts.flags &= ~static_cast<uint32_t>(LOWTIDE_NODE_COLLECTABLE);
  }
  if (const TypeInfo* its = walk.types.info(type)) walk.facts.label = its->name;

  Address state = static_type_state(walk.python, type);
  Address dict = type_dict(walk.python, type);
  walk.edge(kInternal, walk.word(Word::DictName), dict, Place::Namespace);
  Address subclasses =
      state ? pointer(state, o.static_type_dict + 8) : pointer(type, type_field::kSubclasses);
  // For a builtin type whose state could not be found this is a number.
  if (subclasses > 4096) walk.edge(kInternal, walk.names.intern("__subclasses__"), subclasses);
  walk.edge(kInternal, walk.names.intern("__base__"), pointer(type, type_field::kBase));
  walk.edge(kInternal, walk.names.intern("__bases__"), pointer(type, type_field::kBases));
  walk.edge(kInternal, walk.names.intern("__mro__"), pointer(type, type_field::kMro));
  Address cache = pointer(type, type_field::kCache);
  if (cache) walk.edge(kInternal, walk.names.intern("tp_cache"), cache);
  if (!heap) return;
  walk.edge(kInternal, walk.word(Word::NameName), pointer(type, o.heap_type_name));
  walk.edge(kInternal, walk.word(Word::QualName), pointer(type, o.heap_type_qualname));
  walk.edge(kInternal, walk.names.intern("__slots__"), pointer(type, o.heap_type_slots));
  if (o.heap_type_module >= 0)
    walk.edge(kInternal, walk.names.intern("module"), pointer(type, o.heap_type_module));
  if (Address keys = pointer(type, o.heap_type_cached_keys)) {
    DictEntries entries = keys_entries(walk.python, keys);
    for (size_t i = 0; i < entries.count; ++i)
      walk.edge(LOWTIDE_EDGE_KEY_OBJECT, 0, entries.key(i));
  }
}

}  // namespace lowtide::probe::cpython

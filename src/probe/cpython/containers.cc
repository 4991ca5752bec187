// SPDX-License-Identifier: Apache-2.0
// Objects that hold others by position or key: list, tuple, dict, set, deque, weak references.
#include "probe/cpython/walk.h"

namespace lowtide::probe::cpython {

namespace {

inline constexpr int kListItems = 24, kListAllocated = 32;
inline constexpr int kSetMask = 32, kSetTable = 40;
inline constexpr int kWeakReferent = 16, kWeakCallback = 24;
inline constexpr int kDequeLeft = 24, kDequeLeftIndex = 40;
inline constexpr int64_t kDequeBlock = 64;  // items; one link before and one after
inline constexpr int kLinkNext = 24;
inline constexpr int kLruCache = 72, kLruFunction = 88, kLruInfoType = 112;
inline constexpr int kHamtItems = 32;

inline constexpr size_t kLongestName = 40;
// Keys of dicts that are no namespaces are data, perhaps one for each request: after so
// many different ones the rest stay nameless.
inline constexpr uint32_t kMostNames = 1 << 18;

bool looks_like_a_name(const Text& text) {
  if (!text.ascii || text.length == 0 || text.length > kLongestName) return false;
  for (size_t i = 0; i < text.length; ++i) {
    uint8_t c = text.data[i];
    bool letter = c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!letter && (i == 0 || c < '0' || c > '9')) return false;
  }
  return true;
}

uint32_t key_name(Walk& walk, Address key, bool namespace_dict) {
  if (!is_str(key)) return 0;
  if (namespace_dict) return walk.names.intern(walk.python, key);
  if (walk.names.count() > kMostNames) return 0;
  if (!(walk.copy.ask.flags & LOWTIDE_ASK_CONTENTS) &&
      !looks_like_a_name(text_of(walk.python, key)))
    return 0;
  return walk.names.intern(walk.python, key, kLongestName);
}

void read_dict(Walk& walk, Address dict, bool ordered) {
  DictEntries entries = dict_entries(walk.python, dict);
  bool namespace_dict = walk.facts.flags & LOWTIDE_NODE_NAMESPACE;
  bool split = entries.values != 0;
  if (!entries.owns_values) return;
  for (size_t i = 0; i < entries.count; ++i) {
    Address value = entries.value(i);
    if (!value) continue;
    Address key = entries.key(i);
    if (!key) continue;
    walk.edge(LOWTIDE_EDGE_KEY, key_name(walk, key, namespace_dict), value);
    // A shared table of keys belongs to the class.
    if (split) continue;
    walk.edge(LOWTIDE_EDGE_KEY_OBJECT, 0, key);
    if (ordered) walk.edge(LOWTIDE_EDGE_KEY_OBJECT, 0, key);  // its list of keys
  }
}

void read_set(Walk& walk, Address set) {
  int64_t mask = number(set, kSetMask);
  Address table = pointer(set, kSetTable);
  if (mask < 0 || mask > int64_t{1} << 40) return;
  for (int64_t i = 0; i <= mask; ++i, table += 16)
    if (number(table, 8) != -1) walk.edge(LOWTIDE_EDGE_KEY_OBJECT, 0, pointer(table, 0));
}

void read_deque(Walk& walk, Address deque) {
  Address block = pointer(deque, kDequeLeft);
  int64_t index = number(deque, kDequeLeftIndex), size = var_size(deque);
  if (index < 0 || index >= kDequeBlock) return;
  for (int64_t i = 0; i < size; ++i) {
    walk.edge(LOWTIDE_EDGE_ITEM, static_cast<uint32_t>(i), pointer(block, 8 + index * 8));
    if (++index < kDequeBlock) continue;
    index = 0;
    block = pointer(block, 8 + kDequeBlock * 8);
    if (!block) return;
  }
}

// functools.lru_cache. The cache reads as `cache`: dict -> link -> result; the ring of links,
// which also counts as a reference to each, is a chain behind the wrapper.
void read_lru_cache(Walk& walk, Address wrapper, const TypeInfo& info) {
  walk.edge(LOWTIDE_EDGE_INTERNAL, walk.names.intern("cache"), pointer(wrapper, kLruCache));
  walk.edge(LOWTIDE_EDGE_ATTRIBUTE, walk.names.intern("__wrapped__"),
            pointer(wrapper, kLruFunction));
  for (int64_t at = kLruInfoType; at < info.dict_offset; at += 8)
    walk.edge(LOWTIDE_EDGE_INTERNAL, 0, pointer(wrapper, at));
  Address first = pointer(wrapper, kLinkNext);
  if (first && first != wrapper)
    walk.edge(LOWTIDE_EDGE_INTERNAL, walk.names.intern("links"), first);
}

// Part of a context's map: pairs of variable and value, or nothing and a deeper part.
void read_hamt_bitmap(Walk& walk, Address node) {
  int64_t size = var_size(node);
  if (size < 0 || size > 64) return;
  for (int64_t i = 0; i + 1 < size; i += 2) {
    Address key = pointer(node, kHamtItems + i * 8);
    Address value = pointer(node, kHamtItems + i * 8 + 8);
    uint32_t name = 0;
    if (key) {
      Address text = pointer(key, walk.python.offsets->contextvar_name);
      if (text && walk.plausible(text)) name = walk.names.intern(walk.python, text);
      walk.edge(LOWTIDE_EDGE_KEY_OBJECT, 0, key);
    }
    walk.edge(key ? LOWTIDE_EDGE_KEY : LOWTIDE_EDGE_INTERNAL, name, value);
  }
}

}  // namespace

void read_container(Walk& walk, Address object, const TypeInfo& info) {
  switch (info.family) {
    case Family::List: {
      Address items = pointer(object, kListItems);
      int64_t size = var_size(object), allocated = number(object, kListAllocated);
      if (size < 0 || size > allocated) return;
      walk.pools.note(items, static_cast<uint64_t>(allocated) * 8);
      for (int64_t i = 0; i < size; ++i)
        walk.edge(LOWTIDE_EDGE_ITEM, static_cast<uint32_t>(i), pointer(items, i * 8));
      return;
    }
    case Family::Tuple: {
      int64_t size = var_size(object);
      for (int64_t i = 0; i < size; ++i)
        walk.edge(LOWTIDE_EDGE_ITEM, static_cast<uint32_t>(i),
                  pointer(object, walk.python.tuple_items + i * 8));
      return;
    }
    case Family::Dict:
      return read_dict(walk, object, false);
    case Family::OrderedDict:
      return read_dict(walk, object, true);
    case Family::Set:
      return read_set(walk, object);
    case Family::Deque:
      return read_deque(walk, object);
    case Family::LruCache:
      return read_lru_cache(walk, object, info);
    case Family::HamtBitmap:
      return read_hamt_bitmap(walk, object);
    case Family::Weakref: {
      Address referent = pointer(object, kWeakReferent);
      if (referent != walk.python.none)
        walk.edge(LOWTIDE_EDGE_WEAK, walk.word(Word::Referent), referent);
      walk.internal(Word::Callback, pointer(object, kWeakCallback));
      return;
    }
    case Family::Str:
      if (walk.copy.ask.flags & LOWTIDE_ASK_CONTENTS && walk.names.count() < kMostNames)
        walk.facts.label = walk.names.intern(walk.python, object, kLongestName);
      return;
    default:
      return;
  }
}

}  // namespace lowtide::probe::cpython

// SPDX-License-Identifier: Apache-2.0
// C types of the standard library that keep references or memory in blocks of their own.
#include "probe/cpython/walk.h"

namespace lowtide::probe::cpython {

namespace {

inline constexpr int64_t kMostChildren = int64_t{1} << 32;
inline constexpr int64_t kMostBuffer = int64_t{1} << 40;

// ElementObject: tag, text, tail, then a block that is there if the element has attributes or
// children. text and tail carry a mark in their lowest bit.
void read_element(Walk& walk, Address element) {
  static constexpr const char* kNames[] = {"tag", "text", "tail"};
  for (int i = 0; i < 3; ++i)
    walk.edge(LOWTIDE_EDGE_ATTRIBUTE, walk.names.intern(kNames[i]),
              pointer(element, kObjectSize + i * 8) & ~Address{7});
  Address extra = pointer(element, 40);
  if (!extra || !walk.copy.readable(extra, 64)) return;
  walk.edge(LOWTIDE_EDGE_ATTRIBUTE, walk.names.intern("attrib"), pointer(extra, 0));
  int64_t length = number(extra, 8), allocated = number(extra, 16);
  Address children = pointer(extra, 24), own = extra + 32;
  if (length < 0 || length > allocated || allocated > kMostChildren) return;
  if (!walk.copy.readable(children, static_cast<size_t>(length) * 8)) return;
  walk.facts.native += 64;
  walk.pools.note(extra, 64);
  if (children != own) {
    walk.facts.native += static_cast<uint64_t>(allocated) * 8;
    walk.pools.note(children, static_cast<uint64_t>(allocated) * 8);
  }
  for (int64_t i = 0; i < length; ++i)
    walk.edge(LOWTIDE_EDGE_ITEM, static_cast<uint32_t>(i), pointer(children, i * 8));
}

// Whether tp_traverse shows this one.
bool shows(const TypeInfo& info, Address object, Address target) {
  if (!info.traverse) return false;
  struct Search {
    Address target;
    bool found;
  } search{target, false};
  auto visit = [](void* seen, void* argument) {
    auto& it = *static_cast<Search*>(argument);
    it.found = it.found || reinterpret_cast<Address>(seen) == it.target;
    return 0;
  };
  info.traverse(object, visit, &search);
  return search.found;
}

// PicklerObject's table of what it has pickled, which holds each. The collector is told of it since
// some release of 3.11.
void read_pickler(Walk& walk, Address pickler, const TypeInfo& info) {
  Address table = pointer(pickler, 16);
  if (!table || !walk.copy.readable(table, 32)) return;
  int64_t allocated = number(table, 16);
  Address entries = pointer(table, 24);
  if (allocated < 0 || allocated > kMostChildren ||
      !walk.copy.readable(entries, static_cast<size_t>(allocated) * 16))
    return;
  walk.facts.native += 32 + static_cast<uint64_t>(allocated) * 16;
  bool first = true;
  for (int64_t i = 0; i < allocated; ++i) {
    Address remembered = pointer(entries, i * 16);
    if (!remembered) continue;
    if (first && shows(info, pickler, remembered)) return;
    first = false;
    walk.internal(Word::Memo, remembered);
  }
}

// The buffer of BufferedReader and its kin: a block of `buffer_size`, with the mask beside it
// when that is a power of two.
void read_buffered(Walk& walk, Address object) {
  Address buffer = pointer(object, 56);
  int64_t size = number(object, 120), mask = number(object, 128);
  if (!buffer || size <= 0 || size > kMostBuffer) return;
  bool power = (size & (size - 1)) == 0;
  if (mask != (power ? size - 1 : 0)) return;
  walk.facts.native += static_cast<uint64_t>(size);
}

}  // namespace

void read_stdlib(Walk& walk, Address object, const TypeInfo& info) {
  switch (info.family) {
    case Family::Element:
      return read_element(walk, object);
    case Family::Pickler:
      return read_pickler(walk, object, info);
    case Family::Buffered:
      return read_buffered(walk, object);
    case Family::DateTime: {
      // The last field, and only there if a byte behind the hash says so.
      bool has_zone = at<uint8_t>(object, 24) == 1;
      Address zone = pointer(object, static_cast<ptrdiff_t>(info.base_basic) - 8);
      if (has_zone && walk.likely(zone))
        walk.edge(LOWTIDE_EDGE_ATTRIBUTE, walk.names.intern("tzinfo"), zone);
      return;
    }
    default:
      return;
  }
}

}  // namespace lowtide::probe::cpython

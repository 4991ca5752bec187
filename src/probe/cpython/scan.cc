// SPDX-License-Identifier: Apache-2.0
// Objects no reader leads to.
//
// First the variables of C: the data of each loaded module is searched for pointers to objects
// that nothing else reached; those become roots. Then memory itself: sixteen bytes that read as a
// count and the address of a known type may be an object that was lost: its owner forgot to
// release it, or keeps it where nobody looks.
#include "probe/cpython/segments.h"
#include "probe/cpython/walk.h"

namespace lowtide::probe::cpython {

namespace {

inline constexpr size_t kPage = 4096;
inline constexpr int kMostSegments = 4;
// What was lost was held by few; a larger number is data that looks like a count.
inline constexpr uint64_t kMostReferences = 1 << 16;

bool count_fits(const Python& python, Address object) {
  uint64_t count = at<uint64_t>(object, 0);
  if (python.minor < 12) return count - 1 < kMostReferences;
  if (python.minor < 14 && count >> 32) return false;
  uint32_t low = static_cast<uint32_t>(count);
  return low && low < kMostReferences;  // immortal objects cannot be lost
}

const char* file_name(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

// Static data holds what looks like an object and is none: a slot's number before a type's address.
bool allocated(const Walk& walk, Address object) {
  if (object >= walk.static_begin && object < walk.static_end) return false;
  const Range* range = walk.range_of(object);
  if (!range) return walk.copy.range_count == 0;
  return !range->name[0] || strcmp(range->name, "[heap]") == 0;
}

void scan_words(Walk& walk, Address begin, Address end, const char* whose) {
  uint32_t name = 0;
  for (Address at_word = begin; at_word + 8 <= end; at_word += 8) {
    Address object = pointer(at_word, 0);
    if (object < 4096 || object % 8 || walk.table.find(object)) continue;
    if (!walk.plausible(object) || !allocated(walk, object)) continue;
    if (!name) {
      Line line;
      line.add("C variable of ").add(whose);
      name = walk.names.intern(line);
    }
    walk.root(LOWTIDE_ROOT_RUNTIME, name, object);
  }
}

// A page may be missing behind the end of a file that was cut: that costs this segment only.
void scan_segment(Walk& walk, const Segment& segment, const char* whose) {
  struct Scanning {
    Walk* walk;
    const Segment* segment;
    const char* whose;
  } scanning{&walk, &segment, whose};
  auto body = [](void* argument) {
    auto& it = *static_cast<Scanning*>(argument);
    scan_words(*it.walk, it.segment->begin, it.segment->end, it.whose);
  };
  walk.copy.guarded(body, &scanning);
}

// What the scan found and whether something else it found refers to it: bit 0.
class Candidates {
 public:
  explicit Candidates(Arena* arena) : arena_(arena) {}
  bool add(Address object) {
    if ((count_ + 1) * 2 > slot_count_ && !grow()) return false;
    slots_[slot(object)] = object;
    ++count_;
    return true;
  }
  void refer(Address object) {
    if (count_ == 0) return;
    size_t i = slot(object);
    if (slots_[i]) slots_[i] |= 1;
  }
  size_t slot_count() const { return slot_count_; }
  Address at_slot(size_t i) const { return slots_[i]; }
  size_t count() const { return count_; }

 private:
  size_t slot(Address object) const {
    size_t i = (object >> 4) * 0x9e3779b97f4a7c15ull >> 24 & (slot_count_ - 1);
    while (slots_[i] && (slots_[i] & ~Address{1}) != object) i = (i + 1) & (slot_count_ - 1);
    return i;
  }
  bool grow() {
    size_t old_count = slot_count_;
    Address* old = slots_;
    slot_count_ = old_count ? old_count * 2 : 1 << 12;
    slots_ = static_cast<Address*>(arena_->map(slot_count_ * sizeof(Address)));
    if (!slots_) {
      slots_ = old;
      slot_count_ = old_count;
      return false;
    }
    for (size_t i = 0; i < old_count; ++i)
      if (old[i]) slots_[slot(old[i] & ~Address{1})] = old[i];
    if (old) arena_->release(old, old_count * sizeof(Address));
    return true;
  }

  Arena* arena_;
  Address* slots_ = nullptr;
  size_t slot_count_ = 0, count_ = 0;
};

// Does a block of glibc's malloc, in use, begin here? Without this the length and first item of a
// tuple of types read as a count and a type. Under another malloc large objects are not found.
bool start_of_chunk(const Range& range, Address start, uint64_t bytes) {
  if (start % 16 || start < range.begin + 16) return false;
  uint64_t header = at<uint64_t>(start, -8), size = header & ~uint64_t{7};
  if (size < bytes + 8 || size % 16 || size > range.end - start + 16) return false;
  if (header & 2) return size % kPage == 0;
  Address next = start - 16 + size;
  return next + 16 > range.end || (at<uint64_t>(next, 8) & 1);
}

bool could_be_lost(Walk& walk, const Range& range, Address object) {
  const TypeInfo* info = walk.types.info(type_of(object));
  if (!info || info->family == Family::Type) return false;
  Address room = range.end - object;
  if (info->basic_size < kObjectSize || static_cast<Address>(info->basic_size) > room) return false;
  if (info->collectable) {
    // All that the collector tracks is known already; a header that says otherwise is that of
    // something freed. (A dead object's first word is a link of its allocator's.)
    if (object - kGcHeaderSize < range.begin || pointer(object, -kGcHeaderSize) != 0) return false;
  }
  if (info->item_size) {
    int64_t count = var_size(object);
    if (info->family == Family::Long) {
      if (walk.python.minor >= 12) count >>= 3;
      if (count < 0) count = -count;
    }
    if (count < 0 || count > int64_t{1} << 40) return false;
    if (static_cast<Address>(count * info->item_size) > room) return false;
  }
  if (info->family == Family::Str) {
    Text text = text_of(walk.python, object);
    if (!text.kind || text.length > int64_t{1} << 40) return false;
    if (!walk.copy.readable(reinterpret_cast<Address>(text.data), text.length)) return false;
  }
  uint64_t before = static_cast<uint64_t>(info->pre_header);
  uint64_t bytes = static_cast<uint64_t>(info->basic_size) + before;
  Address start = object - before;
  if (walk.pools.holds(start)) return walk.pools.could_start(start, bytes);
  return start_of_chunk(range, start, bytes);
}

void gather(Walk& walk, Candidates& found) {
  Address lowest = walk.types.lowest(), highest = walk.types.highest();
  for (size_t r = 0; r < walk.copy.range_count; ++r) {
    const Range& range = walk.copy.ranges[r];
    bool plain = !range.name[0] || strcmp(range.name, "[heap]") == 0;
    if (!plain || !range.writable || !range.readable) continue;
    for (Address page = range.begin; page < range.end; page += kPage) {
      if (!walk.pages.present(page)) continue;
      if (walk.copy.late()) return;
      for (Address object = page; object < page + kPage; object += 16) {
        Address type = type_of(object);
        if (type < lowest || type > highest || type % 8) continue;
        if (!count_fits(walk.python, object) || !walk.types.known(type)) continue;
        if (object >= walk.static_begin && object < walk.static_end) continue;
        if (walk.table.find(object) || !could_be_lost(walk, range, object)) continue;
        if (!found.add(object)) return;
      }
    }
  }
}

}  // namespace

void scan_static_data(Walk& walk) {
  Address interpreter = walk.python.interpreter;
  Segment own{interpreter, interpreter + static_cast<Address>(walk.python.offsets->interp_size)};
  scan_segment(walk, own, "the interpreter");
  for (size_t i = 0; i < walk.copy.range_count && !walk.copy.late(); ++i) {
    const Range& range = walk.copy.ranges[i];
    Segment segments[kMostSegments];
    int count = writable_segments(walk.copy, range, segments, kMostSegments);
    if (!count || strstr(range.name, "/ld-linux") || strstr(range.name, "liblowtide")) continue;
    const char* name = file_name(range.name);
    bool its_own =
        walk.static_begin >= segments[0].begin && walk.static_begin < segments[count - 1].end;
    for (int j = 0; j < count; ++j)
      scan_segment(walk, segments[j], its_own ? "the interpreter" : name);
  }
}

void scan_lost_objects(Walk& walk) {
  Candidates found(&walk.copy.arena);
  gather(walk, found);
  walk.mark_function = [](void* candidates, Address target) {
    static_cast<Candidates*>(candidates)->refer(target);
  };
  walk.mark_argument = &found;
  walk.marking(true);
  struct Reading {
    Walk* walk;
    Address object;
  };
  for (size_t i = 0; i < found.slot_count() && !walk.copy.late(); ++i) {
    Reading reading{&walk, found.at_slot(i) & ~Address{1}};
    if (!reading.object) continue;
    auto body = [](void* argument) {
      auto& it = *static_cast<Reading*>(argument);
      it.walk->read(it.object, Place::Object);
    };
    walk.copy.guarded(body, &reading);
  }
  walk.marking(false);

  // First those nobody refers to, and what they lead to; then what is left: rings of lost objects.
  for (int pass = 0; pass < 2; ++pass) {
    walk.scanned_begin = walk.table.count() + 1;
    for (size_t i = 0; i < found.slot_count(); ++i) {
      Address object = found.at_slot(i);
      if (object && (pass == 1 || !(object & 1)))
        walk.table.meet(object & ~Address{1}, Place::Object);
    }
    walk.scanned_end = walk.table.count() + 1;
    if (!walk.drain()) return;
  }
}

}  // namespace lowtide::probe::cpython

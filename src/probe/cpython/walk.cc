// SPDX-License-Identifier: Apache-2.0
#include "probe/cpython/walk.h"

#include "probe/cpython/segments.h"

namespace lowtide::probe::cpython {

namespace {

inline constexpr size_t kFirstEdgeRoom = 1 << 16;
inline constexpr size_t kLargestEdge = 24;  // encoded
inline constexpr uint64_t kSmallBlock = 1 << 20;

uint8_t* put_varint(uint8_t* p, uint64_t value) {
  for (; value >= 0x80; value >>= 7) *p++ = static_cast<uint8_t>(value | 0x80);
  *p++ = static_cast<uint8_t>(value);
  return p;
}

void send_hello(Walk& walk) {
  Line runtime;
  runtime.add("CPython ");
  for (const char* p = walk.copy.python_version; p && *p && *p != ' '; ++p) runtime.add(p, 1);
  Writer& out = walk.copy.out;
  out.byte('H');
  out.varint(LOWTIDE_HEAP_VERSION);
  out.varint(static_cast<uint64_t>(walk.copy.target_pid));
  out.text(runtime.data(), runtime.size());
  out.varint(0);
}

// Whether the static data of the interpreter can be told from memory that was allocated.
void find_static_data(Walk& walk) {
  Address inside = reinterpret_cast<Address>(walk.copy.find<char>("PyType_Type"));
  for (size_t i = 0; i < walk.copy.range_count; ++i) {
    Segment segments[4];
    int count = writable_segments(walk.copy, walk.copy.ranges[i], segments, 4);
    for (int j = 0; j < count; ++j) {
      if (inside < segments[j].begin || inside >= segments[j].end) continue;
      walk.static_begin = segments[j].begin;
      walk.static_end = segments[j].end;
    }
  }
}

}  // namespace

bool Walk::open() {
  int minor = copy.python_minor;
  for (const Offsets& row : kOffsets)
    if (row.minor == minor) python.offsets = &row;
  python.minor = minor;
  python.tuple_items = minor >= 14 ? 32 : 24;
  python.none = reinterpret_cast<Address>(copy.find<char>("_Py_NoneStruct"));
  code_type = reinterpret_cast<Address>(copy.find<char>("PyCode_Type"));
  generator_type = reinterpret_cast<Address>(copy.find<char>("PyGen_Type"));
  python.thread_head = copy.find<void*(void*)>("PyInterpreterState_ThreadHead");
  python.thread_next = copy.find<void*(void*)>("PyThreadState_Next");
  python.code_line = copy.find<int(void*, int)>("PyCode_Addr2Line");
  python.gc_track = copy.find<void(void*)>("PyObject_GC_Track");
  python.gc_enabled = copy.find<int()>("PyGC_IsEnabled");
  auto* current = copy.find<void*()>("PyThreadState_Get");
  if (!python.offsets || !current || !python.thread_head || !python.thread_next) return false;
  python.thread = reinterpret_cast<Address>(current());
  python.interpreter = pointer(python.thread, python.offsets->thread_interp);

  showing_ = copy.ask.kind == LOWTIDE_ASK_SHOW;
  if (showing_) {
    wanted_ = static_cast<Address*>(copy.arena.map(kMostWanted * sizeof(Address)));
    if (!wanted_) return false;
  }
  if (!table.open(&copy.arena) || !names.open(&copy.arena, showing_ ? nullptr : &copy.out) ||
      !pools.open(&copy, minor))
    return false;
  edges_room_ = kFirstEdgeRoom;
  edges_ = static_cast<uint8_t*>(copy.arena.map(edges_room_));
  if (!edges_) return false;
  send_hello(*this);
  const char* words[] = {
#define X(id, text) text,
      LOWTIDE_WORDS(X)
#undef X
  };
  for (size_t i = 0; i < sizeof words / sizeof words[0]; ++i) words_[i] = names.intern(words[i]);
  unreadable_type_ = names.intern("(unreadable)");
  find_static_data(*this);
  return types.open(&copy, &python, &names, showing_ ? copy.text : nullptr);
}

void Walk::append(uint8_t kind, uint32_t name, uint32_t id) {
  if (edges_size_ + kLargestEdge > edges_room_) {
    auto* larger = static_cast<uint8_t*>(copy.arena.map(edges_room_ * 2));
    if (!larger) return;
    memcpy(larger, edges_, edges_size_);
    copy.arena.release(edges_, edges_room_);
    edges_ = larger;
    edges_room_ *= 2;
  }
  uint8_t* p = edges_ + edges_size_;
  *p++ = kind;
  p = put_varint(p, name);
  int64_t delta = static_cast<int64_t>(id) - static_cast<int64_t>(next_);
  p = put_varint(p, (static_cast<uint64_t>(delta) << 1) ^ static_cast<uint64_t>(delta >> 63));
  edges_size_ = static_cast<size_t>(p - edges_);
  ++edge_count_;
}

void Walk::root(uint8_t kind, uint32_t name, Address target, Place place) {
  if (!target || target % 8) return;
  uint32_t id = table.meet(target, place);
  if (!id || showing_) return;
  copy.out.byte('R');
  copy.out.varint(kind);
  copy.out.varint(name);
  copy.out.varint(id);
}

int Walk::visit(void* object, void* argument) {
  auto& walk = *static_cast<Walk*>(argument);
  Address target = reinterpret_cast<Address>(object);
  for (size_t i = 0; i < walk.seen_count_; ++i) {
    if (walk.seen_[i] != target) continue;
    walk.seen_[i] = walk.seen_[--walk.seen_count_];
    return 0;
  }
  uint8_t kind = LOWTIDE_EDGE_INTERNAL;
  uint32_t name = 0;
  const TypeInfo& of = *walk.traversed_;
  for (uint32_t i = 0; i < of.hint_count; ++i) {
    const Field& hint = of.hints[i];
    if (hint.offset) {
      if (walk.hints_used_ >> i & 1 || pointer(walk.traversed_object_, hint.offset) != target)
        continue;
      walk.hints_used_ |= 1u << i;
    }
    kind = hint.kind;
    name = hint.name;
    break;
  }
  walk.tracking_ = false;
  walk.edge(kind, name, target);
  walk.tracking_ = true;
  return 0;
}

void Walk::traverse_rest(const TypeInfo& of, Address object) {
  // The interpreter ends the program when a static type is traversed.
  if (of.family == Family::Type && !(flags_of_type(object) & type_flag::kHeapType)) return;
  traversed_ = &of;
  traversed_object_ = object;
  hints_used_ = 0;
  if (of.traverse) of.traverse(object, &Walk::visit, this);
}

bool Walk::counted(Address object) {
  if (!object || object % 8 || !copy.readable(object, kObjectSize)) return false;
  uint64_t count = at<uint64_t>(object, 0);
  if (python.minor < 12 ? count - 1 >= (uint64_t{1} << 31) : (count & 0xffffffff) == 0)
    return false;
  return python.minor < 12 || python.minor >= 14 || count >> 32 == 0;
}

bool Walk::plausible(Address object) {
  return counted(object) && types.known(type_of(object)) && whole(object);
}

bool Walk::likely(Address object) {
  return counted(object) && types.info(type_of(object)) && whole(object);
}

bool Walk::whole(Address object) {
  const TypeInfo* type = types.info(type_of(object));
  return type->basic_size >= kObjectSize &&
         copy.readable(object, static_cast<size_t>(type->basic_size));
}

const Range* Walk::range_of(Address address) const {
  size_t low = 0, high = copy.range_count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (copy.ranges[middle].end <= address)
      low = middle + 1;
    else
      high = middle;
  }
  bool inside = low < copy.range_count && copy.ranges[low].begin <= address;
  return inside ? &copy.ranges[low] : nullptr;
}

uint64_t Walk::touched(Address data, uint64_t bytes) {
  if (bytes < kSmallBlock || !data) return bytes;
  const Range* range = range_of(data);
  bool own = range && (!range->name[0] || range->name[0] == '[');
  if (!own) return bytes;  // shared: a copy's page table does not have it
  uint64_t found = pages.touched(data, bytes);
  if (!marking_) untouched_bytes_ += bytes - found;
  return found;
}

void Walk::read(Address object, Place place) {
  facts = NodeFacts{};
  seen_count_ = 0;
  tracking_ = false;
  info = nullptr;
  facts.type = unreadable_type_;
  if (place == Place::Frame || place == Place::Storage || place == Place::NativeNode) {
    facts.flags = LOWTIDE_NODE_SYNTHETIC;
    if (place == Place::Frame) return read_interpreter_frame(*this, object);
    if (place == Place::Storage) return read_storage(*this, object);
    return read_native_node(*this, object);
  }
  if (!copy.readable(object, kObjectSize)) {
    ++unreadable;
    return;
  }
  info = types.info(type_of(object));
  if (!info) {
    ++unreadable;
    return;
  }
  facts.type = info->name;
  facts.refcount = python.refcount(object);
  if (info->family == Family::Str && facts.refcount && interned(python, object))
    facts.refcount += 2;  // the two that the table of interned strings has and does not count
  uint32_t flags = place == Place::Namespace ? LOWTIDE_NODE_NAMESPACE : 0;
  if (info->collectable) flags |= LOWTIDE_NODE_COLLECTABLE;
  if (info->user) flags |= LOWTIDE_NODE_USER;
  if (info->finalizer) flags |= LOWTIDE_NODE_FINALIZER;
  if (object >= static_begin && object < static_end) flags |= LOWTIDE_NODE_STATIC;
  facts.flags = flags;
  facts.shallow = object_size(*this, object, *info);
  tracking_ = info->traverse != nullptr;
  if (info->heap) edge(LOWTIDE_EDGE_INTERNAL, word(Word::Class), info->type);
  switch (info->family) {
    case Family::List:
    case Family::Tuple:
    case Family::Dict:
    case Family::OrderedDict:
    case Family::Set:
    case Family::Str:
    case Family::Deque:
    case Family::HamtBitmap:
    case Family::LruCache:
    case Family::Weakref:
      read_container(*this, object, *info);
      break;
    case Family::Function:
    case Family::Code:
    case Family::BuiltinFunction:
    case Family::Module:
    case Family::Frame:
    case Family::Generator:
      read_code_object(*this, object, *info);
      break;
    case Family::Type:
      read_type(*this, object, *info);
      break;
    case Family::ByteArray:
    case Family::NdArray:
    case Family::DType:
    case Family::Array:
    case Family::BytesIO:
    case Family::StringIO:
    case Family::MemoryMap:
    case Family::CtypesData:
    case Family::ImagingCore:
    case Family::Tensor:
      read_native(*this, object, *info);
      break;
    case Family::Element:
    case Family::Pickler:
    case Family::Buffered:
    case Family::DateTime:
      read_stdlib(*this, object, *info);
      break;
    default:
      break;
  }
  read_instance(*this, object, *info);
}

void Walk::send(uint32_t id) {
  if (id >= scanned_begin && id < scanned_end) facts.flags |= LOWTIDE_NODE_SCANNED;
  if (showing_) {
    if (info && info->wanted && wanted_count_ < kMostWanted)
      wanted_[wanted_count_++] = table.address(id);
    edges_size_ = 0;
    edge_count_ = 0;
    return;
  }
  Writer& out = copy.out;
  out.byte('N');
  out.varint(facts.type);
  out.varint(facts.label);
  out.varint(facts.shallow);
  out.varint(facts.native);
  Address object = table.address(id);
  out.varint(facts.refcount);
  out.varint(facts.flags);
  out.varint(object);
  out.varint(edge_count_);
  out.bytes(edges_, edges_size_);
  edges_sent_ += edge_count_;
  if (!(facts.flags & (LOWTIDE_NODE_SYNTHETIC | LOWTIDE_NODE_STATIC)))
    object_bytes_ += facts.shallow;
  edges_size_ = 0;
  edge_count_ = 0;
}

void Walk::drain_some() {
  while (next_ <= table.count() && !copy.late()) {
    reading_ = true;
    read(table.address(next_), table.place(next_));
    reading_ = false;
    send(next_++);
  }
}

bool Walk::drain() {
  auto body = [](void* walk) { static_cast<Walk*>(walk)->drain_some(); };
  while (!copy.guarded(body, this)) {
    if (!reading_) continue;
    ++unreadable;
    reading_ = false;
    send(next_++);
  }
  return next_ > table.count() && !table.full();
}

void Walk::account(const char* part, uint64_t bytes) {
  uint32_t name = names.intern(part);
  copy.out.byte('A');
  copy.out.varint(name);
  copy.out.varint(bytes);
}

void Walk::end(uint64_t flags) {
  if (table.full()) flags |= LOWTIDE_END_MEMORY;
  bool late = copy.now_ns() > copy.deadline_ns;
  if ((late || next_ <= table.count()) && !table.full()) flags |= LOWTIDE_END_TIME;
  Writer& out = copy.out;
  out.byte('E');
  out.varint(next_ - 1);
  out.varint(edges_sent_);
  out.varint(copy.now_ns() - copy.started_ns);
  out.varint(unreadable);
  out.varint(flags);
  out.flush();
}

void Walk::run() {
  if (!open()) {
    copy.out.sentence('X', "not enough memory to walk the heap within the limit");
    return;
  }
  if (other_interpreters && !showing_) {
    Line line;
    line.add("the program runs ").add(int64_t{other_interpreters + 1});
    line.add(" interpreters; the heap is that of the first");
    note(line.sentence());
  }
  struct Step {
    void (*function)(Walk&);
  };
  constexpr Step kSteps[] = {{send_roots},       {send_static_types}, {scan_static_data},
                             {list_collectable}, {send_static_types}, {scan_lost_objects},
                             {send_static_types}};
  for (const Step& step : kSteps) {
    struct Call {
      Walk* walk;
      const Step* step;
    } call{this, &step};
    auto body = [](void* argument) {
      auto& it = *static_cast<Call*>(argument);
      it.step->function(*it.walk);
    };
    if (!copy.guarded(body, &call)) ++unreadable;
    if (!drain()) break;
  }
  if (showing_) {
    const char* expression = copy.text + strlen(copy.text) + 1;
    if (expression < copy.text + copy.ask.text_bytes)
      show(*this, wanted_, wanted_count_, expression);
    return end(0);
  }
  account("pymalloc arenas", pools.bytes_of_arenas());
  account("pymalloc in use", pools.bytes_in_use());
  account("python objects", object_bytes_);
  account("native never touched", untouched_bytes_);
  end(gc_off ? LOWTIDE_END_GC_OFF : 0);
}

}  // namespace lowtide::probe::cpython

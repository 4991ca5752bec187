// SPDX-License-Identifier: Apache-2.0
#pragma once

// The walk over a copied CPython heap: breadth first from the roots, then whatever the collector
// lists, then what only a scan of memory finds.
//
//     roots.cc  ->  meet  ->  queue of ids  ->  read (one reader a family)  ->  NODE record
//                    ^                              | edges
//                    +------------------------------+
//
// A node's edges gather in a buffer and are sent with it. A fault inside a reader costs the rest
// of that node's edges and is counted, no more.

#include <stddef.h>
#include <stdint.h>

#include "probe/copy.h"
#include "probe/cpython/address_table.h"
#include "probe/cpython/names.h"
#include "probe/cpython/object.h"
#include "probe/cpython/pagemap.h"
#include "probe/cpython/pools.h"
#include "probe/cpython/types.h"

namespace lowtide::probe::cpython {

// Names that many nodes use, given to the stream once at the start.
#define LOWTIDE_WORDS(X)            \
  X(Class, "__class__")             \
  X(DictName, "__dict__")           \
  X(Code, "__code__")               \
  X(Globals, "__globals__")         \
  X(Builtins, "__builtins__")       \
  X(Defaults, "__defaults__")       \
  X(KwDefaults, "__kwdefaults__")   \
  X(Closure, "__closure__")         \
  X(Doc, "__doc__")                 \
  X(NameName, "__name__")           \
  X(QualName, "__qualname__")       \
  X(ModuleName, "__module__")       \
  X(Annotations, "__annotations__") \
  X(TypeParams, "__type_params__")  \
  X(Referent, "referent")           \
  X(Callback, "callback")           \
  X(Stack, "(stack)")               \
  X(FrameWord, "frame")             \
  X(FunctionWord, "function")       \
  X(Back, "f_back")                 \
  X(Trace, "f_trace")               \
  X(Locals, "f_locals")             \
  X(GeneratorWord, "generator")     \
  X(Base, "base")                   \
  X(Storage, "storage")             \
  X(Array, "array")                 \
  X(Memo, "memo")                   \
  X(Wrapper, "wrapper")

enum class Word : uint8_t {
#define X(id, text) id,
  LOWTIDE_WORDS(X)
#undef X
      Count
};

// What is said of a node besides its edges.
struct NodeFacts {
  uint32_t type = 0, label = 0;
  uint64_t shallow = 0, native = 0, refcount = 0;
  uint32_t flags = 0;
};

class Walk {
 public:
  explicit Walk(lowtide_copy* the_copy) : copy(*the_copy) {}
  void run();

  lowtide_copy& copy;
  Python python;
  AddressTable table;
  Names names;
  Types types;
  Pools pools;
  Pagemap pages;

  uint32_t word(Word w) const { return words_[static_cast<int>(w)]; }

  // For readers: an edge of the node being read.
  void edge(uint8_t kind, uint32_t name, Address target, Place place = Place::Object) {
    if (!target || target % 8) return;
    if (tracking_ && seen_count_ < kMostSeen) seen_[seen_count_++] = target;
    if (marking_) {
      mark(target);
      return;
    }
    uint32_t id = table.meet(target, place);
    if (id) append(kind, name, id);
  }
  void internal(Word name, Address target) { edge(LOWTIDE_EDGE_INTERNAL, word(name), target); }
  // The same as `edge` for the field of a struct at offset `offset`, if this version has one.
  void field(uint8_t kind, Word name, Address base, int offset) {
    if (offset >= 0) edge(kind, word(name), pointer(base, offset));
  }
  // Edges to all that tp_traverse shows and no edge has named yet, with a name if a hint has one.
  void traverse_rest(const TypeInfo& info, Address object);

  // The line of the memory map that this lies in, or null.
  const Range* range_of(Address address) const;
  // How much of this memory was ever written to; the rest goes to the account. What is small is
  // taken to be there.
  uint64_t touched(Address data, uint64_t bytes);

  // For roots.cc.
  void root(uint8_t kind, uint32_t name, Address target, Place place = Place::Object);
  void root(uint8_t kind, const char* name, Address target, Place place = Place::Object) {
    if (target && target % 8 == 0) root(kind, names.intern(name), target, place);
  }
  void note(const char* sentence) { copy.out.sentence('T', sentence); }

  // Is this, by all one can see, an object: of a type met before, with a plausible count?
  bool plausible(Address object);
  // The same where a reference is expected: its type need not have been met.
  bool likely(Address object);
  // Reads all that has been met; false if the walk must end.
  bool drain();

  NodeFacts facts;  // of the node being read
  const TypeInfo* info = nullptr;
  Address static_begin = 0, static_end = 0;  // the interpreter's own data
  Address code_type = 0, generator_type = 0;
  size_t static_types_sent = 0;
  bool gc_off = false;
  int other_interpreters = 0;
  Address youngest = 0;  // the head of the collector's youngest generation
  uint64_t unreadable = 0;

  // For scan.cc: while marking, edges are not sent but told to `mark`.
  void (*mark_function)(void*, Address) = nullptr;
  void* mark_argument = nullptr;
  void marking(bool on) { marking_ = on; }
  void read(Address object, Place place);       // facts and edges; may fault
  uint32_t scanned_begin = 0, scanned_end = 0;  // ids found by scanning, nobody referring to them

 private:
  static constexpr size_t kMostSeen = 1024, kMostWanted = 1 << 16;

  bool open();
  bool counted(Address object);  // readable, with a count that may be one
  bool whole(Address object);    // readable as far as its type says
  void append(uint8_t kind, uint32_t name, uint32_t id);
  void mark(Address target) { mark_function(mark_argument, target); }
  void send(uint32_t id);
  void drain_some();
  void account(const char* part, uint64_t bytes);
  void end(uint64_t flags);
  static int visit(void* object, void* walk);

  uint32_t words_[static_cast<int>(Word::Count)];
  uint32_t next_ = 1;  // the id to read next
  bool reading_ = false;
  bool showing_ = false;  // the nodes are not sent, those of the wanted type are kept
  Address* wanted_ = nullptr;
  size_t wanted_count_ = 0;
  bool tracking_ = false, marking_ = false;
  size_t seen_count_ = 0;
  const TypeInfo* traversed_ = nullptr;
  Address traversed_object_ = 0;
  uint32_t hints_used_ = 0;
  Address seen_[kMostSeen];
  uint8_t* edges_ = nullptr;
  size_t edges_size_ = 0, edges_room_ = 0;
  uint64_t edge_count_ = 0, edges_sent_ = 0, object_bytes_ = 0, untouched_bytes_ = 0;
  uint32_t unreadable_type_ = 0;
};

// One reader a family; each sets walk.facts and gives the edges. They may fault.
void read_container(Walk& walk, Address object, const TypeInfo& info);
void read_instance(Walk& walk, Address object, const TypeInfo& info);
void read_code_object(Walk& walk, Address object, const TypeInfo& info);
void read_type(Walk& walk, Address object, const TypeInfo& info);
void read_native(Walk& walk, Address object, const TypeInfo& info);
void read_stdlib(Walk& walk, Address object, const TypeInfo& info);
void read_tensor(Walk& walk, Address object);
void read_interpreter_frame(Walk& walk, Address frame);
void read_storage(Walk& walk, Address storage);
void read_native_node(Walk& walk, Address node);

// The bytes sys.getsizeof would say, buffers that are counted as native left out.
uint64_t object_size(const Walk& walk, Address object, const TypeInfo& info);

void label_code(Walk& walk, Address code, Line* line);
// A running frame, an object before 3.11: "main in train.py:41".
void label_frame(Walk& walk, Address frame, Line* line);
void send_roots(Walk& walk);
void send_static_types(Walk& walk);  // those met since it was last called
void list_collectable(Walk& walk);   // all that the collector knows
void scan_static_data(Walk& walk);   // references from C variables
void scan_lost_objects(Walk& walk);
// Sends the value of an expression over each object.
void show(Walk& walk, const Address* objects, size_t count, const char* expression);

}  // namespace lowtide::probe::cpython

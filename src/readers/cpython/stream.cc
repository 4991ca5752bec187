// SPDX-License-Identifier: Apache-2.0
#include "readers/cpython/stream.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/units.h"
#include "readers/cpython/native_references.h"
#include "wire/heap_stream.h"

namespace lowtide::cpython {

namespace {

using heap::EdgeKind;
using heap::NameId;
using heap::NodeId;
using heap::RootKind;

static_assert(static_cast<int>(EdgeKind::Native) == LOWTIDE_EDGE_NATIVE);
static_assert(static_cast<int>(EdgeKind::Closure) == LOWTIDE_EDGE_CLOSURE);
static_assert(static_cast<int>(RootKind::Native) == LOWTIDE_ROOT_NATIVE);
static_assert(static_cast<int>(RootKind::Type) == LOWTIDE_ROOT_TYPE);
static_assert(static_cast<int>(heap::kFinalizer) == LOWTIDE_NODE_FINALIZER);

constexpr std::uint64_t kLargestObject = std::uint64_t{1} << 48;  // no address space is larger
constexpr std::int64_t kLargestHeap = std::int64_t{1} << 62;
constexpr std::uint64_t kMostSentences = 1000;  // notes, and parts of the account
constexpr std::uint64_t kStringCost = 24;       // bytes besides its text
constexpr std::uint64_t kRootCost = 25;
constexpr NameId kNotAsked = ~NameId{0};

std::uint64_t estimated_memory(std::uint64_t nodes, std::uint64_t edges, std::uint64_t text) {
  return 33 * nodes + 9 * edges + 2 * text;
}

}  // namespace

// A place in bytes that may end anywhere.
class StreamReader::Cursor {
 public:
  explicit Cursor(std::string_view bytes) : at_(bytes.data()), end_(at_ + bytes.size()) {}

  const char* at() const { return at_; }
  bool overlong() const { return overlong_; }

  bool byte(char& value) {
    if (at_ == end_) return false;
    value = *at_++;
    return true;
  }
  bool varint(std::uint64_t& value) {
    value = 0;
    for (unsigned shift = 0; at_ != end_; shift += 7) {
      const auto byte = static_cast<unsigned char>(*at_++);
      if (shift == 63 && byte > 1) return overlong_ = true, false;
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }
  template <typename... More>
  bool varints(std::uint64_t& value, More&... more) {
    if (!varint(value)) return false;
    if constexpr (sizeof...(more) > 0) return varints(more...);
    return true;
  }
  bool bytes(std::uint64_t count, std::string_view& text) {
    if (static_cast<std::uint64_t>(end_ - at_) < count) return false;
    text = std::string_view(at_, count);
    at_ += count;
    return true;
  }

 private:
  const char* at_;
  const char* end_;
  bool overlong_ = false;
};

bool StreamReader::fail(Code code, std::string message) {
  state_ = State::Failed;
  error_ = Error{code, std::move(message)};
  return false;
}

bool StreamReader::corrupt(std::string_view what) {
  return fail(Code::Corrupt, "the heap stream is corrupt at byte " + std::to_string(offset_) +
                                 ": " + std::string(what));
}

Status StreamReader::feed(std::string_view piece) {
  // An unfinished unit is finished first: enough of the piece for any unit is put behind it.
  while (!carry_.empty() && !piece.empty() && state_ != State::Failed) {
    const std::size_t before = carry_.size();
    carry_ += piece.substr(0, limits_.string + 128);
    const std::size_t taken = consume(carry_);
    if (taken < before) {
      // Nothing or not all of what was carried: the whole piece went in behind it.
      piece.remove_prefix(std::min(piece.size(), carry_.size() - before));
      carry_.erase(0, taken);
    } else {
      piece.remove_prefix(taken - before);
      carry_.clear();
    }
  }
  if (state_ != State::Failed && !piece.empty()) {
    piece.remove_prefix(consume(piece));
    carry_ = piece;
  }
  if (state_ == State::Failed) return error_;
  return Done{};
}

std::size_t StreamReader::consume(std::string_view bytes) {
  Cursor cursor(bytes);
  const std::uint64_t begin = offset_;
  for (;;) {
    const bool whole = state_ == State::Edges ? read_edge(cursor) : read_record(cursor);
    if (!whole) {
      if (cursor.overlong() && state_ != State::Failed) corrupt("a number of more than 64 bits");
      return offset_ - begin;
    }
    offset_ = begin + static_cast<std::uint64_t>(cursor.at() - bytes.data());
  }
}

bool StreamReader::read_record(Cursor& from) {
  char record = 0;
  if (state_ == State::Failed || !from.byte(record)) return false;
  if (record == 'X') return read_refusal(from);
  if (state_ == State::Ended) return corrupt("something follows the end");
  if ((record == 'H') != (state_ == State::Start)) {
    return corrupt(record == 'H' ? "it begins twice" : "it does not begin with a greeting");
  }
  switch (record) {
    case 'H':
      return read_hello(from);
    case 'S':
      return read_string(from);
    case 'N':
      return read_node(from);
    case 'R':
      return read_root(from);
    case 'T':
      return read_note(from);
    case 'A':
      return read_account(from);
    case 'V':
      return read_value(from);
    case 'E':
      return read_end(from);
    default:
      return corrupt("a record of unknown kind");
  }
}

bool StreamReader::whole_text(Cursor& from, std::string_view& text) {
  std::uint64_t length = 0;
  if (!from.varint(length)) return false;
  if (length > limits_.string) return corrupt("a text of " + std::to_string(length) + " bytes");
  return from.bytes(length, text);
}

bool StreamReader::charge(std::uint64_t bytes) {
  text_ += bytes;
  return text_ <= limits_.text ||
         fail(Code::Limit, "the heap stream holds more text than " +
                               to_text(Bytes{static_cast<std::int64_t>(limits_.text)}));
}

bool StreamReader::read_hello(Cursor& from) {
  std::uint64_t version = 0;
  std::uint64_t pid = 0;
  std::uint64_t flags = 0;
  std::string_view runtime;
  if (!from.varint(version)) return false;
  if (version != LOWTIDE_HEAP_VERSION) {
    return fail(Code::Unsupported, "the heap stream is of version " + std::to_string(version) +
                                       ", and this lowtide reads version " +
                                       std::to_string(LOWTIDE_HEAP_VERSION) +
                                       "; read it with the lowtide that made it");
  }
  if (!from.varint(pid) || !whole_text(from, runtime) || !from.varint(flags)) return false;
  if (pid > std::numeric_limits<std::int32_t>::max()) return corrupt("no process has this number");
  builder_.facts().runtime = runtime;
  builder_.facts().pid = static_cast<std::int32_t>(pid);
  references_.push_back(0);  // the super-root's
  state_ = State::Records;
  return charge(runtime.size());
}

bool StreamReader::read_string(Cursor& from) {
  std::string_view text;
  if (!whole_text(from, text)) return false;
  names_.push_back(builder_.intern(text));
  types_.push_back(kNotAsked);
  return charge(kStringCost + text.size());
}

NameId StreamReader::type_named(std::uint64_t string) {
  static constexpr std::string_view kBuiltins = "builtins.";
  NameId& type = types_[string];
  if (type == kNotAsked) {
    const std::string text(builder_.facts().names().text(names_[string]));
    type = text.starts_with(kBuiltins)
               ? builder_.intern(std::string_view(text).substr(kBuiltins.size()))
               : names_[string];
  }
  return type;
}

bool StreamReader::read_node(Cursor& from) {
  std::uint64_t type = 0;
  std::uint64_t label = 0;
  std::uint64_t shallow = 0;
  std::uint64_t native = 0;
  std::uint64_t references = 0;
  std::uint64_t flags = 0;
  std::uint64_t address = 0;
  std::uint64_t edges = 0;
  if (!from.varints(type, label, shallow, native, references, flags, address, edges)) return false;
  if (!known(type) || !known(label)) return false;
  if (shallow > kLargestObject || native > kLargestObject) return corrupt("an impossible size");
  if (builder_.node_count() >= limits_.nodes || edges > limits_.edges - builder_.edge_count()) {
    return fail(Code::Limit,
                "the heap is too large for this lowtide: it can tell 2,147,483,648 "
                "objects and 4,294,967,294 references apart");
  }
  const std::uint64_t memory =
      estimated_memory(builder_.node_count(), builder_.edge_count() + edges, text_);
  if (memory > limits_.memory) {
    return fail(Code::Limit, "the heap needs " +
                                 to_text(Bytes{static_cast<std::int64_t>(
                                     std::min(memory, static_cast<std::uint64_t>(kLargestHeap)))}) +
                                 " to be read, more than the limit of " +
                                 to_text(Bytes{static_cast<std::int64_t>(limits_.memory)}));
  }
  sizes_ += static_cast<std::int64_t>(shallow + native);
  if (sizes_ > kLargestHeap) return corrupt("a heap of impossible size");

  builder_.add_node(heap::Node{.type = type_named(type),
                               .label = names_[label],
                               .shallow = static_cast<std::int64_t>(shallow),
                               .native = static_cast<std::int64_t>(native),
                               .address = address,
                               .flags = static_cast<std::uint8_t>(flags)});
  const bool meaningful = references <= std::numeric_limits<std::uint32_t>::max();
  references_.push_back(meaningful ? static_cast<std::uint32_t>(references) : 0);
  edges_left_ = edges;
  state_ = edges != 0 ? State::Edges : State::Records;
  return true;
}

bool StreamReader::read_edge(Cursor& from) {
  std::uint64_t kind = 0;
  std::uint64_t name = 0;
  std::uint64_t distance = 0;
  if (!from.varints(kind, name, distance)) return false;
  if (kind > LOWTIDE_EDGE_NATIVE) return corrupt("a reference of unknown kind");
  const auto edge = static_cast<EdgeKind>(kind);
  if (edge == EdgeKind::Item) {
    name = std::min<std::uint64_t>(name, std::numeric_limits<std::uint32_t>::max());
  } else if (!known(name)) {
    return false;
  }
  // Zigzag; unsigned, so that no distance overflows, and anything beyond the nodes is refused.
  const std::uint64_t target =
      builder_.node_count() - 1u + ((distance >> 1) ^ (std::uint64_t{0} - (distance & 1)));
  if (target == heap::kSuperRoot || target >= limits_.nodes) {
    return corrupt("a reference to an object that cannot be");
  }
  builder_.add_edge(edge, edge == EdgeKind::Item ? static_cast<std::uint32_t>(name) : names_[name],
                    static_cast<NodeId>(target));
  if (--edges_left_ == 0) state_ = State::Records;
  return true;
}

bool StreamReader::read_root(Cursor& from) {
  std::uint64_t kind = 0;
  std::uint64_t name = 0;
  std::uint64_t target = 0;
  if (!from.varints(kind, name, target)) return false;
  if (kind >= LOWTIDE_ROOT_NATIVE) return corrupt("a root of unknown kind");
  if (!known(name)) return false;
  if (target == heap::kSuperRoot || target >= limits_.nodes) {
    return corrupt("a root of an object that cannot be");
  }
  builder_.add_root(static_cast<RootKind>(kind), names_[name], static_cast<NodeId>(target));
  return charge(kRootCost);
}

bool StreamReader::read_note(Cursor& from) {
  std::string_view text;
  if (!whole_text(from, text)) return false;
  if (builder_.facts().notes.size() == kMostSentences) return corrupt("too many notes");
  builder_.facts().notes.emplace_back(text);
  return charge(text.size());
}

bool StreamReader::read_account(Cursor& from) {
  std::uint64_t part = 0;
  std::uint64_t bytes = 0;
  if (!from.varints(part, bytes)) return false;
  if (!known(part)) return false;
  if (bytes > kLargestObject) return corrupt("an impossible size");
  auto& account = builder_.facts().account;
  if (account.size() == kMostSentences) return corrupt("too many parts of the account");
  account.emplace_back(builder_.facts().names().text(names_[part]),
                       Bytes{static_cast<std::int64_t>(bytes)});
  return true;
}

bool StreamReader::read_value(Cursor& from) {
  std::uint64_t address = 0;
  std::string_view text;
  if (!from.varint(address) || !whole_text(from, text)) return false;
  values_.push_back(Value{address, std::string(text)});
  return charge(sizeof(Value) + text.size());
}

bool StreamReader::read_end(Cursor& from) {
  std::uint64_t nodes = 0;
  std::uint64_t edges = 0;
  std::uint64_t nanoseconds = 0;
  std::uint64_t unreadable = 0;
  std::uint64_t flags = 0;
  if (!from.varints(nodes, edges, nanoseconds, unreadable, flags)) return false;
  heap::Graph& facts = builder_.facts();
  walk_seconds_ = static_cast<double>(nanoseconds) / 1e9;
  unreadable_ = unreadable;
  facts.gc_off = (flags & LOWTIDE_END_GC_OFF) != 0;
  // An answer to --show tells of the objects it looked through, and sends none of them.
  const bool shown = builder_.node_count() == 1;
  const std::string read =
      count_text(builder_.node_count() - 1) + " objects were read and an unknown number was not";
  if ((flags & LOWTIDE_END_TIME) != 0) {
    facts.whole = false;
    facts.notes.push_back("reading the heap was ended at its time limit: " + read);
  } else if ((flags & LOWTIDE_END_MEMORY) != 0) {
    facts.whole = false;
    facts.notes.push_back("reading the heap was ended at its memory limit: " + read);
  } else if (nodes != builder_.node_count() - 1u && !shown) {
    return corrupt("it ends with " + std::to_string(builder_.node_count() - 1u) +
                   " objects and says " + std::to_string(nodes));
  }
  state_ = State::Ended;
  return true;
}

bool StreamReader::read_refusal(Cursor& from) {
  std::string_view sentence;
  if (!whole_text(from, sentence)) return false;
  return fail(Code::Unsupported, std::string(sentence));
}

Result<HeapAnswer> StreamReader::finish() && {
  if (state_ == State::Failed) return error_;
  if (state_ != State::Ended) {
    if (nodes() == 0) {
      return Error{Code::Corrupt, "the heap stream ended after " + std::to_string(offset_) +
                                      " bytes, before its first object"};
    }
    builder_.facts().whole = false;
    builder_.facts().notes.push_back("the heap stream was cut after " + count_text(nodes()) +
                                     " objects");
  }
  HeapAnswer answer;
  answer.graph = hang_native_references(std::move(builder_).build(), references_.span());
  answer.values = std::move(values_);
  answer.walk_seconds = walk_seconds_;
  answer.unreadable = unreadable_;
  return answer;
}

Result<HeapAnswer> read_stream(std::string_view bytes, const StreamLimits& limits) {
  StreamReader reader(limits);
  if (Status read = reader.feed(bytes); !read) return read.error();
  return std::move(reader).finish();
}

}  // namespace lowtide::cpython

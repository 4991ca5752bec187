// SPDX-License-Identifier: Apache-2.0
#pragma once

// The stream of wire/heap_stream.h, as it comes out of a target, turned into a heap::Graph.
//
//     pieces of any size -> StreamReader.feed ... -> finish -> graph, with these decided:
//
//       what a named root reaches                      lives
//       what has more references than edges to it,     hangs on the root "native reference":
//       and no root reaches                            somebody outside the heap holds it
//       what is left                                   is garbage, waiting for the collector
//
// The bytes come from another program and are believed in nothing: every length and number is
// checked, memory is bounded, and the worst answer is Corrupt with an offset. Text is kept as it
// came; who prints it makes it printable.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "heap/graph.h"
#include "lowtide/result.h"

namespace lowtide::cpython {

// An answer of --show: one object, written by the target itself.
struct Value {
  std::uint64_t address = 0;
  std::string text;
};

struct HeapAnswer {
  heap::Graph graph;
  std::vector<Value> values;
  double walk_seconds = 0;       // how long the copy walked
  std::uint64_t unreadable = 0;  // objects met whose memory made no sense
};

struct StreamLimits {
  std::uint64_t nodes = std::uint64_t{1} << 31;
  std::uint64_t edges = (std::uint64_t{1} << 32) - 2;  // EdgeId has 32 bits
  std::uint64_t string = 64 * 1024;                    // bytes of one text
  std::uint64_t text = std::uint64_t{1} << 30;         // of all together
  std::uint64_t memory = std::uint64_t{16} << 30;      // of the graph, estimated
};

// One stream, once. Used by one thread.
class StreamReader {
 public:
  explicit StreamReader(const StreamLimits& limits = {}) : limits_(limits) {}

  // The next bytes. After an error nothing more is read; Unsupported is the target's own refusal.
  Status feed(std::string_view piece);

  // END was read: the stream is complete.
  bool ended() const { return state_ == State::Ended; }
  heap::NodeId nodes() const { return builder_.node_count() - 1; }
  std::uint64_t edges() const { return builder_.edge_count(); }

  // What came. Without END the graph is marked as not whole; without any object it is an error.
  Result<HeapAnswer> finish() &&;

 private:
  enum class State { Start, Records, Edges, Ended, Failed };
  class Cursor;

  // Reads whole units (a record, or one edge) and returns how many bytes they took.
  std::size_t consume(std::string_view bytes);

  // True where a whole unit was read. False with state_ Failed where it is wrong, and
  // otherwise where it is not all there yet; then nothing was changed.
  bool read_record(Cursor& from);
  bool read_hello(Cursor& from);
  bool read_string(Cursor& from);
  bool read_node(Cursor& from);
  bool read_edge(Cursor& from);
  bool read_root(Cursor& from);
  bool read_note(Cursor& from);
  bool read_account(Cursor& from);
  bool read_value(Cursor& from);
  bool read_end(Cursor& from);
  bool read_refusal(Cursor& from);

  // Always false, so that reading ends with `return corrupt(...)`.
  bool fail(Code code, std::string message);
  bool corrupt(std::string_view what);
  bool whole_text(Cursor& from, std::string_view& text);
  bool charge(std::uint64_t bytes);  // against the limit of text, and of what is as small
  bool known(std::uint64_t string) {
    return string < names_.size() || corrupt("an unknown string");
  }
  heap::NameId type_named(std::uint64_t string);

  StreamLimits limits_;
  State state_ = State::Start;
  Error error_{Code::Corrupt, ""};
  std::uint64_t offset_ = 0;      // of the unit being read, in the whole stream
  std::string carry_;             // the unfinished unit at the end of the last piece
  std::uint64_t edges_left_ = 0;  // of the node being read

  heap::GraphBuilder builder_;
  std::vector<heap::NameId> names_{0};      // by string: its name
  std::vector<heap::NameId> types_{0};      // by string: the name of the type it names, once asked
  heap::Column<std::uint32_t> references_;  // by node: its refcount; 0 means nothing
  std::uint64_t text_ = 0;                  // bytes charged so far
  std::int64_t sizes_ = 0;                  // bytes of all nodes; bounded, so that no sum overflows
  std::vector<Value> values_;
  double walk_seconds_ = 0;
  std::uint64_t unreadable_ = 0;
};

// A whole stream at once.
Result<HeapAnswer> read_stream(std::string_view bytes, const StreamLimits& limits = {});

}  // namespace lowtide::cpython

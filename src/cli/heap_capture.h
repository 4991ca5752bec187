// SPDX-License-Identifier: Apache-2.0
#pragma once

// One request for a heap: from the socket made for it to the last byte of the stream.
//
//     Waiting --(the target's thread connects)--> Streaming --(end of stream)--> Done
//        \--(not in time, or `cancel`)--> Failed <--(refused, cut, no room)--/
//
// Never blocks: the owner polls fd() and calls step(). The stream is compressed as it comes and
// leaves by `sink`; nothing of it is kept but its first and last bytes.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/file.h"
#include "cli/run_folder.h"
#include "recording/heap_codec.h"
#include "wire/heap_stream.h"

namespace lowtide::cli {

// What the first and the last record of a stream say.
struct StreamFacts {
  std::string runtime;  // "CPython 3.11.2"
  std::string refusal;  // one sentence, where the answer was no
  std::uint64_t nodes = 0;
  std::uint64_t edges = 0;
  double walk_seconds = 0;
  std::uint64_t unreadable = 0;
  std::uint64_t flags = 0;
  bool ended = false;  // there is an END record
};
StreamFacts stream_facts(std::string_view first_bytes, std::string_view last_bytes);

class HeapCapture {
 public:
  enum class State { Waiting, Streaming, Done, Failed };
  using Sink = std::function<void(std::string_view)>;

  // Asks the process of this slot. An Error says why it cannot even be asked (somebody else is
  // asking, no socket). `raw`: the stream goes to the sink as it is, not compressed.
  static Result<std::unique_ptr<HeapCapture>> ask(const RunFolder& folder, lowtide_slot& slot,
                                                  const lowtide_ask& question, std::string text,
                                                  Sink sink, double now, bool raw = false);
  ~HeapCapture();

  int fd() const { return connection_ ? connection_.number() : listener_.number(); }
  // Takes what is there. Gives up when the target has not answered within `answer_limit` seconds of
  // asking, or the stream has stood still for as long.
  State step(double now, double answer_limit);
  void cancel(std::string why);

  State state() const { return state_; }
  const std::string& failure() const { return failure_; }  // one sentence
  const StreamFacts& facts() const { return facts_; }
  double asked_at() const { return asked_at_; }
  std::int32_t copy_pid() const { return slot_.copy_pid; }  // 0: there is none (yet)
  double lock_wait() const { return lock_wait_; }           // seconds
  double pause() const { return pause_; }                   // seconds
  std::int64_t stream_bytes() const { return stream_bytes_; }
  std::int64_t stored_bytes() const { return stored_bytes_; }

 private:
  HeapCapture(const RunFolder& folder, lowtide_slot& slot, std::uint32_t id);
  void accept_connection(double now);
  void take(std::string_view bytes);
  void store(std::string_view piece);
  void finish();
  void give_back_slot();

  lowtide_slot& slot_;
  std::uint32_t id_;
  std::string socket_path_;
  Fd listener_;
  Fd connection_;
  std::string question_;  // what is still to be sent
  Sink sink_;
  std::unique_ptr<recording::HeapSqueezer> squeezer_;  // null: raw
  State state_ = State::Waiting;
  std::string failure_;
  StreamFacts facts_;
  std::string first_;
  std::string last_;
  double asked_at_ = 0;
  double moved_at_ = 0;
  double lock_wait_ = 0;
  double pause_ = 0;
  std::int64_t stream_bytes_ = 0;
  std::int64_t stored_bytes_ = 0;
};

}  // namespace lowtide::cli

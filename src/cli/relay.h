// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where no probe can be and rounds are wanted all the same: a process of its own between the
// command and its stdout or stderr, which passes every byte on and looks for the round pattern.
//
//     command ──pty (where it was a terminal)──> relay ──> what it was before
//              ──pipe (anything else)────────────┘  └──> ring of lines in the run's table
//
// The one case in which the command's output is not quite what it was: a file becomes a pipe.

#include <sys/types.h>

#include <optional>

#include "base/file.h"
#include "base/line_pattern.h"
#include "lowtide/result.h"
#include "wire/run_table.h"

namespace lowtide::cli {

class Relay {
 public:
  // For descriptor 1 or 2 of ours. `table` is shared with the recorder.
  static Result<Relay> start(int descriptor, const LinePattern& pattern, lowtide_table& table);

  Relay(Relay&&) = default;

  // What the command shall have as that descriptor.
  int end() const { return end_.number(); }
  pid_t pid() const { return pid_; }
  // Our copy of that end: from here on the relay ends when the command's last copy does.
  void release() { end_.reset(); }

 private:
  Relay(pid_t pid, Fd end) : pid_(pid), end_(std::move(end)) {}
  pid_t pid_ = -1;
  Fd end_;
};

// Finds lines in bytes as they come and writes those that match to the table's ring.
class LineFinder {
 public:
  LineFinder(const LinePattern& pattern, lowtide_table& table) : pattern_(pattern), table_(table) {}
  void take(std::string_view bytes, std::uint64_t now_ns);

 private:
  const LinePattern& pattern_;
  lowtide_table& table_;
  std::uint16_t state_ = LinePattern::kStart;
  bool empty_ = true;
};

}  // namespace lowtide::cli

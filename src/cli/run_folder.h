// SPDX-License-Identifier: Apache-2.0
#pragma once

// The folder a run shares with the processes it watches: the table of wire/run_table.h, and the
// sockets on which heaps are asked for. Mode 0700, gone when the run is over.
//
// It also names the run to others: `lowtide heap PID` looks through these folders for the one
// whose table has a slot for that process.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/line_pattern.h"
#include "lowtide/result.h"
#include "wire/run_table.h"

namespace lowtide::cli {

class RunFolder {
 public:
  // Makes the folder and its table. `probe` is the path children shall load; "" for none.
  static Result<RunFolder> create(std::string_view probe, const LinePattern* pattern,
                                  std::uint64_t now_ns);
  // Maps the table of a run that somebody else made and that is still going on.
  static Result<RunFolder> join(const std::string& path);
  // The folders of all runs of this user that may still be going on.
  static std::vector<std::string> all();

  RunFolder(RunFolder&& other) noexcept;
  RunFolder& operator=(RunFolder&&) = delete;
  ~RunFolder();  // its maker removes the folder

  const std::string& path() const { return path_; }
  lowtide_table& table() const { return *table_; }
  // The slot of a live process, or null: it has no probe.
  lowtide_slot* slot_of(std::int32_t pid) const;
  std::string socket_path(std::uint32_t request) const;

 private:
  RunFolder(std::string path, lowtide_table* table, bool made_here)
      : path_(std::move(path)), table_(table), made_here_(made_here) {}

  std::string path_;
  lowtide_table* table_ = nullptr;
  bool made_here_ = false;
};

}  // namespace lowtide::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once

// The folder a run shares with the processes it watches: the table of wire/run_table.h, and the
// sockets on which heaps are asked for. Mode 0700, gone when the run is over; what a killed
// recorder left is removed by the next run. The recorder holds a lock on its table, and a lock,
// unlike a pid, means the same in every container that shares the folder above.
//
// It also names the run to others: `lowtide heap PID` looks through these folders for the one
// whose table has a slot for that process.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
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
  // Removes the folders of this user's runs whose recorder is dead.
  static void remove_stale();
  // The folders of all runs of this user that may still be going on.
  static std::vector<std::string> all();

  RunFolder(RunFolder&& other) noexcept;
  RunFolder& operator=(RunFolder&&) = delete;
  ~RunFolder();  // its maker removes the folder

  const std::string& path() const { return path_; }
  lowtide_table& table() const { return *table_; }
  // Whether the slot counts its pid as we do. A process of a pid namespace further down has a
  // number there that is somebody else's here.
  bool speaks_our_pids(const lowtide_slot& slot) const;
  // The slot of a live process, or null: it has no probe.
  lowtide_slot* slot_of(std::int32_t pid) const;
  std::string socket_path(std::uint32_t request) const;

 private:
  RunFolder(std::string path, lowtide_table* table, bool made_here, Fd locked)
      : path_(std::move(path)),
        table_(table),
        made_here_(made_here),
        locked_(std::move(locked)),
        namespace_(own_namespace()) {}
  static std::uint64_t own_namespace();  // inode of our pid namespace; 0 unknown

  std::string path_;
  lowtide_table* table_ = nullptr;
  bool made_here_ = false;
  Fd locked_;  // the maker's
  std::uint64_t namespace_ = 0;
};

}  // namespace lowtide::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once

// The files of one process that are read again and again, kept open while descriptors last.
//
// An open statm also proves identity: it belongs to one process, whoever gets the pid later.

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.h"
#include "watch/proc_text.h"

namespace lowtide::watch {

// How many more descriptors may be kept open. One for all processes of a tree.
struct DescriptorBudget {
  std::size_t left = 0;
};

class ProcessFiles {
 public:
  ProcessFiles(const std::string& proc_root, std::int32_t pid, DescriptorBudget& budget);
  ~ProcessFiles();
  ProcessFiles(const ProcessFiles&) = delete;
  ProcessFiles& operator=(const ProcessFiles&) = delete;

  // What statm says; false: the process is gone (or never was).
  bool read_statm(Statm& statm);
  // Whether read_statm() could be fooled by another process with the same pid.
  bool identity_kept() const { return static_cast<bool>(statm_); }
  // A file below /proc/PID, read whole into `buffer`, as far as that reaches.
  std::string_view read(const char* name, std::span<char> buffer) const;

  // Appends the children of all threads. Threads are listed again where their number changed, or
  // `threads_may_differ`.
  void read_children(bool threads_may_differ, std::vector<std::int32_t>& pids);

 private:
  struct Thread {
    std::int32_t id = 0;
    Fd children;
  };
  Fd keep(Fd fd);
  void list_threads(int folder);

  std::string folder_;  // "/proc/4242/"
  DescriptorBudget& budget_;
  std::size_t kept_ = 0;
  Fd statm_;
  Fd task_;                      // the folder of threads
  std::int64_t task_links_ = 0;  // st_nlink: threads + 2, without listing them
  std::vector<Thread> threads_;
};

}  // namespace lowtide::watch

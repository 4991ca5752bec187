// SPDX-License-Identifier: Apache-2.0
#pragma once

// Opening a recording however it was left.
//
//     finished            one file                      opened
//     recorder killed     a -wal (or -journal) beside   opened, and SQLite recovers it
//     ... and read-only   the same, in such a folder    recovered in a copy
//     read-only medium    one file, no way to lock      opened as one that never changes
//     cut off, damaged                                  what its pages still say

#include <memory>
#include <string>
#include <vector>

#include "lowtide/result.h"
#include "recording/database.h"

namespace lowtide::recording {

// A folder that goes with its contents.
class ScratchFolder {
 public:
  static Result<std::unique_ptr<ScratchFolder>> make();
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct Opened {
  std::unique_ptr<ScratchFolder> scratch;  // outlives the database
  Database database;
  std::vector<std::string> missing;  // sentences
  bool damaged = false;
};

Result<Opened> open_recording(const std::string& path);

}  // namespace lowtide::recording

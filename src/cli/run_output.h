// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where a run's recording and its JSON go. Found out before the command starts, not after hours;
// and nothing that is not ours is ever overwritten by a recording.

#include <memory>
#include <string>

#include "base/file.h"
#include "cli/run_options.h"
#include "recording/recording.h"

namespace lowtide::cli {

// In the file the person named, which may be an older recording; else under a name made of the
// command and `stamp` in this folder or, where that cannot be written, in $TMPDIR, which it says.
Result<std::unique_ptr<recording::Writer>> place_recording(const RunOptions& options,
                                                           const recording::Run& run,
                                                           const std::string& stamp);

// Takes back a recording of a command that could not be started.
void discard(std::unique_ptr<recording::Writer> writer);

// The file of --json: opened early, written at the end, removed if it was made for nothing.
class JsonFile {
 public:
  static Result<JsonFile> open(const std::string& path);  // "": none
  Status write(std::string_view text);
  void forget();

 private:
  std::string path_;
  Fd file_;
  bool made_here_ = false;
};

}  // namespace lowtide::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once

// What `lowtide run` was asked to do.

#include <optional>
#include <string>
#include <vector>

#include "base/line_pattern.h"

namespace lowtide::cli {

struct RunOptions {
  std::vector<std::string> command;
  double interval = 0.1;  // seconds
  std::string round_text;
  std::optional<LinePattern> round;
  std::string out;  // of the recording; "" for a name made from the command and the time
  bool probe = true;
  bool heap = true;
  int heap_most = 0;  // snapshots of a process at most; 0: as many as are worth it
  bool contents = false;
  bool quiet = false;
  std::string json;  // file to write; "" for none
};

}  // namespace lowtide::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a person at the terminal sees: results on stdout, everything else on stderr.

#include <string_view>

#include "report/text.h"

namespace lowtide::cli {

// Exit statuses of every command but `run`, which passes the target's on.
enum Exit { kGood = 0, kFinding = 1, kUsage = 2, kFailed = 3 };

void print(std::string_view text);  // stdout, as it is; a closed pipe ends the program quietly
void say(std::string_view line);    // stderr: "lowtide: LINE"
void tell(std::string_view text);   // stderr, as it is

// Says the sentence and returns kFailed.
int fail(std::string_view sentence);

// One line of stderr that is overwritten while work goes on; only on a terminal, and only once
// half a second has passed.
class Progress {
 public:
  explicit Progress(bool wanted);
  ~Progress();  // takes the line away
  void show(std::string_view line);

 private:
  bool wanted_;
  bool shown_ = false;
  double began_;
};

// How to write for this terminal: its width, and colours where NO_COLOR and TERM allow them.
report::Style style_of(int fd);

}  // namespace lowtide::cli

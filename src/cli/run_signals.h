// SPDX-License-Identifier: Apache-2.0
#pragma once

// The signals of a run. Everything that somebody may send is blocked in us from before the command
// starts and read from a descriptor, so that none of it ends the recorder and all of it can be
// passed on. The command itself starts with the mask and the dispositions we were given.

#include <csignal>
#include <string>

#include "base/file.h"

namespace lowtide::cli {

class RunSignals {
 public:
  RunSignals();  // once a process

  int fd() const { return fd_.number(); }
  const sigset_t& mask_before() const { return before_; }
  // Ignored SIGCHLD would lose us the statuses of our children; the command gets it back.
  bool child_signal_ignored() const { return child_ignored_; }

  // A Ctrl-C from before there was a command to get it: lets it end us.
  void die_of_what_came_early() const;

  // The command is over and only the judging is left: from here on Ctrl-C and the like end us with
  // the command's status, after `words`.
  void let_interrupt(int status, std::string words);

 private:
  sigset_t before_{};
  bool child_ignored_ = false;
  Fd fd_;
};

}  // namespace lowtide::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once

// Starting the command as if nobody watched: same descriptors, process group, signals, environment.

#include <sys/types.h>

#include <csignal>
#include <string>
#include <vector>

#include "lowtide/result.h"

namespace lowtide::cli {

struct Launch {
  std::vector<std::string> command;
  std::vector<std::string> environment;  // to be added or replaced: "NAME=value"
  sigset_t signal_mask{};                // the child's: what ours was before we blocked anything
  bool child_signal_ignored = false;     // SIGCHLD was, before we came
  int output = -1;                       // to be its stdout; -1: ours
  int error = -1;                        // to be its stderr; -1: ours
};

// A command that cannot be started, with the status a shell would give: 127 or 126.
struct LaunchFailure {
  std::string sentence;
  int status = 127;
};

// The file that running `name` would run: itself where it has a slash, else from $PATH.
// An Error names what is wrong: not found, a directory, not executable.
Result<std::string> find_program(const std::string& name);

// The child's pid, or the failure, also one that only exec itself met.
struct Launched {
  pid_t pid = -1;
  LaunchFailure failure;  // where pid is -1
};
Launched launch(const Launch& what, const std::string& program);

// Before anything is opened: a descriptor of 0 to 2 that is closed must not become one of our
// files. What stands in for it stays out of the command, which finds it closed.
void fill_standard_descriptors();

// Once the command has started: lets go of its input, its output and all it was handed down, so
// that a pipe ends when the command closes it and not when we do. Standard error stays.
void release_inherited_descriptors();

}  // namespace lowtide::cli

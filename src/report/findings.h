// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a run concluded: everything the summary, the JSON and the title of a plot say, in one
// place, so that none of them can say something another does not know.
//
//     recording, verdict, heap --> cli puts together --> Findings --> summary | json | plot
//
// What is not known is absent (0, "" or empty) and is left out of every page, never guessed.

#include <cstdint>
#include <string>
#include <vector>

#include "heap/suspects.h"
#include "recording/recording.h"
#include "verdict/verdict.h"

namespace lowtide::report {

// A heap::Suspect and the process it lives in.
struct Suspect {
  heap::Suspect what;
  std::int32_t pid = 0;
  std::string runtime;  // "CPython 3.11.2"
};

struct Part {
  std::string name;  // "live Python", "allocator free", "unexplained"
  std::int64_t bytes = 0;
};

struct ProcessPeak {
  std::int32_t pid = 0;
  std::string name;
  std::string runtime;
  std::int64_t peak = 0;
  std::string note;  // "killed by the OOM killer"
};

// One heap snapshot, or the refusal of one.
struct Snapshot {
  std::int32_t pid = 0;
  double seconds = 0;
  double pause = 0;      // seconds the program was stopped
  double lock_wait = 0;  // seconds
  double slowdown = 0;   // seconds a copy-on-write of the program cost it, where measured
  std::int64_t nodes = 0;
  std::string refused;  // one sentence; "" where the snapshot was taken
};

struct Findings {
  recording::Run run;
  recording::End end;
  bool ended = true;  // false: the recorder was killed, `end` is what is known
  verdict::Verdict verdict;
  std::vector<Suspect> suspects;  // the largest first
  std::vector<Part> account;      // of the tree, closed; in the order they are said
  std::vector<ProcessPeak> processes;
  std::vector<Snapshot> snapshots;
  std::vector<std::string> notes;  // sentences: "3 processes ended between samples"
  std::string recording;           // path of the file; "" where none was left
};

// The command as a person would type it; words with spaces in them are quoted.
std::string command_text(const std::vector<std::string>& command);

// "exited with 1", "killed by SIGSEGV", "killed by the OOM killer"; "" for an exit with 0.
std::string exit_text(const recording::End& end);

// One phrase for what a verdict means: "freed by the program, kept by malloc".
std::string_view meaning(verdict::Name name);

// No leak, and nothing else that needs a person: one line says it all. What grew without being a
// leak does not make it loud; the verdict has weighed that.
bool is_quiet(const Findings& findings);

}  // namespace lowtide::report

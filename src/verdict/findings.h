// SPDX-License-Identifier: Apache-2.0
#pragma once

// All that was found out about a run, before it is put into a sentence.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "verdict/course.h"
#include "verdict/verdict.h"

namespace lowtide::verdict {

// Why the verdict has its name. Each has one sentence in why.cc.
enum class Because {
  NoReadings,
  TooShort,
  FilledTheLimit,  // killed at its limit before there were floors enough
  Rises,           // the floor does, and nothing speaks against a leak
  NativeRises,     // and what the runtime holds does not
  GarbageRises,    // objects nothing reaches, which no collection takes
  SharedRises,     // shared memory does; the program's own does not
  LiveRises,       // live objects do, in memory the process already had
  OnePhase,        // rises, but nothing shows that the work repeats
  Unsure,          // may rise
  FewSteps,        // rose in so few steps that the next need not come
  LiveOnly,        // live objects rise a little, nothing else does
  Slows,
  AllocatorFree,  // what grew is free memory malloc keeps
  AllocatorKept,  // a peak was freed and malloc keeps it
  FlatAfterFill,
  FlatAfterStart,
  Flat,
  FileGrows,
  ContainerCache,
  Peak,
  LateJump,      // stands higher at the very end only
  KilledAtPeak,  // flat, then killed at its limit
};

// The heap graphs' side of it, over the part of the run that is judged.
struct Live {
  std::size_t points = 0;  // in that part
  double first = 0;        // bytes
  double last = 0;
  double from = 0;  // seconds
  double to = 0;
  double garbage_gain = 0;
  bool rises = false;    // in each interval, still at the end, by something that matters
  bool goes_on = false;  // and in the last interval about as fast as usual
  bool even = false;     // and in no interval at less than a third or more than thrice that
  bool flat = false;     // known not to grow as the floor does

  double gain() const { return last - first; }
};

struct Findings {
  Name name = Name::Undecided;
  Because because = Because::NoReadings;
  Course floor;  // of anonymous memory where it is known, else of resident
  Course other;  // SharedRises, FileGrows: of that part
  Live live;
  bool anonymous = false;  // what `floor` is the floor of
  bool repeats = false;    // rounds, a period or a swinging curve show that work repeats
  double run_seconds = 0;
  double peak = 0;            // bytes, resident
  double peak_at = 0;         // seconds
  double recent_peak = 0;     // bytes, resident, of the last eighth
  double allocator_free = 0;  // bytes, at the end
  double allocator_gain = 0;  // of free, over what is explained by it
  int rounds = 0;
  std::optional<double> seconds_to_limit;
};

// One or two sentences with the figures.
std::string why(const Findings& findings, const Evidence& evidence);

}  // namespace lowtide::verdict

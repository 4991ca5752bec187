// SPDX-License-Identifier: Apache-2.0
#pragma once

// The course of one floor: what it did at first, and what it still does at the end.
//
//              since
//               |     .-'      `before`  what was gained up to `since` (a start, a load, a fill)
//        .------+---.-'        `trend`   the part after it, the only part that can accuse
//     --'                      last_rate of its last third over its whole: 1 goes on, 0 has ended

#include <cstddef>
#include <span>
#include <vector>

#include "verdict/series.h"
#include "verdict/shape.h"
#include "verdict/trend.h"

namespace lowtide::verdict {

enum class Motion {
  Short,     // too few floors to say anything
  Quiet,     // does not rise by anything that matters
  Rising,    // rises, for sure, evenly, and still does at the end
  Slowing,   // rises, but ever slower
  Stepping,  // has risen, in so few steps that the next one need not come
  Unsure,    // may rise; the noise does not let one say
};

struct Course {
  Motion motion = Motion::Short;
  std::vector<Window> windows;  // bursts left out
  std::size_t from = 0;         // the first window of the judged part
  double began = 0;             // seconds of the first window
  double since = 0;             // of the first judged window
  double until = 0;             // of the last
  bool by_rounds = false;       // trend is per round, else per second
  Trend trend;                  // of the judged part
  double per_second = 0;
  double first_level = 0;  // bytes: the first floor of all
  double level = 0;        // bytes: where the floor stands at the end
  double growth = 0;       // bytes over the judged part
  double before = 0;       // bytes gained before it
  double last_rate = 1;
  std::size_t steps = 0;         // carrying four fifths of the growth
  std::size_t steps_before = 0;  // of what was gained before
  std::size_t stairs = 0;  // big steps after the start, each from one lasting level to the next
  double stairs_gain = 0;  // bytes they brought
  bool next_stair_due = false;  // two or more, and no longer at rest than between them before
  bool late_jump = false;       // the last few floors stand far above the rest
  double late_gain = 0;         // by that much
  double tide = 0;              // bytes: how far the curve usually swings within one window
  double blur = 0;              // bytes: how far it swings from one reading to the next

  std::size_t judged() const { return windows.size() - from; }
  double seconds() const { return until - since; }
  bool rises() const { return motion == Motion::Rising; }
};

// Growth below this is nobody's leak: 1 MiB, or 0.3 % of what the program holds.
double material(double level);

Course course_of(const Series& series, std::span<const double> rounds);

}  // namespace lowtide::verdict

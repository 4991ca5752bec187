// SPDX-License-Identifier: Apache-2.0
#pragma once

// Is it a leak? Judges the floor of a series, never its curve.
//
//        /|   /|   /|   /|
//       / |  / |  / |  / |       the tide comes and goes;
//      /  | /  | /  | /  |/
//     /   |/   |/   |/            what stays at low tide is the floor
//
// Pure: no file, no clock. Everything it knows is in Evidence.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace lowtide::verdict {

enum class Name {
  Steady,
  Leak,
  WarmingUp,
  LevellingOff,         // growth that decays
  RetainedByAllocator,  // freed by the program, kept by malloc
  CacheAtCap,
  PageCache,
  Burst,
  Undecided,
};

// "steady", "leak", "warming-up", "levelling-off", "retained-by-allocator", "cache-at-cap", …
std::string_view to_string(Name name);

// One reading of what is judged (a process, or the tree summed). A part that is unknown is -1.
struct Point {
  double seconds = 0;                  // since the run started, ascending
  std::int64_t resident = 0;           // RSS, or for a tree the sum with shared pages counted once
  std::int64_t anonymous = -1;         // RssAnon, swap included
  std::int64_t file = -1;              // RssFile
  std::int64_t shared = -1;            // shmem
  std::int64_t allocator_in_use = -1;  // malloc: handed out
  std::int64_t allocator_free = -1;    // malloc: kept though free
};

// What a heap graph says is alive at a moment: reachable from a root.
struct LivePoint {
  double seconds = 0;
  std::int64_t bytes = 0;    // reachable
  std::int64_t garbage = 0;  // not reachable, not yet collected
  std::int64_t objects = 0;
};

struct Evidence {
  std::vector<Point> points;
  std::vector<LivePoint> live;        // oldest first; may be empty
  std::vector<double> rounds;         // when each round ended, ascending; may be empty
  std::int64_t limit = 0;             // bytes; 0: none known
  bool growing_suspects = false;      // `heap` found something that rises in every interval
  std::int64_t container_cache = -1;  // page cache charged to the container at the end
  bool ended_by_limit = false;        // the run ended in an OOM kill
  bool rounds_guessed = false;        // rounds come from lines or a period, not from the user
};

struct Verdict {
  Name name = Name::Undecided;
  std::string why;  // one or two sentences with the figures; what would decide it if undecided
  double rate_per_round = 0;   // bytes; 0 where there are no rounds
  double rate_per_second = 0;  // bytes
  std::array<double, 2> interval95{0,
                                   0};  // of rate_per_round where there are rounds, else per second
  int rounds = 0;
  std::optional<double> seconds_to_limit;  // from the end of the run; only for growth and a limit
  std::int64_t fits_in = 0;  // bytes: the limit this program fits in, with headroom; 0: not known
  double confidence = 0;     // 0..1
};

// The floor judged is that of anonymous memory where it is known, else of resident memory; shared
// memory and mapped files are judged apart. A start, a load, a fill are cut off; what is left
// accuses only if all of this holds:
//
//   - 8 floors or more, and the slope is above 0 at 99.5 %, floors that follow one another counted
//     as fewer; the growth is 6 times the noise, and 1 MiB, and 0.3 % of what the program holds;
//   - it is no bend: the last third still rises, at 60 % of the mean rate at the least;
//   - it comes in 5 steps or more: an allocator's two big steps prove nothing;
//   - it is not free memory the allocator keeps;
//   - the work repeats: 5 rounds, a period, or a curve that swings. One long job that fills (an
//     index, a sort, a load) looks like a leak from outside. Where nothing repeats it takes 60 s of
//     straight growth, 10 s if heap graphs show that it is no object of theirs, 2.5 s if they name
//     objects that grow in every interval (the sentence says then what else it could be), or a
//     kill at the limit.
//
// Live bytes that rise evenly over 6 heap graphs, with suspects, accuse though the floor is flat.
// What fails by a little is `Undecided`, and the sentence says what would decide it.
//
// Tested on made-up runs (shapes_test.cc): of 21 shapes that do not leak at most 1 in 100 is
// accused; of leaks that grow by 3 times the band which holds 95 % of their noise, 99 in 100 are
// found. A million points take a fraction of a second.
Verdict judge(const Evidence& evidence);

// The low-water marks: the floor under each of a number of equal pieces of the series (or under
// each round), what remains when collections and bursts are over. For plots and for `judge`.
struct FloorPoint {
  double seconds = 0;
  double bytes = 0;
};
std::vector<FloorPoint> floor_of(const std::vector<Point>& points,
                                 const std::vector<double>& rounds);

// Finds rounds where nobody marked them: the period of a series that repeats itself, as the times
// its repetitions end. Empty where there is no clear period.
std::vector<double> find_rounds(const std::vector<Point>& points);

// Of the kinds of line a program printed (see wire/run_table.h, lowtide_line.shape), the times of
// the one that comes as regularly as a round does: at least 5 times, over most of the run, evenly.
struct LineTimes {
  std::uint32_t shape = 0;
  std::vector<double> seconds;
};
std::vector<double> rounds_from_lines(const std::vector<LineTimes>& lines, double run_seconds);

}  // namespace lowtide::verdict

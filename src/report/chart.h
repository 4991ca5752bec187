// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a plot shows, before anybody decides how it is drawn.
//
//     bytes                                            ┄┄┄┄┄ limit
//       │      /|   /|   /|   / ← the tree      ╌╌╌╌
//       │     / |  / |  / |  /            ╌╌╌╌ ← forecast
//       │    /  | /  | /  | /       ╌╌╌╌
//       │   /   |/   |/   |/  ← floor
//       └───┬────┬────┬────┬─────────────── seconds
//           rounds              ◇ heap snapshots

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/findings.h"

namespace lowtide::report {

struct ChartPoint {
  double seconds = 0;
  double bytes = 0;
};

struct Line {
  std::string name;  // "all processes", "python3 train.py (4242)"
  std::vector<ChartPoint> points;
};

struct Mark {
  double seconds = 0;
  std::string text;
};

struct Chart {
  std::string title;     // the command
  std::string subtitle;  // what was concluded
  verdict::Name verdict = verdict::Name::Undecided;
  std::string footer;        // when, on what, by which version
  std::vector<Line> lines;   // the tree first, then processes, the largest first
  std::size_t left_out = 0;  // processes too small, or too many, to draw
  std::vector<ChartPoint> floor;
  std::vector<double> rounds;
  std::optional<std::array<ChartPoint, 2>> forecast;  // from the last floor to where it leads
  std::string forecast_text;                          // "limit in 47 s"
  double limit = 0;                                   // bytes; 0: none
  std::string limit_text;                             // "limit 2.00 GiB (container limit)"
  std::vector<Mark> heaps;
  std::vector<Mark> events;
  double seconds = 0;  // the end of the time axis
  double bytes = 0;    // the top of the other
};

// What a recording holds, as Reader gives it.
struct ChartSource {
  std::vector<recording::Process> processes;
  std::vector<std::vector<recording::Sample>> samples;  // one list a process; the tree is process 0
  std::vector<recording::Round> rounds;
  std::vector<recording::Event> events;
  std::vector<recording::HeapInfo> heaps;
};

struct ChartOptions {
  std::size_t most_lines = 5;  // processes drawn beside the tree
  bool forecast = true;
};

Chart chart_of(const Findings& findings, const ChartSource& source, const ChartOptions& options);

// At most about `most` points that look the same at that many columns: of each column of the
// picture the first, the lowest, the highest and the last are kept.
std::vector<ChartPoint> thinned(const std::vector<ChartPoint>& points, std::size_t columns);

}  // namespace lowtide::report

// SPDX-License-Identifier: Apache-2.0
#pragma once

// From some hundred thousand readings to at most 64 floors, each read once.
//
//     readings   . .:. .:'. .:' .:'        windows of equal time, or whole rounds
//     windows   |    |    |    |   |       at most kMostFloors of them, each with at
//     floors    _____ ____ ____ ___        least kLeastReadings readings on average
//
// A floor stands at the moment of its reading, so a straight rise keeps its slope.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "verdict/verdict.h"

namespace lowtide::verdict {

inline constexpr std::size_t kMostFloors = 64;
inline constexpr std::size_t kLeastFloors = 8;    // fewer are no evidence
inline constexpr std::size_t kLeastReadings = 4;  // in one window

// One part of what was read. `seconds` ascends; both have the same length.
struct Series {
  std::vector<double> seconds;
  std::vector<double> bytes;

  std::size_t size() const { return bytes.size(); }
  bool empty() const { return bytes.empty(); }
  double length() const { return empty() ? 0 : seconds.back() - seconds.front(); }
};

using Part = std::int64_t Point::*;

// The readings that know this part, in order of time, whatever order they came in. Of two at the
// same moment the later one stays.
Series series_of(const std::vector<Point>& points, Part part);

// Without the last falling readings (at most 1 in 20, and 2 where that is less): a program that
// ends tears down what it held, and that is neither a floor nor a fall.
Series without_teardown(Series series);

// The lowest and the highest reading of one window.
struct Window {
  double seconds = 0;  // of the lowest reading
  double lowest = 0;
  double highest = 0;
};

// Windows of equal time. Those without a reading are left out.
std::vector<Window> equal_windows(const Series& series, std::size_t count);

// Windows that are whole rounds, several to a window where there are more than `count`. The
// first round begins the usual duration before its end, so what led up to it is not in it.
std::vector<Window> round_windows(const Series& series, std::span<const double> rounds,
                                  std::size_t count);

// How many rounds had ended at a moment, in fractions: what turns "per second" into "per round".
double rounds_at(std::span<const double> rounds, double seconds);

// In order, finite, and no two at one moment.
std::vector<double> clean_rounds(std::vector<double> rounds);

// The windows worth judging. Under rounds where there are enough; else of equal time, and of the
// width whose floors lie closest to a line for their number: teeth wider than a
// window would otherwise stand in the floor.
std::vector<Window> judged_windows(const Series& series, std::span<const double> rounds);

// Drops the windows from which the series later came back down by more than `tolerance`: what the
// tide takes away again was never a floor. Keeps at least half; else gives back all.
std::vector<Window> without_bursts(const std::vector<Window>& windows, double tolerance);

}  // namespace lowtide::verdict

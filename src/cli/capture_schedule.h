// SPDX-License-Identifier: Apache-2.0
#pragma once

// When to ask a process for its heap, and which of the heaps it gave to keep.
//
// Growth is read off heaps that are evenly spaced, and nobody knows how long a program will run. So
// the first ones come quickly, and whenever kMost are there every second one goes and the
// distance doubles: at any moment between kMost/2 and kMost heaps span the whole run evenly.
//
//     1 2 3 4 5 6 7 8      distance d
//     1   3   5   7   9    distance 2d ...
//
// Each distance swings a little: in step with a program that builds something anew every second,
// evenly spaced heaps would show it growing for as long as they drift through its period.
//
// Two budgets stretch the distance: the program may be stopped for at most kPauseShare of the
// time, and the copies may use at most kWalkShare of one core. The first kEarly heaps may cost
// kEarlyFactor times as much, and those of the first kYoung seconds kYoungFactor times: without
// them a short program, half of whose life is loading, would end before anything is known.

#include <cstdint>
#include <vector>

namespace lowtide::cli {

class CaptureSchedule {
 public:
  static constexpr std::size_t kMost = 8;
  static constexpr double kFirstAge = 0.35;  // seconds: the interpreter has mostly started
  static constexpr double kFirstDistance = 0.4;
  static constexpr double kSwing = 0.3;  // of a distance, either way
  static constexpr double kPauseShare = 0.01;
  static constexpr double kWalkShare = 0.10;
  static constexpr std::size_t kEarly = 5;
  static constexpr double kEarlyFactor = 5;
  static constexpr double kYoung = 30;
  static constexpr double kYoungFactor = 3;

  // `started`: when the process began, in seconds of the run.
  explicit CaptureSchedule(double started) : started_(started), next_(started + kFirstAge) {}

  bool due(double now) const { return now >= next_; }

  // The heap asked for at `asked` is stored under `id`. Returns the ids to drop now.
  std::vector<std::int64_t> stored(std::int64_t id, double asked, double pause, double walk);
  // It was not given: not ready yet, no room, too slow. The next try comes later each time.
  void refused(double now);

  double distance() const { return distance_; }
  const std::vector<std::int64_t>& kept() const { return kept_; }

 private:
  double started_;
  double next_;
  std::size_t taken_ = 0;
  std::uint32_t random_ = 1;
  double distance_ = kFirstDistance;
  double retry_ = 0.2;
  std::vector<std::int64_t> kept_;
};

}  // namespace lowtide::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once

// The lines the target printed, as the probes count them: rounds that matched the pattern, and
// for each kind of line when it came. Bounded however long the run: a full list drops every
// second time and from then on takes every second one (its `stride`).

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "verdict/verdict.h"
#include "wire/run_table.h"

namespace lowtide::cli {

class TimeList {
 public:
  static constexpr std::size_t kMost = 32768;
  // True where this time was kept.
  bool add(double seconds);
  const std::vector<double>& times() const { return times_; }
  std::uint64_t count() const { return count_; }
  std::uint64_t stride() const { return stride_; }

 private:
  std::vector<double> times_;
  std::uint64_t count_ = 0;
  std::uint64_t stride_ = 1;
};

class LineLog {
 public:
  // `started_ns`: CLOCK_MONOTONIC at second 0 of the run.
  explicit LineLog(std::uint64_t started_ns) : started_ns_(started_ns) {}

  // Takes what the probes wrote to the ring since the last time.
  void drain(lowtide_table& table);

  // Lines that matched the pattern: how many there were, and when those came that were not taken.
  std::uint64_t round_count() const { return round_count_; }
  std::vector<double> take_rounds() { return std::exchange(new_rounds_, {}); }
  std::vector<verdict::LineTimes> kinds() const;
  std::uint64_t lost() const { return lost_; }  // lines that came too fast to be counted

 private:
  static constexpr std::size_t kMostKinds = 256;
  std::uint64_t started_ns_;
  std::uint64_t next_ = 0;
  std::uint64_t lost_ = 0;
  std::uint64_t round_count_ = 0;
  std::vector<double> new_rounds_;
  std::unordered_map<std::uint32_t, TimeList> kinds_;
};

}  // namespace lowtide::cli

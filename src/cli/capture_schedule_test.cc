// SPDX-License-Identifier: Apache-2.0
#include "cli/capture_schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace lowtide::cli {
namespace {

// Runs a schedule until `end` and returns when the kept heaps were taken.
std::vector<double> kept_times(double end, double pause, double walk, int* asked = nullptr) {
  CaptureSchedule schedule(0);
  std::map<std::int64_t, double> when;
  std::int64_t id = 0;
  for (double now = 0; now < end; now += 0.1) {
    if (!schedule.due(now)) continue;
    when[++id] = now;
    for (std::int64_t gone : schedule.stored(id, now, pause, walk)) when.erase(gone);
  }
  if (asked) *asked = static_cast<int>(id);
  std::vector<double> times;
  for (const auto& [key, time] : when) times.push_back(time);
  return times;
}

TEST(CaptureSchedule, KeptHeapsSpanARunOfAnyLengthEvenly) {
  for (double end : {4.0, 10.0, 60.0, 600.0, 36000.0}) {
    const auto times = kept_times(end, 0.005, 0.01);
    ASSERT_GE(times.size(), 4u) << end;
    ASSERT_LE(times.size(), CaptureSchedule::kMost) << end;
    EXPECT_GT(times.back() - times.front(), end * 0.7) << end;
    const double usual = (times.back() - times.front()) / static_cast<double>(times.size() - 1);
    for (std::size_t i = 2; i < times.size(); ++i) {
      EXPECT_NEAR(times[i] - times[i - 1], usual, usual * 0.6 + 0.15) << end;
    }
  }
}

TEST(CaptureSchedule, AWeekAsksForFewHeaps) {
  int asked = 0;
  kept_times(7 * 86400.0, 0.005, 0.01, &asked);
  EXPECT_LT(asked, 100);
}

TEST(CaptureSchedule, ASlowWalkOrALongPauseStretchesTheDistance) {
  int asked = 0;
  kept_times(120, 0.005, 2.0, &asked);
  EXPECT_LE(asked, 11) << "2 s of walking at 10 % of a core is one every 20 s, after the first 30";
  kept_times(120, 0.2, 0.01, &asked);
  EXPECT_LE(asked, 11) << "0.2 s of pause at 1 % is one every 20 s, after the first 30";
}

TEST(CaptureSchedule, AShortProgramThatLoadsForLongIsReadOftenEnough) {
  const auto times = kept_times(20, 0.01, 0.8);
  const auto late = std::count_if(times.begin(), times.end(), [](double at) { return at > 6; });
  EXPECT_GE(late, 3) << "the last two thirds of 20 s";
}

TEST(CaptureSchedule, ARefusalIsTriedAgainLaterAndLater) {
  CaptureSchedule schedule(0);
  int tries = 0;
  for (double now = 0; now < 600; now += 0.1) {
    if (schedule.due(now)) schedule.refused(now), ++tries;
  }
  EXPECT_GT(tries, 10);
  EXPECT_LT(tries, 40);
}

}  // namespace
}  // namespace lowtide::cli

// SPDX-License-Identifier: Apache-2.0
#include "verdict/series.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "verdict/testing.h"

namespace lowtide::verdict {
namespace {

Series series_with(std::vector<double> bytes) {
  Series series;
  for (std::size_t i = 0; i < bytes.size(); ++i) series.seconds.push_back(static_cast<double>(i));
  series.bytes = std::move(bytes);
  return series;
}

std::vector<double> lows(const std::vector<Window>& windows) {
  std::vector<double> all;
  for (const Window& window : windows) all.push_back(window.lowest);
  return all;
}

TEST(Series, ComesInOrderWithoutWhatIsUnknown) {
  std::vector<Point> points(4);
  points[0] = {.seconds = 3, .resident = 30};
  points[1] = {.seconds = 1, .resident = 10};
  points[2] = {.seconds = 2, .resident = -1};
  points[3] = {.seconds = std::numeric_limits<double>::quiet_NaN(), .resident = 5};
  const Series series = series_of(points, &Point::resident);
  EXPECT_EQ(series.seconds, (std::vector<double>{1, 3}));
  EXPECT_EQ(series.bytes, (std::vector<double>{10, 30}));
}

TEST(Series, OfTwoReadingsAtOneMomentTheLaterStays) {
  std::vector<Point> points(2);
  points[0].resident = 1;
  points[1].resident = 2;
  EXPECT_EQ(series_of(points, &Point::resident).bytes, (std::vector<double>{2}));
}

TEST(Series, LosesItsTeardownAndNoMore) {
  EXPECT_EQ(without_teardown(series_with({5, 6, 7, 8, 4, 1})).bytes,
            (std::vector<double>{5, 6, 7, 8}));
  EXPECT_EQ(without_teardown(series_with({9, 8, 7, 6, 5, 4})).size(), 4u);
  EXPECT_EQ(without_teardown(series_with({})).size(), 0u);
}

TEST(Windows, OfEqualTimeKeepTheLowestReadingAndItsMoment) {
  const auto windows = equal_windows(series_with({3, 1, 2, 9, 8, 7}), 2);
  ASSERT_EQ(windows.size(), 2u);
  EXPECT_EQ(windows[0].lowest, 1);
  EXPECT_EQ(windows[0].seconds, 1);
  EXPECT_EQ(windows[1].highest, 9);
}

TEST(Windows, WithoutAReadingAreLeftOut) {
  Series series = series_with({1, 2, 3});
  series.seconds = {0, 1, 100};
  EXPECT_EQ(equal_windows(series, 10).size(), 2u);
}

TEST(Windows, UnderRoundsHoldWholeRoundsAndNotTheStart) {
  // Rounds of two seconds that end at 6, 8, 10, 12; what was before second 4 is the start.
  const Series series = series_with({1, 1, 1, 1, 1, 20, 21, 22, 23, 24, 25, 26, 27});
  const std::vector<double> rounds{6, 8, 10, 12};
  EXPECT_EQ(lows(round_windows(series, rounds, 4)), (std::vector<double>{20, 22, 24, 26}));
  EXPECT_EQ(lows(round_windows(series, rounds, 2)), (std::vector<double>{20, 24}));
}

TEST(Windows, AreAsWideAsTheTeethOfASaw) {
  // 640 readings, teeth of 40: under 64 windows the floor would be a saw itself.
  std::vector<double> bytes;
  for (int i = 0; i < 640; ++i) bytes.push_back(1e8 + 1e6 * (i % 40));
  for (double low : lows(judged_windows(series_with(bytes), {}))) EXPECT_LT(low, 1e8 + 1e6);
}

TEST(Bursts, AreWhatTheSeriesLaterComesBackFrom) {
  std::vector<Window> windows;
  for (double low : {10.0, 11.0, 90.0, 91.0, 12.0, 13.0}) windows.push_back({0, low, low});
  EXPECT_EQ(lows(without_bursts(windows, 5)), (std::vector<double>{10, 11, 12, 13}));
}

TEST(Rounds, HaveFractionsBetweenTheirEnds) {
  const std::vector<double> rounds{2, 4, 8};
  EXPECT_DOUBLE_EQ(rounds_at(rounds, 4), 2);
  EXPECT_DOUBLE_EQ(rounds_at(rounds, 6), 2.5);
  EXPECT_DOUBLE_EQ(rounds_at(rounds, 12), 4);
  EXPECT_DOUBLE_EQ(rounds_at(rounds, 0), 0);
}

}  // namespace
}  // namespace lowtide::verdict

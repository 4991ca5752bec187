// SPDX-License-Identifier: Apache-2.0
#include "verdict/trend.h"

#include <gtest/gtest.h>

#include <cmath>

#include "verdict/testing.h"

namespace lowtide::verdict {
namespace {

using testing::Dice;

std::vector<double> numbers(std::size_t count) {
  std::vector<double> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(static_cast<double>(i));
  return all;
}

TEST(Median, IsTheMiddleOrTheMeanOfTheTwoInTheMiddle) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
}

TEST(Trend, OfALineIsItsSlope) {
  std::vector<double> y;
  for (double x : numbers(20)) y.push_back(7 + 3 * x);
  const Trend trend = trend_of(numbers(20), y);
  EXPECT_DOUBLE_EQ(trend.slope, 3);
  EXPECT_DOUBLE_EQ(trend.level, 7);
  EXPECT_NEAR(trend.low, 3, 1e-9);
  EXPECT_NEAR(trend.high, 3, 1e-9);
}

TEST(Trend, IsNotMovedByAFewWildFloors) {
  std::vector<double> y;
  for (double x : numbers(30)) y.push_back(x);
  y[4] = 1000, y[17] = -500, y[29] = 900;
  EXPECT_NEAR(trend_of(numbers(30), y).slope, 1, 0.1);
}

TEST(Trend, OfFewerThanThreeKnowsNothing) {
  const std::vector<double> two{1, 2};
  const Trend trend = trend_of(two, two);
  EXPECT_EQ(trend.slope, 0);
  EXPECT_TRUE(std::isinf(trend.high));
  EXPECT_TRUE(std::isinf(trend_of({}, {}).low));
}

TEST(Trend, OfOneMomentKnowsNothing) {
  const std::vector<double> same{5, 5, 5, 5};
  EXPECT_TRUE(std::isinf(trend_of(same, numbers(4)).high));
}

// How often the 95 % interval holds the true slope.
double coverage(std::size_t count, double correlation) {
  int inside = 0;
  constexpr int kRuns = 1000;
  for (int run = 0; run < kRuns; ++run) {
    Dice dice(static_cast<std::uint64_t>(run) + count * 10'000);
    std::vector<double> y;
    double wander = dice.normal();
    for (double x : numbers(count)) {
      wander = correlation * wander + std::sqrt(1 - correlation * correlation) * dice.normal();
      y.push_back(2 * x + wander);
    }
    const Trend trend = trend_of(numbers(count), y);
    inside += trend.low <= 2 && 2 <= trend.high;
  }
  return static_cast<double>(inside) / kRuns;
}

TEST(Interval, HoldsTheTruthNineteenTimesInTwenty) {
  for (std::size_t count : {8u, 16u, 32u, 64u}) EXPECT_GE(coverage(count, 0), 0.945) << count;
}

TEST(Interval, IsNotVainlyWide) {
  for (std::size_t count : {16u, 64u}) EXPECT_LE(coverage(count, 0), 0.985) << count;
}

TEST(Interval, WidensForFloorsThatFollowOneAnother) {
  EXPECT_GE(coverage(32, 0.5), 0.9);
  EXPECT_GE(coverage(64, 0.5), 0.9);
  EXPECT_GE(coverage(64, 0.8), 0.85);
}

}  // namespace
}  // namespace lowtide::verdict

// SPDX-License-Identifier: Apache-2.0
#include "verdict/rounds.h"

#include <gtest/gtest.h>

#include <cmath>

#include "verdict/testing.h"

namespace lowtide::verdict {
namespace {

using testing::Dice;
using testing::kMiB;
using testing::Noise;
using testing::readings;

double usual_gap(const std::vector<double>& rounds) {
  return (rounds.back() - rounds.front()) / static_cast<double>(rounds.size() - 1);
}

TEST(FindRounds, FindsThePeriodOfASaw) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Dice dice(seed);
    const double period = dice.between(1.5, 9);
    const double leak = dice.between(0, 2) * kMiB;
    const auto points = readings(dice, 100, 0.1, Noise{kMiB, 0}, [&](double t) {
      return 100 * kMiB + leak * t + 20 * kMiB * std::fmod(t / period, 1.0);
    });
    const auto rounds = find_rounds(points);
    ASSERT_GE(rounds.size(), 5u) << seed;
    EXPECT_NEAR(usual_gap(rounds), period, 0.1 * period) << seed;
  }
}

TEST(FindRounds, FindsNoneWhereNothingRepeats) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Dice dice(seed);
    const double correlation = seed % 2 == 0 ? 0 : dice.between(0.5, 0.99);
    const double leak = dice.between(0, 2) * kMiB;
    const auto points = readings(dice, 60, 0.1, Noise{4 * kMiB, correlation}, [&](double t) {
      return 100 * kMiB + leak * t + (t > 10 ? 50 * kMiB : 0);
    });
    found += !find_rounds(points).empty();
  }
  EXPECT_LE(found, 3);
}

TEST(FindRounds, OfNothingAreNone) {
  EXPECT_TRUE(find_rounds({}).empty());
  EXPECT_TRUE(find_rounds(std::vector<Point>(1)).empty());
  std::vector<Point> level(200);
  for (std::size_t i = 0; i < level.size(); ++i) level[i].seconds = static_cast<double>(i);
  EXPECT_TRUE(find_rounds(level).empty());
}

std::vector<double> every(double gap, double from, double to) {
  std::vector<double> times;
  for (double t = from; t <= to; t += gap) times.push_back(t);
  return times;
}

TEST(RoundsFromLines, TakesTheSlowestThatRepeatsOftenEnough) {
  const std::vector<LineTimes> lines{
      {1, every(0.1, 1, 60)}, {2, every(2, 3, 60)}, {3, every(12, 12, 60)}, {4, {0.5}}};
  EXPECT_EQ(rounds_from_lines(lines, 60), lines[1].seconds);
}

TEST(RoundsFromLines, TakesFewWhereThereAreNoMore) {
  EXPECT_EQ(rounds_from_lines({{3, every(10, 10, 60)}}, 60).size(), 6u);
}

TEST(RoundsFromLines, PassesOverWhatIsUnevenOrOnlyAtTheStart) {
  EXPECT_TRUE(rounds_from_lines({{1, every(0.5, 0, 10)}}, 60).empty());
  EXPECT_TRUE(rounds_from_lines({{1, {1, 2, 9, 10, 30, 31, 32, 58}}}, 60).empty());
  EXPECT_TRUE(rounds_from_lines({{1, {1, 2, 3, 4}}}, 5).empty());
  EXPECT_TRUE(rounds_from_lines({}, 5).empty());
}

TEST(RoundsFromLines, PassesOverTablesPrintedNowAndThen) {
  std::vector<double> times;
  for (double start : every(20, 5, 100)) {
    for (int row = 0; row < 8; ++row) times.push_back(start + 0.001 * row);
  }
  EXPECT_TRUE(rounds_from_lines({{1, times}}, 100).empty());
}

}  // namespace
}  // namespace lowtide::verdict

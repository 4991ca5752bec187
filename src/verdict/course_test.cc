// SPDX-License-Identifier: Apache-2.0
#include "verdict/course.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "verdict/testing.h"

namespace lowtide::verdict {
namespace {

using testing::kMiB;

Course course_under(const std::function<double(double)>& curve, double seconds = 60) {
  testing::Dice dice(5);
  const auto points = testing::readings(dice, seconds, 0.1, {0.2 * kMiB, 0}, curve);
  return course_of(series_of(points, &Point::anonymous), {});
}

TEST(Course, OfALateRiseIsJudgedFromWhereItBegins) {
  const Course course =
      course_under([](double t) { return 100 * kMiB + kMiB * std::max(0.0, t - 25); });
  EXPECT_EQ(course.motion, Motion::Rising);
  EXPECT_NEAR(course.since, 25, 3);
  EXPECT_NEAR(course.per_second, kMiB, 0.05 * kMiB);
}

TEST(Course, OfALoadAndALeakKeepsThemApart) {
  const Course course = course_under(
      [](double t) { return 50 * kMiB + 300 * kMiB * std::min(1.0, t / 8) + 0.5 * kMiB * t; });
  EXPECT_EQ(course.motion, Motion::Rising);
  EXPECT_NEAR(course.per_second, 0.5 * kMiB, 0.05 * kMiB);
  EXPECT_GT(course.before, 250 * kMiB);
}

TEST(Course, OfGrowthThatEndedIsQuiet) {
  const Course course =
      course_under([](double t) { return 50 * kMiB + 100 * kMiB * -std::expm1(-t / 6); });
  EXPECT_EQ(course.motion, Motion::Quiet);
  EXPECT_GT(course.before, 80 * kMiB);
}

TEST(Course, OfGrowthThatDecaysIsSlowing) {
  EXPECT_EQ(course_under([](double t) { return 50 * kMiB + 20 * kMiB * std::sqrt(t); }).motion,
            Motion::Slowing);
}

TEST(Course, OfVeryFewStairsExpectsTheNext) {
  const Course course =
      course_under([](double t) { return 60 * kMiB + 20 * kMiB * std::floor(t / 22); });
  EXPECT_EQ(course.stairs, 2u);
  EXPECT_TRUE(course.next_stair_due);
}

TEST(Course, OfAStartInStepsExpectsNoMore) {
  const Course course = course_under(
      [](double t) { return 60 * kMiB + 20 * kMiB * std::min(3.0, std::floor(t / 5)); });
  EXPECT_FALSE(course.next_stair_due);
}

TEST(Course, OfTooFewReadingsIsShort) {
  EXPECT_EQ(course_under([](double) { return kMiB; }, 2).motion, Motion::Short);
  EXPECT_EQ(course_of({}, {}).motion, Motion::Short);
}

}  // namespace
}  // namespace lowtide::verdict

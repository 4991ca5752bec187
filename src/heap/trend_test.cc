// SPDX-License-Identifier: Apache-2.0
#include "heap/trend.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace lowtide::heap {
namespace {

bool rises(const std::vector<std::int64_t>& y) {
  std::vector<double> x(y.size());
  std::iota(x.begin(), x.end(), 1.0);
  return trend_of(x, y).rises;
}

TEST(Trend, AConstantRateRises) {
  EXPECT_TRUE(rises({10, 20}));
  EXPECT_TRUE(rises({10, 20, 30}));
  EXPECT_TRUE(rises({0, 10, 19, 31, 40, 50, 62}));
}

TEST(Trend, TheFirstThirdMayDoWhatItLikes) {
  EXPECT_TRUE(rises({0, 900, 1000, 1010, 1021, 1030, 1040}));
  EXPECT_TRUE(rises({500, 100, 110, 120, 130, 140, 150, 0 + 700}));
}

TEST(Trend, WhatBeginsAfterALongLoadIsJudgedFromThere) {
  const std::vector<double> x{0.4, 0.9, 1.7, 3.1, 4.5, 13.2};
  const std::vector<std::int64_t> kept{0, 0, 0, 2, 23, 173};
  EXPECT_TRUE(trend_of(x, kept).rises);
  const std::vector<std::int64_t> filled{0, 0, 0, 20, 40, 50};
  EXPECT_FALSE(trend_of(x, filled).rises);
  EXPECT_FALSE(rises({0, 0, 0, 0, 0, 10, 20}));  // too late to say
}

TEST(Trend, WhatFillsUpOrStopsDoesNot) {
  EXPECT_FALSE(rises({0, 900, 1300, 1390, 1410, 1413, 1414}));
  EXPECT_FALSE(rises({0, 100, 150, 175, 187}));
  EXPECT_FALSE(rises({0, 100, 200, 300, 300, 300}));
  EXPECT_FALSE(rises({0, 100, 100}));
  EXPECT_FALSE(rises({5, 5, 5, 5}));
}

TEST(Trend, ASawtoothDoesNot) {
  EXPECT_FALSE(rises({10, 20, 30, 5, 15, 25, 35}));
  EXPECT_FALSE(rises({10, 20, 10, 20, 30}));
}

TEST(Trend, OneStepInFiveMayStandStill) {
  EXPECT_TRUE(rises({0, 10, 20, 30, 30, 40, 50, 60, 70}));
  EXPECT_FALSE(rises({0, 10, 20, 20, 30}));
}

TEST(Trend, TheRateIsPerUnitOfX) {
  const std::vector<double> x{10, 20, 50, 60, 90};
  const std::vector<std::int64_t> y{100, 120, 180, 200, 260};
  const Trend trend = trend_of(x, y);
  EXPECT_TRUE(trend.rises);
  EXPECT_DOUBLE_EQ(trend.slope, 2);
  EXPECT_DOUBLE_EQ(trend.evenness, 1);
  EXPECT_EQ(trend.grown, 160);
}

}  // namespace
}  // namespace lowtide::heap

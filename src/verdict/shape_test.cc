// SPDX-License-Identifier: Apache-2.0
#include "verdict/shape.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "verdict/testing.h"

namespace lowtide::verdict {
namespace {

Fit fit_of(const std::function<double(double)>& curve, double noise = 0) {
  testing::Dice dice(7);
  std::vector<double> x;
  std::vector<double> y;
  for (int i = 0; i < 64; ++i) {
    x.push_back(i);
    y.push_back(1e8 * curve(i / 63.0) + noise * dice.normal());
  }
  return fit_shape(x, y, 65536, 10);
}

TEST(Shape, OfARiseIsALine) {
  EXPECT_EQ(fit_of([](double u) { return u; }).shape, Shape::Line);
  EXPECT_EQ(fit_of([](double u) { return u; }, 1e6).shape, Shape::Line);
}

TEST(Shape, OfAStaircaseIsALine) {
  EXPECT_EQ(fit_of([](double u) { return std::floor(9 * u) / 9; }).shape, Shape::Line);
}

TEST(Shape, OfDecayingGrowthIsABend) {
  for (double noise : {0.0, 1e6}) {
    EXPECT_EQ(fit_of([](double u) { return std::sqrt(u); }, noise).shape, Shape::Bend);
    EXPECT_EQ(fit_of([](double u) { return std::log1p(20 * u); }, noise).shape, Shape::Bend);
    EXPECT_LT(fit_of([](double u) { return 1 - std::exp(-3 * u); }, noise).last_rate, 0.3);
  }
}

TEST(Shape, OfAFillIsBrokenWhereItEnds) {
  const Fit fit = fit_of([](double u) { return std::min(1.0, 2 * u); }, 5e5);
  EXPECT_EQ(fit.shape, Shape::Broken);
  EXPECT_NEAR(static_cast<double>(fit.at), 32, 2);
}

TEST(Shape, OfALateRiseIsBrokenWhereItBegins) {
  const Fit fit = fit_of([](double u) { return std::max(0.0, u - 0.5); }, 5e5);
  EXPECT_EQ(fit.shape, Shape::Broken);
  EXPECT_NEAR(static_cast<double>(fit.at), 32, 3);
}

TEST(Shape, OfTooFewOrOfNothingIsALine) {
  EXPECT_EQ(fit_shape({}, {}, 1, 8).shape, Shape::Line);
  const std::vector<double> same(20, 5.0);
  EXPECT_EQ(fit_shape(same, same, 1, 8).shape, Shape::Line);
}

TEST(Steps, AreFewInAJumpAndManyInARise) {
  std::vector<double> jump(40, 1.0);
  std::fill(jump.begin() + 20, jump.end(), 9.0);
  EXPECT_EQ(steps_carrying(jump), 1u);
  std::vector<double> rise;
  for (int i = 0; i <= 40; ++i) rise.push_back(i);
  EXPECT_EQ(steps_carrying(rise), 32u);
  EXPECT_EQ(steps_carrying(std::vector<double>{3, 2, 1}), 0u);
  EXPECT_EQ(steps_carrying({}), 0u);
}

}  // namespace
}  // namespace lowtide::verdict

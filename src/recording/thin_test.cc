// SPDX-License-Identifier: Apache-2.0
#include "recording/thin.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <utility>

#include "recording/testing.h"

namespace lowtide::recording {
namespace {

using testing::sample_at;

struct Extremes {
  std::int64_t low = INT64_MAX;
  std::int64_t high = INT64_MIN;
  bool operator==(const Extremes&) const = default;
};

using Key = std::pair<std::int64_t, double>;  // process, bucket

std::map<Key, Extremes> extremes_of(const std::vector<Sample>& rows, double width,
                                    std::int64_t Sample::*figure) {
  std::map<Key, Extremes> all;
  for (const Sample& row : rows) {
    if (row.*figure < 0) continue;
    Extremes& extremes = all[{row.process, std::floor(row.seconds / width)}];
    extremes.low = std::min(extremes.low, row.*figure);
    extremes.high = std::max(extremes.high, row.*figure);
  }
  return all;
}

std::vector<Sample> random_rows(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Sample> rows;
  double now = 0;
  for (int i = 0; i < 2000; ++i) {
    now += random() % 50 == 0 ? 30.0 : 0.05 * static_cast<double>(random() % 10);
    Sample row = sample_at(now, static_cast<std::int64_t>(random() % 5), random() % 1000);
    row.anonymous = random() % 4 == 0 ? -1 : static_cast<std::int64_t>(random() % 1000);
    if (row.process == 0) row.container = static_cast<std::int64_t>(random() % 1000);
    rows.push_back(row);
  }
  return rows;
}

TEST(Thin, KeepsTheExtremesOfEveryBucketAndInventsNothing) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    const auto rows = random_rows(seed);
    for (const double width : {1.0, 5.0, 60.0}) {
      const auto kept = thin(rows, width);
      for (const auto figure : {&Sample::resident, &Sample::anonymous, &Sample::container}) {
        ASSERT_EQ(extremes_of(kept, width, figure), extremes_of(rows, width, figure));
      }
      for (const Sample& row : kept) {
        ASSERT_TRUE(std::any_of(rows.begin(), rows.end(), [&](const Sample& original) {
          return original.seconds == row.seconds && original.process == row.process &&
                 original.resident == row.resident && original.anonymous == row.anonymous;
        }));
      }
      ASSERT_TRUE(std::is_sorted(kept.begin(), kept.end(), [](const Sample& a, const Sample& b) {
        return a.seconds < b.seconds;
      }));
    }
  }
}

TEST(Thin, AskedTwiceItChangesNothing) {
  const auto once = thin(random_rows(1), 5);
  EXPECT_EQ(thin(once, 5).size(), once.size());
}

TEST(Thin, KeepsBothEndsOfAPlateau) {
  // 70 for a long time, and at its beginning and its end in a bucket with more extreme readings.
  const auto kept = thin({sample_at(0.1, 1, 100), sample_at(0.2, 1, 50), sample_at(0.3, 1, 70),
                          sample_at(900.1, 1, 70), sample_at(900.2, 1, 20), sample_at(900.3, 1, 90),
                          sample_at(900.4, 1, 80)},
                         5);
  std::vector<double> times;
  for (const Sample& row : kept) times.push_back(row.seconds);
  EXPECT_EQ(times, (std::vector<double>{0.1, 0.2, 0.3, 900.1, 900.2, 900.3, 900.4}));
}

TEST(Thin, ABusyProcessKeepsFewReadingsABucket) {
  std::vector<Sample> rows;
  for (int i = 0; i < 6000; ++i) rows.push_back(sample_at(i * 0.1, 1, 1000 + i % 37));
  EXPECT_LE(thin(rows, 5).size(), 120u * 2 + 2);
}

TEST(Thin, OfNothingIsNothing) { EXPECT_TRUE(thin({}, 5).empty()); }

}  // namespace
}  // namespace lowtide::recording

// SPDX-License-Identifier: Apache-2.0
#include "verdict/verdict.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "verdict/testing.h"

namespace lowtide::verdict {
namespace {

using testing::Dice;
using testing::kMiB;
using testing::Noise;
using testing::readings;
using testing::rounds_every;

constexpr Noise kLittle{0.3 * kMiB, 0.3};

Evidence rising(double seconds, double per_second, double round = 0) {
  Dice dice(11);
  Evidence evidence;
  evidence.points =
      readings(dice, seconds, 0.1, kLittle, [&](double t) { return 200 * kMiB + per_second * t; });
  if (round > 0) evidence.rounds = rounds_every(round, seconds);
  return evidence;
}

bool says(const Verdict& verdict, const char* words) {
  return verdict.why.find(words) != std::string::npos;
}

TEST(Verdict, SaysTheRatePerRoundAndItsInterval) {
  const Verdict verdict = judge(rising(60, 2 * kMiB, 1.5));
  EXPECT_EQ(verdict.name, Name::Leak);
  EXPECT_EQ(verdict.rounds, 40);
  EXPECT_NEAR(verdict.rate_per_round, 3 * kMiB, 0.05 * kMiB);
  EXPECT_NEAR(verdict.rate_per_second, 2 * kMiB, 0.05 * kMiB);
  EXPECT_LT(verdict.interval95[0], 3 * kMiB);
  EXPECT_GT(verdict.interval95[1], 3 * kMiB);
  EXPECT_TRUE(says(verdict, "MiB per round (40 rounds, 95 % between ")) << verdict.why;
}

TEST(Verdict, SaysWhenTheLimitIsReached) {
  Evidence evidence = rising(60, 2 * kMiB, 1.5);
  evidence.limit = static_cast<std::int64_t>(600 * kMiB);
  const Verdict verdict = judge(evidence);
  ASSERT_TRUE(verdict.seconds_to_limit);
  EXPECT_NEAR(*verdict.seconds_to_limit, (600 - 328) / 2.0, 4);
  EXPECT_TRUE(says(verdict, "at this rate the limit is reached in 9")) << verdict.why;
  EXPECT_EQ(verdict.fits_in, 0);
}

TEST(Verdict, OfAFlatRunNamesALimitItFitsIn) {
  Evidence evidence = rising(60, 0);
  evidence.limit = static_cast<std::int64_t>(2000 * kMiB);
  const Verdict verdict = judge(evidence);
  EXPECT_EQ(verdict.name, Name::Steady);
  EXPECT_GT(verdict.fits_in, static_cast<std::int64_t>(208 * kMiB));
  EXPECT_LT(verdict.fits_in, static_cast<std::int64_t>(260 * kMiB));
  EXPECT_FALSE(verdict.seconds_to_limit);
}

TEST(Verdict, DoesNotAccuseOneJobThatFills) {
  EXPECT_EQ(judge(rising(20, 20 * kMiB)).name, Name::Undecided);
  EXPECT_TRUE(says(judge(rising(20, 20 * kMiB)), "--round"));
}

TEST(Verdict, AccusesARiseWithoutRoundsWhenItLasts) {
  const Verdict unmarked = judge(rising(200, 2 * kMiB));
  EXPECT_EQ(unmarked.name, Name::Leak);
  EXPECT_LT(unmarked.confidence, judge(rising(200, 2 * kMiB, 2)).confidence);
}

TEST(Verdict, AccusesARiseThatTheLimitEnded) {
  Evidence evidence = rising(20, 20 * kMiB);
  evidence.ended_by_limit = true;
  EXPECT_EQ(judge(evidence).name, Name::Leak);
  EXPECT_TRUE(says(judge(evidence), "killed at its limit"));
}

TEST(Verdict, OfAShortRunIsUndecidedAndSaysWhatWouldDecide) {
  const Verdict verdict = judge(rising(2, 20 * kMiB));
  EXPECT_EQ(verdict.name, Name::Undecided);
  EXPECT_TRUE(says(verdict, "longer, or mark rounds with --round")) << verdict.why;
}

Evidence with_live(Evidence evidence, double base, double per_second, int count) {
  const double seconds = evidence.points.back().seconds;
  for (int i = 0; i < count; ++i) {
    const double t = seconds * (0.2 + 0.75 * i / (count - 1));
    evidence.live.push_back({t, static_cast<std::int64_t>(base + per_second * t), 0, 1000});
  }
  return evidence;
}

TEST(Verdict, NamesNativeMemoryWhereTheHeapIsFlat) {
  const Verdict verdict = judge(with_live(rising(60, 2 * kMiB, 1.5), 50 * kMiB, 0, 5));
  EXPECT_EQ(verdict.name, Name::Leak);
  EXPECT_TRUE(says(verdict, "native memory")) << verdict.why;
}

TEST(Verdict, NativeMemoryBesideObjectsThatGrowIsMostLikelyTheirs) {
  Evidence evidence = with_live(rising(60, 20 * kMiB, 1.5), 50 * kMiB, kMiB, 5);
  evidence.growing_suspects = true;
  const Verdict verdict = judge(evidence);
  EXPECT_TRUE(says(verdict, "may be theirs")) << verdict.why;
  EXPECT_FALSE(says(verdict, "not the runtime's objects")) << verdict.why;
}

TEST(Verdict, NamesGarbageThatNoCollectionTakes) {
  Evidence evidence = with_live(rising(60, 2 * kMiB, 1.5), 50 * kMiB, 0, 5);
  for (LivePoint& point : evidence.live) {
    point.garbage = static_cast<std::int64_t>(2 * kMiB * point.seconds);
  }
  EXPECT_TRUE(says(judge(evidence), "unreachable objects that no collection takes"));
}

TEST(Verdict, GarbageThatGraphsNameIsNoLongJobThatFills) {
  Dice dice(3);
  Evidence evidence;
  evidence.points = readings(dice, 9, 0.1, kLittle, [](double t) { return 50 * kMiB + kMiB * t; });
  for (double t = 0.5; t < 9; t += 1.5) {
    evidence.live.push_back(
        {t, static_cast<std::int64_t>(20 * kMiB), static_cast<std::int64_t>(kMiB * t), 0});
  }
  EXPECT_EQ(judge(evidence).name, Name::Undecided);
  evidence.growing_suspects = true;
  EXPECT_EQ(judge(evidence).name, Name::Leak) << judge(evidence).why;
}

TEST(Verdict, TakesHeapGraphsAsProofSoonerThanTheFloorAlone) {
  Evidence evidence = with_live(rising(20, 5 * kMiB), 50 * kMiB, 5 * kMiB, 5);
  evidence.growing_suspects = true;
  const Verdict verdict = judge(evidence);
  EXPECT_EQ(verdict.name, Name::Leak);
  EXPECT_TRUE(says(verdict, "live objects grew")) << verdict.why;
}

TEST(Verdict, HeapGraphsFromBeforeTheJudgedFloorCountToo) {
  Dice dice(3);
  Evidence evidence;  // a start of 8 s in jumps, then 3 s of even growth
  evidence.points = readings(dice, 11, 0.1, kLittle, [](double t) {
    return 100 * kMiB + (t < 8 ? 4 * kMiB * std::floor(t / 2) : 12 * kMiB + 2 * kMiB * (t - 8));
  });
  for (double t : {1.1, 2.9, 4.7, 6.4, 8.0, 10.4}) {
    evidence.live.push_back({t, static_cast<std::int64_t>((50 + 1.8 * t) * kMiB), 0, 0});
  }
  evidence.growing_suspects = true;
  const Verdict verdict = judge(evidence);
  EXPECT_EQ(verdict.name, Name::Leak) << verdict.why;
}

TEST(Verdict, AFloorThatSlowsIsALeakWhereGraphsGoOnRising) {
  Dice dice(3);
  Evidence evidence;
  evidence.points = readings(dice, 20, 0.1, kLittle, [](double t) {
    return 100 * kMiB + 300 * kMiB * (1 - std::exp(-t / 8));
  });
  EXPECT_EQ(judge(evidence).name, Name::LevellingOff) << judge(evidence).why;
  evidence.growing_suspects = true;
  evidence = with_live(evidence, 50 * kMiB, 8 * kMiB, 5);
  EXPECT_EQ(judge(evidence).name, Name::Leak) << judge(evidence).why;
}

TEST(Verdict, SeesALeakInMemoryTheProcessAlreadyHad) {
  Evidence evidence = with_live(rising(60, 0, 1.5), 50 * kMiB, 0.1 * kMiB, 8);
  evidence.growing_suspects = true;
  const Verdict verdict = judge(evidence);
  EXPECT_EQ(verdict.name, Name::Leak);
  EXPECT_NEAR(verdict.rate_per_second, 0.1 * kMiB, 0.01 * kMiB);
  EXPECT_NEAR(verdict.rate_per_round, 0.15 * kMiB, 0.01 * kMiB);
}

TEST(Verdict, IsNotMovedByFewOrUnevenGraphsOverAFlatFloor) {
  const auto judge_graphs = [](const std::vector<double>& mebibytes) {
    Evidence evidence = rising(60, 0, 1.5);
    evidence.growing_suspects = true;
    for (std::size_t i = 0; i < mebibytes.size(); ++i) {
      LivePoint point;
      point.seconds = 10 + 9.0 * static_cast<double>(i);
      point.bytes = static_cast<std::int64_t>(mebibytes[i] * kMiB);
      evidence.live.push_back(point);
    }
    return judge(evidence).name;
  };
  EXPECT_EQ(judge_graphs({50, 51, 52, 53, 54}), Name::Undecided);
  EXPECT_EQ(judge_graphs({50, 51, 52, 52.1, 53, 57}), Name::Undecided);
  EXPECT_EQ(judge_graphs({50, 51, 52, 53, 54, 55}), Name::Leak);
}

TEST(Verdict, SeesALeakBetweenTheStairsOfTheAllocator) {
  Dice dice(3);
  Evidence evidence;
  evidence.points = readings(dice, 30, 0.1, kLittle,
                             [](double t) { return 60 * kMiB + 20 * kMiB * std::floor(t / 11); });
  EXPECT_EQ(judge(evidence).name, Name::Undecided);
  EXPECT_TRUE(says(judge(evidence), "in 2 steps only")) << judge(evidence).why;
  evidence.growing_suspects = true;
  EXPECT_EQ(judge(with_live(evidence, 40 * kMiB, 2 * kMiB, 5)).name, Name::Leak);
}

TEST(Verdict, IsNotMovedByHeapGraphsOfTheFillAlone) {
  Dice dice(3);
  Evidence evidence;
  evidence.points = readings(dice, 60, 0.1, kLittle,
                             [](double t) { return 100 * kMiB + 5 * kMiB * std::min(t, 30.0); });
  for (double t : {5.0, 12.0, 20.0, 28.0}) {
    evidence.live.push_back({t, static_cast<std::int64_t>(5 * kMiB * t), 0, 0});
  }
  evidence.growing_suspects = true;
  EXPECT_EQ(judge(evidence).name, Name::CacheAtCap);
}

TEST(Verdict, BlamesTheAllocatorForWhatItKeeps) {
  Evidence evidence = rising(100, kMiB, 1);
  for (Point& point : evidence.points) {
    point.allocator_in_use = static_cast<std::int64_t>(100 * kMiB);
    point.allocator_free = point.anonymous - point.allocator_in_use;
  }
  const Verdict verdict = judge(evidence);
  EXPECT_EQ(verdict.name, Name::RetainedByAllocator);
  EXPECT_TRUE(says(verdict, "free memory the allocator keeps")) << verdict.why;
}

TEST(Verdict, NeedsFewReadingsOfTheAllocator) {
  Evidence evidence = rising(100, kMiB, 1);
  for (std::size_t i = 100; i < evidence.points.size(); i += 200) {
    Point& point = evidence.points[i];
    point.allocator_in_use = static_cast<std::int64_t>(100 * kMiB);
    point.allocator_free = point.anonymous - point.allocator_in_use;
  }
  EXPECT_EQ(judge(evidence).name, Name::RetainedByAllocator);
  // One reading says nothing about growth.
  for (std::size_t i = 0; i + 200 < evidence.points.size(); ++i) {
    evidence.points[i].allocator_free = evidence.points[i].allocator_in_use = -1;
  }
  EXPECT_EQ(judge(evidence).name, Name::Leak);
}

TEST(Verdict, NamesSharedMemoryThatGrows) {
  Evidence evidence = rising(60, 0, 1.5);
  for (Point& point : evidence.points) {
    point.shared = static_cast<std::int64_t>(2 * kMiB * point.seconds);
    point.resident += point.shared;
  }
  const Verdict verdict = judge(evidence);
  EXPECT_EQ(verdict.name, Name::Leak);
  EXPECT_NEAR(verdict.rate_per_second, 2 * kMiB, 0.1 * kMiB);
  EXPECT_TRUE(says(verdict, "shared memory")) << verdict.why;
}

TEST(Verdict, NamesPageCacheThatFillsTheContainer) {
  Evidence evidence = rising(60, 0);
  evidence.limit = static_cast<std::int64_t>(1000 * kMiB);
  evidence.container_cache = static_cast<std::int64_t>(700 * kMiB);
  EXPECT_EQ(judge(evidence).name, Name::PageCache);
}

TEST(Verdict, OfAKillBySuddenPeakIsABurst) {
  Evidence evidence = rising(60, 0);
  evidence.ended_by_limit = true;
  EXPECT_EQ(judge(evidence).name, Name::Burst);
  EXPECT_EQ(judge(evidence).fits_in, 0);
}

// ---- what must not matter ----

TEST(Verdict, DoesNotDependOnWhenTheClockStarted) {
  for (double rate : {0.0, 0.3 * kMiB, 3 * kMiB}) {
    Evidence evidence = rising(60, rate, 1.5);
    const Verdict before = judge(evidence);
    for (Point& point : evidence.points) point.seconds += 5000;
    for (double& round : evidence.rounds) round += 5000;
    const Verdict after = judge(evidence);
    EXPECT_EQ(before.name, after.name);
    EXPECT_NEAR(before.rate_per_round, after.rate_per_round, 1e-3 * kMiB);
  }
}

TEST(Verdict, DoesNotDependOnTheOrderOfTheReadings) {
  Evidence evidence = rising(60, 2 * kMiB, 1.5);
  const Verdict before = judge(evidence);
  std::reverse(evidence.points.begin(), evidence.points.end());
  std::reverse(evidence.rounds.begin(), evidence.rounds.end());
  EXPECT_EQ(before.why, judge(evidence).why);
}

TEST(Verdict, ScalesWithTheBytesAndTheSeconds) {
  Evidence evidence = rising(100, 2 * kMiB, 2);
  const Verdict before = judge(evidence);
  for (Point& point : evidence.points) {
    point.seconds *= 60;
    point.resident *= 8, point.anonymous *= 8, point.file *= 8;
  }
  for (double& round : evidence.rounds) round *= 60;
  const Verdict after = judge(evidence);
  EXPECT_EQ(before.name, after.name);
  EXPECT_NEAR(after.rate_per_round, 8 * before.rate_per_round, 0.01 * after.rate_per_round);
  EXPECT_NEAR(after.rate_per_second, 8 * before.rate_per_second / 60, 0.01 * after.rate_per_second);
}

TEST(Verdict, StandsWhenOldReadingsAreThinnedOut) {
  for (double rate : {0.0, 2 * kMiB}) {
    Evidence evidence = rising(120, rate, 1.5);
    const Verdict before = judge(evidence);
    std::vector<Point> thin;
    for (std::size_t i = 0; i < evidence.points.size(); ++i) {
      if (i > evidence.points.size() / 2 || i % 4 == 0) thin.push_back(evidence.points[i]);
    }
    evidence.points = thin;
    const Verdict after = judge(evidence);
    EXPECT_EQ(before.name, after.name);
    EXPECT_NEAR(before.rate_per_second, after.rate_per_second, 0.02 * kMiB);
  }
}

TEST(Verdict, StandsWithGapsInTheReadings) {
  Evidence evidence = rising(120, 2 * kMiB, 1.5);
  std::erase_if(evidence.points,
                [](const Point& point) { return point.seconds > 40 && point.seconds < 70; });
  const Verdict verdict = judge(evidence);
  EXPECT_EQ(verdict.name, Name::Leak);
  EXPECT_NEAR(verdict.rate_per_round, 3 * kMiB, 0.05 * kMiB);
}

TEST(Verdict, IntervalsHoldTheTruth) {
  int inside = 0;
  constexpr int kRuns = 400;
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    Dice dice(seed + 77);
    const double seconds = dice.scale(20, 400);
    const double rate = dice.scale(20, 300) * kMiB / seconds;
    Evidence evidence;
    evidence.points =
        readings(dice, seconds, 0.1, Noise{dice.scale(0.01, 3) * kMiB, dice.between(0, 0.7)},
                 [&](double t) { return 300 * kMiB + rate * t; });
    const double round = seconds / dice.between(10, 100);
    evidence.rounds = rounds_every(round, seconds);
    const Verdict verdict = judge(evidence);
    inside += verdict.interval95[0] <= rate * round && rate * round <= verdict.interval95[1];
  }
  EXPECT_GE(inside, kRuns * 9 / 10);
}

// ---- what is no series at all ----

TEST(Verdict, OfNothingIsUndecidedAndSaysSo) {
  const Verdict verdict = judge({});
  EXPECT_EQ(verdict.name, Name::Undecided);
  EXPECT_TRUE(says(verdict, "no readings"));
  EXPECT_EQ(verdict.confidence, 0);
}

TEST(Verdict, EndsWellOnOddReadings) {
  constexpr auto kHuge = std::numeric_limits<std::int64_t>::max();
  for (std::size_t count : {1u, 2u, 3u, 40u, 400u}) {
    for (std::int64_t value : {std::int64_t{0}, std::int64_t{1}, std::int64_t{-5}, kHuge}) {
      for (double step : {0.0, 0.1, 1e-12, 1e12}) {
        Evidence evidence;
        for (std::size_t i = 0; i < count; ++i) {
          evidence.points.push_back({.seconds = step * static_cast<double>(i), .resident = value});
          evidence.rounds.push_back(step * static_cast<double>(i / 4));
          evidence.live.push_back({step * static_cast<double>(i), value});
        }
        evidence.limit = kHuge;
        const Verdict verdict = judge(evidence);
        EXPECT_NE(verdict.name, Name::Leak);
        EXPECT_FALSE(verdict.why.empty());
        EXPECT_GE(verdict.fits_in, 0);
      }
    }
  }
}

TEST(Verdict, EndsWellOnReadingsThrownAtRandom) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Dice dice(seed);
    Evidence evidence;
    const int count = static_cast<int>(dice.scale(1, 300));
    for (int i = 0; i < count; ++i) {
      Point point;
      point.seconds = dice.between(-10, 100);
      point.resident = static_cast<std::int64_t>(dice.scale(1, 1e18));
      point.anonymous = static_cast<std::int64_t>(dice.between(-2, 1e12));
      evidence.points.push_back(point);
      if (dice.uniform() < 0.2) evidence.rounds.push_back(dice.between(-50, 200));
      if (dice.uniform() < 0.1) evidence.live.push_back({dice.between(-9, 99), 1 << (i % 30)});
    }
    evidence.ended_by_limit = dice.uniform() < 0.5;
    EXPECT_FALSE(judge(evidence).why.empty());
  }
}

TEST(FloorOf, IsUnderTheCurve) {
  Evidence evidence = rising(60, 2 * kMiB);
  const auto floor = floor_of(evidence.points, {});
  ASSERT_EQ(floor.size(), 64u);
  EXPECT_TRUE(std::is_sorted(floor.begin(), floor.end(),
                             [](auto& a, auto& b) { return a.seconds < b.seconds; }));
  EXPECT_TRUE(floor_of({}, {}).empty());
}

TEST(Names, AreTheWordsOfTheHouse) {
  EXPECT_EQ(to_string(Name::Steady), "steady");
  EXPECT_EQ(to_string(Name::LevellingOff), "levelling-off");
  EXPECT_EQ(to_string(Name::RetainedByAllocator), "retained-by-allocator");
}

}  // namespace
}  // namespace lowtide::verdict

// SPDX-License-Identifier: Apache-2.0

// Thousands of made-up runs of each shape: how often is a program accused that does not leak, and
// how often is a leak found? Every shape is thrown with random sizes, noises and lengths.

#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <string>

#include "verdict/testing.h"
#include "verdict/verdict.h"

namespace lowtide::verdict {
namespace {

using testing::Dice;
using testing::kMiB;
using testing::Noise;
using testing::readings;
using testing::rounds_every;

constexpr int kSeeds = 300;

// What every run has: a level it starts from, a length, a sampling interval, some noise.
struct Setting {
  double seconds;
  double interval;
  double base;
  Noise noise;
};

Setting setting(Dice& dice) {
  Setting s{};
  s.seconds = dice.scale(6, 600);
  s.interval = std::max(0.1, s.seconds / dice.between(60, 1500));
  s.base = dice.scale(8 * kMiB, 800 * kMiB);
  s.noise = {dice.uniform() < 0.3 ? 0 : dice.scale(16 * 1024, 0.03 * s.base),
             dice.uniform() < 0.5 ? 0 : dice.between(0, 0.8)};
  return s;
}

Evidence run_of(Dice& dice, const Setting& s, const std::function<double(double)>& curve,
                double round = 0) {
  Evidence evidence;
  evidence.points = readings(dice, s.seconds, s.interval, s.noise, curve);
  if (round > 0) evidence.rounds = rounds_every(round, s.seconds);
  return evidence;
}

double maybe_rounds(Dice& dice, const Setting& s) {
  return dice.uniform() < 0.5 ? 0 : s.seconds / dice.between(8, 200);
}

using Maker = Evidence (*)(Dice&);

// ---- runs that do not leak ----

Evidence flat(Dice& dice) {
  const Setting s = setting(dice);
  return run_of(
      dice, s, [&](double) { return s.base; }, maybe_rounds(dice, s));
}

Evidence start_in_steps(Dice& dice) {
  const Setting s = setting(dice);
  const double end = s.seconds * dice.between(0.02, 0.3);
  const double steps = std::floor(dice.between(1, 6));
  const double gain = dice.scale(4 * kMiB, 400 * kMiB);
  return run_of(
      dice, s,
      [&](double t) { return s.base + gain * std::min(1.0, std::ceil(steps * t / end) / steps); },
      maybe_rounds(dice, s));
}

Evidence load_then_work(Dice& dice) {
  const Setting s = setting(dice);
  const double end = s.seconds * dice.between(0.05, 0.35);
  const double gain = dice.scale(8 * kMiB, 800 * kMiB);
  return run_of(
      dice, s, [&](double t) { return s.base + gain * std::min(1.0, t / end); },
      maybe_rounds(dice, s));
}

Evidence sawtooth(Dice& dice) {
  const Setting s = setting(dice);
  const double period = s.seconds / dice.between(6, 80);
  const double height = dice.scale(kMiB, s.base);
  const double phase = dice.uniform();
  return run_of(
      dice, s, [&](double t) { return s.base + height * std::fmod(t / period + phase, 1.0); },
      maybe_rounds(dice, s));
}

Evidence growing_sawtooth(Dice& dice) {
  const Setting s = setting(dice);
  const double period = s.seconds / dice.between(8, 60);
  const double height = dice.scale(kMiB, s.base);
  return run_of(
      dice, s,
      [&](double t) {
        return s.base + height * (0.2 + 2 * t / s.seconds) * std::fmod(t / period, 1.0);
      },
      dice.uniform() < 0.5 ? period : 0);
}

Evidence irregular_sawtooth(Dice& dice) {
  const Setting s = setting(dice);
  const double usual = s.seconds / dice.between(10, 60);
  std::vector<double> starts{0};
  while (starts.back() < s.seconds)
    starts.push_back(starts.back() + usual * dice.between(0.4, 1.8));
  const double rate = dice.scale(kMiB, s.base) / usual;
  return run_of(dice, s, [&](double t) {
    const auto next = std::upper_bound(starts.begin(), starts.end(), t);
    return s.base + rate * (t - *(next - 1));
  });
}

Evidence one_burst(Dice& dice) {
  const Setting s = setting(dice);
  const double from = s.seconds * dice.between(0.1, 0.7);
  const double to = from + s.seconds * dice.between(0.02, 0.25);
  const double height = dice.scale(16 * kMiB, 4 * s.base + 16 * kMiB);
  return run_of(
      dice, s, [&](double t) { return s.base + (t >= from && t < to ? height : 0); },
      maybe_rounds(dice, s));
}

Evidence peak_kept(Dice& dice) {
  const Setting s = setting(dice);
  const double from = s.seconds * dice.between(0.2, 0.6);
  const double height = dice.scale(16 * kMiB, 2 * s.base + 16 * kMiB);
  Evidence evidence = run_of(dice, s, [&](double t) {
    return s.base + (t < from ? 0 : t < from + 0.05 * s.seconds ? height : 0.9 * height);
  });
  for (Point& point : evidence.points) {
    const bool after = point.seconds >= from + 0.05 * s.seconds;
    point.allocator_free = static_cast<std::int64_t>(after ? 0.88 * height : 0.01 * s.base);
    point.allocator_in_use = point.anonymous - point.allocator_free;
  }
  return evidence;
}

Evidence cache_to_its_cap(Dice& dice) {
  const Setting s = setting(dice);
  const double full = s.seconds * dice.between(0.3, 0.75);
  const double gain = std::max(20 * s.noise.deviation, dice.scale(4 * kMiB, 400 * kMiB));
  return run_of(
      dice, s, [&](double t) { return s.base + gain * std::min(1.0, t / full); },
      maybe_rounds(dice, s));
}

// As above, and as small against the noise as it may be.
Evidence cache_in_noise(Dice& dice) {
  Setting s = setting(dice);
  s.noise.deviation = std::max(s.noise.deviation, 64.0 * 1024);
  const double full = s.seconds * dice.between(0.3, 0.75);
  const double gain = s.noise.deviation * dice.scale(1, 20);
  return run_of(
      dice, s, [&](double t) { return s.base + gain * std::min(1.0, t / full); },
      maybe_rounds(dice, s));
}

Evidence decaying(Dice& dice, const std::function<double(double)>& of) {
  const Setting s = setting(dice);
  const double gain = std::max(2 * s.noise.deviation, 4 * kMiB) * dice.scale(1, 100);
  return run_of(
      dice, s, [&](double t) { return s.base + gain * of(t / s.seconds); }, maybe_rounds(dice, s));
}

Evidence logarithm(Dice& dice) {
  const double tau = dice.scale(0.003, 0.15);
  return decaying(dice, [tau](double u) { return std::log1p(u / tau) / std::log1p(1 / tau); });
}

Evidence square_root(Dice& dice) {
  return decaying(dice, [](double u) { return std::sqrt(u); });
}

Evidence saturating(Dice& dice) {
  const double tau = dice.scale(0.05, 0.35);
  return decaying(dice, [tau](double u) { return -std::expm1(-u / tau); });
}

Evidence mapped_files(Dice& dice) {
  const Setting s = setting(dice);
  Evidence evidence = run_of(
      dice, s, [&](double) { return s.base; }, maybe_rounds(dice, s));
  const double gain = std::max(0.2 * s.base, 16 * kMiB) * dice.scale(1, 20);
  for (Point& point : evidence.points) {
    point.file += static_cast<std::int64_t>(gain * point.seconds / s.seconds);
    point.resident = point.anonymous + point.file;
  }
  return evidence;
}

// A forked child touches the pages it shares: a tree's sum grows until all are its own.
Evidence copy_on_write(Dice& dice) {
  const Setting s = setting(dice);
  const double fork = s.seconds * dice.between(0.05, 0.3);
  const double tau = s.seconds * dice.scale(0.01, 0.15);
  return run_of(
      dice, s, [&](double t) { return s.base * (t < fork ? 1 : 2 - std::exp(-(t - fork) / tau)); });
}

Evidence one_load(Dice& dice) {
  Setting s = setting(dice);
  s.seconds = dice.between(3, 50);
  s.interval = 0.1;
  const double gain = dice.scale(20 * kMiB, 2000 * kMiB);
  s.noise.deviation = std::min(s.noise.deviation, 0.01 * gain);
  return run_of(dice, s, [&](double t) { return s.base + gain * t / s.seconds; });
}

Evidence few_arenas(Dice& dice) {
  const Setting s = setting(dice);
  std::vector<double> moments;
  const int count = 1 + static_cast<int>(dice.uniform() * 3.99);
  for (int i = 0; i < count; ++i) moments.push_back(s.seconds * dice.uniform());
  const double step = dice.scale(kMiB, 64 * kMiB);
  return run_of(
      dice, s,
      [&](double t) {
        double bytes = s.base;
        for (double moment : moments) bytes += t >= moment ? step : 0;
        return bytes;
      },
      maybe_rounds(dice, s));
}

Evidence falling(Dice& dice) {
  const Setting s = setting(dice);
  const double loss = s.base * dice.between(0.1, 0.9);
  return run_of(
      dice, s, [&](double t) { return s.base - loss * t / s.seconds; }, maybe_rounds(dice, s));
}

// Load, then fill a cache, then flat, and freed before the end was sampled.
Evidence three_phases(Dice& dice) {
  const Setting s = setting(dice);
  const double loaded = s.seconds * dice.between(0.05, 0.2);
  const double full = s.seconds * dice.between(0.35, 0.6);
  const double load = dice.scale(20 * kMiB, 200 * kMiB);
  const double fill = std::max(10 * s.noise.deviation, dice.scale(4 * kMiB, 100 * kMiB));
  return run_of(
      dice, s,
      [&](double t) {
        if (t > 0.99 * s.seconds) return 0.3 * s.base;
        const double filled = std::clamp((t - loaded) / (full - loaded), 0.0, 1.0);
        return s.base + load * std::min(1.0, t / loaded) + fill * filled;
      },
      maybe_rounds(dice, s));
}

Evidence save_at_the_end(Dice& dice) {
  const Setting s = setting(dice);
  const double from = s.seconds * dice.between(0.9, 0.99);
  const double height = dice.scale(8 * kMiB, s.base + 8 * kMiB);
  return run_of(
      dice, s, [&](double t) { return s.base + (t > from ? height : 0); }, maybe_rounds(dice, s));
}

Evidence wandering(Dice& dice) {
  Setting s = setting(dice);
  s.noise = {dice.scale(0.002, 0.1) * s.base, 1 - dice.scale(0.002, 0.1)};
  return run_of(
      dice, s, [&](double) { return s.base; }, maybe_rounds(dice, s));
}

// ---- runs that leak ----

// By how much a leak exceeds the noise: three times the band that holds 95 % of the readings.
double leak_gain(Dice& dice, const Setting& s) {
  const double band = 4 * s.noise.deviation;
  const double least = std::max({3 * band, 3 * kMiB, 0.01 * s.base});
  return least * dice.scale(1, 50);
}

double some_rounds(Dice& dice, const Setting& s) { return s.seconds / dice.between(9, 200); }

Evidence straight(Dice& dice) {
  const Setting s = setting(dice);
  const double gain = leak_gain(dice, s);
  return run_of(
      dice, s, [&](double t) { return s.base + gain * t / s.seconds; }, some_rounds(dice, s));
}

Evidence after_start(Dice& dice) {
  const Setting s = setting(dice);
  const double gain = leak_gain(dice, s);
  const double start = s.seconds * dice.between(0.02, 0.2);
  const double load = dice.scale(4 * kMiB, 400 * kMiB);
  return run_of(
      dice, s,
      [&](double t) {
        return s.base + load * std::min(1.0, t / start) + 1.5 * gain * t / s.seconds;
      },
      s.seconds / dice.between(12, 200));
}

Evidence staircase(Dice& dice) {
  const Setting s = setting(dice);
  const double gain = leak_gain(dice, s);
  const double steps = std::floor(dice.between(9, 60));
  return run_of(
      dice, s, [&](double t) { return s.base + gain * std::floor(steps * t / s.seconds) / steps; },
      some_rounds(dice, s));
}

Evidence under_collections(Dice& dice) {
  const Setting s = setting(dice);
  const double period = s.seconds / dice.between(12, 40);
  const double height = dice.scale(kMiB, s.base);
  // A trough between two readings is seen too high, by a reading's step at the most.
  const double gain = std::max(leak_gain(dice, s), 6 * height * s.interval / period);
  return run_of(
      dice, s,
      [&](double t) { return s.base + gain * t / s.seconds + height * std::fmod(t / period, 1.0); },
      period);
}

Evidence begins_late(Dice& dice) {
  const Setting s = setting(dice);
  const double gain = 2 * leak_gain(dice, s);
  const double from = s.seconds * dice.between(0.2, 0.5);
  return run_of(
      dice, s,
      [&](double t) { return s.base + gain * std::max(0.0, t - from) / (s.seconds - from); },
      s.seconds / dice.between(30, 200));
}

Evidence speeds_up(Dice& dice) {
  const Setting s = setting(dice);
  const double gain = 2 * leak_gain(dice, s);  // it begins at half its mean rate
  return run_of(
      dice, s,
      [&](double t) {
        const double u = t / s.seconds;
        return s.base + gain * (0.5 * u + 0.5 * u * u);
      },
      some_rounds(dice, s));
}

Evidence shared_memory(Dice& dice) {
  const Setting s = setting(dice);
  const double gain = leak_gain(dice, s);
  Evidence evidence = run_of(
      dice, s, [&](double) { return s.base; }, some_rounds(dice, s));
  for (Point& point : evidence.points) {
    point.shared = static_cast<std::int64_t>(gain * point.seconds / s.seconds);
    point.resident += point.shared;
  }
  return evidence;
}

Evidence without_rounds(Dice& dice) {
  Setting s = setting(dice);
  s.seconds = dice.scale(90, 900);
  s.interval = std::max(0.1, s.seconds / dice.between(300, 1500));
  const double gain = leak_gain(dice, s);
  return run_of(dice, s, [&](double t) { return s.base + gain * t / s.seconds; });
}

Evidence in_native_memory(Dice& dice) {
  const Setting s = setting(dice);
  const double gain = leak_gain(dice, s);
  Evidence evidence = run_of(
      dice, s, [&](double t) { return s.base + gain * t / s.seconds; }, some_rounds(dice, s));
  for (int i = 0; i < 5; ++i) {
    evidence.live.push_back({s.seconds * (0.15 + 0.2 * i), static_cast<std::int64_t>(s.base / 2)});
  }
  return evidence;
}

struct Row {
  const char* name;
  Maker make;
};

std::map<std::string, int> names_of(const Row& row) {
  std::map<std::string, int> counts;
  for (int seed = 0; seed < kSeeds; ++seed) {
    Dice dice(static_cast<std::uint64_t>(seed) * 1000 + std::hash<std::string>{}(row.name) % 997);
    counts[std::string(to_string(judge(row.make(dice)).name))]++;
  }
  std::string line = row.name;
  for (const auto& [name, count] : counts) line += "  " + name + " " + std::to_string(count);
  std::printf("%s\n", line.c_str());
  return counts;
}

class DoesNotLeak : public ::testing::TestWithParam<Row> {};

TEST_P(DoesNotLeak, IsAccusedInOneOfAHundredAtMost) {
  EXPECT_LE(names_of(GetParam())["leak"], kSeeds / 100);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, DoesNotLeak,
    ::testing::Values(Row{"flat", flat}, Row{"start_in_steps", start_in_steps},
                      Row{"load_then_work", load_then_work}, Row{"sawtooth", sawtooth},
                      Row{"growing_sawtooth", growing_sawtooth},
                      Row{"irregular_sawtooth", irregular_sawtooth}, Row{"one_burst", one_burst},
                      Row{"peak_kept", peak_kept}, Row{"cache_to_its_cap", cache_to_its_cap},
                      Row{"cache_in_noise", cache_in_noise}, Row{"logarithm", logarithm},
                      Row{"square_root", square_root}, Row{"saturating", saturating},
                      Row{"mapped_files", mapped_files}, Row{"copy_on_write", copy_on_write},
                      Row{"one_load", one_load}, Row{"few_arenas", few_arenas},
                      Row{"falling", falling}, Row{"three_phases", three_phases},
                      Row{"save_at_the_end", save_at_the_end}, Row{"wandering", wandering}),
    [](const auto& tested) { return tested.param.name; });

class Leaks : public ::testing::TestWithParam<Row> {};

TEST_P(Leaks, AreFoundInNinetyNineOfAHundred) {
  EXPECT_GE(names_of(GetParam())["leak"], kSeeds - kSeeds / 100);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, Leaks,
    ::testing::Values(Row{"straight", straight}, Row{"after_start", after_start},
                      Row{"staircase", staircase}, Row{"under_collections", under_collections},
                      Row{"begins_late", begins_late}, Row{"speeds_up", speeds_up},
                      Row{"shared_memory", shared_memory}, Row{"without_rounds", without_rounds},
                      Row{"in_native_memory", in_native_memory}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace lowtide::verdict

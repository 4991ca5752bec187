// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs made up for tests: a shape, a noise, a length, and a seed.

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "verdict/verdict.h"

namespace lowtide::verdict::testing {

inline constexpr double kMiB = 1024 * 1024;

// Random numbers that are the same on every machine (std's distributions are not).
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed * 0x9e3779b97f4a7c15u + 12345) {
    engine_.discard(8);
  }
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1.0p-53; }
  double between(double low, double high) { return low + (high - low) * uniform(); }
  // Evenly over the orders of magnitude.
  double scale(double low, double high) { return low * std::pow(high / low, uniform()); }
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * 3.14159265358979 * uniform());
  }

 private:
  std::mt19937_64 engine_;
};

struct Noise {
  double deviation = 0;    // bytes
  double correlation = 0;  // of one reading with the next
};

// Readings of `curve` (bytes over seconds), rounded to pages, with a little jitter in time.
inline std::vector<Point> readings(Dice& dice, double seconds, double interval, const Noise& noise,
                                   const std::function<double(double)>& curve) {
  std::vector<Point> points;
  double wander = 0;
  const double fresh = std::sqrt(1 - noise.correlation * noise.correlation);
  for (double t = interval * dice.uniform(); t < seconds; t += interval * dice.between(0.9, 1.1)) {
    wander = noise.correlation * wander + fresh * noise.deviation * dice.normal();
    const double bytes = std::max(0.0, curve(t) + wander);
    Point point;
    point.seconds = t;
    point.anonymous = static_cast<std::int64_t>(bytes / 4096) * 4096;
    point.file = 8 * 1024 * 1024;
    point.shared = 0;
    point.resident = point.anonymous + point.file;
    points.push_back(point);
  }
  return points;
}

// Evenly spaced ends of rounds.
inline std::vector<double> rounds_every(double duration, double seconds) {
  std::vector<double> rounds;
  for (double t = duration; t <= seconds; t += duration) rounds.push_back(t);
  return rounds;
}

}  // namespace lowtide::verdict::testing

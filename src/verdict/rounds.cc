// SPDX-License-Identifier: Apache-2.0
#include "verdict/rounds.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "verdict/trend.h"

namespace lowtide::verdict {
namespace {

constexpr std::size_t kLeastRepeats = 5;
constexpr std::size_t kGoodRepeats = 12;      // enough to be judged one by one
constexpr std::size_t kMostRounds = 100'000;  // more lines than this are a log, not a step
constexpr std::size_t kMostValues = 1024;
constexpr double kClear = 0.45;  // of the autocorrelation; white noise stays below 0.2
constexpr double kMostUneven = 0.35;

double correlation(std::span<const double> values, std::size_t lag) {
  double lagged = 0;
  double head = 0;
  double tail = 0;
  for (std::size_t i = lag; i < values.size(); ++i) {
    lagged += values[i] * values[i - lag];
    head += values[i - lag] * values[i - lag];
    tail += values[i] * values[i];
  }
  return head > 0 && tail > 0 ? lagged / std::sqrt(head * tail) : 0;
}

// Solves a 3 by 3 system by Cramer's rule; nothing where it is singular.
std::array<double, 3> solve(const std::array<std::array<double, 3>, 3>& m,
                            const std::array<double, 3>& b) {
  const auto determinant = [](const std::array<std::array<double, 3>, 3>& a) {
    return a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) -
           a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0]) +
           a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]);
  };
  const double whole = determinant(m);
  std::array<double, 3> result{0, 0, 0};
  if (std::fabs(whole) < 1e-12) return result;
  for (std::size_t column = 0; column < 3; ++column) {
    auto replaced = m;
    for (std::size_t row = 0; row < 3; ++row) replaced[row][column] = b[row];
    result[column] = determinant(replaced) / whole;
  }
  return result;
}

}  // namespace

std::vector<double> detrended(const Series& series, std::size_t count) {
  if (series.size() < 2 || count < 4) return {};
  std::vector<double> values(count);
  const double step = series.length() / static_cast<double>(count - 1);
  std::size_t at = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double seconds = series.seconds.front() + step * static_cast<double>(i);
    while (at + 1 < series.size() && series.seconds[at + 1] <= seconds + 1e-9) ++at;
    values[i] = series.bytes[at];
  }
  std::array<std::array<double, 3>, 3> normal{};
  std::array<double, 3> right{};
  const auto u_of = [count](std::size_t i) {
    return 2 * static_cast<double>(i) / static_cast<double>(count - 1) - 1;
  };
  for (std::size_t i = 0; i < count; ++i) {
    const std::array<double, 3> basis{1, u_of(i), u_of(i) * u_of(i)};
    for (std::size_t row = 0; row < 3; ++row) {
      right[row] += basis[row] * values[i] / static_cast<double>(count);
      for (std::size_t column = 0; column < 3; ++column) {
        normal[row][column] += basis[row] * basis[column] / static_cast<double>(count);
      }
    }
  }
  const auto c = solve(normal, right);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] -= c[0] + c[1] * u_of(i) + c[2] * u_of(i) * u_of(i);
  }
  return values;
}

std::size_t period_of(std::span<const double> values, std::size_t least_repeats) {
  const std::size_t most = values.size() / std::max<std::size_t>(1, least_repeats);
  if (most < 3) return 0;
  std::vector<double> by_lag(2 * most + 2);
  for (std::size_t lag = 1; lag < by_lag.size(); ++lag) by_lag[lag] = correlation(values, lag);
  std::size_t lag = 1;
  while (lag <= most && by_lag[lag] > 0) ++lag;
  std::size_t best = 0;
  for (; lag <= most; ++lag) {
    if (by_lag[lag] < kClear || by_lag[lag] < by_lag[lag - 1] || by_lag[lag] < by_lag[lag + 1]) {
      continue;
    }
    // A multiple of the period is as good as the period: only a clearly better one takes over.
    if (best == 0 || by_lag[lag] > by_lag[best] + 0.15) best = lag;
  }
  if (best == 0) return 0;
  double twice = 0;
  const std::size_t reach = std::max<std::size_t>(1, best / 8);
  for (std::size_t i = 2 * best - reach; i <= 2 * best + reach && i < by_lag.size(); ++i) {
    twice = std::max(twice, by_lag[i]);
  }
  return twice >= 0.7 * kClear ? best : 0;
}

double unevenness(std::span<const double> seconds) {
  if (seconds.size() < 3) return 1;
  std::vector<double> gaps;
  for (std::size_t i = 1; i < seconds.size(); ++i) gaps.push_back(seconds[i] - seconds[i - 1]);
  const double usual = median(gaps);
  if (usual <= 0) return 1;
  for (double& gap : gaps) gap = std::fabs(gap - usual);
  return median(std::move(gaps)) / usual;
}

std::vector<double> find_rounds(const std::vector<Point>& points) {
  Series series = without_teardown(series_of(points, &Point::resident));
  // The first seventh is the start of most programs and no part of any repetition.
  const double begin = series.empty() ? 0 : series.seconds.front() + series.length() / 7;
  const auto first = std::lower_bound(series.seconds.begin(), series.seconds.end(), begin);
  const auto skipped = first - series.seconds.begin();
  series.seconds.erase(series.seconds.begin(), first);
  series.bytes.erase(series.bytes.begin(), series.bytes.begin() + skipped);
  const std::size_t count = std::min(kMostValues, series.size());
  if (count < 8 * kLeastRepeats) return {};
  const std::vector<double> values = detrended(series, count);
  const std::size_t period = period_of(values, kLeastRepeats);
  if (period < 3) return {};

  // Fold, and let a round end where the memory is lowest.
  std::size_t lowest = 0;
  double least = 0;
  for (std::size_t phase = 0; phase < period; ++phase) {
    double sum = 0;
    double number = 0;
    for (std::size_t i = phase; i < values.size(); i += period) sum += values[i], number += 1;
    if (phase == 0 || sum / number < least) lowest = phase, least = sum / number;
  }
  const double step = series.length() / static_cast<double>(count - 1);
  std::vector<double> rounds;
  for (std::size_t i = lowest; i < values.size(); i += period) {
    rounds.push_back(series.seconds.front() + step * static_cast<double>(i));
  }
  return rounds.size() >= kLeastRepeats ? rounds : std::vector<double>{};
}

std::vector<double> rounds_from_lines(const std::vector<LineTimes>& lines, double run_seconds) {
  std::vector<double> best;
  for (const LineTimes& kind : lines) {
    const std::vector<double> times = clean_rounds(kind.seconds);
    if (times.size() < kLeastRepeats || times.size() > kMostRounds) continue;
    const double covered = times.back() - times.front();
    const double usual = covered / static_cast<double>(times.size() - 1);
    // One more gap counts as covered: the last line stands at the end of its round.
    if (covered + usual < 0.5 * run_seconds) continue;
    if (unevenness(times) > kMostUneven) continue;
    // Lines that come in volleys are even within the volley and silent between.
    double longest = 0;
    for (std::size_t i = 1; i < times.size(); ++i) {
      longest = std::max(longest, times[i] - times[i - 1]);
    }
    if (longest > 0.34 * run_seconds) continue;
    std::vector<double> gaps;
    for (std::size_t i = 1; i < times.size(); ++i) gaps.push_back(times[i] - times[i - 1]);
    if (median(std::move(gaps)) < usual / 3) continue;
    // The slowest that still repeats often enough; below that, the one that repeats most.
    const bool good = times.size() >= kGoodRepeats;
    const bool best_good = best.size() >= kGoodRepeats;
    const bool better = good && best_good ? times.size() < best.size() : times.size() > best.size();
    if (best.empty() || better) best = times;
  }
  return best;
}

}  // namespace lowtide::verdict

// SPDX-License-Identifier: Apache-2.0
#include "heap/trend.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace lowtide::heap {
namespace {

// Growth at the end has to be this part of what it used to be.
constexpr double kStillGrowing = 0.4;

double median(std::vector<double> values) {
  const std::size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle),
                   values.end());
  if (values.size() % 2 == 1) return values[middle];
  const double upper = values[middle];
  const double lower =
      *std::max_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle));
  return (lower + upper) / 2;
}

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double theil_sen(std::span<const double> x, std::span<const std::int64_t> y) {
  std::vector<double> slopes;
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = i + 1; j < x.size(); ++j) {
      if (x[j] > x[i]) slopes.push_back(static_cast<double>(y[j] - y[i]) / (x[j] - x[i]));
    }
  }
  return slopes.empty() ? 0 : median(std::move(slopes));
}

// Each rate clearly below the one before it: what fills up, whatever the last one still is.
bool decays(std::span<const double> rates) {
  if (rates.size() < 3) return false;
  for (std::size_t i = 1; i < rates.size(); ++i) {
    if (rates[i] > rates[i - 1] * 0.9) return false;
  }
  return rates.back() < rates.front() * 0.5;
}

// Where the growth begins: of a program that loads for half of its run, the heaps read until then
// say nothing of what came after. Only where enough is left to judge: most of the clock, and three
// points.
std::size_t beginning(std::span<const double> x, std::span<const std::int64_t> y) {
  std::size_t still = 0;
  while (still + 1 < y.size() && y[still + 1] == y.front()) ++still;
  const bool enough = y.size() - still >= 3 && x.back() - x[still] >= (x.back() - x[0]) / 2;
  return enough ? still : 0;
}

Trend trend_from(std::span<const double> x, std::span<const std::int64_t> y);

}  // namespace

std::size_t warm_up(std::size_t points) { return points < 4 ? 0 : (points - 1) / 3; }

Trend trend_of(std::span<const double> x, std::span<const std::int64_t> y) {
  if (y.size() < 2) return {};
  const std::size_t begin = beginning(x, y);
  return trend_from(x.subspan(begin), y.subspan(begin));
}

namespace {

Trend trend_from(std::span<const double> x, std::span<const std::int64_t> y) {
  Trend trend;
  const std::size_t warm = warm_up(y.size());
  trend.grown = y.back() - y.front();
  trend.steady = y.back() - y[warm];
  trend.slope = theil_sen(x.subspan(warm), y.subspan(warm));

  std::vector<double> rates;
  for (std::size_t i = 1; i < y.size(); ++i) {
    const double step = x[i] > x[i - 1] ? x[i] - x[i - 1] : 1;
    rates.push_back(static_cast<double>(y[i] - y[i - 1]) / step);
  }
  const std::span<const double> judged = std::span<const double>(rates).subspan(warm);
  trend.intervals = static_cast<int>(judged.size());
  trend.rose = static_cast<int>(
      std::count_if(judged.begin(), judged.end(), [](double rate) { return rate > 0; }));
  if (trend.steady <= 0 || trend.grown <= 0) return trend;

  // One interval in five may stand still; of four or fewer, none.
  const int excused = trend.intervals / 5;
  const double usual = median({judged.begin(), judged.end()});
  const std::size_t third = std::max<std::size_t>(1, judged.size() / 3);
  const double now = mean(judged.subspan(judged.size() - third));
  const double ever = rates.size() >= 3 ? median(rates) : rates.front();
  trend.rises = trend.rose >= trend.intervals - excused && usual > 0 &&
                now >= kStillGrowing * std::max(usual, ever) && !decays(judged);

  double off = 0;
  for (const double rate : judged)
    off += std::min(1.0, std::abs(rate - usual) / std::max(usual, 1e-9));
  trend.evenness = 1 - off / static_cast<double>(judged.size());
  return trend;
}

}  // namespace
}  // namespace lowtide::heap

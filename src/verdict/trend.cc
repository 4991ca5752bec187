// SPDX-License-Identifier: Apache-2.0
#include "verdict/trend.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <tuple>
#include <utility>

namespace lowtide::verdict {
namespace {

constexpr double kZ95 = 1.959964;   // two sides
constexpr double kZ995 = 2.575829;  // one side
constexpr double kMadToDeviation = 1.4826;

// Student's t for `freedom` degrees from the normal quantile z (Cornish and Fisher's expansion).
double student(double z, double freedom) {
  const double v = std::max(2.0, freedom);
  return z + (z * z * z + z) / (4 * v) +
         (5 * std::pow(z, 5) + 16 * z * z * z + 3 * z) / (96 * v * v) +
         (3 * std::pow(z, 7) + 19 * std::pow(z, 5) + 17 * z * z * z - 15 * z) / (384 * v * v * v);
}

}  // namespace

double inflation(std::span<const double> residuals, double deviation, double parameters) {
  const auto n = static_cast<double>(residuals.size());
  if (residuals.size() < 6 || deviation <= 0) return 1;
  // Wild residuals are pulled in, else one burst decides how correlated the rest is.
  std::vector<double> tame(residuals.begin(), residuals.end());
  for (double& value : tame) value = std::clamp(value, -3 * deviation, 3 * deviation);
  double energy = 0;
  double lagged = 0;
  for (std::size_t i = 0; i < tame.size(); ++i) {
    energy += tame[i] * tame[i];
    if (i > 0) lagged += tame[i] * tame[i - 1];
  }
  if (energy <= 0) return 1;
  const double raw = lagged / energy;
  // Each fitted parameter takes about 1 / n from the estimate.
  const double r = std::clamp(raw + (parameters + 4 * raw) / n, 0.0, 0.95);
  // White floors look correlated by chance; only what chance does not explain counts in full.
  const double chance = 1 / std::sqrt(n);
  const double used = raw < chance ? r * std::max(0.0, raw / chance) : r;
  return std::clamp((1 + used) / (1 - used), 1.0, n / 2);
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const std::size_t half = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(half),
                   values.end());
  const double upper = values[half];
  if (values.size() % 2 == 1) return upper;
  const double lower =
      *std::max_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(half));
  return lower + (upper - lower) / 2;
}

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto last = static_cast<double>(values.size() - 1);
  const auto at = static_cast<std::ptrdiff_t>(std::llround(std::clamp(share, 0.0, 1.0) * last));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

Trend trend_of(std::span<const double> x, std::span<const double> y) {
  Trend trend;
  const std::size_t size = std::min(x.size(), y.size());
  constexpr double kUnbounded = std::numeric_limits<double>::infinity();
  if (size < 3) {
    trend.low = trend.sure_low = -kUnbounded;
    trend.high = kUnbounded;
    trend.error = kUnbounded;
    if (size > 0) trend.level = median({y.begin(), y.begin() + static_cast<std::ptrdiff_t>(size)});
    return trend;
  }
  std::vector<double> slopes;
  slopes.reserve(size * (size - 1) / 2);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = i + 1; j < size; ++j) {
      if (x[j] > x[i]) slopes.push_back((y[j] - y[i]) / (x[j] - x[i]));
    }
  }
  if (slopes.empty()) return trend_of(x.first(1), y.first(1));
  std::sort(slopes.begin(), slopes.end());
  trend.slope = median(slopes);

  const auto n = static_cast<double>(size);
  double mean = 0;
  for (std::size_t i = 0; i < size; ++i) mean += x[i] / n;
  std::vector<double> residuals(size);
  double spread_of_x = 0;
  for (std::size_t i = 0; i < size; ++i) {
    residuals[i] = y[i] - trend.slope * x[i];
    spread_of_x += (x[i] - mean) * (x[i] - mean);
  }
  trend.level = median(residuals);
  std::vector<double> sizes(size);
  for (std::size_t i = 0; i < size; ++i) {
    residuals[i] -= trend.level;
    sizes[i] = std::fabs(residuals[i]);
  }
  const double mad = kMadToDeviation * median(sizes);
  // Winsorised: outliers beyond four deviations count as four. Where half of the floors lie exactly
  // on the line the median says 0 and the plain deviation must do.
  double squares = 0;
  for (double value : sizes) {
    const double used = mad > 0 ? std::min(value, 4 * mad) : value;
    squares += used * used;
  }
  trend.noise = std::max(mad, std::sqrt(squares / std::max(1.0, n - 2)));

  const double inflated = inflation(residuals, trend.noise, 2);
  trend.independent = n / inflated;
  // 1.05: Theil and Sen's slope is 90 % as efficient as least squares under normal noise.
  trend.error = spread_of_x > 0 ? 1.05 * trend.noise * std::sqrt(inflated / spread_of_x) : 0;

  const auto pairs = static_cast<double>(slopes.size());
  const double kendall = std::sqrt(n * (n - 1) * (2 * n + 5) / 18 * inflated);
  const auto bounds = [&](double z) {
    const double t = student(z, trend.independent - 2) * trend.error;
    const double reach = z * kendall;
    const auto last = static_cast<double>(slopes.size() - 1);
    const auto below = std::clamp(std::floor((pairs - reach) / 2) - 1, 0.0, last);
    const auto above = std::clamp(std::ceil((pairs + reach) / 2), 0.0, last);
    return std::pair{std::min(trend.slope - t, slopes[static_cast<std::size_t>(below)]),
                     std::max(trend.slope + t, slopes[static_cast<std::size_t>(above)])};
  };
  std::tie(trend.low, trend.high) = bounds(kZ95);
  trend.sure_low = bounds(kZ995).first;
  return trend;
}

}  // namespace lowtide::verdict

// SPDX-License-Identifier: Apache-2.0
#include "verdict/shape.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "verdict/trend.h"

namespace lowtide::verdict {
namespace {

struct Line {
  double slope = 0, level = 0;
  double at(double x) const { return level + slope * x; }
};

// Sums from which a least-squares line over any stretch follows at once.
struct Sums {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0, yy = 0;

  void add(double ax, double ay) {
    n += 1, x += ax, y += ay, xx += ax * ax, xy += ax * ay, yy += ay * ay;
  }
  Sums minus(const Sums& other) const {
    return {n - other.n, x - other.x, y - other.y, xx - other.xx, xy - other.xy, yy - other.yy};
  }
  double squares_about_line() const {
    if (n < 1) return 0;
    const double sxx = xx - x * x / n;
    const double sxy = xy - x * y / n;
    const double syy = yy - y * y / n;
    return std::max(0.0, sxx > 0 ? syy - sxy * sxy / sxx : syy);
  }
  Line line() const {
    const double sxx = xx - x * x / n;
    const double slope = sxx > 0 ? (xy - x * y / n) / sxx : 0;
    return {slope, (y - slope * x) / n};
  }
};

// Of all that a row gained: a part that gains less than this lies still.
constexpr double kStill = 0.04;

// Ways of growing ever slower over u in 0..1; `end` is the rate at u = 1 over the mean rate.
struct Curve {
  std::function<double(double)> of;
  double end;
};

const std::vector<Curve>& curves() {
  static const std::vector<Curve> kCurves = [] {
    std::vector<Curve> all;
    for (double tau : {0.003, 0.01, 0.03, 0.1, 0.2, 0.4, 0.8, 1.6}) {
      all.push_back(
          {[tau](double u) { return std::log1p(u / tau); }, 1 / (tau + 1) / std::log1p(1 / tau)});
    }
    for (double tau : {0.07, 0.1, 0.14, 0.2, 0.28, 0.4, 0.55}) {
      all.push_back({[tau](double u) { return -std::expm1(-u / tau); },
                     std::exp(-1 / tau) / tau / -std::expm1(-1 / tau)});
    }
    for (double power : {0.3, 0.4, 0.5, 0.6}) {
      all.push_back({[power](double u) { return std::pow(u, power); }, power});
    }
    return all;
  }();
  return kCurves;
}

}  // namespace

Fit fit_shape(std::span<const double> x, std::span<const double> y, double grain,
              std::size_t least_last) {
  Fit fit;
  const std::size_t n = std::min(x.size(), y.size());
  if (n < 6 || x[n - 1] <= x[0]) return fit;
  // Both axes to about 0..1: sums of squares of 1e9 bytes would eat the digits that matter.
  const auto [lowest, highest] = std::minmax_element(y.begin(), y.end());
  const double base = *lowest;
  const double scale = std::max(*highest - base, grain);
  const double length = x[n - 1] - x[0];
  std::vector<double> u(n);
  std::vector<double> v(n);
  for (std::size_t i = 0; i < n; ++i) {
    u[i] = (x[i] - x[0]) / length;
    v[i] = (y[i] - base) / scale;
  }
  std::vector<Sums> before(n + 1);
  for (std::size_t i = 0; i < n; ++i) {
    before[i + 1] = before[i];
    before[i + 1].add(u[i], v[i]);
  }
  const Sums& all = before[n];
  const double dust = static_cast<double>(n) * (grain / scale) * (grain / scale);
  const double line = all.squares_about_line() + dust;

  // How much better than the line, by Bayes' criterion. The floors are worth as many as the better
  // fit leaves uncorrelated: about a wrong line even white floors look like a walk.
  const auto gain = [&](double squares, const std::vector<double>& residuals, double parameters) {
    const double deviation = std::sqrt(squares / static_cast<double>(n));
    const double independent =
        std::max(4.0, static_cast<double>(n) / inflation(residuals, deviation, parameters));
    return independent * std::log(line / squares) - (parameters - 2) * std::log(independent);
  };
  std::vector<double> residuals(n);

  // A bend starts where growth starts; the first floor may stand on the ground still.
  double bend = std::numeric_limits<double>::infinity();
  const Curve* curve = nullptr;
  Line curve_line;
  for (const Curve& candidate : curves()) {
    Sums sums;
    for (std::size_t i = 0; i < n; ++i) sums.add(candidate.of(u[i]), v[i]);
    const double squares = sums.squares_about_line() + dust;
    if (sums.line().slope > 0 && squares < bend) {
      bend = squares, curve = &candidate, curve_line = sums.line();
    }
  }
  double best = 0;
  if (curve != nullptr) {
    for (std::size_t i = 0; i < n; ++i) residuals[i] = v[i] - curve_line.at(curve->of(u[i]));
    // The curve is picked from many: a margin before it beats the line.
    const double better = gain(bend, residuals, 3) - 4;
    if (better > best) best = better, fit = {Shape::Bend, 0, curve->end, 1};
    // Three in natural logarithms of likelihood ratio: chance alone does that to a line in one case
    // of twelve, but then with a mild curve.
    if (better + 4 + std::log(static_cast<double>(n)) > 2) fit.doubt = curve->end;
  }

  double broken = std::numeric_limits<double>::infinity();
  std::size_t at = 0;
  constexpr std::size_t kLeastFirst = 1;
  for (std::size_t i = kLeastFirst; i + least_last <= n; ++i) {
    const double squares =
        before[i].squares_about_line() + all.minus(before[i]).squares_about_line() + dust;
    if (squares < broken) broken = squares, at = i;
  }
  if (at > 0 && broken < 0.5 * line) {
    const Line first = before[at].line();
    const Line last = all.minus(before[at]).line();
    for (std::size_t i = 0; i < n; ++i) residuals[i] = v[i] - (i < at ? first : last).at(u[i]);
    // A break must be clearly better than a bend to be believed, for a bend cut in two looks much
    // like two lines; unless it cuts off no more than a start, or what follows lies still.
    const double rise = last.slope * (u[n - 1] - u[at]);
    const bool still = std::fabs(rise) < kStill && (n - at) * 10 >= n * 3;
    const bool start_only = at <= 2;
    const double better = gain(broken, residuals, 5) - 2;
    const double wanted = still ? 0 : fit.shape == Shape::Bend && !start_only ? best + 8 : best;
    if (better > wanted) fit = {Shape::Broken, at, 1, 1};
  }
  return fit;
}

std::size_t steps_carrying(std::span<const double> y) {
  if (y.size() < 2) return 0;
  // The envelope from behind: what the floor never went below again.
  std::vector<double> envelope(y.begin(), y.end());
  for (std::size_t i = envelope.size() - 1; i-- > 0;) {
    envelope[i] = std::min(envelope[i], envelope[i + 1]);
  }
  std::vector<double> steps;
  for (std::size_t i = 1; i < envelope.size(); ++i) steps.push_back(envelope[i] - envelope[i - 1]);
  std::sort(steps.begin(), steps.end(), std::greater<>());
  const double wanted = 0.8 * (envelope.back() - envelope.front());
  if (wanted <= 0) return 0;
  double carried = 0;
  std::size_t count = 0;
  for (double step : steps) {
    carried += step;
    ++count;
    if (carried >= wanted) break;
  }
  return count;
}

}  // namespace lowtide::verdict

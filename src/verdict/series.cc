// SPDX-License-Identifier: Apache-2.0
#include "verdict/series.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "verdict/trend.h"

namespace lowtide::verdict {
namespace {

constexpr std::size_t kLeastRoundsJudged = kLeastFloors;

// Puts each reading into the window `index` names; kNowhere drops it.
constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

template <typename Index>
std::vector<Window> fill_windows(const Series& series, std::size_t count, Index index) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  std::vector<Window> windows(count, Window{0, kNone, -kNone});
  for (std::size_t i = 0; i < series.size(); ++i) {
    const std::size_t at = index(series.seconds[i]);
    if (at >= count) continue;
    Window& window = windows[at];
    // The first of equals: in a staircase as in a ramp the floor then stands at the window's start.
    if (series.bytes[i] < window.lowest) {
      window.lowest = series.bytes[i];
      window.seconds = series.seconds[i];
    }
    window.highest = std::max(window.highest, series.bytes[i]);
  }
  std::erase_if(windows, [](const Window& window) { return window.lowest == kNone; });
  return windows;
}

// How uncertain a slope through these floors is, but for the length of the run: the spread about
// the line, over the root of how many independent floors there are.
double slope_error(const std::vector<Window>& windows) {
  std::vector<double> x;
  std::vector<double> y;
  for (const Window& window : windows) x.push_back(window.seconds), y.push_back(window.lowest);
  const Trend trend = trend_of(x, y);
  return trend.noise / std::sqrt(std::max(1.0, trend.independent));
}

}  // namespace

Series series_of(const std::vector<Point>& points, Part part) {
  const auto usable = [part](const Point& point) {
    return std::isfinite(point.seconds) && point.*part >= 0;
  };
  const auto earlier = [](const Point& a, const Point& b) { return a.seconds < b.seconds; };
  Series series;
  const auto add = [&](const Point& point) {
    if (!usable(point)) return;
    const auto bytes = static_cast<double>(point.*part);
    if (!series.empty() && series.seconds.back() == point.seconds) {
      series.bytes.back() = bytes;
      return;
    }
    series.seconds.push_back(point.seconds);
    series.bytes.push_back(bytes);
  };
  series.seconds.reserve(points.size());
  series.bytes.reserve(points.size());
  if (std::all_of(points.begin(), points.end(), usable) &&
      std::is_sorted(points.begin(), points.end(), earlier)) {
    for (const Point& point : points) add(point);
    return series;
  }
  std::vector<Point> sorted;
  std::copy_if(points.begin(), points.end(), std::back_inserter(sorted), usable);
  std::stable_sort(sorted.begin(), sorted.end(), earlier);
  for (const Point& point : sorted) add(point);
  return series;
}

Series without_teardown(Series series) {
  std::size_t most = std::max<std::size_t>(2, series.size() / 20);
  while (most-- > 0 && series.size() > 2 && series.bytes.back() < series.bytes[series.size() - 2]) {
    series.bytes.pop_back();
    series.seconds.pop_back();
  }
  return series;
}

std::vector<Window> equal_windows(const Series& series, std::size_t count) {
  if (series.empty() || count == 0) return {};
  const double first = series.seconds.front();
  const double width = series.length() / static_cast<double>(count);
  return fill_windows(series, count, [&](double seconds) -> std::size_t {
    if (width <= 0) return 0;
    return std::min(count - 1, static_cast<std::size_t>((seconds - first) / width));
  });
}

std::vector<Window> round_windows(const Series& series, std::span<const double> rounds,
                                  std::size_t count) {
  if (series.empty() || rounds.empty() || count == 0) return {};
  count = std::min(count, rounds.size());
  std::vector<double> durations;
  for (std::size_t i = 1; i < rounds.size(); ++i) durations.push_back(rounds[i] - rounds[i - 1]);
  const double usual = durations.empty() ? rounds[0] - series.seconds[0] : median(durations);
  // ends[j] is where window j ends; a reading at that very moment still belongs to it.
  std::vector<double> ends;
  for (std::size_t j = 1; j <= count; ++j) ends.push_back(rounds[j * rounds.size() / count - 1]);
  const double begin = rounds[0] - usual;
  return fill_windows(series, count, [&](double seconds) -> std::size_t {
    if (seconds <= begin) return kNowhere;
    return static_cast<std::size_t>(std::lower_bound(ends.begin(), ends.end(), seconds) -
                                    ends.begin());
  });
}

double rounds_at(std::span<const double> rounds, double seconds) {
  if (rounds.size() < 2) return 0;
  const auto after = std::upper_bound(rounds.begin(), rounds.end(), seconds);
  // Outside the first and the last round, go on at the pace of the nearest one.
  auto next = static_cast<std::size_t>(after - rounds.begin());
  next = std::clamp<std::size_t>(next, 1, rounds.size() - 1);
  const double step = rounds[next] - rounds[next - 1];
  return static_cast<double>(next) + (step > 0 ? (seconds - rounds[next - 1]) / step : 0);
}

std::vector<double> clean_rounds(std::vector<double> rounds) {
  std::erase_if(rounds, [](double seconds) { return !std::isfinite(seconds); });
  std::sort(rounds.begin(), rounds.end());
  rounds.erase(std::unique(rounds.begin(), rounds.end()), rounds.end());
  return rounds;
}

std::vector<Window> judged_windows(const Series& series, std::span<const double> rounds) {
  const std::size_t affordable = std::min(kMostFloors, series.size() / kLeastReadings);
  if (rounds.size() >= kLeastRoundsJudged && affordable >= kLeastFloors) {
    auto windows = round_windows(series, rounds, affordable);
    if (windows.size() >= kLeastFloors) return windows;
  }
  std::vector<Window> best = equal_windows(series, affordable);
  double least = slope_error(best);
  for (std::size_t count = affordable / 2; count >= 2 * kLeastFloors; count /= 2) {
    auto wider = equal_windows(series, count);
    const double error = slope_error(wider);
    if (error < 0.8 * least) best = std::move(wider), least = error;
  }
  return best;
}

std::vector<Window> without_bursts(const std::vector<Window>& windows, double tolerance) {
  std::vector<Window> kept;
  double later = std::numeric_limits<double>::infinity();
  for (auto window = windows.rbegin(); window != windows.rend(); ++window) {
    if (window->lowest <= later + tolerance) kept.push_back(*window);
    later = std::min(later, window->lowest);
  }
  if (kept.size() * 2 < windows.size()) return windows;
  std::reverse(kept.begin(), kept.end());
  return kept;
}

std::vector<FloorPoint> floor_of(const std::vector<Point>& points,
                                 const std::vector<double>& rounds) {
  const Series series = series_of(points, &Point::resident);
  const std::vector<double> clean = clean_rounds(rounds);
  std::vector<FloorPoint> floor;
  for (const Window& window : judged_windows(series, clean)) {
    floor.push_back({window.seconds, window.lowest});
  }
  return floor;
}

}  // namespace lowtide::verdict

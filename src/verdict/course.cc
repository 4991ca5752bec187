// SPDX-License-Identifier: Apache-2.0
#include "verdict/course.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lowtide::verdict {
namespace {

constexpr double kGrain = 64 * 1024;  // what a sampler's moment and page granularity may move
constexpr int kMostBreaks = 4;

struct Axes {
  std::vector<double> x;  // rounds, or seconds since the first floor
  std::vector<double> seconds;
  std::vector<double> y;

  std::span<const double> x_from(std::size_t i) const { return std::span(x).subspan(i); }
  std::span<const double> y_from(std::size_t i) const { return std::span(y).subspan(i); }
};

Axes axes_of(const std::vector<Window>& windows, std::span<const double> rounds) {
  Axes axes;
  for (const Window& window : windows) {
    axes.seconds.push_back(window.seconds);
    axes.x.push_back(rounds.empty() ? window.seconds - windows[0].seconds
                                    : rounds_at(rounds, window.seconds));
    axes.y.push_back(window.lowest);
  }
  return axes;
}

// Noise from second differences: blind to slope, level, and all but a few breaks.
double quick_noise(const std::vector<Window>& windows) {
  std::vector<double> bends;
  for (std::size_t i = 2; i < windows.size(); ++i) {
    bends.push_back(
        std::fabs(windows[i].lowest - 2 * windows[i - 1].lowest + windows[i - 2].lowest));
  }
  return 1.4826 * median(bends) / std::sqrt(6.0);
}

// How the last third goes on, against the whole. Its error comes from the noise of the whole, for
// a dozen floors know little of their own.
struct Ending {
  double slope = 0;
  double error = 0;
};

Ending ending_of(std::span<const double> x, std::span<const double> y, const Trend& whole) {
  const std::size_t n = x.size();
  const std::size_t count = std::max(n / 3, std::min<std::size_t>(12, (n + 1) / 2));
  const auto tail_x = x.last(count);
  const auto tail_y = y.last(count);
  double mean = 0;
  for (double value : tail_x) mean += value / static_cast<double>(count);
  double spread = 0;
  for (double value : tail_x) spread += (value - mean) * (value - mean);
  const double inflated = static_cast<double>(n) / std::max(1.0, whole.independent);
  return {trend_of(tail_x, tail_y).slope,
          spread > 0 ? 1.05 * whole.noise * std::sqrt(inflated / spread) : 0};
}

// How the part before the judged one gave way to it.
struct Easing {
  bool gradual = false;  // it rose in many steps
  bool mild = false;     // and only a few times as fast: one curve may run through both
};

Motion motion_of(const Course& course, const Fit& fit, const Ending& ending, const Easing& easing) {
  const Trend& trend = course.trend;
  const double least = material(course.level);
  if (course.growth < std::max(least, course.blur)) return Motion::Quiet;
  // What had been gained at a decaying rate before makes a mild bend telling.
  // The end must agree: a start within the first floors alone also bends a curve.
  if (fit.shape == Shape::Bend && fit.last_rate < (easing.gradual ? 0.85 : 0.7) &&
      ending.slope < 0.9 * trend.slope) {
    return Motion::Slowing;
  }
  const bool most_of_it = 4 * course.judged() >= 3 * course.windows.size();
  // A part picked because it differs from what was before it has to show more.
  const double above_noise = (most_of_it ? 6 : 8) * trend.noise;
  const bool sure = trend.sure_low > 0 && course.growth >= above_noise;
  if (!sure) {
    const bool perhaps = trend.slope > 1.645 * trend.error && course.growth > 2 * course.blur;
    return perhaps ? Motion::Unsure : Motion::Quiet;
  }
  if (ending.slope + 1.645 * ending.error < 0.5 * trend.slope) return Motion::Slowing;
  const std::size_t wanted = std::min<std::size_t>(5, course.judged() / 2);
  if (course.steps < wanted) return Motion::Stepping;
  if (fit.doubt < (easing.gradual ? 0.85 : 0.75)) return Motion::Unsure;
  if (easing.mild && !most_of_it) return Motion::Unsure;
  const bool goes_on = ending.slope >= 0.6 * trend.slope && ending.slope > 2.326 * ending.error;
  return goes_on ? Motion::Rising : Motion::Unsure;
}

// A start, a load, a fill: peeled off from the left while the rest is a better story without it.
// Leaves the fit of the rest.
Fit peel(Course& course, const Axes& axes, Easing& easing) {
  for (int breaks = 0; breaks < kMostBreaks; ++breaks) {
    const auto x = axes.x_from(course.from);
    const auto y = axes.y_from(course.from);
    const Fit fit = fit_shape(x, y, kGrain, std::max(kLeastFloors, y.size() / 6));
    if (fit.shape != Shape::Broken) return fit;
    if (steps_carrying(y.first(fit.at)) >= std::min<std::size_t>(4, fit.at - 1)) {
      const double before = trend_of(x.first(fit.at), y.first(fit.at)).slope;
      const double after = trend_of(x.subspan(fit.at), y.subspan(fit.at)).slope;
      easing.gradual = easing.gradual || before > 0;
      easing.mild = easing.mild || (before > 1.2 * after && before < 5 * after);
    }
    course.from += fit.at;
  }
  return {};
}

// Whether the last floors of all stand far above the judged line: too late in the run to judge.
void look_for_late_jump(Course& course, std::span<const double> x, std::span<const double> y) {
  const std::size_t few = std::max<std::size_t>(2, y.size() / 12);
  const double far = std::max(2 * material(course.level), 6 * course.trend.noise);
  course.late_gain = std::numeric_limits<double>::infinity();
  for (std::size_t i = y.size() - few; i < y.size(); ++i) {
    const double above = y[i] - (course.trend.level + course.trend.slope * x[i]);
    course.late_gain = std::min(course.late_gain, above);
  }
  course.late_jump = course.late_gain > far;
}

// Arenas and heap tops grow in big steps: a leak in a young program is a staircase of very few.
// What came back down later was no step.
void look_for_stairs(Course& course, const Axes& axes, double noise) {
  const std::size_t n = axes.y.size();
  std::vector<double> envelope = axes.y;
  for (std::size_t i = n - 1; i-- > 0;) envelope[i] = std::min(envelope[i], envelope[i + 1]);
  const double start = course.began + 0.1 * (course.until - course.began);
  double base = envelope.front();
  for (std::size_t i = 0; i < n && axes.seconds[i] <= start; ++i) base = envelope[i];
  const double big = std::max(
      {material(course.level), 0.15 * (envelope.back() - base), 6 * noise, 2 * course.blur});
  double last = start;
  double longest = 0;
  for (std::size_t i = 1; i < n; ++i) {
    if (axes.seconds[i] <= start || envelope[i] - envelope[i - 1] < big) continue;
    // A step that two windows share is one.
    const bool same = course.stairs > 0 && envelope[i - 1] - envelope[i - 2] >= big;
    course.stairs += same ? 0 : 1;
    course.stairs_gain += envelope[i] - envelope[i - 1];
    longest = std::max(longest, axes.seconds[i] - last);
    last = axes.seconds[i];
  }
  const double rest = course.until - last;
  course.next_stair_due = course.stairs >= 2 && rest < 1.5 * longest;
}

// Fills in what follows from `from`.
void measure(Course& course, const Axes& axes, const Fit& fit, const Easing& easing) {
  const auto x = axes.x_from(course.from);
  const auto y = axes.y_from(course.from);
  course.since = axes.seconds[course.from];
  course.trend = trend_of(x, y);
  course.per_second = course.by_rounds
                          ? trend_of(std::span(axes.seconds).subspan(course.from), y).slope
                          : course.trend.slope;
  course.growth = course.trend.slope * (x.back() - x.front());
  course.level = course.trend.level + course.trend.slope * x.back();
  course.before = course.trend.level + course.trend.slope * x.front() - course.first_level;
  course.steps = steps_carrying(y);
  course.steps_before = steps_carrying(std::span(axes.y).first(course.from + 1));
  look_for_late_jump(course, x, y);
  const Ending ending = ending_of(x, y, course.trend);
  course.last_rate = course.trend.slope > 0 ? ending.slope / course.trend.slope : 1;
  course.motion = motion_of(course, fit, ending, easing);
}

// Growth that decays and has ended: judged from where 19 twentieths of it were done, if it lies
// still from there on for a quarter of the time.
void settle(Course& course, const Axes& axes, const Easing& easing) {
  const auto y = axes.y_from(course.from);
  const double last = median({y.end() - std::min<std::ptrdiff_t>(5, std::ssize(y)), y.end()});
  const double nearly = y.front() + 0.95 * (last - y.front());
  const auto reached = std::find_if(y.begin(), y.end(), [&](double low) { return low >= nearly; });
  const auto done = static_cast<std::size_t>(reached - y.begin());
  if (y.size() - done < std::max(kLeastFloors, y.size() / 4)) return;
  Course settled = course;
  settled.from += done;
  measure(settled, axes, {}, easing);
  if (settled.motion == Motion::Quiet) course = std::move(settled);
}

}  // namespace

double material(double level) { return std::max(1024.0 * 1024.0, 0.003 * level); }

Course course_of(const Series& series, std::span<const double> rounds) {
  Course course;
  const std::vector<Window> all = judged_windows(series, rounds);
  if (all.empty()) return course;
  const double noise = quick_noise(all);
  course.windows = without_bursts(all, std::max(6 * noise, material(all.back().lowest)));
  course.by_rounds = rounds.size() >= 2;
  const Axes axes = axes_of(course.windows, course.by_rounds ? rounds : std::span<const double>{});
  course.began = course.since = axes.seconds.front();
  course.until = axes.seconds.back();
  course.first_level = axes.y.front();
  course.level = axes.y.back();
  std::vector<double> swings;
  for (const Window& window : all) swings.push_back(window.highest - window.lowest);
  course.tide = median(swings);
  course.blur = course.tide * static_cast<double>(all.size()) / static_cast<double>(series.size());
  if (course.windows.size() < kLeastFloors) return course;
  Easing easing;
  const Fit fit = peel(course, axes, easing);
  measure(course, axes, fit, easing);
  look_for_stairs(course, axes, noise);
  if (course.motion == Motion::Slowing) settle(course, axes, easing);
  return course;
}

}  // namespace lowtide::verdict

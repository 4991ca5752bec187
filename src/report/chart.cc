// SPDX-License-Identifier: Apache-2.0
#include "report/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/text.h"

namespace lowtide::report {
namespace {

// A forecast may lengthen the time axis by this much of the run; what lies further is only said.
constexpr double kMostAhead = 0.6;
constexpr double kTypicallyAhead = 0.2;
// Processes that never held this share of the tree's peak are a line along the bottom.
constexpr double kLeastShare = 0.02;

std::vector<ChartPoint> points_of(const std::vector<recording::Sample>& samples) {
  std::vector<ChartPoint> points;
  points.reserve(samples.size());
  for (const recording::Sample& s : samples) {
    if (s.resident < 0) continue;
    points.push_back({s.seconds, static_cast<double>(s.resident)});
  }
  return points;
}

double highest(const std::vector<ChartPoint>& points) {
  double top = 0;
  for (const ChartPoint& p : points) top = std::max(top, p.bytes);
  return top;
}

// The floor is judged on what cannot be taken back, and drawn on what the tree's line shows.
std::vector<ChartPoint> floor_points(const std::vector<ChartPoint>& tree,
                                     const std::vector<double>& rounds) {
  std::vector<verdict::Point> points;
  points.reserve(tree.size());
  for (const ChartPoint& p : tree) {
    verdict::Point point;
    point.seconds = p.seconds;
    point.resident = static_cast<std::int64_t>(p.bytes);
    points.push_back(point);
  }
  std::vector<ChartPoint> floor;
  for (const verdict::FloorPoint& p : verdict::floor_of(points, rounds)) {
    floor.push_back({p.seconds, p.bytes});
  }
  return floor;
}

void add_lines(const ChartSource& source, const ChartOptions& options, Chart& chart) {
  struct Candidate {
    const recording::Process* process;
    std::vector<ChartPoint> points;
    double top;
  };
  std::vector<Candidate> candidates;
  Line tree{"all processes", {}};
  for (const auto& samples : source.samples) {
    if (samples.empty()) continue;
    const std::int64_t id = samples.front().process;
    if (id == 0) {
      tree.points = points_of(samples);
      continue;
    }
    const auto process = std::find_if(source.processes.begin(), source.processes.end(),
                                      [&](const recording::Process& p) { return p.id == id; });
    if (process == source.processes.end()) continue;
    Candidate candidate{&*process, points_of(samples), 0};
    candidate.top = highest(candidate.points);
    candidates.push_back(std::move(candidate));
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.top > b.top; });
  const double top = highest(tree.points);
  const bool alone = source.processes.size() == 1;
  if (alone) tree.name = "resident";
  if (!tree.points.empty()) chart.lines.push_back(std::move(tree));
  // A lone process is the tree: one line, not the same one twice.
  if (alone && !chart.lines.empty()) return;
  for (Candidate& c : candidates) {
    if (c.points.empty() || chart.lines.size() > options.most_lines || c.top < kLeastShare * top) {
      ++chart.left_out;
      continue;
    }
    chart.lines.push_back(
        {fmt::format("{} ({})", clean(c.process->name), c.process->pid), std::move(c.points)});
  }
}

void add_forecast(const Findings& f, Chart& chart) {
  const double rate = f.verdict.rate_per_second;
  if (f.verdict.name != verdict::Name::Leak || rate <= 0 || chart.floor.empty()) return;
  if (f.end.oom) return;  // it has come true
  const ChartPoint from = chart.floor.back();
  double until = chart.seconds * (1 + kTypicallyAhead);
  if (chart.limit > 0) {
    const double meets = from.seconds + (chart.limit - from.bytes) / rate;
    if (meets > from.seconds && meets < chart.seconds * (1 + kMostAhead)) until = meets;
  }
  if (until <= from.seconds) return;
  const ChartPoint to{until, from.bytes + rate * (until - from.seconds)};
  chart.forecast = {from, to};
  if (f.verdict.seconds_to_limit && *f.verdict.seconds_to_limit > 0) {
    chart.forecast_text = "limit in " + duration_text(*f.verdict.seconds_to_limit);
  } else {
    chart.forecast_text = fmt::format(
        "+{} a minute", to_text(Bytes{static_cast<std::int64_t>(std::min(rate * 60, 9e18))}));
  }
  chart.seconds = std::max(chart.seconds, until * 1.01);
}

}  // namespace

Chart chart_of(const Findings& f, const ChartSource& source, const ChartOptions& options) {
  Chart chart;
  chart.title = command_text(f.run.command);
  chart.verdict = f.verdict.name;
  chart.subtitle = clean(f.verdict.why);
  if (chart.subtitle.empty()) chart.subtitle = meaning(f.verdict.name);
  chart.footer = clean(f.run.started);
  if (!f.run.host.empty()) chart.footer += (chart.footer.empty() ? "" : " · ") + clean(f.run.host);
  if (!f.run.lowtide.empty()) {
    chart.footer += (chart.footer.empty() ? "" : " · ") + ("lowtide " + clean(f.run.lowtide));
  }

  add_lines(source, options, chart);
  chart.seconds = f.end.seconds;
  for (const Line& line : chart.lines) {
    if (!line.points.empty()) {
      chart.seconds = std::max(chart.seconds, line.points.back().seconds);
    }
    chart.bytes = std::max(chart.bytes, highest(line.points));
  }
  for (const recording::Round& round : source.rounds) chart.rounds.push_back(round.seconds);
  if (!chart.lines.empty()) chart.floor = floor_points(chart.lines.front().points, chart.rounds);

  // A limit ten times above everything would press the curve flat against the axis; it is then
  // said in the corner and not drawn, which the drawers see by it being above `bytes`.
  if (f.run.limit > 0) {
    chart.limit = static_cast<double>(f.run.limit);
    chart.limit_text = "limit " + to_text(Bytes{f.run.limit});
    if (!f.run.limit_source.empty()) chart.limit_text += " (" + clean(f.run.limit_source) + ")";
  }
  if (options.forecast) add_forecast(f, chart);
  if (chart.forecast) {
    const double reach = (*chart.forecast)[1].bytes;
    chart.bytes = std::max(chart.bytes, chart.limit > 0 ? std::min(reach, chart.limit) : reach);
  }
  const bool near = chart.limit > 0 && chart.limit < 2.5 * chart.bytes;
  if (near) chart.bytes = std::max(chart.bytes, chart.limit);

  for (const recording::HeapInfo& heap : source.heaps) {
    chart.heaps.push_back({heap.seconds, fmt::format("{} objects", count_text(heap.nodes))});
  }
  for (const recording::Event& event : source.events) {
    if (event.kind == "oom" || event.kind == "limit") {
      chart.events.push_back({event.seconds, clean(event.text)});
    }
  }
  if (chart.events.empty() && f.end.oom) {
    chart.events.push_back({f.end.seconds, "killed by the OOM killer"});
  }
  return chart;
}

std::vector<ChartPoint> thinned(const std::vector<ChartPoint>& points, std::size_t columns) {
  if (columns == 0 || points.size() <= columns * 4) return points;
  const double start = points.front().seconds;
  const double span = std::max(points.back().seconds - start, 1e-9);
  const auto column_of = [&](const ChartPoint& p) {
    return static_cast<std::size_t>((p.seconds - start) / span * static_cast<double>(columns));
  };
  std::vector<ChartPoint> out;
  for (std::size_t i = 0; i < points.size();) {
    std::size_t end = i, low = i, high = i;
    while (end < points.size() && column_of(points[end]) == column_of(points[i])) {
      if (points[end].bytes < points[low].bytes) low = end;
      if (points[end].bytes > points[high].bytes) high = end;
      ++end;
    }
    std::array<std::size_t, 4> keep = {i, low, high, end - 1};
    std::sort(keep.begin(), keep.end());
    for (std::size_t k = 0; k < keep.size(); ++k) {
      if (k == 0 || keep[k] != keep[k - 1]) out.push_back(points[keep[k]]);
    }
    i = end;
  }
  return out;
}

}  // namespace lowtide::report

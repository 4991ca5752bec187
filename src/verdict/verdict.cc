// SPDX-License-Identifier: Apache-2.0
#include "verdict/verdict.h"

#include <algorithm>
#include <cmath>

#include "verdict/findings.h"
#include "verdict/trend.h"

namespace lowtide::verdict {
namespace {

constexpr double kMiB = 1024 * 1024;

// Without rounds, a swinging curve or a period, one long job that fills looks like a leak. It is
// called one only after this long, and with less confidence: sooner where a heap graph shows that
// the runtime's objects do not grow, and soonest where graphs name objects that grow in each.
constexpr double kOnePhaseSeconds = 60;
constexpr double kOnePhaseSecondsWithHeap = 10;
constexpr double kOnePhaseSecondsWithSuspects = 2.5;
constexpr std::size_t kLeastRepeats = 5;
constexpr std::ptrdiff_t kFewGraphs = 4;

double level_between(const Series& series, double from, double to) {
  std::vector<double> values;
  for (std::size_t i = 0; i < series.size(); ++i) {
    if (series.seconds[i] >= from && series.seconds[i] <= to) values.push_back(series.bytes[i]);
  }
  return median(std::move(values));
}

// What a part gained over a stretch of time: between the medians of its first and last fifth of
// readings there, for it may have been read far less often than the floor.
double gain_between(const Series& series, double from, double to) {
  std::vector<double> values;
  std::vector<double> moments;
  for (std::size_t i = 0; i < series.size(); ++i) {
    if (series.seconds[i] < from || series.seconds[i] > to) continue;
    values.push_back(series.bytes[i]);
    moments.push_back(series.seconds[i]);
  }
  if (values.size() < 2) return 0;
  const auto fifth = std::max<std::ptrdiff_t>(1, std::ssize(values) / 5);
  const double gain = median({values.end() - fifth, values.end()}) -
                      median({values.begin(), values.begin() + fifth});
  const double apart = median({moments.end() - fifth, moments.end()}) -
                       median({moments.begin(), moments.begin() + fifth});
  return apart > 0.3 * (to - from) ? gain * (to - from) / apart : 0;
}

Live live_of(const Evidence& evidence, const Course& floor) {
  Live live;
  std::vector<LivePoint> points;
  // Between the stairs of a coarse allocator the floor lies still though the heap fills.
  double from = floor.next_stair_due ? floor.began : floor.since;
  for (const LivePoint& point : evidence.live) {
    if (std::isfinite(point.seconds)) points.push_back(point);
  }
  std::sort(points.begin(), points.end(),
            [](const LivePoint& a, const LivePoint& b) { return a.seconds < b.seconds; });
  // Where the judged floor begins late, graphs from before it that name what grows are no worse.
  const auto fits = std::find_if(points.begin(), points.end(),
                                 [&](const LivePoint& point) { return point.seconds >= from; });
  auto first = fits - points.begin();
  if (evidence.growing_suspects) {
    first = std::min(first, std::max<std::ptrdiff_t>(0, std::ssize(points) - kFewGraphs));
  }
  points.erase(points.begin(), points.begin() + first);
  if (!points.empty()) from = std::min(from, points.front().seconds);
  live.points = points.size();
  if (points.empty()) return live;
  live.first = static_cast<double>(points.front().bytes);
  live.last = static_cast<double>(points.back().bytes);
  live.from = points.front().seconds;
  live.to = points.back().seconds;
  live.garbage_gain = static_cast<double>(points.back().garbage - points.front().garbage);
  if (points.size() < 3) return live;
  std::vector<double> rates;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const double seconds = points[i].seconds - points[i - 1].seconds;
    if (seconds <= 0) continue;
    rates.push_back(static_cast<double>(points[i].bytes - points[i - 1].bytes) / seconds);
  }
  if (rates.size() < 2) return live;
  const double usual = median(rates);
  const double matters = evidence.growing_suspects ? std::max(kMiB / 4, 0.002 * live.last)
                                                   : std::max(kMiB, 0.005 * live.last);
  // Graphs that all come from the first part of what is judged do not say how it ended.
  const bool recent = points.back().seconds >= floor.until - 0.4 * (floor.until - from);
  live.rises = recent && live.gain() >= matters && rates.back() >= 0.4 * usual &&
               std::all_of(rates.begin(), rates.end(), [](double rate) { return rate > 0; });
  live.goes_on = live.rises && rates.back() >= 0.8 * usual;
  live.even = live.rises && std::all_of(rates.begin(), rates.end(), [usual](double rate) {
                return rate > usual / 3 && rate < usual * 3;
              });
  const double span = points.back().seconds - points.front().seconds;
  live.flat = recent && live.gain() < 0.25 * floor.per_second * span;
  return live;
}

bool work_repeats(const Evidence& evidence, const std::vector<double>& rounds,
                  const Course& floor) {
  if (rounds.size() >= kLeastRepeats) return true;
  const double per_window =
      floor.judged() > 1 ? floor.growth / static_cast<double>(floor.judged() - 1) : 0;
  if (floor.tide > 3 * per_window && floor.tide > kMiB / 4) return true;
  return find_rounds(evidence.points).size() >= kLeastRepeats;
}

// High for a small part of the run, once or a few times, neither at the start nor at the end.
bool had_peak(const Series& resident, Findings& findings) {
  const auto windows = equal_windows(resident, std::min<std::size_t>(200, resident.size()));
  std::vector<double> highs;
  for (const Window& window : windows) highs.push_back(window.highest);
  const double usual = median(highs);
  const double middle = usual + (findings.peak - usual) / 2;
  if (findings.peak < 1.2 * usual + 8 * kMiB) return false;
  std::size_t above = 0;
  std::size_t episodes = 0;
  for (std::size_t i = 0; i < highs.size(); ++i) {
    if (highs[i] <= middle) continue;
    ++above;
    if (i == 0 || highs[i - 1] <= middle) ++episodes;
  }
  return episodes <= 3 && above * 4 <= highs.size() && highs.front() <= middle &&
         highs.back() <= middle;
}

void name_as(Findings& findings, Name name, Because because) {
  findings.name = name;
  findings.because = because;
}

// The floor rises for sure: of what, and is it a leak?
void judge_rising(Findings& findings, const Evidence& evidence, const std::vector<double>& rounds) {
  const Course& floor = findings.floor;
  const Live& live = findings.live;
  const Series kept = series_of(evidence.points, &Point::allocator_free);
  const Series used = series_of(evidence.points, &Point::allocator_in_use);
  const double kept_gain = gain_between(kept, floor.since, floor.until);
  const double used_gain = gain_between(used, floor.since, floor.until);
  if (kept_gain >= 0.6 * floor.growth && used_gain < 0.3 * floor.growth && !live.rises) {
    findings.allocator_gain = kept_gain;
    return name_as(findings, Name::RetainedByAllocator, Because::AllocatorFree);
  }
  findings.repeats = work_repeats(evidence, rounds, floor);
  const bool heap_knows = live.rises || live.flat || evidence.growing_suspects;
  const bool garbage = live.flat && live.garbage_gain >= 0.5 * floor.growth;
  const bool heap_names = (live.rises || garbage) && evidence.growing_suspects;
  const double least = heap_names   ? kOnePhaseSecondsWithSuspects
                       : heap_knows ? kOnePhaseSecondsWithHeap
                                    : kOnePhaseSeconds;
  const double watched =
      heap_names ? std::max(floor.seconds(), live.to - live.from) : floor.seconds();
  if (!findings.repeats && !evidence.ended_by_limit && watched < least) {
    return name_as(findings, Name::Undecided, Because::OnePhase);
  }
  if (garbage) {
    return name_as(findings, Name::Leak, Because::GarbageRises);
  }
  name_as(findings, Name::Leak, live.flat ? Because::NativeRises : Because::Rises);
}

// The floor is flat by now: what was it before, and does anything else grow?
void judge_quiet(Findings& findings, const Evidence& evidence, const std::vector<double>& rounds,
                 const Series& resident) {
  const Course& floor = findings.floor;
  if (findings.live.rises && evidence.growing_suspects) {
    // The graphs alone accuse: a structure that is built anew each round shows more in each of four
    // or five graphs by chance, but hardly ever evenly so.
    const bool enough = findings.live.even && findings.live.points >= 6;
    return enough ? name_as(findings, Name::Leak, Because::LiveRises)
                  : name_as(findings, Name::Undecided, Because::LiveOnly);
  }
  if (findings.anonymous) {
    findings.other =
        course_of(without_teardown(series_of(evidence.points, &Point::shared)), rounds);
    if (findings.other.rises()) {
      findings.repeats = work_repeats(evidence, rounds, findings.other);
      const bool one_phase = !findings.repeats && !evidence.ended_by_limit &&
                             findings.other.seconds() < kOnePhaseSeconds;
      return one_phase ? name_as(findings, Name::Undecided, Because::OnePhase)
                       : name_as(findings, Name::Leak, Because::SharedRises);
    }
    findings.other = course_of(without_teardown(series_of(evidence.points, &Point::file)), rounds);
    const double grown = findings.other.growth + findings.other.before;
    const bool early = findings.other.since < 0.25 * findings.run_seconds &&
                       findings.other.motion == Motion::Quiet;
    if (!early && grown >= std::max(8 * kMiB, 0.1 * floor.level)) {
      return name_as(findings, Name::PageCache, Because::FileGrows);
    }
  }
  if (evidence.ended_by_limit) return name_as(findings, Name::Burst, Because::KilledAtPeak);
  const double least = std::max(kMiB, 0.05 * floor.level);
  const bool gained = floor.before >= least;
  const Series kept = series_of(evidence.points, &Point::allocator_free);
  if (!kept.empty()) findings.allocator_free = level_between(kept, floor.since, floor.until);
  if (gained && findings.allocator_free >= 0.5 * floor.before) {
    return name_as(findings, Name::RetainedByAllocator, Because::AllocatorKept);
  }
  if (floor.next_stair_due && !findings.live.flat) {
    return name_as(findings, Name::Undecided, Because::FewSteps);
  }
  if (floor.late_jump) return name_as(findings, Name::Burst, Because::LateJump);
  if (had_peak(resident, findings)) return name_as(findings, Name::Burst, Because::Peak);
  if (evidence.limit > 0 && evidence.container_cache > 0 &&
      static_cast<double>(evidence.container_cache) + findings.recent_peak >=
          0.8 * static_cast<double>(evidence.limit)) {
    return name_as(findings, Name::PageCache, Because::ContainerCache);
  }
  if (!gained) return name_as(findings, Name::Steady, Because::Flat);
  if (floor.since <= 0.25 * findings.run_seconds) {
    return name_as(findings, Name::Steady, Because::FlatAfterStart);
  }
  const bool filled = floor.steps_before >= 5;
  name_as(findings, filled ? Name::CacheAtCap : Name::WarmingUp,
          filled ? Because::FlatAfterFill : Because::FlatAfterStart);
}

void judge_short(Findings& findings, const Evidence& evidence, const std::vector<double>& rounds) {
  const bool overwhelming = findings.live.rises && findings.live.points >= 4 &&
                            evidence.growing_suspects && rounds.size() >= kLeastFloors;
  if (overwhelming) return name_as(findings, Name::Leak, Because::LiveRises);
  name_as(findings, Name::Undecided,
          evidence.ended_by_limit ? Because::FilledTheLimit : Because::TooShort);
}

void choose_name(Findings& findings, const Evidence& evidence, const std::vector<double>& rounds,
                 const Series& resident) {
  const bool heap_accuses = findings.live.rises && evidence.growing_suspects;
  switch (findings.floor.motion) {
    case Motion::Short:
      return judge_short(findings, evidence, rounds);
    case Motion::Rising:
      return judge_rising(findings, evidence, rounds);
    case Motion::Slowing:
      // A program that works more slowly in the end leaks more slowly; its graphs know better.
      if (heap_accuses && findings.live.points >= 4 && findings.live.goes_on) {
        return judge_rising(findings, evidence, rounds);
      }
      return name_as(findings, Name::LevellingOff, Because::Slows);
    case Motion::Stepping:
    case Motion::Unsure:
      // The floor rises somehow, and what is alive rises in every interval, evenly: a size that
      // wanders may go up six times in a row, but not by the same each time.
      if (heap_accuses && findings.live.even) return judge_rising(findings, evidence, rounds);
      return name_as(findings, Name::Undecided,
                     findings.floor.motion == Motion::Unsure ? Because::Unsure : Because::FewSteps);
    case Motion::Quiet:
      return judge_quiet(findings, evidence, rounds, resident);
  }
}

double confidence_of(const Findings& findings, const Evidence& evidence) {
  if (findings.name == Name::Undecided) return 0;
  const auto floors = static_cast<double>(findings.floor.judged());
  double confidence = 0.6 + 0.2 * std::min(1.0, floors / 32);
  if (findings.name == Name::Leak) {
    if (!findings.repeats && findings.rounds == 0) confidence -= 0.2;
    if (findings.rounds > 0 && !evidence.rounds_guessed) confidence += 0.1;
    if (findings.live.rises) confidence += 0.1;
    if (evidence.growing_suspects) confidence += 0.05;
    if (!findings.floor.rises() && findings.because != Because::SharedRises) confidence -= 0.1;
  } else if (findings.live.flat) {
    confidence += 0.1;
  }
  return std::clamp(confidence, 0.3, 0.99);
}

// What a limit must hold: the peak, and a tenth more (a quarter where growth has only just ended).
std::int64_t fitting_limit(const Findings& findings) {
  double room = 0;
  switch (findings.name) {
    case Name::Leak:
    case Name::Undecided:
      return 0;
    case Name::WarmingUp:
    case Name::LevellingOff:
      room = 0.25;
      break;
    default:
      room = 0.1;
  }
  if (findings.because == Because::KilledAtPeak) return 0;  // the peak was never seen whole
  constexpr double kStep = 16 * kMiB;
  constexpr double kMost = 0x1.0p62;  // what fits into 64 bits with room to spare
  const double wanted = findings.peak + std::max(kStep, room * findings.peak);
  return static_cast<std::int64_t>(std::min(kMost, std::ceil(wanted / kStep) * kStep));
}

void fill_rates(Verdict& verdict, Findings& findings, const Evidence& evidence,
                const std::vector<double>& rounds) {
  const bool other =
      findings.because == Because::SharedRises || findings.because == Because::FileGrows;
  const Course& course = other ? findings.other : findings.floor;
  if (course.motion == Motion::Short) return;
  verdict.rate_per_second = course.per_second;
  verdict.rate_per_round = course.by_rounds ? course.trend.slope : 0;
  verdict.interval95 = {course.trend.low, course.trend.high};
  if (const Live& live = findings.live; findings.because == Because::LiveRises) {
    // The floor hides this leak; the graphs are the only measure of it.
    const double seconds = std::max(1e-9, live.to - live.from);
    verdict.rate_per_second = live.gain() / seconds;
    const double passed = rounds_at(rounds, live.to) - rounds_at(rounds, live.from);
    verdict.rate_per_round = passed > 0 ? live.gain() / passed : 0;
    verdict.interval95 = {0, 0};
  }
  if (findings.name == Name::Leak && evidence.limit > 0 && !evidence.ended_by_limit &&
      verdict.rate_per_second > 0) {
    const double left = static_cast<double>(evidence.limit) - findings.recent_peak;
    verdict.seconds_to_limit = std::max(0.0, left) / verdict.rate_per_second;
  }
  findings.seconds_to_limit = verdict.seconds_to_limit;
}

}  // namespace

std::string_view to_string(Name name) {
  switch (name) {
    case Name::Steady:
      return "steady";
    case Name::Leak:
      return "leak";
    case Name::WarmingUp:
      return "warming-up";
    case Name::LevellingOff:
      return "levelling-off";
    case Name::RetainedByAllocator:
      return "retained-by-allocator";
    case Name::CacheAtCap:
      return "cache-at-cap";
    case Name::PageCache:
      return "page-cache";
    case Name::Burst:
      return "burst";
    case Name::Undecided:
      return "undecided";
  }
  return "undecided";
}

Verdict judge(const Evidence& evidence) {
  Findings findings;
  const std::vector<double> rounds = clean_rounds(evidence.rounds);
  findings.rounds = static_cast<int>(rounds.size());
  const Series resident = series_of(evidence.points, &Point::resident);
  Series judged = series_of(evidence.points, &Point::anonymous);
  // Known only here and there, it would judge another stretch of the run than was watched.
  findings.anonymous = judged.size() * 10 >= resident.size() * 9 && !judged.empty();
  if (!findings.anonymous) judged = resident;
  if (!resident.empty()) {
    const auto peak = std::max_element(resident.bytes.begin(), resident.bytes.end());
    findings.peak = *peak;
    findings.peak_at = resident.seconds[static_cast<std::size_t>(peak - resident.bytes.begin())];
    findings.run_seconds = resident.length();
    const double late = resident.seconds.back() - resident.length() / 8;
    for (std::size_t i = 0; i < resident.size(); ++i) {
      if (resident.seconds[i] >= late) {
        findings.recent_peak = std::max(findings.recent_peak, resident.bytes[i]);
      }
    }
  }
  Verdict verdict;
  if (!judged.empty()) {
    findings.floor = course_of(without_teardown(std::move(judged)), rounds);
    findings.live = live_of(evidence, findings.floor);
    choose_name(findings, evidence, rounds, resident);
    fill_rates(verdict, findings, evidence, rounds);
  }
  verdict.name = findings.name;
  verdict.rounds = findings.rounds;
  verdict.fits_in = fitting_limit(findings);
  verdict.confidence = confidence_of(findings, evidence);
  verdict.why = why(findings, evidence);
  return verdict;
}

}  // namespace lowtide::verdict

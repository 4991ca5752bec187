// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "base/units.h"
#include "verdict/findings.h"

namespace lowtide::verdict {
namespace {

std::string bytes_text(double bytes) {
  constexpr double kMost = 0x1.0p62;
  return to_text(Bytes{std::llround(std::clamp(bytes, -kMost, kMost))});
}

// "18.3 MiB" split, so that an interval repeats the number and not the unit.
struct Amount {
  double factor;
  const char* unit;
};

Amount amount_of(double bytes) {
  static constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double factor = 1;
  std::size_t unit = 0;
  while (std::fabs(bytes) / factor >= 1023.5 && unit + 1 < kUnits.size()) factor *= 1024, ++unit;
  return {factor, kUnits[unit]};
}

std::string digits(double value) {
  const double size = std::fabs(value);
  return fmt::format("{:.{}f}", value, size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}

// The unit of time in which a rate has a figure a person can picture.
struct Pace {
  double seconds;
  const char* name;
};

Pace pace_of(double per_second) {
  constexpr double kLeast = 100 * 1024;
  if (std::fabs(per_second) >= kLeast) return {1, "second"};
  if (std::fabs(per_second) * 60 >= kLeast) return {60, "minute"};
  return {3600, "hour"};
}

std::string interval_text(double low, double high, const Amount& amount) {
  return fmt::format("95 % between {} and {}", digits(low / amount.factor),
                     digits(high / amount.factor));
}

// "18.3 MiB per round (41 rounds, 95 % between 17.9 and 18.6)".
std::string rate_text(const Course& course, int rounds) {
  const Pace pace = course.by_rounds ? Pace{1, "round"} : pace_of(course.trend.slope);
  const Amount amount = amount_of(course.trend.slope * pace.seconds);
  const std::string span = course.by_rounds
                               ? fmt::format("{} rounds", rounds)
                               : fmt::format("over {}", duration_text(course.seconds()));
  return fmt::format(
      "{} {} per {} ({}, {})", digits(course.trend.slope * pace.seconds / amount.factor),
      amount.unit, pace.name, span,
      interval_text(course.trend.low * pace.seconds, course.trend.high * pace.seconds, amount));
}

std::string limit_text(const Findings& findings, const Evidence& evidence) {
  if (evidence.ended_by_limit) return ", until the run was killed at its limit";
  if (!findings.seconds_to_limit) return "";
  const double seconds = *findings.seconds_to_limit;
  // A month ahead is no forecast.
  if (seconds > 30.0 * 86400) return "";
  if (findings.floor.by_rounds && findings.floor.trend.slope > 0) {
    const double rounds = seconds * findings.floor.per_second / findings.floor.trend.slope;
    return fmt::format("; at this rate the limit is reached in {} rounds, about {}",
                       count_text(std::llround(rounds)), duration_text(seconds));
  }
  return fmt::format("; at this rate the limit is reached in about {}", duration_text(seconds));
}

std::string since_text(const Course& course) {
  const bool late = course.from > 0 && course.since - course.began > 0.25 * course.seconds();
  return late ? fmt::format(" since {}", duration_text(course.since)) : std::string();
}

std::string rises_text(const Findings& findings) {
  const Course& floor = findings.floor;
  if (floor.rises()) {
    return fmt::format("the low-water mark rises {}{}", rate_text(floor, findings.rounds),
                       since_text(floor));
  }
  return fmt::format("the low-water mark has risen {} in {}", bytes_text(floor.growth),
                     duration_text(floor.seconds()));
}

std::string live_text(const Live& live) {
  return fmt::format("live objects grew {} over {} heap graphs",
                     to_signed_text(Bytes{static_cast<std::int64_t>(live.gain())}), live.points);
}

// What would decide it: rounds where there are none, and time.
std::string remedy(const Findings& findings, double more_seconds) {
  const std::string time =
      fmt::format("run at least {} longer", duration_text(std::max(5.0, std::ceil(more_seconds))));
  return findings.rounds > 0 ? time : time + ", or mark rounds with --round";
}

std::string short_text(const Findings& findings) {
  const double need = std::max(5.0, 2 * findings.run_seconds) - findings.run_seconds;
  if (findings.run_seconds < 1) {
    return fmt::format(
        "it ended within {}, too soon to be judged; {}",
        findings.run_seconds < 0.1 ? "a moment" : duration_text(findings.run_seconds),
        remedy(findings, need));
  }
  return fmt::format("the run of {} gave {} low-water marks and {} are needed to judge; {}",
                     duration_text(findings.run_seconds), findings.floor.windows.size(),
                     kLeastFloors, remedy(findings, need));
}

std::string unsure_text(const Findings& findings) {
  const Course& floor = findings.floor;
  if (floor.trend.sure_low > 0) {
    return fmt::format(
        "the low-water mark rose {} in {}, but its last third does not clearly go "
        "on rising; {}",
        bytes_text(floor.growth), duration_text(floor.seconds()),
        remedy(findings, floor.seconds()));
  }
  // The error of a slope falls with the length to the power of 1.5.
  const double ratio =
      floor.trend.slope > 0 ? std::clamp(3 * floor.trend.error / floor.trend.slope, 1.3, 8.0) : 2;
  const double more = floor.seconds() * (std::pow(ratio, 2.0 / 3) - 1);
  return fmt::format("the low-water mark may rise by {} but varies by ±{}; {}",
                     rate_text(floor, findings.rounds), bytes_text(2 * floor.trend.noise),
                     remedy(findings, std::max(more, 0.5 * floor.seconds())));
}

std::string flat_text(const Findings& findings) {
  const Course& floor = findings.floor;
  std::string text = fmt::format("the low-water mark stays at {}", bytes_text(floor.level));
  if (floor.trend.slope < 0 && -floor.growth > material(floor.level) && floor.trend.high < 0) {
    text = fmt::format("the low-water mark falls to {}", bytes_text(floor.level));
  }
  if (floor.tide > std::max(0.05 * floor.level, material(floor.level))) {
    text += fmt::format("; the curve swings by {} above it and comes back", bytes_text(floor.tide));
  }
  const double most = floor.trend.high * (floor.by_rounds ? 1 : pace_of(floor.trend.high).seconds);
  if (most > 0 && std::isfinite(most)) {
    text += fmt::format("; if it rises at all, then by less than {} per {}", bytes_text(most),
                        floor.by_rounds ? "round" : pace_of(floor.trend.high).name);
  }
  return text;
}

std::string slows_text(const Findings& findings) {
  const Course& floor = findings.floor;
  return fmt::format(
      "the low-water mark rose {} in {}, ever more slowly: its last third at {:.0f} % "
      "of the mean rate; a run twice as long shows whether it ends",
      bytes_text(floor.growth), duration_text(floor.seconds()),
      100 * std::clamp(floor.last_rate, 0.0, 1.0));
}

std::string few_steps_text(const Findings& findings) {
  const Course& floor = findings.floor;
  const bool stairs = floor.stairs >= 1;
  const std::size_t steps = std::max<std::size_t>(1, stairs ? floor.stairs : floor.steps);
  return fmt::format("the low-water mark rose {} in {} {} only, so the next need not come; {}",
                     bytes_text(stairs ? floor.stairs_gain : floor.growth), steps,
                     steps > 1 ? "steps" : "step", remedy(findings, floor.until - floor.began));
}

std::string at_start_text(const Course& floor) {
  return floor.since <= 0.5 ? std::string("at the start")
                            : fmt::format("until {}", duration_text(floor.since));
}

std::string one_phase_text(const Findings& findings) {
  const Course& course =
      findings.other.rises() && !findings.floor.rises() ? findings.other : findings.floor;
  return fmt::format(
      "{} rises {} and never comes back, but nothing shows that the work repeats: "
      "one long job that fills looks the same; {}",
      &course == &findings.other ? "shared memory" : "the low-water mark",
      rate_text(course, findings.rounds), remedy(findings, 60 - course.seconds()));
}

}  // namespace

std::string why(const Findings& findings, const Evidence& evidence) {
  const Course& floor = findings.floor;
  const std::string limit = limit_text(findings, evidence);
  switch (findings.because) {
    case Because::NoReadings:
      return "there are no readings; the run ended before the first, or could not be watched";
    case Because::TooShort:
      return short_text(findings);
    case Because::FilledTheLimit:
      return fmt::format(
          "the run filled its limit within {}, too fast to tell a leak from one "
          "load that does not fit; give it a higher limit and run it again",
          duration_text(findings.run_seconds));
    case Because::Rises: {
      std::string text = rises_text(findings) + limit;
      if (findings.live.rises) text += fmt::format("; {}", live_text(findings.live));
      if (!findings.repeats && !evidence.ended_by_limit && findings.rounds == 0) {
        text += "; if this is one long job that fills, mark rounds with --round to be sure";
      }
      return text;
    }
    case Because::NativeRises:
      return fmt::format("{}{}; {}, {}", rises_text(findings), limit, live_text(findings.live),
                         evidence.growing_suspects
                             ? "the rest is native memory and may be theirs"
                             : "so it is native memory, not the runtime's objects");
    case Because::GarbageRises:
      return fmt::format("{}{}; unreachable objects that no collection takes grew by {}",
                         rises_text(findings), limit, bytes_text(findings.live.garbage_gain));
    case Because::SharedRises:
      return fmt::format(
          "shared memory, outside the heap, rises {}{}; the program's own memory "
          "stays at {}",
          rate_text(findings.other, findings.rounds), limit, bytes_text(floor.level));
    case Because::LiveRises:
      return fmt::format(
          "{}, more in each, in memory the process already had: the low-water mark "
          "does not show it yet{}",
          live_text(findings.live), limit);
    case Because::OnePhase:
      return one_phase_text(findings);
    case Because::Unsure:
      return unsure_text(findings);
    case Because::FewSteps:
      return few_steps_text(findings);
    case Because::LiveOnly:
      return fmt::format("{}, but the low-water mark stays at {}; {}", live_text(findings.live),
                         bytes_text(floor.level), remedy(findings, floor.seconds()));
    case Because::Slows:
      return slows_text(findings);
    case Because::AllocatorFree:
      return fmt::format(
          "{}, of which {} is free memory the allocator keeps: fragmentation, or "
          "arenas of ended threads; nothing the program still uses grows",
          rises_text(findings), bytes_text(findings.allocator_gain));
    case Because::AllocatorKept:
      return fmt::format(
          "the program freed what it used at its peak, but the allocator keeps {} of "
          "it; the low-water mark stays at {} since {}",
          bytes_text(findings.allocator_free), bytes_text(floor.level), duration_text(floor.since));
    case Because::FlatAfterFill:
      return fmt::format(
          "the low-water mark filled by {} until {} and has been flat at {} for {} "
          "since",
          bytes_text(floor.before), duration_text(floor.since), bytes_text(floor.level),
          duration_text(floor.seconds()));
    case Because::FlatAfterStart:
      return fmt::format("the low-water mark rose by {} {} and has been flat at {} for {} since",
                         bytes_text(floor.before), at_start_text(floor), bytes_text(floor.level),
                         duration_text(floor.seconds()));
    case Because::Flat:
      return flat_text(findings);
    case Because::FileGrows:
      return fmt::format(
          "what grows is mapped files, by {}, which the kernel takes back when it "
          "needs room; the program's own memory stays at {}",
          bytes_text(findings.other.growth + findings.other.before), bytes_text(floor.level));
    case Because::ContainerCache:
      return fmt::format(
          "the container is near its limit by {} of page cache, which the kernel "
          "takes back; the program's own memory stays at {}",
          bytes_text(static_cast<double>(evidence.container_cache)), bytes_text(floor.level));
    case Because::Peak:
      return fmt::format("one peak of {} at {}; the low-water mark stays at {}",
                         bytes_text(findings.peak), duration_text(findings.peak_at),
                         bytes_text(floor.level));
    case Because::LateJump:
      return fmt::format(
          "the low-water mark stays at {} until it rises by {} at the very end, too "
          "late to be judged",
          bytes_text(floor.level), bytes_text(floor.late_gain));
    case Because::KilledAtPeak:
      return fmt::format(
          "killed at its limit by one peak: the low-water mark was flat at {} "
          "before, so it does not build up",
          bytes_text(floor.level));
  }
  return "";
}

}  // namespace lowtide::verdict

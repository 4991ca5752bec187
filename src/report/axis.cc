// SPDX-License-Identifier: Apache-2.0
#include "report/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace lowtide::report {
namespace {

// A number as short as it is exact: "0.5", "2", "1.25".
std::string short_number(double value) { return fmt::format("{:.6g}", value); }

std::string time_text(double seconds, double step) {
  const auto whole = static_cast<long long>(std::llround(seconds));
  if (step < 1) return short_number(seconds) + " s";
  if (step < 60) {
    if (whole < 120) return fmt::format("{} s", whole);
    return fmt::format("{}:{:02} min", whole / 60, whole % 60);
  }
  if (step < 3600) {
    if (whole < 7200) return fmt::format("{} min", whole / 60);
    return fmt::format("{}:{:02} h", whole / 3600, whole / 60 % 60);
  }
  if (step < 86400) return fmt::format("{} h", whole / 3600);
  return whole == 86400 ? "1 day" : fmt::format("{} days", whole / 86400);
}

}  // namespace

std::vector<Tick> byte_ticks(double top, int most) {
  if (!(top > 0) || !std::isfinite(top)) top = 1024;
  static constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  double scale = 1;
  // The unit changes at 2, not 1: "1.5 GiB" reads as well as "1536 MiB", but "0.8 GiB" does not.
  while (top / scale >= 2048 * 0.75 && unit + 1 < kUnits.size()) scale *= 1024, ++unit;
  const double rough = top / scale / std::max(most, 1);
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (double factor : {5.0, 2.5, 2.0, 1.0}) {
    if (factor * power >= rough * 0.999) step = factor * power;
  }
  if (unit == 0) step = std::max(1.0, std::ceil(step));
  std::vector<Tick> ticks{{0, "0"}};
  for (int i = 1; ticks.back().at < top * 0.9999 && i < 100; ++i) {
    const double value = step * i;
    ticks.push_back({value * scale, short_number(value) + " " + kUnits[unit]});
  }
  return ticks;
}

std::vector<Tick> time_ticks(double end, int most) {
  if (!(end > 0) || !std::isfinite(end)) end = 1;
  static constexpr std::array kSteps = {0.05,   0.1,     0.2,     0.5,     1.0,     2.0,
                                        5.0,    10.0,    15.0,    30.0,    60.0,    120.0,
                                        300.0,  600.0,   900.0,   1800.0,  3600.0,  7200.0,
                                        14400., 21600.0, 43200.0, 86400.0, 172800.0};
  double step = 604800;  // weeks, then their multiples
  for (std::size_t i = kSteps.size(); i-- > 0;) {
    if (end / kSteps[i] <= most) step = kSteps[i];
  }
  while (end / step > most) step *= 2;
  std::vector<Tick> ticks{{0, "0"}};
  for (int i = 1; step * i <= end * 1.0001; ++i) {
    ticks.push_back({step * i, time_text(step * i, step)});
  }
  return ticks;
}

}  // namespace lowtide::report

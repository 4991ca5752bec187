// SPDX-License-Identifier: Apache-2.0
#include "base/units.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace lowtide {
namespace {

// Splits "1.5GiB" into 1.5 and "gib" (lower case). Nothing where no number leads or it is negative.
struct Quantity {
  double number;
  std::string unit;
};

std::optional<Quantity> split_quantity(std::string_view text) {
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || !std::isfinite(number) || number < 0) return std::nullopt;
  std::string unit;
  for (char c : text.substr(static_cast<std::size_t>(rest - text.data()))) {
    if (c == ' ') continue;
    unit += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return Quantity{number, unit};
}

}  // namespace

std::string to_text(Bytes bytes) {
  static constexpr std::array kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = std::fabs(static_cast<double>(bytes.count));
  const char* sign = bytes.count < 0 ? "-" : "";
  if (value < 1024) return fmt::format("{}{} B", sign, static_cast<std::int64_t>(value));
  std::size_t unit = 0;
  value /= 1024;
  // 1023.6 would print as "1024 KiB".
  while (value >= 1023.5 && unit + 1 < kUnits.size()) value /= 1024, ++unit;
  const int digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fmt::format("{}{:.{}f} {}", sign, value, digits, kUnits[unit]);
}

std::string to_signed_text(Bytes bytes) {
  return bytes.count > 0 ? "+" + to_text(bytes) : to_text(bytes);
}

std::optional<Bytes> parse_bytes(std::string_view text) {
  const auto quantity = split_quantity(text);
  if (!quantity) return std::nullopt;
  static constexpr std::string_view kPrefixes = "kmgtp";
  const std::string& unit = quantity->unit;
  double factor = 1;
  if (!unit.empty() && unit != "b") {
    const auto power = kPrefixes.find(unit[0]);
    const auto rest = std::string_view(unit).substr(1);
    if (power == std::string_view::npos || !(rest.empty() || rest == "b" || rest == "ib")) {
      return std::nullopt;
    }
    factor = std::pow(1024.0, static_cast<double>(power + 1));
  }
  const double bytes = quantity->number * factor;
  if (bytes > 9.0e18) return std::nullopt;
  return Bytes{static_cast<std::int64_t>(bytes)};
}

std::string duration_text(double seconds) {
  if (seconds < 0) return "-" + duration_text(-seconds);
  if (seconds < 0.9995) return fmt::format("{:.0f} ms", seconds * 1000);
  if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
  if (seconds < 119.5) return fmt::format("{:.0f} s", seconds);
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 2 * 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  if (whole < 48 * 3600) return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
  return fmt::format("{} days {} h", whole / 86400, whole / 3600 % 24);
}

std::optional<double> parse_seconds(std::string_view text) {
  const auto quantity = split_quantity(text);
  if (!quantity) return std::nullopt;
  const std::string& unit = quantity->unit;
  if (unit == "ms") return quantity->number / 1000;
  if (unit.empty() || unit == "s") return quantity->number;
  if (unit == "m" || unit == "min") return quantity->number * 60;
  if (unit == "h") return quantity->number * 3600;
  if (unit == "d") return quantity->number * 86400;
  return std::nullopt;
}

std::string count_text(std::int64_t count) {
  std::string digits = std::to_string(count);
  const std::size_t first = digits[0] == '-' ? 1 : 0;
  for (std::size_t i = digits.size(); i > first + 3;) digits.insert(i -= 3, ",");
  return digits;
}

}  // namespace lowtide

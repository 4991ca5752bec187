// SPDX-License-Identifier: Apache-2.0
#pragma once

// Bytes that cannot be mistaken for a count of lines, objects or pages.
//
// Signed, because half of what this program says is a change ("-12.0 MiB since the first").

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lowtide {

struct Bytes {
  std::int64_t count = 0;

  constexpr Bytes() = default;
  constexpr explicit Bytes(std::int64_t n) : count(n) {}

  friend constexpr auto operator<=>(Bytes, Bytes) = default;
  constexpr Bytes& operator+=(Bytes other) { return count += other.count, *this; }
  constexpr Bytes& operator-=(Bytes other) { return count -= other.count, *this; }
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return a += b; }
  friend constexpr Bytes operator-(Bytes a, Bytes b) { return a -= b; }
};

inline constexpr Bytes kKiB{1024};
inline constexpr Bytes kMiB{1024 * 1024};
inline constexpr Bytes kGiB{1024 * 1024 * 1024};

// "0 B", "512 B", "18.3 MiB", "1.42 GiB": three significant digits, binary units.
std::string to_text(Bytes bytes);

// The same with its sign: "+18.3 MiB", "-4.00 KiB".
std::string to_signed_text(Bytes bytes);

// "512K" "6MB" "1.5GiB" "4096": K, KB and KiB all mean 1024. Nothing where it is not a size.
std::optional<Bytes> parse_bytes(std::string_view text);

// "340 ms", "47 s", "3 min 20 s", "2 h 5 min", "3 days 4 h".
std::string duration_text(double seconds);

// "90s" "5m" "100ms" "2h" "0.5" (seconds). Nothing where it is not a duration.
std::optional<double> parse_seconds(std::string_view text);

// "1,234,567".
std::string count_text(std::int64_t count);

}  // namespace lowtide

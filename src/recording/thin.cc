// SPDX-License-Identifier: Apache-2.0
#include "recording/thin.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <tuple>

namespace lowtide::recording {
namespace {

// The figures whose extremes are kept.
constexpr std::array kWatched = {&Sample::resident, &Sample::anonymous, &Sample::container};

// Marks in `keep` one row of [first, last) for each extreme that no row marked before it has.
void keep_extremes(const std::vector<Sample>& rows, std::size_t first, std::size_t last,
                   std::vector<bool>& keep) {
  for (const auto figure : kWatched) {
    std::size_t low = last;
    std::size_t high = last;
    for (std::size_t i = first; i < last; ++i) {
      const std::int64_t value = rows[i].*figure;
      if (value < 0) continue;
      if (low == last || value < rows[low].*figure) low = i;
      if (high == last || value > rows[high].*figure) high = i;
    }
    if (low == last) continue;
    for (const std::size_t extreme : {low, high}) {
      bool there = false;
      for (std::size_t i = first; i < last && !there; ++i) {
        there = keep[i] && rows[i].*figure == rows[extreme].*figure;
      }
      if (!there) keep[extreme] = true;
    }
  }
}

}  // namespace

std::vector<Sample> thin(std::vector<Sample> rows, double width) {
  std::stable_sort(rows.begin(), rows.end(), [](const Sample& a, const Sample& b) {
    return std::tie(a.process, a.seconds) < std::tie(b.process, b.seconds);
  });
  std::vector<bool> keep(rows.size());
  const auto bucket = [&](std::size_t i) { return std::floor(rows[i].seconds / width); };
  for (std::size_t first = 0; first < rows.size();) {
    std::size_t last = first + 1;
    while (last < rows.size() && rows[last].process == rows[first].process &&
           bucket(last) == bucket(first)) {
      ++last;
    }
    keep_extremes(rows, first, last, keep);
    const auto adjacent = [&](std::size_t before, std::size_t after) {
      return rows[before].process == rows[after].process && bucket(before) + 1 == bucket(after);
    };
    if (first == 0 || !adjacent(first - 1, first)) keep[first] = true;
    if (last == rows.size() || !adjacent(last - 1, last)) keep[last - 1] = true;
    first = last;
  }
  std::vector<Sample> kept;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (keep[i]) kept.push_back(rows[i]);
  }
  std::stable_sort(kept.begin(), kept.end(),
                   [](const Sample& a, const Sample& b) { return a.seconds < b.seconds; });
  return kept;
}

}  // namespace lowtide::recording

// SPDX-License-Identifier: Apache-2.0
#pragma once

// The parts of finding rounds that can be looked at one by one. The doors are in verdict.h.

#include <cstddef>
#include <span>
#include <vector>

#include "verdict/series.h"

namespace lowtide::verdict {

// Evenly spaced values, each the last reading before it, with the parabola through them taken out.
std::vector<double> detrended(const Series& series, std::size_t count);

// The lag of the first clear peak of the autocorrelation after it has crossed zero, confirmed at
// twice the lag; 0 where there is none. At most values.size() / least_repeats.
std::size_t period_of(std::span<const double> values, std::size_t least_repeats);

// How evenly times are spaced: the median absolute deviation of the gaps over their median.
double unevenness(std::span<const double> seconds);

}  // namespace lowtide::verdict

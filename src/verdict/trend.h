// SPDX-License-Identifier: Apache-2.0
#pragma once

// How fast a few dozen floors rise, and how sure that is.
//
// The slope is Theil and Sen's: the median of the slopes of all pairs, which three wild floors in
// ten do not move. The interval is the wider of two: ranks (Kendall's variance) and spread
// (Student's t), both widened for floors that follow one another (lag correlation r, corrected for
// short series: n floors count as n (1 - r) / (1 + r)).

#include <span>
#include <vector>

namespace lowtide::verdict {

struct Trend {
  double slope = 0;  // per unit of x
  double low = 0;    // of the 95 % interval
  double high = 0;
  double sure_low = 0;     // what the slope exceeds at 99.5 %, for saying "it rises"
  double level = 0;        // of the line at x = 0
  double noise = 0;        // standard deviation about the line
  double independent = 0;  // how many floors these are worth
  double error = 0;        // standard error of the slope
};

// x ascends. At most some hundred values: all pairs are looked at. Fewer than 3 give a
// slope of nothing known: an interval without bounds.
Trend trend_of(std::span<const double> x, std::span<const double> y);

// By how much floors that follow one another widen an interval: n of them are worth n / this.
// `residuals` about a fit with some `parameters`; `deviation` is theirs.
double inflation(std::span<const double> residuals, double deviation, double parameters);

double median(std::vector<double> values);  // 0 where there are none

// The value at `share` (0..1) of the sorted values; 0 where there are none.
double quantile(std::vector<double> values, double share);

}  // namespace lowtide::verdict

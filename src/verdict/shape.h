// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which shape a row of floors has.
//
//     line   .-'''     bend  .--''''''     broken  ___.-'''   or   .-'''|_____
//          .-'              /                            |
//         '                '                             '-- `at`: the part after it is judged
//
// Least squares each, weighed by Bayes' criterion over the independent floors only: a
// staircase is correlated noise about a line, not a proof of breaks.

#include <cstddef>
#include <span>

namespace lowtide::verdict {

enum class Shape { Line, Bend, Broken };

struct Fit {
  Shape shape = Shape::Line;
  std::size_t at = 0;    // Broken: where the second part begins
  double last_rate = 1;  // Bend: the rate at the end over the rate of the whole; 1 for a line
  double doubt = 1;      // the same of the best curve, where it fits no worse than the line does
};

// `grain` is a difference that means nothing (pages, a sampler's moment): fits do not
// compete below it. `least_last` floors at the least stay after a break.
Fit fit_shape(std::span<const double> x, std::span<const double> y, double grain,
              std::size_t least_last);

// Of all that a row of floors gained, how many of its steps bring four fifths: one for a single
// jump, most of them for a steady rise. Falls that are made up for later do not count.
std::size_t steps_carrying(std::span<const double> y);

}  // namespace lowtide::verdict

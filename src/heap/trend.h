// SPDX-License-Identifier: Apache-2.0
#pragma once

// Does a short series of counts rise like a leak?
//
//     warm-up     |  must rise in (nearly) every interval, and at the end still about as fast
//     +900  +40   |  +10  +11  +10  +10        a leak of 10
//     +900  +400  |  +90  +20   +3   +1        something that fills up
//
// The first third may do what it likes, and what stood still before it began to grow is left out.

#include <cstdint>
#include <span>

namespace lowtide::heap {

struct Trend {
  bool rises = false;
  double slope = 0;         // Theil-Sen, after the warm-up: per unit of x
  std::int64_t grown = 0;   // last - first
  std::int64_t steady = 0;  // last - the first after the warm-up: what the judgement rests on
  double evenness = 0;      // 0..1: how alike the intervals' rates are
  int intervals = 0;        // judged
  int rose = 0;             // of these
};

// Where the warm-up of n points ends.
std::size_t warm_up(std::size_t points);

// x ascending, as long as y. Never rises with fewer than two points.
Trend trend_of(std::span<const double> x, std::span<const std::int64_t> y);

}  // namespace lowtide::heap

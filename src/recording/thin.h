// SPDX-License-Identifier: Apache-2.0
#pragma once

// Readings grown old, thinned without losing what a reader looks for in them.
//
// Time is cut into buckets of one width. Of each process and bucket stay the readings with the
// lowest and the highest resident, anonymous and container figures, and the readings on both sides
// of a stretch without any: a curve drawn through what is left touches the same top, the same
// floor and the same plateaus.

#include <vector>

#include "recording/recording.h"

namespace lowtide::recording {

// `rows` may mix processes and need no order. The result is ordered by time.
std::vector<Sample> thin(std::vector<Sample> rows, double width);

}  // namespace lowtide::recording

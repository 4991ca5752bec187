// SPDX-License-Identifier: Apache-2.0
#pragma once

// The page a run ends with.
//
//     lowtide: python3 train.py · 62 s · 3 processes · peak 1.42 GiB of 2.00 GiB (container limit)
//
//     leak     the low-water mark rises 18.3 MiB per round (41 rounds, 95 % between 17.9 and …
//     what     +412 pandas.DataFrame, 10 per round, retaining +318 MiB as float64 arrays
//     who      module pipeline → _history : list → [*] → Result.frame → DataFrame
//     memory   live Python 71 %  ·  native 12 %  ·  unexplained 2 %
//
//     saved lowtide-python3-20261130-184512.tide   (lowtide report, plot, heap … read it)
//
// One line, never broken, where there is nothing to tell.

#include <string>

#include "report/findings.h"
#include "report/text.h"

namespace lowtide::report {

// Ends with a newline.
std::string summary(const Findings& findings, const Style& style);

}  // namespace lowtide::report

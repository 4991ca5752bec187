// SPDX-License-Identifier: Apache-2.0
#pragma once

// Cycles that nobody reaches and no collection takes.

#include <cstdint>
#include <vector>

#include "heap/growth.h"
#include "heap/suspects.h"

namespace lowtide::heap {

// Garbage that comes and goes is nobody's leak: only what is more in every snapshot counts, and
// with the collector on only over many of them.
std::vector<Suspect> garbage_suspects(const Series& series, const Graph& last,
                                      const SuspectOptions& options);

// 0..1: how many intervals rose, and how evenly.
double confidence_of(const Trend& trend);

// Of the type and of the sorted paths with numbers folded: the same in the next run.
std::uint64_t fingerprint_of(const Suspect& suspect);

}  // namespace lowtide::heap

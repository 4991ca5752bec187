// SPDX-License-Identifier: Apache-2.0
#pragma once

// The ways something is held, as one drawing for Graphviz.
//
//     module pipeline ─ ._history : list ─ [*] : Result ─┐
//                     └ .cache : dict ───────────────────┴─ +412 pandas.DataFrame
//
// Paths that begin alike share their beginning; all of them meet in the suspect.

#include <string>

#include "heap/suspects.h"

namespace lowtide::report {

// The text of a digraph, for `dot -Tsvg`.
std::string to_dot(const heap::Suspect& suspect);

}  // namespace lowtide::report

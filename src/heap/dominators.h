// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who keeps whom alive.
//
// A node dominates another when every path from the super-root to the other goes through it:
// free the first and the second goes too. What a node dominates is what it retains.
//
//     root -- a -- b -- d       d is reached through b and through c,
//              \-- c --/        so a dominates it, and neither b nor c does.

#include <span>
#include <vector>

#include "heap/graph.h"

namespace lowtide::heap {

struct Dominators {
  std::vector<NodeId> nearest;  // node -> its nearest dominator; kUnreached where no root reaches
                                // and for the super-root
  std::vector<Bytes> retained;  // node -> the bytes that go when it goes, its own included;
                                // 0 where no root reaches
};

// Semi-NCA (Georgiadis 2005), over essential edges: one pass down, one up, no fixed point to wait
// for, so a heap of any shape ends. Needs 28 bytes a node and 4 for each edge that is not in the
// depth-first tree while it runs; leaves 12 a node.
Dominators dominators(const Graph& graph);

// What each type retains, by the NameId of the type (0 for names that are no type). An object
// that one of its own type dominates is in that one's figure already and is not added again.
std::vector<Bytes> retained_by_type(const Graph& graph, const Dominators& dominators);

// The sum of what `nodes` retain, none counted twice. What they hold only together is not in it:
// for that see reachable_without_nodes.
Bytes retained_of_set(const Dominators& dominators, std::span<const NodeId> nodes);

}  // namespace lowtide::heap

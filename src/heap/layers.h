// SPDX-License-Identifier: Apache-2.0
#pragma once

// Everybody who holds a set of objects, one layer after another.
//
//     tracer.spans [*] ------------> Body        cut the first and the second shows;
//     emitter.listeners [*] -> fn -> Body        cutting either alone frees nothing
//
// A holder is where what grew hangs on what did not grow. All sets are worked on at once, so a
// layer costs one pass over the heap however many suspects there are.

#include <cstdint>
#include <vector>

#include "heap/graph.h"
#include "heap/paths.h"
#include "heap/reach.h"
#include "heap/shapes.h"

namespace lowtide::heap {

struct Layer {
  std::uint64_t key = 0;     // of the holder's shape and the folded edge
  Path path;                 // to one of the set
  std::vector<Path> others;  // to a few more: what differs between them is nobody's name
  NodeId container = 0;      // the holder on that path
  bool alone = false;        // one container holds them all
  std::size_t held = 0;      // of the set's sample
  std::size_t depth = 0;     // 0: found in the heap as it is, 1: with the first cut away, ...
  std::vector<EdgeId> cut;   // what would have to go
  Bytes freed_alone;         // what goes if only these go
};

struct HeldSet {
  std::vector<NodeId> sample;
  std::vector<Layer> layers;  // out
  Bytes freed_together;       // out: what goes if all layers go
};

// `grown`: the nodes that are part of what grew, of any of the sets.
void find_layers(const Graph& graph, const HolderTree& tree, const Shapes& shapes,
                 const BitSet& grown, std::vector<HeldSet>& sets);

}  // namespace lowtide::heap

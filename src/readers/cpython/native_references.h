// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who lives although no named root reaches it: references that nobody accounts for.
//
//     refcount 2, one edge to it  ->  somebody outside the heap (C code, an atexit table, a
//                                     reference that was never given back) holds the other
//
// An idle program shows thousands; only one that grows is evidence. Here they are counted,
// and what they keep alive is told from garbage.

#include <span>

#include "heap/graph.h"

namespace lowtide::cpython {

// `references` is each node's refcount, 0 where it means nothing. Fills native_references and adds
// roots:
//   Runtime "immortal objects"  for static objects nobody names: they are never garbage
//   Native  "native reference"  for what has a surplus, or was found by scanning memory, and is
//                               not reached otherwise; only the topmost, each reached by no other
// Where the graph is not whole nothing is known of surpluses: what is unreached then hangs on the
// root "part of the heap that was not read".
heap::Graph hang_native_references(heap::Graph graph, std::span<const std::uint32_t> references);

}  // namespace lowtide::cpython

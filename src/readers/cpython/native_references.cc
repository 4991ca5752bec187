// SPDX-License-Identifier: Apache-2.0
#include "readers/cpython/native_references.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "heap/reach.h"

namespace lowtide::cpython {

namespace {

using heap::BitSet;
using heap::Graph;
using heap::NodeId;

void reach_from(const Graph& graph, NodeId n, BitSet& reached) {
  std::vector<NodeId> stack{n};
  heap::extend_reach(graph, stack, reached, [](heap::EdgeId) { return true; });
}

// Those of `candidates` that none other of them reaches; of a cycle, the first. Adds what they
// reach to `reached`.
//
// Once forwards: whoever is not reached yet starts a search, and no later search is entered by an
// earlier one. Once backwards over those who started: whoever is not reached now is reached by
// nobody.
std::vector<NodeId> topmost(const Graph& graph, const std::vector<NodeId>& candidates,
                            BitSet& reached) {
  std::vector<NodeId> started;
  BitSet forwards = reached;
  for (const NodeId n : candidates) {
    if (!forwards.add(n)) continue;
    started.push_back(n);
    reach_from(graph, n, forwards);
  }
  std::vector<NodeId> top;
  for (auto n = started.rbegin(); n != started.rend(); ++n) {
    if (!reached.add(*n)) continue;
    top.push_back(*n);
    reach_from(graph, *n, reached);
  }
  std::reverse(top.begin(), top.end());
  return top;
}

// Is this edge one reference? A closure's are told by name beside the tuple that has them.
bool counts(const Graph& graph, heap::EdgeId e) {
  return graph.essential(e) && graph.kind(e) != heap::EdgeKind::Closure;
}

std::vector<heap::NativeReference> surpluses(const Graph& graph,
                                             std::span<const std::uint32_t> references) {
  std::vector<std::uint32_t> counted(graph.node_count());
  for (heap::EdgeId e = graph.edges_end(heap::kSuperRoot); e < graph.edge_count(); ++e) {
    std::uint32_t& count = counted[graph.target(e)];
    if (counts(graph, e) && count != std::numeric_limits<std::uint32_t>::max()) ++count;
  }
  std::vector<heap::NativeReference> found;
  for (NodeId n = 1; n < graph.node_count(); ++n) {
    if (references[n] > counted[n]) found.push_back({n, references[n] - counted[n]});
  }
  return found;
}

}  // namespace

Graph hang_native_references(Graph graph, std::span<const std::uint32_t> references) {
  if (graph.whole) graph.native_references = surpluses(graph, references);

  BitSet reached = heap::reachable(graph);
  const auto unreached = [&](auto&& chosen) {
    std::vector<NodeId> nodes;
    for (NodeId n = 1; n < graph.node_count(); ++n) {
      if (!reached.contains(n) && chosen(n)) nodes.push_back(n);
    }
    return nodes;
  };
  const auto statics = topmost(
      graph, unreached([&](NodeId n) { return (graph.flags(n) & heap::kStatic) != 0; }), reached);
  std::vector<NodeId> native;
  std::string_view name = "native reference";
  if (graph.whole) {
    for (const auto& [n, surplus] : graph.native_references) {
      if (!reached.contains(n)) native.push_back(n);
    }
    native = topmost(graph, native, reached);
    const auto scanned =
        topmost(graph, unreached([&](NodeId n) { return (graph.flags(n) & heap::kScanned) != 0; }),
                reached);
    native.insert(native.end(), scanned.begin(), scanned.end());
  } else {
    name = "part of the heap that was not read";
    native = topmost(graph, unreached([](NodeId) { return true; }), reached);
  }
  if (statics.empty() && native.empty()) return graph;

  heap::GraphBuilder builder(std::move(graph));
  const heap::NameId immortal = builder.intern("immortal objects");
  for (const NodeId n : statics) builder.add_root(heap::RootKind::Runtime, immortal, n);
  const heap::NameId native_name = builder.intern(name);
  for (const NodeId n : native) builder.add_root(heap::RootKind::Native, native_name, n);
  return std::move(builder).build();
}

}  // namespace lowtide::cpython

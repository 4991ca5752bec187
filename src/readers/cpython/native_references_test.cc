// SPDX-License-Identifier: Apache-2.0
#include "readers/cpython/native_references.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "heap/reach.h"
#include "heap/testing.h"

namespace lowtide::cpython {
namespace {

using heap::EdgeId;
using heap::EdgeKind;
using heap::Graph;
using heap::NodeId;
using heap::RootKind;
using heap::Sketch;

std::vector<std::uint32_t> counted(const Graph& graph) {
  std::vector<std::uint32_t> references(graph.node_count());
  for (EdgeId e = graph.edges_end(0); e < graph.edge_count(); ++e) {
    if (graph.essential(e)) ++references[graph.target(e)];
  }
  return references;
}

std::set<NodeId> roots(const Graph& graph, RootKind kind) {
  std::set<NodeId> found;
  for (EdgeId e = 0; e < graph.edges_end(0); ++e) {
    if (graph.root_kind(e) == kind) found.insert(graph.target(e));
  }
  return found;
}

TEST(NativeReferences, AReferenceNobodyAccountsForKeepsWhatItHolds) {
  Sketch heap;
  const NodeId held = heap.object("a");
  const NodeId list = heap.list({held});
  const NodeId one = heap.list({});
  const NodeId two = heap.list({one});
  heap.append(one, two);
  auto references = counted(heap.graph());
  references[list] = 1;  // nobody refers to it, and yet its count is one
  const Graph graph = hang_native_references(heap.graph(), references);
  EXPECT_EQ(roots(graph, RootKind::Native), std::set<NodeId>{list});
  EXPECT_EQ(graph.name(0), "native reference");
  const auto live = heap::reachable(graph);
  EXPECT_TRUE(live.contains(held));
  EXPECT_FALSE(live.contains(one));  // a cycle of the two alone: garbage
}

TEST(NativeReferences, OnlyTheTopmostIsHung) {
  Sketch heap;
  const NodeId low = heap.object("a");
  const NodeId middle = heap.list({low});
  const NodeId top = heap.list({middle});
  auto references = counted(heap.graph());
  ++references[low];
  ++references[middle];
  ++references[top];
  const Graph graph = hang_native_references(heap.graph(), references);
  EXPECT_EQ(roots(graph, RootKind::Native), std::set<NodeId>{top});
  EXPECT_EQ(graph.native_references.size(), 3u);
}

TEST(NativeReferences, OfWhatANamedRootReachesAreCountedAndNotHung) {
  Sketch heap;
  const NodeId held = heap.object("a");
  heap.module("m", {{"x", held}});
  auto references = counted(heap.graph());
  references[held] = 4;
  const Graph graph = hang_native_references(heap.graph(), references);
  EXPECT_TRUE(roots(graph, RootKind::Native).empty());
  ASSERT_EQ(graph.native_references.size(), 1u);
  EXPECT_EQ(graph.native_references[0].node, held);
  EXPECT_EQ(graph.native_references[0].surplus, 3u);
}

TEST(NativeReferences, AWeakEdgeAccountsForNothing) {
  Sketch heap;
  const NodeId held = heap.object("a");
  const NodeId ref = heap.object("weakref");
  heap.edge(ref, EdgeKind::Weak, "", held);
  heap.module("m", {{"x", ref}});
  auto references = counted(heap.graph());
  references[held] = 1;
  EXPECT_EQ(roots(hang_native_references(heap.graph(), references), RootKind::Native),
            std::set<NodeId>{held});
}

TEST(NativeReferences, AClosureIsCountedOnceThoughItIsToldTwice) {
  Sketch heap;
  const NodeId cell = heap.object("cell");
  const NodeId cells = heap.object("tuple");
  const NodeId function = heap.object("function");
  heap.item(cells, 0, cell);
  heap.edge(function, EdgeKind::Internal, "__closure__", cells);
  heap.edge(function, EdgeKind::Closure, "seen", cell);
  heap.module("m", {{"f", function}});
  std::vector<std::uint32_t> references(heap.graph().node_count());
  references[cell] = 2;
  const Graph graph = hang_native_references(heap.graph(), references);
  ASSERT_EQ(graph.native_references.size(), 1u);
  EXPECT_EQ(graph.native_references[0].surplus, 1u);
}

TEST(NativeReferences, ScannedObjectsAndStaticOnesAreNoGarbage) {
  Sketch heap;
  const NodeId scanned = heap.object("a", 8, 0, "", heap::kScanned);
  const NodeId fixed = heap.object("type", 8, 0, "", heap::kStatic);
  heap.append(scanned, heap.object("b"));
  const Graph graph = hang_native_references(heap.graph(), counted(heap.graph()));
  EXPECT_EQ(roots(graph, RootKind::Native), std::set<NodeId>{scanned});
  EXPECT_EQ(roots(graph, RootKind::Runtime), std::set<NodeId>{fixed});
  EXPECT_EQ(heap::reachable(graph).count(), graph.node_count());
}

// Against the definition: hung nodes reach all that any surplus node reaches, and none reaches
// another.
TEST(NativeReferences, AreTheFewestThatReachAllOnRandomGraphs) {
  for (std::uint32_t seed = 0; seed < 2000; ++seed) {
    Graph before = heap::random_graph(seed, 40, 15 + seed % 70, 5);
    auto references = counted(before);
    std::vector<NodeId> surplus;
    for (NodeId n = 1 + seed % 4; n < before.node_count(); n += 2 + seed % 5) {
      ++references[n];
      surplus.push_back(n);
    }
    const auto named = heap::reachable(before);
    const Graph graph = hang_native_references(std::move(before), references);
    const auto live = heap::reachable(graph);
    for (const NodeId n : surplus) ASSERT_TRUE(live.contains(n)) << "seed " << seed;
    for (const NodeId top : roots(graph, RootKind::Native)) {
      ASSERT_TRUE(std::find(surplus.begin(), surplus.end(), top) != surplus.end());
      ASSERT_FALSE(named.contains(top));
      const auto others = heap::reachable_if(
          graph, [&](EdgeId e) { return e >= graph.edges_end(0) || graph.target(e) != top; });
      ASSERT_FALSE(others.contains(top)) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace lowtide::cpython

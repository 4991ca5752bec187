// SPDX-License-Identifier: Apache-2.0
#include "heap/dominators.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "heap/reach.h"
#include "heap/testing.h"

namespace lowtide::heap {
namespace {

// The definition: d dominates n when n cannot be reached once d is gone. The nearest dominator
// is the one that all others dominate.
std::vector<NodeId> dominators_by_definition(const Graph& graph) {
  const BitSet live = reachable(graph);
  std::vector<std::set<NodeId>> of(graph.node_count());
  for (NodeId d = 1; d < graph.node_count(); ++d) {
    if (!live.contains(d)) continue;
    BitSet gone(graph.node_count());
    gone.insert(d);
    const BitSet still = reachable_without_nodes(graph, gone);
    for (NodeId n = 1; n < graph.node_count(); ++n) {
      if (n != d && live.contains(n) && !still.contains(n)) of[n].insert(d);
    }
  }
  std::vector<NodeId> nearest(graph.node_count(), kUnreached);
  for (NodeId n = 1; n < graph.node_count(); ++n) {
    if (!live.contains(n)) continue;
    nearest[n] = kSuperRoot;
    for (const NodeId d : of[n]) {
      if (of[d].size() + 1 == of[n].size()) nearest[n] = d;
    }
  }
  return nearest;
}

Bytes lost_without(const Graph& graph, const std::vector<NodeId>& nodes) {
  BitSet gone(graph.node_count());
  for (const NodeId n : nodes) gone.insert(n);
  return bytes_lost(graph, reachable(graph), reachable_without_nodes(graph, gone));
}

TEST(Dominators, ADiamondIsDominatedByItsTop) {
  const auto d = dominators(graph_of({{1}, {2, 3}, {4}, {4}, {}}));
  EXPECT_EQ(d.nearest[4], 1u);
  EXPECT_EQ(d.retained[1], Bytes{4});
  EXPECT_EQ(d.retained[2], Bytes{1});
}

TEST(Dominators, TheSuperRootRetainsAllThatLivesAndHasNoDominator) {
  const auto d = dominators(graph_of({{1}, {2}, {}, {1}}));
  EXPECT_EQ(d.nearest[kSuperRoot], kUnreached);
  EXPECT_EQ(d.retained[kSuperRoot], Bytes{2});
}

TEST(Dominators, WhatNoRootReachesHasNone) {
  const auto d = dominators(graph_of({{1}, {}, {1, 3}, {2}}));
  EXPECT_EQ(d.nearest[2], kUnreached);
  EXPECT_EQ(d.retained[2], Bytes{});
  EXPECT_EQ(d.nearest[1], kSuperRoot);
}

TEST(Dominators, AWeakEdgeHoldsNothing) {
  Sketch heap;
  const NodeId held = heap.object("a", 10);
  const NodeId strong = heap.list({held});
  const NodeId weak = heap.object("ref");
  heap.edge(weak, EdgeKind::Weak, "", held);
  heap.root(RootKind::Module, "m", strong);
  heap.root(RootKind::Module, "m", weak);
  EXPECT_EQ(dominators(heap.graph()).nearest[held], strong);
}

TEST(Dominators, AgreeWithTheDefinitionOnRandomGraphs) {
  for (std::uint32_t seed = 0; seed < 4000; ++seed) {
    const NodeId nodes = 2 + seed % 23;
    const Graph graph = random_graph(seed, nodes, nodes * (1 + seed % 7) / 2, seed % 4);
    const Dominators d = dominators(graph);
    ASSERT_EQ(d.nearest, dominators_by_definition(graph)) << "seed " << seed;
    const BitSet live = reachable(graph);
    for (NodeId n = 1; n < nodes; ++n) {
      ASSERT_EQ(d.retained[n], live.contains(n) ? lost_without(graph, {n}) : Bytes{})
          << "seed " << seed << ", node " << n;
    }
  }
}

TEST(Dominators, ALargerRandomGraphAgreesToo) {
  for (std::uint32_t seed = 0; seed < 6; ++seed) {
    const Graph graph = random_graph(seed, 300, 300 + 150 * seed, 5);
    ASSERT_EQ(dominators(graph).nearest, dominators_by_definition(graph)) << "seed " << seed;
  }
}

TEST(Dominators, AChainOfAMillionEnds) {
  constexpr NodeId kLength = 1'000'000;
  std::vector<std::vector<NodeId>> edges(kLength + 1);
  for (NodeId n = 0; n < kLength; ++n) edges[n] = {n + 1};
  edges[kLength] = {1, kLength / 2};  // and back, so that every way up is asked for
  const auto d = dominators(graph_of(edges));
  EXPECT_EQ(d.nearest[kLength], kLength - 1);
  EXPECT_EQ(d.retained[1], Bytes{kLength});
}

TEST(Dominators, AChainHeldAtBothEndsIsDominatedByNobodyInIt) {
  constexpr NodeId kLength = 200'000;
  std::vector<std::vector<NodeId>> edges(kLength + 1);
  edges[0] = {1, kLength};
  for (NodeId n = 1; n <= kLength; ++n) {
    if (n < kLength) edges[n].push_back(n + 1);
    if (n > 1) edges[n].push_back(n - 1);
  }
  const auto d = dominators(graph_of(edges));
  for (NodeId n = 1; n <= kLength; ++n) ASSERT_EQ(d.nearest[n], kSuperRoot);
}

TEST(Dominators, AStarIsDominatedByItsMiddle) {
  constexpr NodeId kRays = 100'000;
  std::vector<std::vector<NodeId>> edges(kRays + 2);
  edges[0] = {1};
  for (NodeId n = 2; n < kRays + 2; ++n) {
    edges[1].push_back(n);
    edges[n] = {1};
  }
  const auto d = dominators(graph_of(edges));
  EXPECT_EQ(d.nearest[kRays], 1u);
  EXPECT_EQ(d.retained[1], Bytes{kRays + 1});
}

TEST(Dominators, SelfLoopsAndDoubleEdgesChangeNothing) {
  const auto d = dominators(graph_of({{1, 1}, {1, 2, 2}, {2, 1, 1}}));
  EXPECT_EQ(d.nearest, (std::vector<NodeId>{kUnreached, kSuperRoot, 1}));
}

TEST(Dominators, AnEmptyHeapHasNone) {
  const auto d = dominators(graph_of({}));
  EXPECT_EQ(d.nearest, std::vector<NodeId>{kUnreached});
  EXPECT_EQ(d.retained, std::vector<Bytes>{Bytes{}});
}

TEST(RetainedByType, AChainOfOneTypeCountsOnce) {
  const Graph graph = graph_of({{1}, {2}, {3}, {}});
  const auto retained = retained_by_type(graph, dominators(graph));
  EXPECT_EQ(retained[graph.names().find("object")], Bytes{3});
}

TEST(RetainedByType, IsTheSumOverTheTopsOfEachTypeOnRandomGraphs) {
  for (std::uint32_t seed = 0; seed < 500; ++seed) {
    const Graph graph = random_graph(seed, 30, 20 + seed % 60, 6);
    const Dominators d = dominators(graph);
    std::map<NameId, Bytes> expected;
    for (NodeId n = 1; n < graph.node_count(); ++n) {
      bool nested = d.nearest[n] == kUnreached;
      for (NodeId up = d.nearest[n]; up != kUnreached && up != kSuperRoot; up = d.nearest[up]) {
        nested = nested || graph.type_id(up) == graph.type_id(n);
      }
      if (!nested) expected[graph.type_id(n)] += d.retained[n];
    }
    const auto retained = retained_by_type(graph, d);
    for (const auto& [type, bytes] : expected) ASSERT_EQ(retained[type], bytes) << "seed " << seed;
  }
}

TEST(RetainedOfSet, IsTheUnionOfWhatEachRetainsOnRandomGraphs) {
  for (std::uint32_t seed = 0; seed < 1000; ++seed) {
    const Graph graph = random_graph(seed, 25, 20 + seed % 40, 6);
    const Dominators d = dominators(graph);
    std::vector<NodeId> nodes;
    for (NodeId n = 1 + seed % 3; n < graph.node_count(); n += 1 + seed % 5) nodes.push_back(n);
    nodes.push_back(nodes.front());
    Bytes expected;
    for (NodeId n = 1; n < graph.node_count(); ++n) {
      bool inside = false;
      for (NodeId up = n; up != kUnreached; up = d.nearest[up]) {
        inside = inside || (d.nearest[n] != kUnreached &&
                            std::find(nodes.begin(), nodes.end(), up) != nodes.end());
      }
      if (inside) expected += graph.own(n);
    }
    ASSERT_EQ(retained_of_set(d, nodes), expected) << "seed " << seed;
  }
}

}  // namespace
}  // namespace lowtide::heap

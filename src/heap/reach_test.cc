// SPDX-License-Identifier: Apache-2.0
#include "heap/reach.h"

#include <gtest/gtest.h>

#include "heap/testing.h"

namespace lowtide::heap {
namespace {

TEST(Reach, GarbageCyclesAndWeakReferencesDoNotLive) {
  Sketch heap;
  const NodeId live = heap.object("a");
  const NodeId weak = heap.object("b");
  const NodeId one = heap.list({live});
  const NodeId two = heap.list({one});
  heap.append(one, two);
  heap.edge(live, EdgeKind::Weak, "", weak);
  heap.root(RootKind::Module, "m", live);
  const BitSet reached = reachable(heap.graph());
  EXPECT_TRUE(reached.contains(live));
  EXPECT_FALSE(reached.contains(weak));
  EXPECT_FALSE(reached.contains(one));
  EXPECT_EQ(reached.count(), 2u);  // and the super-root
}

TEST(Reach, ACutFreesWhatHasNoOtherHolder) {
  const Graph graph = graph_of({{1, 2}, {3, 4}, {4}, {}, {}});
  BitSet cut(graph.edge_count());
  cut.insert(graph.edges_begin(1));
  cut.insert(graph.edges_begin(1) + 1);
  const BitSet live = reachable(graph);
  EXPECT_EQ(bytes_lost(graph, live, reachable_without_edges(graph, cut)), Bytes{1});
  cut.insert(graph.edges_begin(2));
  EXPECT_EQ(bytes_lost(graph, live, reachable_without_edges(graph, cut)), Bytes{2});
  EXPECT_EQ(bytes_of(graph, live), Bytes{4});
}

TEST(HolderTree, ReachesExactlyWhatLivesOnRandomGraphs) {
  for (std::uint32_t seed = 0; seed < 1000; ++seed) {
    const Graph graph = random_graph(seed, 40, 20 + seed % 80, 4);
    const BitSet live = reachable(graph);
    const HolderTree tree = holder_tree(graph);
    for (NodeId n = 0; n < graph.node_count(); ++n) {
      ASSERT_EQ(tree.reaches(n), live.contains(n)) << "seed " << seed;
      if (n == kSuperRoot || !tree.reaches(n)) continue;
      ASSERT_EQ(source(graph, tree.edge[n]), tree.parent[n]);
      ASSERT_EQ(graph.target(tree.edge[n]), n);
      ASSERT_TRUE(graph.essential(tree.edge[n]));
      ASSERT_LT(tree.cost[tree.parent[n]], tree.cost[n] + 1);
    }
  }
}

TEST(HolderTree, NoEdgeOffersAShorterWayOnRandomGraphs) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    const Graph graph = random_graph(seed, 40, 20 + seed % 80, 4);
    const HolderTree tree = holder_tree(graph);
    for (NodeId n = 1; n < graph.node_count(); ++n) {
      if (!tree.reaches(n)) continue;
      for (EdgeId e = graph.edges_begin(n); e < graph.edges_end(n); ++e) {
        if (graph.essential(e)) {
          ASSERT_LE(tree.cost[graph.target(e)], tree.cost[n] + 2);
        }
      }
    }
  }
}

TEST(HolderTree, AModuleIsABetterBeginningThanAFrameOrTheRuntime) {
  Sketch heap;
  const NodeId held = heap.object("a");
  heap.root(RootKind::Runtime, "interned strings", heap.list({held}));
  heap.frame("main in train.py:41", {{"held", held}});
  const NodeId module = heap.module("app", {{"held", held}});
  const Graph graph = heap.graph();
  const HolderTree tree = holder_tree(graph);
  EXPECT_EQ(tree.parent[held], heap.dict_of(module));
}

TEST(HolderTree, ALongWayRoundFromAModuleLosesToAFramesVariable) {
  Sketch heap;
  const NodeId held = heap.object("a");
  const NodeId frame = heap.frame("main in train.py:41", {{"held", held}});
  heap.module("app", {{"x", heap.list({heap.list({heap.list({held})})})}});
  EXPECT_EQ(holder_tree(heap.graph()).parent[held], frame);
}

TEST(HolderTree, ANativeReferenceIsNamedOnlyWhereNobodyElseHolds) {
  Sketch heap;
  const NodeId both = heap.object("a");
  const NodeId native = heap.object("a");
  NodeId chain = both;
  for (int i = 0; i < 20; ++i) chain = heap.list({chain});
  heap.module("app", {{"x", chain}});
  heap.root(RootKind::Native, "native reference", both);
  heap.root(RootKind::Native, "native reference", native);
  const Graph graph = heap.graph();
  const HolderTree tree = holder_tree(graph);
  EXPECT_NE(tree.parent[both], kSuperRoot);
  EXPECT_EQ(tree.parent[native], kSuperRoot);
}

TEST(HolderTree, WithoutAnEdgeTheNextHolderIsFound) {
  const Graph graph = graph_of({{1, 2}, {3}, {4}, {}, {3}});
  BitSet cut(graph.edge_count());
  const HolderTree tree = holder_tree(graph);
  EXPECT_EQ(tree.parent[3], 1u);
  cut.insert(tree.edge[3]);
  EXPECT_EQ(holder_tree_without(graph, cut).parent[3], 4u);
}

TEST(Source, FindsTheNodeOfEveryEdge) {
  const Graph graph = random_graph(7, 100, 220);
  for (NodeId n = 0; n < graph.node_count(); ++n) {
    for (EdgeId e = graph.edges_begin(n); e < graph.edges_end(n); ++e) {
      ASSERT_EQ(source(graph, e), n);
    }
  }
}

TEST(Referrers, AreTheStrongEdgesToANode) {
  const Graph graph = random_graph(3, 60, 200, 3);
  const Referrers referrers(graph);
  std::size_t seen = 0;
  for (NodeId n = 0; n < graph.node_count(); ++n) {
    for (const EdgeId e : referrers.of(n)) {
      ASSERT_EQ(graph.target(e), n);
      ASSERT_TRUE(graph.essential(e));
      ++seen;
    }
  }
  std::size_t expected = 0;
  for (EdgeId e = 0; e < graph.edge_count(); ++e) expected += graph.essential(e) ? 1 : 0;
  EXPECT_EQ(seen, expected);
}

}  // namespace
}  // namespace lowtide::heap

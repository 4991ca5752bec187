// SPDX-License-Identifier: Apache-2.0
#include "heap/graph.h"

#include <gtest/gtest.h>

#include "heap/testing.h"

namespace lowtide::heap {
namespace {

TEST(Names, GiveEachTextOneIdAndKeepIt) {
  Names names;
  EXPECT_EQ(names.intern(""), 0u);
  for (int i = 0; i < 5000; ++i) names.intern("name " + std::to_string(i));
  for (int i = 0; i < 5000; ++i) {
    const std::string text = "name " + std::to_string(i);
    ASSERT_EQ(names.text(names.find(text)), text);
    ASSERT_EQ(names.intern(text), names.find(text));
  }
  EXPECT_EQ(names.size(), 5001u);
  EXPECT_EQ(names.find("nowhere"), 0u);
}

TEST(Graph, KeepsSizesOfAnyMagnitude) {
  GraphBuilder builder;
  for (const std::int64_t bytes : {std::int64_t{0}, std::int64_t{0xfffffffe},
                                   std::int64_t{0xffffffff}, std::int64_t{1} << 40}) {
    builder.add_node(Node{.shallow = bytes, .native = 2 * bytes});
  }
  const Graph graph = std::move(builder).build();
  EXPECT_EQ(graph.shallow(2), Bytes{0xfffffffe});
  EXPECT_EQ(graph.shallow(3), Bytes{0xffffffff});
  EXPECT_EQ(graph.own(4), Bytes{std::int64_t{3} << 40});
}

TEST(Graph, PutsRootsInFrontAndDropsEdgesToNobody) {
  GraphBuilder builder;
  builder.add_root(RootKind::Frame, builder.intern("main"), 2);
  builder.add_node(Node{});
  builder.add_edge(EdgeKind::Item, 0, 99);
  builder.add_edge(EdgeKind::Item, 1, 2);
  builder.add_node(Node{});
  builder.add_edge(EdgeKind::Item, 2, 1);
  builder.add_root(RootKind::Module, builder.intern("m"), 98);
  builder.add_root(RootKind::Module, builder.intern("m"), 1);
  const Graph graph = std::move(builder).build();
  ASSERT_EQ(graph.edge_count(), 4u);
  EXPECT_EQ(graph.edges_end(kSuperRoot), 2u);
  EXPECT_EQ(graph.root_kind(0), RootKind::Frame);
  EXPECT_EQ(graph.name(1), "m");
  EXPECT_EQ(graph.index(graph.edges_begin(1)), 1u);
  EXPECT_EQ(graph.target(graph.edges_begin(2)), 1u);
}

TEST(GraphBuilder, TakesAGraphUpAgainToAddRoots) {
  GraphBuilder again(graph_of({{1}, {2}, {}, {2}}));
  again.add_root(RootKind::Native, again.intern("native reference"), 3);
  const Graph graph = std::move(again).build();
  ASSERT_EQ(graph.edges_end(kSuperRoot), 2u);
  EXPECT_EQ(graph.root_kind(0), RootKind::Native);
  EXPECT_EQ(graph.target(0), 3u);
  EXPECT_EQ(graph.root_kind(1), RootKind::Module);
  EXPECT_EQ(graph.target(1), 1u);
  EXPECT_EQ(graph.target(graph.edges_begin(3)), 2u);
  EXPECT_EQ(graph.edges_end(3), graph.edge_count());
}

}  // namespace
}  // namespace lowtide::heap

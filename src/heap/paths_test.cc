// SPDX-License-Identifier: Apache-2.0
#include "heap/paths.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "heap/testing.h"

namespace lowtide::heap {
namespace {

std::string text_of(const Graph& graph, NodeId node, Indexes indexes = Indexes::Folded) {
  return render(graph, ShortTypes(graph), path_to(graph, holder_tree(graph), node), indexes).text();
}

std::vector<std::string> texts_of(const Graph& graph, NodeId node, std::size_t most) {
  std::vector<std::string> texts;
  const ShortTypes types(graph);
  for (const Path& path :
       retaining_paths(graph, holder_tree(graph), Referrers(graph), node, most)) {
    texts.push_back(render(graph, types, path, Indexes::Folded).text());
  }
  return texts;
}

struct Pipeline {
  Sketch heap;
  NodeId frame, result;
  Pipeline() {
    frame = heap.object("pandas.core.frame.DataFrame", 4096);
    result = heap.instance("app.Result", {{"frame", frame}});
    std::vector<NodeId> history(412, heap.object("NoneType"));
    history.push_back(result);
    heap.module("pipeline", {{"_history", heap.list(history)}});
  }
};

TEST(PathText, ReadsAsCode) {
  const Pipeline p;
  EXPECT_EQ(text_of(p.heap.graph(), p.frame),
            "module pipeline → _history : list → [*] → Result.frame : DataFrame");
  EXPECT_EQ(text_of(p.heap.graph(), p.frame, Indexes::Exact),
            "module pipeline → _history : list → [412] → Result.frame : DataFrame");
}

TEST(PathText, ComesInPiecesToo) {
  const Pipeline p;
  const Graph graph = p.heap.graph();
  const auto text = render(graph, ShortTypes(graph), path_to(graph, holder_tree(graph), p.frame),
                           Indexes::Folded);
  EXPECT_EQ(text.pieces(), (std::vector<std::string>{"module pipeline", "._history : list",
                                                     "[*] : Result", ".frame : DataFrame"}));
  EXPECT_EQ(text.to, p.frame);
}

TEST(PathText, NamesKeysAndShowsUnnamedOnesAsAny) {
  Sketch heap;
  const NodeId named = heap.object("a");
  const NodeId unnamed = heap.object("b");
  const NodeId key = heap.object("tuple");
  const NodeId dict = heap.dict({{"users", named}, {"", unnamed}});
  heap.edge(dict, EdgeKind::KeyObject, "", key);
  heap.module("m", {{"cache", dict}});
  const Graph graph = heap.graph();
  EXPECT_EQ(text_of(graph, named), "module m → cache : dict → ['users'] : a");
  EXPECT_EQ(text_of(graph, unnamed), "module m → cache : dict → [*] : b");
  EXPECT_EQ(text_of(graph, key), "module m → cache : dict → (key) : tuple");
}

TEST(PathText, AFrameIsFollowedByItsVariable) {
  Sketch heap;
  const NodeId held = heap.object("Job");
  heap.frame("main in train.py:41", {{"jobs", heap.list({held})}});
  EXPECT_EQ(text_of(heap.graph(), held), "frame main in train.py:41 → jobs : list → [*] : Job");
}

TEST(PathText, CellsAreFoldedAway) {
  Sketch heap;
  const NodeId one = heap.object("list");
  const NodeId two = heap.object("dict");
  const NodeId cell = heap.object("cell");
  const NodeId function = heap.object("function", 136, 0, "remember");
  const NodeId cells = heap.object("tuple");
  heap.edge(cell, EdgeKind::Internal, "cell_contents", one);
  heap.item(cells, 0, cell);
  heap.edge(function, EdgeKind::Internal, "__closure__", cells);
  const NodeId seen = heap.object("cell");
  heap.edge(seen, EdgeKind::Internal, "cell_contents", two);
  heap.edge(function, EdgeKind::Closure, "seen", seen);
  const NodeId variable = heap.object("cell");
  const NodeId three = heap.object("set");
  heap.edge(variable, EdgeKind::Internal, "cell_contents", three);
  heap.frame("main in a.py:1", {{"shared", variable}});
  heap.module("m", {{"remember", function}});
  const Graph graph = heap.graph();
  EXPECT_EQ(text_of(graph, one), "module m → remember : function → (closure) : list");
  EXPECT_EQ(text_of(graph, two), "module m → remember : function → seen (closure) : dict");
  EXPECT_EQ(text_of(graph, three), "frame main in a.py:1 → shared : set");
}

TEST(PathText, AClassGoesByItsOwnName) {
  Sketch heap;
  const NodeId held = heap.object("app.Client");
  const NodeId registry = heap.object("type", 1064, 0, "app.Registry");
  heap.edge(registry, EdgeKind::Internal, "__dict__",
            heap.dict({{"items", heap.list({held})}}, kNamespace));
  heap.module("app", {{"Registry", registry}});
  EXPECT_EQ(text_of(heap.graph(), held), "module app → Registry.items : list → [*] : Client");
}

TEST(PathText, AModuleInAModuleNeedsNoType) {
  Sketch heap;
  const NodeId held = heap.object("a");
  const NodeId inner = heap.object("module", 72, 0, "sub");
  heap.edge(inner, EdgeKind::Internal, "__dict__", heap.dict({{"x", held}}, kNamespace));
  heap.module("m", {{"sub", inner}});
  EXPECT_EQ(text_of(heap.graph(), held), "module m → sub → x : a");
}

TEST(PathText, PlumbingIsShownAsItIs) {
  Sketch heap;
  const NodeId held = heap.object("Thing");
  const NodeId inside = heap.object("_io.Buffer");
  heap.edge(inside, EdgeKind::Internal, "", held);
  const NodeId method = heap.object("method");
  heap.edge(method, EdgeKind::Internal, "__self__", inside);
  heap.root(RootKind::Runtime, "atexit", method);
  EXPECT_EQ(text_of(heap.graph(), held), "atexit → method.__self__ : Buffer → (inside) : Thing");
}

TEST(PathText, ATypeIsShortUnlessThatMixesItUp) {
  Sketch heap;
  const NodeId one = heap.object("asyncio.Task");
  heap.object("celery.app.Task");
  const NodeId other = heap.object("__main__.Job");
  heap.module("m", {{"one", one}, {"other", other}});
  EXPECT_EQ(text_of(heap.graph(), one), "module m → one : asyncio.Task");
  EXPECT_EQ(text_of(heap.graph(), other), "module m → other : Job");
}

TEST(PathText, FoldsAChainOfThousands) {
  Sketch heap;
  NodeId last = heap.instance("Tensor", {});
  const NodeId deepest = last;
  for (int i = 0; i < 240; ++i) last = heap.instance("Tensor", {{"_parents", heap.list({last})}});
  heap.module("train", {{"loss", last}});
  EXPECT_EQ(text_of(heap.graph(), deepest),
            "module train → loss → Tensor._parents[*] ×240 : Tensor");
}

TEST(PathText, FoldsTurnsOfOneTwoAndThreeHops) {
  for (const auto& [members, expected] :
       {std::pair{std::vector<std::string>{"next"}, "module m → head → Node.next ×500 : Node"},
        std::pair{std::vector<std::string>{"next", "value"},
                  "module m → head → Node.next.value ×500 : Node"},
        std::pair{std::vector<std::string>{"a", "b", "c"},
                  "module m → head → Node.a.b.c ×500 : Node"}}) {
    Sketch heap;
    const NodeId deepest = heap.instance("Node", {});
    NodeId last = deepest;
    for (int i = 0; i < 500; ++i) {
      for (std::size_t k = members.size(); k-- > 0;) {
        last = heap.instance(k == 0 ? "Node" : "Box" + std::to_string(k), {{members[k], last}});
      }
    }
    heap.module("m", {{"head", last}});
    EXPECT_EQ(text_of(heap.graph(), deepest), expected);
  }
}

TEST(PathText, OfAMillionHopsIsOneLine) {
  GraphBuilder builder;
  const NameId type = builder.intern("Node");
  const NameId next = builder.intern("next");
  constexpr NodeId kLength = 1'000'000;
  builder.add_root(RootKind::Module, builder.intern("m"), 1);
  for (NodeId n = 1; n <= kLength; ++n) {
    builder.add_node(Node{.type = type, .shallow = 48});
    if (n < kLength) builder.add_edge(EdgeKind::Attribute, next, n + 1);
  }
  const Graph graph = std::move(builder).build();
  EXPECT_EQ(text_of(graph, kLength), "module m → Node.next ×999999 : Node");
  EXPECT_EQ(texts_of(graph, kLength, 3).size(), 1u);
}

TEST(PathText, LongPathsThatDoNotFoldLoseTheirMiddle) {
  Sketch heap;
  NodeId last = heap.object("end");
  const NodeId end = last;
  for (int i = 0; i < 100; ++i) last = heap.dict({{"k" + std::to_string(i), last}});
  heap.module("m", {{"x", last}});
  const std::string text = text_of(heap.graph(), end);
  EXPECT_NE(text.find(" … 41 more … → ['k29']"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("['k0'] : end"));
}

TEST(RetainingPaths, AreDistinctAndBestFirst) {
  Sketch heap;
  const NodeId held = heap.object("Session");
  const NodeId list = heap.list({held, held, held});
  heap.append(list, held);
  heap.module("app", {{"sessions", list}});
  heap.module("trace", {{"log", heap.dict({{"last", heap.list({held})}})}});
  heap.frame("main in app.py:3", {{"sessions", list}});
  heap.root(RootKind::Native, "native reference", held);
  const auto texts = texts_of(heap.graph(), held, 10);
  EXPECT_EQ(texts,
            (std::vector<std::string>{"module app → sessions : list → [*] : Session",
                                      "frame main in app.py:3 → sessions : list → [*] : Session",
                                      "module trace → log : dict → ['last'] : list → [*] : Session",
                                      "native reference : Session"}));
  EXPECT_EQ(texts_of(heap.graph(), held, 2).size(), 2u);
}

TEST(RetainingPaths, AThousandListsAreOneWayOfHolding) {
  Sketch heap;
  const NodeId held = heap.object("Session");
  std::vector<NodeId> lists;
  for (int i = 0; i < 1000; ++i) lists.push_back(heap.list({held}));
  heap.module("app", {{"lists", heap.list(lists)}});
  heap.module("other", {{"x", heap.dict({{"k", heap.dict({{"k", held}})}})}});
  EXPECT_EQ(texts_of(heap.graph(), held, 10).size(), 2u);
}

TEST(RetainingPaths, ThereAreNoneToGarbage) {
  EXPECT_TRUE(texts_of(graph_of({{1}, {}, {3}, {2}}), 2, 4).empty());
}

// Every path found must be one; and where few are there, all shapes must be found.
TEST(RetainingPaths, ArePathsOnRandomGraphs) {
  for (std::uint32_t seed = 0; seed < 1000; ++seed) {
    const Graph graph = random_graph(seed, 12, 10 + seed % 25, 6);
    const HolderTree tree = holder_tree(graph);
    const Referrers referrers(graph);
    const ShortTypes types(graph);
    for (NodeId n = 1; n < graph.node_count(); ++n) {
      const auto paths = retaining_paths(graph, tree, referrers, n, 6);
      ASSERT_EQ(!paths.empty(), tree.reaches(n));
      std::set<std::string> shapes;
      for (const Path& path : paths) {
        NodeId at = kSuperRoot;
        std::set<NodeId> seen;
        for (const EdgeId e : path) {
          ASSERT_EQ(source(graph, e), at);
          ASSERT_TRUE(graph.essential(e));
          at = graph.target(e);
          ASSERT_TRUE(seen.insert(at).second);
        }
        ASSERT_EQ(at, n);
        ASSERT_TRUE(shapes.insert(shape_text(graph, types, path)).second);
      }
      if (!paths.empty()) {
        ASSERT_EQ(paths.front(), path_to(graph, tree, n));
      }
    }
  }
}

}  // namespace
}  // namespace lowtide::heap

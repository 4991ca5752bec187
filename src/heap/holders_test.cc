// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "heap/kinds.h"
#include "heap/suspects.h"

namespace lowtide::heap {
namespace {

TEST(Holders, EveryLayerIsShownWithWhatItAloneWouldFree) {
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    std::vector<NodeId> spans, listeners;
    for (int i = 0; i < rounds; ++i) {
      const NodeId body = heap.instance("app.Body", {{"data", bytes(heap, 50'000)}});
      const NodeId listener = heap.object("builtins.function", 152, 0, "on_close in app.py:9");
      heap.edge(listener, EdgeKind::Closure, "body", body);
      listeners.push_back(listener);
      spans.push_back(body);
    }
    heap.module("tracer", {{"spans", heap.list(spans)}});
    heap.module("emitter", {{"listeners", heap.list(listeners)}});
  });
  SCOPED_TRACE(all(found));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].type, "app.Body");
  ASSERT_EQ(found[0].holders.size(), 2u);
  EXPECT_TRUE(holds(found[0], "module tracer → spans : list → [*]"));
  EXPECT_TRUE(holds(found[0], "module emitter → listeners : list → [*]"));
  EXPECT_GE(found[0].freed_if_all, Bytes{50 * 50'000});
  for (const Holder& holder : found[0].holders) {
    EXPECT_LT(holder.freed_if_only_this, Bytes{50 * 1000}) << holder.text;
  }
}

TEST(Holders, AKeyOfAContainerThatHoldsAllIsShown) {
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    std::vector<NodeId> kept;
    for (int i = 0; i < rounds; ++i)
      kept.push_back(heap.instance("app.Event", {{"d", bytes(heap, 8'000)}}));
    const NodeId state = heap.dict({{"config", heap.list({})}, {"history", heap.list(kept)}});
    heap.module("app", {{"STATE", state}});
  });
  expect_only(found, "app.Event", "STATE : dict → ['history'] : list → [*]");
}

TEST(Holders, ALocalOfTheMainFrameIsAHolderLikeAnyOther) {
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    std::vector<NodeId> kept;
    for (int i = 0; i < rounds; ++i)
      kept.push_back(heap.instance("__main__.Turn", {{"d", bytes(heap, 8'000)}}));
    heap.frame("main in agent.py:" + std::to_string(40 + rounds),
               {{"turns", heap.list(kept)}, {"turn", kept.back()}});
  });
  expect_only(found, "Turn", "turns : list → [*]");
  EXPECT_EQ(found[0].holders.size(), 1u) << "the round under way is nobody's holder";
}

TEST(Holders, AReferenceThatNativeCodeLostIsItsOwnRoot) {
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    for (int i = 0; i < rounds; ++i) {
      heap.root(RootKind::Native, "", array(heap, 80'000, "float64 (10000,)"));
    }
  });
  SCOPED_TRACE(all(found));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].type, "numpy.ndarray");
  EXPECT_EQ(found[0].holders[0].root, "native reference");
  EXPECT_EQ(found[0].content, "float64 arrays (10000,)");
}

TEST(Holders, LostSlicesAreNamedThoughTheyAreSmall) {
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    for (int i = 0; i < 20 * rounds; ++i) {
      heap.root(RootKind::Native, "", heap.object("builtins.slice", 56));
    }
  });
  expect_only(found, "slice", "native reference", 20);
}

TEST(Holders, CyclesGrowOnlyWhileTheCollectorIsOff) {
  const Story cycles = [](Sketch& heap, int rounds) {
    for (int i = 0; i < rounds; ++i) {
      const NodeId node = heap.instance("app.Node", {{"data", bytes(heap, 20'000)}});
      const NodeId child = heap.instance("app.Node", {{"parent", node}});
      heap.edge(heap.dict_of(node), EdgeKind::Key, "child", child);
    }
    heap.module("app", {});
  };
  Telling off;
  off.gc_off = true;
  const auto found = suspects_of(cycles, off);
  SCOPED_TRACE(all(found));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].garbage);
  EXPECT_EQ(found[0].type, "app.Node");
  EXPECT_NE(found[0].reason.find("gc.disable"), std::string::npos);
  EXPECT_NE(found[0].holders[0].text.find("parent"), std::string::npos);
  EXPECT_GE(found[0].retained, Bytes{40 * 20'000});
  EXPECT_TRUE(suspects_of(cycles).size() <= 1u);  // four intervals: late, said with its reason
  Telling brief;
  brief.rounds = {10, 20, 30};
  EXPECT_TRUE(suspects_of(cycles, brief).empty());
}

TEST(Holders, ClosuresAreNamedByTheirFunctionUnlessAClassHasTheBytes) {
  const auto story = [](bool heavy) {
    return [heavy](Sketch& heap, int rounds) {
      std::vector<NodeId> kept;
      for (int i = 0; i < 10 * rounds; ++i) {
        const NodeId made =
            heap.object("builtins.function", 152, 0, "make.<locals>.run in app.py:5");
        heap.edge(made, EdgeKind::Closure, "payload",
                  heavy ? heap.instance("app.Payload", {{"d", bytes(heap, 9'000)}})
                        : heap.object("builtins.float", 24, 0, "", 0));
        kept.push_back(made);
      }
      heap.module("app", {{"cache", heap.list(kept)}});
    };
  };
  expect_only(suspects_of(story(false)), "function", "module app → cache : list → [*]", 10);
  expect_only(suspects_of(story(true)), "app.Payload", "payload", 10);
}

TEST(Holders, EmptySetsOfASignalMap) {
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    const NodeId map = heap.dict({});
    for (int i = 0; i < 10 * rounds; ++i) {
      heap.edge(map, EdgeKind::KeyObject, "", heap.object("builtins.int", 32, 0, "", 0));
      heap.edge(map, EdgeKind::Key, "", heap.object("builtins.set", 216));
    }
    heap.module("signals",
                {{"ready", heap.instance("blinker.base.Signal", {{"_by_sender", map}})}});
  });
  expect_only(found, "set", "Signal._by_sender : dict → [*]", 10);
}

TEST(Holders, AClassAttributeIsAHolderOfItsOwnClass) {
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    const NodeId registry = heap.dict({});
    for (int i = 0; i < 10 * rounds; ++i) {
      heap.edge(registry, EdgeKind::Key, "id" + std::to_string(i),
                heap.instance("icat.client.Client", {{"url", text(heap)}}));
    }
    const NodeId client = heap.object("builtins.type", 1064, 0, "Client");
    heap.edge(client, EdgeKind::Internal, "__dict__",
              heap.dict({{"Register", registry}}, kCollectable | kNamespace));
    heap.module("icat.client", {{"Client", client}});
  });
  expect_only(found, "icat.client.Client", "Register : dict → [*]", 10);
}

TEST(Holders, TwoClassesInOneListAreTwoSuspects) {
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    std::vector<NodeId> kept;
    for (int i = 0; i < rounds; ++i) {
      kept.push_back(heap.instance("app.Started", {{"d", bytes(heap, 9'000)}}));
      kept.push_back(heap.instance("app.Finished", {{"d", bytes(heap, 5'000)}}));
    }
    heap.module("app", {{"events", heap.list(kept)}});
  });
  SCOPED_TRACE(all(found));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].type, "app.Started");
  EXPECT_EQ(found[1].type, "app.Finished");
}

TEST(Holders, AListPerUserIsHeldByAllOfThem) {
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    std::vector<std::vector<NodeId>> users(30);
    for (int i = 0; i < 30 * rounds; ++i) {
      users[static_cast<std::size_t>(i % 30)].push_back(
          heap.instance("app.Message", {{"d", bytes(heap, 900)}}));
    }
    const NodeId inboxes = heap.dict({});
    for (const auto& user : users) heap.edge(inboxes, EdgeKind::Key, "", heap.list(user));
    heap.module("app", {{"inboxes", inboxes}});
  });
  expect_only(found, "app.Message", "module app → inboxes : dict → [*] : list → [*]", 30);
  EXPECT_GE(found[0].freed_if_all, Bytes{30 * 50 * 900});
}

TEST(Holders, OnlyTheLeakedPartOfATypeIsTracedToItsHolder) {
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    std::vector<NodeId> kept, passing;
    for (int i = 0; i < rounds; ++i)
      kept.push_back(heap.instance("app.Job", {{"d", bytes(heap, 9'000)}}));
    heap.module("app", {{"done", heap.list(kept)}});
    for (int i = 0; i < 500 + rounds % 3; ++i) {
      passing.push_back(heap.instance("app.Job", {{"d", bytes(heap, 9'000)}}));
    }
    heap.frame("main in app.py:9", {{"queue", heap.list(passing)}});
  });
  expect_only(found, "app.Job", "module app → done : list → [*]");
  EXPECT_EQ(found[0].holders.size(), 1u);
}

TEST(Holders, NumberedNamesOfANamespaceAreOneShape) {
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    Sketch::Members members;
    for (int i = 0; i < rounds; ++i) {
      members.emplace_back("result_" + std::to_string(i),
                           heap.instance("app.Result", {{"d", bytes(heap, 9'000)}}));
    }
    heap.module("app", members);
  });
  SCOPED_TRACE(all(found));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].type, "app.Result");
}

TEST(Holders, AHolderThatChangesBetweenSnapshotsLosesNoGrowth) {
  // The objects are all in both lists; the shorter way to them is another one each time.
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    std::vector<NodeId> kept;
    for (int i = 0; i < rounds; ++i)
      kept.push_back(heap.instance("app.Result", {{"d", bytes(heap, 9'000)}}));
    const NodeId near = heap.list(kept), far = heap.list(kept);
    const bool odd = rounds / 10 % 2 == 1;
    heap.module("app",
                {{"a", odd ? near : heap.list({near})}, {"b", odd ? heap.list({far}) : far}});
  });
  SCOPED_TRACE(all(found));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].type, "app.Result");
  EXPECT_EQ(found[0].holders.size(), 2u);
}

TEST(Holders, ACallUnderWayThatHoldsTheContainerHidesNothing) {
  // In the third snapshot a frame holds the list and the array by a shorter way.
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    std::vector<NodeId> kept;
    for (int i = 0; i < 10 * rounds; ++i) kept.push_back(text(heap, 500));
    const NodeId list = heap.list(kept);
    const NodeId trace = array(heap, 8'000 * rounds, "float64 (n,)");
    const NodeId inner = heap.instance("app.Inner", {{"lines", list}, {"trace", trace}});
    heap.module("app", {{"outer", heap.instance("app.Outer", {{"inner", inner}})}});
    if (rounds == 30) heap.frame("append in app.py:3", {{"lines", list}, {"array", trace}});
  });
  SCOPED_TRACE(all(found));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_TRUE(holds(found[0], "Inner.trace"));
  EXPECT_TRUE(holds(found[1], "Inner.lines : list"));
}

TEST(Holders, TheSameLeakHasTheSameFingerprintInTheNextRun) {
  const auto story = [](int base) {
    return [base](Sketch& heap, int rounds) {
      for (int i = 0; i < base; ++i) text(heap);
      std::vector<NodeId> kept;
      for (int i = 0; i < rounds * base; ++i)
        kept.push_back(heap.instance("app.R", {{"d", bytes(heap, 9'000)}}));
      heap.frame("main in app.py:" + std::to_string(rounds), {{"kept", heap.list(kept)}});
    };
  };
  const auto one = suspects_of(story(1)), other = suspects_of(story(3));
  ASSERT_EQ(one.size(), 1u);
  ASSERT_EQ(other.size(), 1u);
  EXPECT_EQ(one[0].fingerprint, other[0].fingerprint);
}

TEST(Holders, WithoutRoundsGrowthIsPerSecondAndTwoSnapshotsAreLessSure) {
  const Story story = [](Sketch& heap, int rounds) {
    std::vector<NodeId> kept;
    for (int i = 0; i < rounds; ++i)
      kept.push_back(heap.instance("app.R", {{"d", bytes(heap, 9'000)}}));
    heap.module("app", {{"kept", heap.list(kept)}});
  };
  Telling telling;
  telling.count_rounds = false;
  const auto found = suspects_of(story, telling);
  ASSERT_EQ(found.size(), 1u) << all(found);
  EXPECT_EQ(found[0].count_per_round, 0);
  EXPECT_NEAR(found[0].count_per_second, 2, 0.01);
  telling.rounds = {10, 50};
  const auto two = suspects_of(story, telling);
  ASSERT_EQ(two.size(), 1u) << all(two);
  EXPECT_LT(two[0].confidence, 0.5);
  EXPECT_EQ(two[0].type, "app.R");
}

TEST(Holders, AGraphThatIsNotTheLastCensusIsRefused) {
  const Story story = [](Sketch& heap, int rounds) {
    std::vector<NodeId> kept;
    for (int i = 0; i < rounds; ++i)
      kept.push_back(heap.instance("app.R", {{"d", bytes(heap, 9'000)}}));
    heap.module("app", {{"kept", heap.list(kept)}});
  };
  std::vector<CensusPoint> points;
  for (const int rounds : {10, 20, 30}) {
    points.push_back(
        {.seconds = rounds * 1.0, .rounds = 0, .census = take_census(graph_after(story, rounds))});
  }
  EXPECT_EQ(find_suspects(points, graph_after(story, 30), {}).size(), 1u);
  EXPECT_TRUE(find_suspects(points, graph_of({{1}, {}}), {}).empty());
}

}  // namespace
}  // namespace lowtide::heap

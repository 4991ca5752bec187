// SPDX-License-Identifier: Apache-2.0
// Programs that do not leak: a wrong accusation is worse than silence.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "heap/story.h"

namespace lowtide::heap {
namespace {

NodeId payload(Sketch& heap, std::string_view type, std::int64_t size = 20'000) {
  return heap.instance(type, {{"data", heap.object("builtins.bytes", size, 0, "", 0)}});
}

std::string names(const std::vector<Suspect>& suspects) {
  std::string out;
  for (const Suspect& s : suspects) {
    out += s.type + " +" + std::to_string(s.count) + " " +
           (s.holders.empty() ? "" : s.holders[0].text) + "\n";
  }
  return out;
}

void expect_silence(const Story& story, const Telling& telling = {}) {
  const auto found = suspects_of(story, telling);
  EXPECT_TRUE(found.empty()) << names(found);
}

// Holds `count` things in a list of the module.
void keep(Sketch& heap, int count, std::string_view type = "app.Entry") {
  std::vector<NodeId> kept;
  for (int i = 0; i < count; ++i) kept.push_back(payload(heap, type));
  heap.module("app", {{"kept", heap.list(kept)}});
}

TEST(Quiet, NothingHappens) {
  expect_silence([](Sketch& heap, int) { keep(heap, 100); });
}

TEST(Quiet, ACacheThatIsFull) {
  expect_silence([](Sketch& heap, int rounds) { keep(heap, std::min(rounds, 15)); });
}

TEST(Quiet, ACacheThatFillsUpMoreSlowlyEachTime) {
  expect_silence([](Sketch& heap, int rounds) {
    keep(heap, static_cast<int>(200 * (1 - std::exp(-rounds / 12.0))));
  });
}

TEST(Quiet, ImportsDuringTheFirstRounds) {
  Telling telling;
  telling.rounds = {5, 10, 15, 20, 25, 30, 35};
  expect_silence(
      [](Sketch& heap, int rounds) {
        for (int i = 0; i < std::min(rounds, 12) * 4; ++i) {
          heap.module("late.part" + std::string(1, static_cast<char>('a' + i % 26)),
                      {{"run", heap.object("builtins.function", 152, 0, "run in late.py:1")}});
        }
        keep(heap, 10);
      },
      telling);
}

TEST(Quiet, SomethingLargeThatIsLoadedOnce) {
  expect_silence([](Sketch& heap, int rounds) { keep(heap, rounds >= 30 ? 500 : 0); });
}

TEST(Quiet, ASawtoothOfObjects) {
  Telling telling;
  telling.rounds = {10, 20, 30, 40, 50, 60, 70};
  expect_silence([](Sketch& heap, int rounds) { keep(heap, rounds % 35 * 10); }, telling);
}

TEST(Quiet, ASawtoothOfGarbage) {
  Telling telling;
  telling.rounds = {10, 20, 30, 40, 50, 60, 70};
  expect_silence(
      [](Sketch& heap, int rounds) {
        keep(heap, 10);
        for (int i = 0; i < rounds % 35 * 10; ++i) {
          const NodeId node = payload(heap, "app.Node");
          heap.edge(heap.dict_of(node), EdgeKind::Key, "self", node);
        }
      },
      telling);
}

TEST(Quiet, SteadyGarbageWithTheCollectorOff) {
  Telling telling;
  telling.gc_off = true;
  expect_silence(
      [](Sketch& heap, int) {
        const NodeId node = payload(heap, "app.Node");
        heap.edge(heap.dict_of(node), EdgeKind::Key, "self", node);
        heap.module("app", {});
      },
      telling);
}

TEST(Quiet, TemporariesOfTheRoundUnderWay) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    expect_silence([seed](Sketch& heap, int rounds) {
      std::mt19937 random(seed * 1000 + static_cast<std::uint32_t>(rounds));
      keep(heap, 10);
      // Their addresses are new ones each time.
      for (std::uint32_t i = 0; i < random() % 5000; ++i) heap.object("builtins.int", 32, 0, "", 0);
      std::vector<NodeId> under_way;
      for (std::uint32_t i = 0; i < 40 + random() % 60; ++i) {
        under_way.push_back(payload(heap, "app.Request"));
      }
      heap.frame("main in app.py:" + std::to_string(rounds), {{"batch", heap.list(under_way)}});
    });
  }
}

TEST(Quiet, AQueueThatOnlyLooksLikeGrowthInThreeSnapshots) {
  Telling telling;
  telling.rounds = {10, 20, 30};
  expect_silence(
      [](Sketch& heap, int rounds) {
        for (int i = 0; i < rounds * 1000; ++i) heap.object("builtins.int", 32, 0, "", 0);
        std::vector<NodeId> under_way;
        for (int i = 0; i < (rounds == 10 ? 10 : rounds == 20 ? 75 : 110); ++i) {
          under_way.push_back(payload(heap, "app.Request"));
        }
        heap.frame("main in app.py:7", {{"queue", heap.list(under_way)}});
      },
      telling);
}

TEST(Quiet, ObjectsThatOnlyChangeTheirHolder) {
  expect_silence([](Sketch& heap, int rounds) {
    std::vector<NodeId> waiting, done;
    for (int i = 0; i < 100; ++i) (i < rounds ? done : waiting).push_back(payload(heap, "app.Job"));
    heap.module("app", {{"waiting", heap.list(waiting)}, {"done", heap.list(done)}});
  });
}

TEST(Quiet, ObjectsThatAreReachedAnotherWayEachTime) {
  expect_silence([](Sketch& heap, int rounds) {
    std::vector<NodeId> kept;
    for (int i = 0; i < 100; ++i) kept.push_back(payload(heap, "app.Job"));
    const NodeId near = heap.list(kept), far = heap.list(kept);
    const bool odd = rounds / 10 % 2 == 1;
    heap.module("app",
                {{"a", odd ? near : heap.list({near})}, {"b", odd ? heap.list({far}) : far}});
  });
}

TEST(Quiet, AListThatIsTrimmedNowAndThen) {
  Telling telling;
  telling.rounds = {7, 14, 21, 28, 35, 42, 49, 56};
  expect_silence([](Sketch& heap, int rounds) { keep(heap, rounds % 16 * 5); }, telling);
}

TEST(Quiet, AStackOfRecursionThatIsDeeperNowAndThen) {
  expect_silence([](Sketch& heap, int rounds) {
    keep(heap, 10);
    for (int i = 0; i < 3 + rounds * 7 % 11; ++i) {
      heap.frame("walk in app.py:" + std::to_string(i), {{"node", payload(heap, "app.Node")}});
    }
  });
}

TEST(Quiet, AHandfulOfSmallObjects) {
  expect_silence([](Sketch& heap, int rounds) {
    std::vector<NodeId> kept;
    for (int i = 0; i < rounds / 10; ++i) kept.push_back(heap.object("builtins.str", 60, 0, "", 0));
    heap.module("app", {{"seen", heap.list(kept)}});
  });
}

TEST(Quiet, NamesThatTheInterpreterHasCached) {
  expect_silence([](Sketch& heap, int rounds) {
    for (int i = 0; i < rounds; ++i) {
      heap.root(RootKind::Runtime, "C variable of the interpreter",
                heap.object("builtins.str", 56, 0, "", 0));
    }
    keep(heap, 10);
  });
}

TEST(Quiet, WhatIsLoadedFirstOfATypeThatAlsoLeaksALittle) {
  // Each kept entry has an OrderedDict; so had 300 things that were imported at the start.
  Telling telling;
  telling.rounds = {5, 10, 15, 20, 25, 60};
  const auto found = suspects_of(
      [](Sketch& heap, int rounds) {
        std::vector<NodeId> loaded, kept;
        for (int i = 0; i < 30 * std::min(rounds, 12); ++i) {
          loaded.push_back(heap.object("collections.OrderedDict", 400));
        }
        heap.module("library", {{"tables", heap.list(loaded)}});
        for (int i = 0; i < rounds * 3; ++i) {
          kept.push_back(heap.instance("app.Figure",
                                       {{"parts", heap.object("collections.OrderedDict", 400)}}));
        }
        heap.module("app", {{"kept", heap.list(kept)}});
      },
      telling);
  ASSERT_EQ(found.size(), 1u) << names(found);
  EXPECT_EQ(found[0].type, "app.Figure");
}

TEST(Quiet, WhatImportsMadeUntilTheLastHeapButOne) {
  Telling telling;
  telling.rounds = {4, 9, 16, 28, 43, 161};
  expect_silence(
      [](Sketch& heap, int rounds) {
        std::vector<NodeId> patterns;
        for (int i = 0; i < std::min(rounds, 60); ++i) {
          heap.module("library.part" + std::to_string(i), {});
          for (int k = 0; k < 3; ++k) patterns.push_back(heap.object("re.Pattern", 800));
        }
        heap.module("re", {{"_cache", heap.list(patterns)}});
      },
      telling);
}

TEST(Quiet, WhatComesWithEachOfSomethingLarge) {
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    std::vector<NodeId> kept;
    for (int i = 0; i < rounds; ++i) {
      kept.push_back(payload(heap, "app.Handler"));
      heap.root(RootKind::Native, "native reference", heap.object("builtins.list", 56));
    }
    heap.module("app", {{"kept", heap.list(kept)}});
  });
  ASSERT_EQ(found.size(), 1u) << names(found);
  EXPECT_EQ(found[0].type, "app.Handler");
}

TEST(Quiet, WithOneSnapshotOrABrokenOneNothingIsSaid) {
  const Story leak = [](Sketch& heap, int rounds) { keep(heap, rounds * 10); };
  Telling one;
  one.rounds = {10};
  expect_silence(leak, one);
  std::vector<CensusPoint> points;
  for (const int rounds : {10, 20}) {
    Graph graph = graph_after(leak, rounds);
    graph.whole = rounds == 20;
    points.push_back({.seconds = rounds * 1.0, .rounds = 0, .census = take_census(graph)});
  }
  EXPECT_TRUE(find_suspects(points, graph_after(leak, 20), {}).empty());
}

}  // namespace
}  // namespace lowtide::heap

// SPDX-License-Identifier: Apache-2.0
// Made-up programs with known leaks among noise: how many are found, and how many accusations
// are false.

#include <gtest/gtest.h>

#include <cstdio>
#include <random>
#include <set>

#include "heap/story.h"

namespace lowtide::heap {
namespace {

enum class HeldBy { ListOfModule, DictOfInstance, Closures, ClassAttribute, LocalOfMain, Chain };
constexpr int kWays = 6;

struct Leak {
  HeldBy way = HeldBy::ListOfModule;
  int per_ten_rounds = 10;
  std::int64_t size = 100;
};

struct Program {
  std::uint32_t seed = 0;
  std::vector<Leak> leaks;
  int caches = 0, churns = 0;
};

Program program_of(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto between = [&](int low, int high) {
    return low + static_cast<int>(random() % static_cast<std::uint32_t>(high - low + 1));
  };
  Program program{.seed = seed, .leaks = {}, .caches = between(0, 3), .churns = between(0, 3)};
  for (int i = between(0, 2); i > 0; --i) {
    program.leaks.push_back({.way = static_cast<HeldBy>(between(0, kWays - 1)),
                             .per_ten_rounds = between(4, 20),
                             .size = between(50, 20'000)});
  }
  return program;
}

std::string leak_type(std::size_t i) {
  return "app.Leaked" + std::string(1, static_cast<char>('A' + i));
}

NodeId thing(Sketch& heap, const std::string& type, std::int64_t size) {
  return heap.instance(type, {{"data", heap.object("builtins.bytes", size, 0, "", 0)}});
}

void draw_leak(Sketch& heap, const Leak& leak, std::size_t i, int rounds, Sketch::Members& module,
               Sketch::Members& locals) {
  const std::string name = "member_" + std::string(1, static_cast<char>('a' + i));
  const int count = leak.per_ten_rounds * rounds / 10;
  std::vector<NodeId> kept;
  if (leak.way == HeldBy::Chain) {
    NodeId head = 0;
    for (int n = 0; n < count; ++n) {
      const NodeId next = thing(heap, leak_type(i), leak.size);
      if (head != 0) heap.edge(heap.dict_of(next), EdgeKind::Key, "next", head);
      head = next;
    }
    if (head != 0) module.emplace_back(name, head);
    return;
  }
  for (int n = 0; n < count; ++n) {
    NodeId made = thing(heap, leak_type(i), leak.size);
    if (leak.way == HeldBy::Closures) {
      const NodeId function = heap.object("builtins.function", 152, 0, "hook in app.py:3");
      heap.edge(function, EdgeKind::Closure, "it", made);
      made = function;
    }
    kept.push_back(made);
  }
  switch (leak.way) {
    case HeldBy::DictOfInstance: {
      const NodeId dict = heap.dict({});
      for (const NodeId n : kept) {
        heap.edge(dict, EdgeKind::KeyObject, "", heap.object("builtins.str", 60, 0, "", 0));
        heap.edge(dict, EdgeKind::Key, "", n);
      }
      module.emplace_back(name, heap.instance("app.Service", {{"pending", dict}}));
      return;
    }
    case HeldBy::ClassAttribute: {
      const NodeId owner = heap.object("builtins.type", 1064, 0, "Registry");
      heap.edge(owner, EdgeKind::Internal, "__dict__",
                heap.dict({{"all", heap.list(kept)}}, kCollectable | kNamespace));
      module.emplace_back(name, owner);
      return;
    }
    case HeldBy::LocalOfMain:
      locals.emplace_back(name, heap.list(kept));
      return;
    default:
      module.emplace_back(name, heap.list(kept));
  }
}

// Caches at their cap, batches of random size, garbage now and then.
void draw(Sketch& heap, const Program& program, int rounds) {
  std::mt19937 random(program.seed * 7919 + static_cast<std::uint32_t>(rounds));
  Sketch::Members module, locals;
  for (std::size_t i = 0; i < program.leaks.size(); ++i) {
    draw_leak(heap, program.leaks[i], i, rounds, module, locals);
  }
  for (int c = 0; c < program.caches; ++c) {
    std::vector<NodeId> kept;
    for (int n = 0; n < std::min(rounds * (c + 2), 25); ++n) {
      kept.push_back(thing(heap, "app.Cached", 500));
    }
    module.emplace_back("cache_" + std::string(1, static_cast<char>('a' + c)), heap.list(kept));
  }
  // What passes has new addresses each time.
  for (auto n = random() % 3000; n > 0; --n) heap.object("builtins.int", 32, 0, "", 0);
  for (int c = 0; c < program.churns; ++c) {
    std::vector<NodeId> batch;
    for (auto n = random() % 60; n > 0; --n) {
      batch.push_back(thing(heap, "app.Passing", static_cast<std::int64_t>(random() % 5000)));
    }
    locals.emplace_back("batch_" + std::string(1, static_cast<char>('a' + c)), heap.list(batch));
  }
  heap.module("app", module);
  heap.frame("main in app.py:" + std::to_string(rounds), locals);
}

TEST(Simulation, LeaksAreFoundAmongNoiseAndNoiseIsNotAccused) {
  constexpr std::uint32_t kPrograms = 60;  // of 400, 400 of 405 leaks are found
  int leaks = 0, found = 0, right = 0, accused = 0, innocent = 0, disturbed = 0;
  for (std::uint32_t seed = 1; seed <= kPrograms; ++seed) {
    const Program program = program_of(seed);
    Telling telling;
    telling.rounds = {10, 20, 30, 40, 50, 60};
    const auto suspects =
        suspects_of([&program](Sketch& heap, int rounds) { draw(heap, program, rounds); }, telling);
    std::set<std::string> wanted, named;
    for (std::size_t i = 0; i < program.leaks.size(); ++i) wanted.insert(leak_type(i));
    for (const Suspect& suspect : suspects) named.insert(suspect.type);
    leaks += static_cast<int>(wanted.size());
    for (const std::string& type : wanted) found += named.contains(type) ? 1 : 0;
    accused += static_cast<int>(suspects.size());
    for (const Suspect& suspect : suspects) {
      const bool known = wanted.contains(suspect.type) || suspect.type == "function";
      right += known ? 1 : 0;
      if (!known) std::printf("program %u: %s\n", seed, suspect.type.c_str());
      if (!known || suspect.garbage) continue;
      EXPECT_GE(suspect.freed_if_all, suspect.retained) << seed;
    }
    if (wanted.empty()) {
      ++innocent;
      disturbed += suspects.empty() ? 0 : 1;
    }
  }
  std::printf("recall %d of %d, precision %d of %d, disturbed %d of %d without a leak\n", found,
              leaks, right, accused, disturbed, innocent);
  EXPECT_GE(found * 100, leaks * 97);
  EXPECT_GE(right * 100, accused * 97);
  EXPECT_LE(disturbed * 100, innocent * 2);
}

}  // namespace
}  // namespace lowtide::heap

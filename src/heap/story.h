// SPDX-License-Identifier: Apache-2.0
#pragma once

// Programs told as heaps: how the heap looks after so many rounds. Included by tests only.
//
//     const Story story = [](Sketch& heap, int rounds) {
//       std::vector<NodeId> kept;
//       for (int i = 0; i < rounds; ++i) kept.push_back(heap.instance("app.Result", {}));
//       heap.module("app", {{"history", heap.list(kept)}});
//     };
//     std::vector<Suspect> found = suspects_of(story);
//
// What is drawn first keeps its address from snapshot to snapshot, so what stays comes first and
// what passes comes last.

#include <functional>
#include <vector>

#include "heap/suspects.h"
#include "heap/testing.h"

namespace lowtide::heap {

using Story = std::function<void(Sketch& heap, int rounds)>;

struct Telling {
  std::vector<int> rounds{10, 20, 30, 40, 50};
  bool gc_off = false;
  bool count_rounds = true;  // false: only the clock is known
  SuspectOptions options;
};

inline Graph graph_after(const Story& story, int rounds, bool gc_off = false) {
  Sketch heap;
  story(heap, rounds);
  Graph graph = heap.graph();
  graph.gc_off = gc_off;
  return graph;
}

inline std::vector<Suspect> suspects_of(const Story& story, const Telling& telling = {}) {
  std::vector<CensusPoint> points;
  for (const int rounds : telling.rounds) {
    points.push_back({.seconds = rounds * 0.5,
                      .rounds = telling.count_rounds ? rounds : 0.0,
                      .census = take_census(graph_after(story, rounds, telling.gc_off))});
  }
  return find_suspects(points, graph_after(story, telling.rounds.back(), telling.gc_off),
                       telling.options);
}

}  // namespace lowtide::heap

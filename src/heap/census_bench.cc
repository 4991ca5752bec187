// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include "heap/story.h"

namespace lowtide::heap {
namespace {

// A million nodes or so: objects with a __dict__ of strings and floats in lists in modules.
Graph large_heap(int objects) {
  GraphBuilder builder;
  const auto name = [&](const char* text) { return builder.intern(text); };
  const NameId type = name("app.Row"), dict = name("builtins.dict"), str = name("builtins.str"),
               number = name("builtins.float"), list = name("builtins.list");
  const NameId members[] = {name("id"), name("value"), name("text")};
  std::uint64_t address = 0x1000;
  const NodeId table = builder.add_node({.type = list, .shallow = 56, .address = address += 16});
  builder.add_root(RootKind::Module, name("app"), table);
  for (int i = 0; i < objects; ++i) {
    builder.add_edge(EdgeKind::Item, static_cast<std::uint32_t>(i),
                     table + 1 + static_cast<NodeId>(5 * i));
  }
  for (int i = 0; i < objects; ++i) {
    const NodeId row = builder.add_node(
        {.type = type, .shallow = 48, .address = address += 16, .flags = kUser | kCollectable});
    builder.add_edge(EdgeKind::Internal, name("__dict__"), row + 1);
    builder.add_node({.type = dict,
                      .shallow = 104,
                      .address = address += 16,
                      .flags = kCollectable | kNamespace});
    for (NodeId m = 0; m < 3; ++m) builder.add_edge(EdgeKind::Key, members[m], row + 2 + m);
    for (NodeId m = 0; m < 3; ++m) {
      builder.add_node({.type = m == 2 ? str : number, .shallow = 32, .address = address += 16});
    }
  }
  return std::move(builder).build();
}

void take(benchmark::State& state) {
  const Graph graph = large_heap(static_cast<int>(state.range(0)) / 5);
  for (auto _ : state) benchmark::DoNotOptimize(take_census(graph));
  state.SetItemsProcessed(state.iterations() * graph.node_count());
}
BENCHMARK(take)->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

void find(benchmark::State& state) {
  std::vector<CensusPoint> points;
  const auto nodes = static_cast<int>(state.range(0));
  for (int i = 1; i <= 4; ++i) {
    points.push_back(
        {.seconds = i * 1.0, .rounds = i * 1.0, .census = take_census(large_heap(nodes / 20 * i))});
  }
  const Graph last = large_heap(nodes / 20 * 4);
  for (auto _ : state) benchmark::DoNotOptimize(find_suspects(points, last, {}));
}
BENCHMARK(find)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace lowtide::heap

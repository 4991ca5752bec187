// SPDX-License-Identifier: Apache-2.0
// What it costs to open a heap and to say who holds what in it, by node and by edge, and the
// memory it takes at its worst. Up to 3 M nodes; larger ones by
//
//     LOWTIDE_BENCH_NODES=12900000 lowtide_heap_bench --benchmark_filter=Given

#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "heap/dominators.h"
#include "heap/reach.h"
#include "heap/testing.h"

namespace lowtide::heap {
namespace {

// The kernel's high-water mark, set back to what is resident now.
void reset_peak() { std::ofstream("/proc/self/clear_refs") << 5; }

double status_bytes(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field)) return 1024 * std::strtod(line.c_str() + field.size(), nullptr);
  }
  return 0;
}

void report(benchmark::State& state, double nodes, double edges, double peak) {
  const auto rate = benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert;
  state.counters["per_node"] = benchmark::Counter(nodes, rate);
  state.counters["per_edge"] = benchmark::Counter(edges, rate);
  state.counters["edges"] = edges;
  if (peak > 0) state.counters["bytes_per_node"] = peak / nodes;
  // Of 1: what the budget of 64 bytes a node and 12 an edge allows.
  if (peak > 0) state.counters["of_budget"] = peak / (64 * nodes + 12 * edges);
}

void open_and_retain(benchmark::State& state, NodeId nodes) {
  double edges = 0;
  double peak = 0;
  for (auto _ : state) {
    reset_peak();
    const double before = status_bytes("VmRSS:");
    const Graph graph = heaplike_graph(nodes);
    const Dominators d = dominators(graph);
    benchmark::DoNotOptimize(d.retained.data());
    edges = graph.edge_count();
    peak = status_bytes("VmHWM:") - before;
  }
  report(state, nodes, edges, peak);
}

void OpenAndRetain(benchmark::State& state) {
  open_and_retain(state, static_cast<NodeId>(state.range(0)));
}
BENCHMARK(OpenAndRetain)
    ->Arg(100'000)
    ->Arg(1'000'000)
    ->Arg(3'000'000)
    ->Unit(benchmark::kMillisecond);

void OpenAndRetainGiven(benchmark::State& state) {
  const char* given = std::getenv("LOWTIDE_BENCH_NODES");
  if (given == nullptr) return state.SkipWithError("LOWTIDE_BENCH_NODES says how many nodes");
  open_and_retain(state, static_cast<NodeId>(std::strtoul(given, nullptr, 10)));
}
BENCHMARK(OpenAndRetainGiven)->Iterations(1)->Unit(benchmark::kMillisecond);

template <typename Pass>
void pass(benchmark::State& state, const Pass& run) {
  const Graph graph = heaplike_graph(static_cast<NodeId>(state.range(0)));
  for (auto _ : state) run(graph);
  report(state, graph.node_count(), graph.edge_count(), 0);
}

void DominatorsOnly(benchmark::State& state) {
  pass(state, [](const Graph& graph) { benchmark::DoNotOptimize(dominators(graph)); });
}
BENCHMARK(DominatorsOnly)->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

void Reachable(benchmark::State& state) {
  pass(state, [](const Graph& graph) { benchmark::DoNotOptimize(reachable(graph)); });
}
BENCHMARK(Reachable)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

void HolderTreeOnly(benchmark::State& state) {
  pass(state, [](const Graph& graph) { benchmark::DoNotOptimize(holder_tree(graph)); });
}
BENCHMARK(HolderTreeOnly)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

void RetainedByType(benchmark::State& state) {
  const Graph graph = heaplike_graph(static_cast<NodeId>(state.range(0)));
  const Dominators d = dominators(graph);
  for (auto _ : state) benchmark::DoNotOptimize(retained_by_type(graph, d));
  report(state, graph.node_count(), graph.edge_count(), 0);
}
BENCHMARK(RetainedByType)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace lowtide::heap

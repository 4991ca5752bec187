// SPDX-License-Identifier: Apache-2.0
// From the bytes of a heap stream to who retains what.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <vector>

#include "heap/dominators.h"
#include "heap/reach.h"
#include "heap/testing.h"
#include "readers/cpython/stream.h"
#include "readers/cpython/testing.h"

namespace lowtide::cpython {
namespace {

std::string stream_of(heap::NodeId nodes, double& edges) {
  const heap::Graph graph = heap::heaplike_graph(nodes);
  std::vector<std::uint32_t> counted(graph.node_count());
  for (heap::EdgeId e = graph.edges_end(0); e < graph.edge_count(); ++e) ++counted[graph.target(e)];
  edges = graph.edge_count();
  return StreamWriter::encode(graph, [&](heap::NodeId n) { return counted[n] + n % 50 / 49; });
}

template <typename Then>
void read(benchmark::State& state, const Then& then) {
  double edges = 0;
  const std::string bytes = stream_of(static_cast<heap::NodeId>(state.range(0)), edges);
  for (auto _ : state) {
    StreamReader reader;
    for (std::size_t at = 0; at < bytes.size(); at += 65536) {
      if (!reader.feed(std::string_view(bytes).substr(at, 65536))) std::abort();
    }
    auto answer = std::move(reader).finish();
    if (!answer) std::abort();
    then(answer->graph);
  }
  state.counters["edges"] = edges;
  state.counters["stream_MB"] = static_cast<double>(bytes.size()) / 1e6;
}

void Read(benchmark::State& state) {
  read(state, [](const heap::Graph& graph) { benchmark::DoNotOptimize(graph.node_count()); });
}
BENCHMARK(Read)->Arg(500'000)->Arg(5'000'000)->Unit(benchmark::kMillisecond);

void ReadAndRetain(benchmark::State& state) {
  read(state, [](const heap::Graph& graph) {
    benchmark::DoNotOptimize(heap::holder_tree(graph));
    benchmark::DoNotOptimize(heap::dominators(graph));
  });
}
BENCHMARK(ReadAndRetain)->Arg(500'000)->Arg(5'000'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace lowtide::cpython

// SPDX-License-Identifier: Apache-2.0

// What a second of recording costs, and opening what it leaves.

#include <benchmark/benchmark.h>

#include "recording/recording.h"
#include "recording/testing.h"

namespace lowtide::recording {
namespace {

using testing::Folder;
using testing::sample_at;

void put_second(Writer& writer, double second, int processes, bool busy) {
  for (int i = 0; i < 10; ++i) {
    for (int p = 0; p < processes; ++p) {
      Sample sample = sample_at(second + i * 0.1, p, 5'000'000'000);
      if (busy) sample.resident += static_cast<std::int64_t>(second * 10 + i) * 4096;
      sample.anonymous = sample.resident - 1'000'000;
      sample.file = 50'000'000;
      sample.shared = 10'000'000;
      writer.put(sample);
    }
  }
  writer.settle(second);
}

// A second at 10 Hz, in the long run: the thinning of old readings included.
void settle_second(benchmark::State& state, bool busy) {
  Folder folder;
  auto writer = std::move(*Writer::create(folder.path("x.tide"), testing::some_run()));
  double second = 0;
  for (; second < 2000; ++second)
    put_second(*writer, second, static_cast<int>(state.range(0)), busy);
  for (auto _ : state) put_second(*writer, second++, static_cast<int>(state.range(0)), busy);
  writer->finish(End{});
}

void busy_processes(benchmark::State& state) { settle_second(state, true); }
void idle_processes(benchmark::State& state) { settle_second(state, false); }
BENCHMARK(busy_processes)->Arg(21)->Arg(101)->Unit(benchmark::kMicrosecond);
BENCHMARK(idle_processes)->Arg(21)->Arg(101)->Unit(benchmark::kMicrosecond);

void open_a_large_recording(benchmark::State& state) {
  Folder folder;
  auto writer = std::move(*Writer::create(folder.path("x.tide"), testing::some_run()));
  for (double second = 0; second < 20'000; ++second) put_second(*writer, second, 21, true);
  writer->finish(End{});
  for (auto _ : state) benchmark::DoNotOptimize(Reader::open(folder.path("x.tide")));
}
BENCHMARK(open_a_large_recording)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace lowtide::recording

// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include "verdict/testing.h"
#include "verdict/verdict.h"

namespace lowtide::verdict {
namespace {

// A week at two readings a second is a million.
void judges_readings(benchmark::State& state) {
  testing::Dice dice(1);
  Evidence evidence;
  const double seconds = 0.5 * static_cast<double>(state.range(0));
  evidence.points = testing::readings(dice, seconds, 0.5, {testing::kMiB, 0.5}, [&](double t) {
    return 500 * testing::kMiB + 100 * testing::kMiB * t / seconds;
  });
  if (state.range(1) != 0) evidence.rounds = testing::rounds_every(2, seconds);
  for (auto _ : state) benchmark::DoNotOptimize(judge(evidence));
  state.SetComplexityN(state.range(0));
}
BENCHMARK(judges_readings)
    ->ArgsProduct({{1'000, 30'000, 1'000'000}, {0, 1}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace lowtide::verdict

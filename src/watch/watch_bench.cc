// SPDX-License-Identifier: Apache-2.0
// What watching costs: N idle processes, updated and sampled as a run does. The counters say which
// share of one core that is at 10 and at 100 Hz (budgets for 100 processes: 0.5 % and 4 %).

#include <benchmark/benchmark.h>
#include <sys/resource.h>
#include <time.h>

#include <deque>

#include "watch/sample.h"
#include "watch/testing.h"
#include "watch/tree.h"

namespace lowtide::watch {
namespace {

double seconds_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double processor_seconds() { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }

// A tree of `count` children that sleep. They are other programs, as far as their stacks tell.
class Sleepers {
 public:
  explicit Sleepers(int count) {
    for (int i = 0; i < count; ++i) {
      testing::Signal started;
      children_.emplace_back([] { execlp("sleep", "sleep", "100000", nullptr); });
      started.close_sender();
      started.wait();  // Its copy of the end closes as it becomes `sleep`.
      pids_.push_back(children_.back().pid());
    }
  }
  const std::vector<std::int32_t>& pids() const { return pids_; }

 private:
  std::deque<testing::Child> children_;
  std::vector<std::int32_t> pids_;
};

// `hertz` looks a second of a run that lasts as many iterations. `forks`: the machine starts
// something between any two, so that each list of children must be read.
void watch_idle(benchmark::State& state, double hertz, bool forks) {
  raise_descriptor_limit();
  Sleepers sleepers(static_cast<int>(state.range(0)));
  ProcessTree tree(Roots{}, sleepers.pids(), {.subreaper = 0, .descriptors = 8192});
  Sampler::Options options;
  options.clock = [] { return seconds_of(CLOCK_MONOTONIC); };
  Sampler sampler(Roots{}, options);
  // Discovery and the first measurement are paid once.
  double now = 0;
  for (int i = 0; i < 20; ++i) {
    tree.update(now += 1);
    sampler.sample(tree, now);
  }
  double spent = 0;
  for (auto _ : state) {
    if (forks) testing::Child([] {}).wait();
    double began = processor_seconds();
    tree.update(now += 1 / hertz);
    benchmark::DoNotOptimize(sampler.sample(tree, now));
    spent += processor_seconds() - began;
  }
  double each = spent / static_cast<double>(state.iterations());
  state.counters["us_each"] = each * 1e6;
  state.counters["core_percent"] = each * hertz * 100;
  state.counters["running"] = static_cast<double>(tree.running_ids().size());
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["resident_mib"] = static_cast<double>(usage.ru_maxrss) / 1024;
}

void Idle10Hz(benchmark::State& state) { watch_idle(state, 10, false); }
void Idle100Hz(benchmark::State& state) { watch_idle(state, 100, false); }
void BusyMachine10Hz(benchmark::State& state) { watch_idle(state, 10, true); }
void BusyMachine100Hz(benchmark::State& state) { watch_idle(state, 100, true); }

BENCHMARK(Idle10Hz)->Arg(1)->Arg(20)->Arg(100)->Arg(500)->Iterations(600);
BENCHMARK(Idle100Hz)->Arg(100)->Iterations(2000);
BENCHMARK(BusyMachine10Hz)->Arg(100)->Iterations(600);
BENCHMARK(BusyMachine100Hz)->Arg(100)->Iterations(2000);

// A parent that forks without pause, looked at 100 times a second: how many are met, how many are
// only counted.
void ShortForks(benchmark::State& state) {
  for (auto _ : state) {
    testing::Signal done;
    testing::Child child([&] {
      for (int i = 0; i < state.range(0); ++i) {
        pid_t pid = fork();
        if (pid == 0) _exit(0);
        waitpid(pid, nullptr, 0);
      }
      done.send();
      testing::stay();
    });
    ProcessTree tree(Roots{}, child.pid());
    double began = seconds_of(CLOCK_MONOTONIC);
    double processor = processor_seconds();
    while (!done.came_within_ms(10)) tree.update(seconds_of(CLOCK_MONOTONIC) - began);
    tree.update(seconds_of(CLOCK_MONOTONIC) - began + 2);
    state.counters["met"] = static_cast<double>(tree.count() - 1);
    state.counters["unseen_at_most"] = static_cast<double>(tree.unseen().at_most);
    state.counters["core_percent"] =
        (processor_seconds() - processor) / (seconds_of(CLOCK_MONOTONIC) - began) * 100;
  }
}
BENCHMARK(ShortForks)->Arg(10000)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace lowtide::watch

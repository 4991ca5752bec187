// SPDX-License-Identifier: Apache-2.0
#pragma once

// From what the tree holds to samples: one of each process and one of all, shared pages once.
//
//     statm         every time      resident, anonymous (resident - shared)
//     status, stat  about once a second   shmem, swap, peak, threads, cpu
//     smaps_rollup  19 ms per GiB: each read is timed and the next is put off, so that all of
//                   them together stay under `rollup_share` of a core
//
// The tree's anonymous, file and shmem are each the larger of two floors of the true union: the
// sum of the processes' proportional sizes (their ratio carried forward between rollups), and the
// largest process. A fork that has not been measured yet counts only what it has above its parent.

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "recording/recording.h"
#include "watch/tree.h"

namespace lowtide::watch {

// What is known of one process; bytes, -1 is unknown.
struct Reading {
  double seconds = -1;  // of the last statm
  std::int64_t resident = -1;
  std::int64_t anonymous = -1;  // without swap
  std::int64_t file = -1;
  std::int64_t shared = -1;  // shmem: memfd, /dev/shm, shared anonymous
  std::int64_t swap = -1;
  std::int64_t peak = -1;         // VmHWM
  std::int64_t page_tables = -1;  // VmPTE
  int threads = -1;
  std::int64_t cpu_ms = -1;
  std::int64_t allocator_in_use = -1;
  std::int64_t allocator_free = -1;

  double measured = -1;            // seconds of the last smaps_rollup
  std::int64_t proportional = -1;  // Pss, of that moment
  std::int64_t anonymous_proportional = -1;
  std::int64_t file_proportional = -1;
  std::int64_t shared_proportional = -1;
};

class Sampler {
 public:
  struct Options {
    double slow_seconds = 1.0;      // between two readings of status and stat of a process
    double rollup_share = 0.005;    // of one core, for smaps_rollup
    double rollup_seconds = 1.0;    // never more often than this
    std::function<double()> clock;  // seconds of any epoch, to time reads; none: costs are guessed
  };

  Sampler(Roots roots, Options options);
  ~Sampler();
  Sampler(Sampler&&) noexcept;
  Sampler& operator=(Sampler&&) noexcept;

  // After tree.update(now). One sample of each running process, then one of the tree (process 0)
  // with `container` (memory.current, -1: not known) in it. Good until the next call.
  const std::vector<recording::Sample>& sample(ProcessTree& tree, double now,
                                               std::int64_t container = -1);

  // What a probe's slot says of malloc; carried forward until the next, gone with an exec.
  void note_allocator(std::int64_t id, std::int64_t in_use, std::int64_t free);

  const Reading* reading(std::int64_t id) const;  // the last; stays after the end
  const recording::Sample& tree_sample() const;   // the last of process 0
  std::int64_t peak() const;                      // bytes of the tree, of all samples
  double rollup_seconds_spent() const;            // of the clock, so far

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lowtide::watch

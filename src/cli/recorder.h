// SPDX-License-Identifier: Apache-2.0
#pragma once

// The loop of a run: waits for signals, ticks and heap streams, and writes what it learns.
//
//     signals ──┐
//     ticks ────┼──> poll ──> watch (samples) ──> recording::Writer
//     sockets ──┘         └─> HeapCapture ──────────────┘
//
// One thread. Stays small: nothing it keeps grows with the length of the run but one short record
// for each process there ever was.

#include <signal.h>
#include <sys/signalfd.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cli/captures.h"
#include "cli/headroom.h"
#include "cli/line_log.h"
#include "cli/run_folder.h"
#include "cli/run_options.h"
#include "recording/recording.h"
#include "watch/account.h"
#include "watch/oom.h"
#include "watch/runtime.h"
#include "watch/sample.h"
#include "watch/tree.h"

namespace lowtide::cli {

class Recorder {
 public:
  // `started_ns`: CLOCK_MONOTONIC at second 0. `folder` may be null: nothing has a probe.
  Recorder(const RunOptions& options, RunFolder* folder, recording::Writer& writer,
           watch::OomWatch oom, std::uint64_t started_ns);

  // Watches the command, our child, until it ends. `ours`: children that are not of the command,
  // and that are waited for when it has ended. `signals`: a signalfd.
  recording::End watch_to_the_end(pid_t child, const std::vector<pid_t>& ours, int signals);

 private:
  struct Look {  // for a runtime
    double next = 0;
    int times = 0;
    std::int64_t resident = -1;  // at the last one
  };
  struct Accounted {
    std::int64_t resident = 0;  // of the moment, by which a change is seen
    watch::Account account;
  };

  double now() const;
  void on_signals(int signals);
  void reap();
  void pass_on(const signalfd_siginfo& info);
  void stop_with_target(int signal);

  void tick(double at);
  void take_changes(double at);
  void take_slots(double at);
  void find_runtimes(double at);
  void put_process(const watch::Member& member);
  void take_rounds();
  void find_rounds(double at);  // where nobody marked them: by the lines the program prints
  void take_account(double at);

  void on_heap(const recording::HeapInfo& info);
  void note(double at, std::int64_t process, std::string kind, std::string text);

  const RunOptions& options_;
  RunFolder* folder_;
  recording::Writer& writer_;
  watch::OomWatch oom_;
  Headroom headroom_;
  std::uint64_t started_ns_;

  std::unique_ptr<watch::ProcessTree> tree_;
  std::unique_ptr<watch::Sampler> sampler_;
  watch::RuntimeFinder runtimes_;
  std::map<std::int64_t, std::string> runtime_of_;
  std::map<std::int64_t, Look> runtime_looks_;
  std::map<std::int64_t, Accounted> accounts_;
  std::map<std::int64_t, std::uint64_t> allocator_seen_;
  std::unique_ptr<Captures> captures_;  // null: no heaps are wanted, or none can be had
  LineLog lines_;
  std::uint64_t rounds_written_ = 0;
  double last_round_ = 0;

  pid_t child_ = -1;
  std::set<pid_t> ours_;
  bool child_ended_ = false;
  int child_status_ = 0;
  double next_settle_ = 0;
  double next_account_ = 0.5;
  double account_distance_ = 1;
  double next_allocator_ = 0.2;
  double next_runtimes_ = 0;
  std::int64_t largest_peak_ = 0;
};

}  // namespace lowtide::cli

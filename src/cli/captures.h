// SPDX-License-Identifier: Apache-2.0
#pragma once

// The heaps of a run: which process is asked when, what is kept, and when it is too dear.
//
//     due? ── room? ── HeapCapture ── recording
//      │       │            └─ cancelled first when memory gets tight
//      │       └─ refused, aloud
//      └─ CaptureSchedule, the largest processes only

#include <poll.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/capture_schedule.h"
#include "cli/headroom.h"
#include "cli/heap_capture.h"
#include "cli/run_folder.h"
#include "cli/run_options.h"
#include "recording/recording.h"
#include "watch/sample.h"
#include "watch/tree.h"

namespace lowtide::cli {

class Captures {
 public:
  // `on_heap`: a heap of this process was stored.
  Captures(const RunOptions& options, RunFolder& folder, recording::Writer& writer,
           const Headroom& headroom, watch::ProcessTree& tree, const watch::Sampler& sampler,
           std::function<void(const recording::HeapInfo&)> on_heap);

  // A process that has an interpreter, since `seen`; gone, or another program by exec.
  void add(std::int64_t process, std::int32_t pid, double seen);
  void forget(std::int64_t process) { subjects_.erase(process); }

  // Asks whoever is due. `rounds`: done by now.
  void start(double at, double rounds);
  void step(double at);
  // The command has ended: nobody is left to answer a question, but a stream that comes is taken to
  // its end, unless `all` are given up.
  void leave(bool all);
  // The copies are our children while they live, and none of the target's.
  void ignore_copies();

  bool idle() const { return running_.empty(); }
  void watch_with(std::vector<pollfd>& watched) const;

 private:
  struct Subject {
    std::int64_t process = 0;
    std::int32_t pid = 0;
    CaptureSchedule schedule;
    int taken = 0;
    std::string last_refusal;
  };
  struct Running {
    std::unique_ptr<HeapCapture> capture;
    recording::HeapInfo info;
  };

  std::vector<Subject*> due(double at);
  void ask(Subject& subject, double at, double rounds);
  void refuse(Subject& subject, double at, const std::string& why);
  void done(Running& running);
  void failed(Running& running, double at);
  bool room_for_copy(std::int64_t resident, std::string& why) const;

  const RunOptions& options_;
  RunFolder& folder_;
  recording::Writer& writer_;
  const Headroom& headroom_;
  watch::ProcessTree& tree_;
  const watch::Sampler& sampler_;
  std::function<void(const recording::HeapInfo&)> on_heap_;
  std::map<std::int64_t, Subject> subjects_;
  // One a process at the most: one that is idle answers late, and keeps nobody waiting.
  std::vector<std::unique_ptr<Running>> running_;
  bool left_ = false;
};

}  // namespace lowtide::cli

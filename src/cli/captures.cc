// SPDX-License-Identifier: Apache-2.0
#include "cli/captures.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"

namespace lowtide::cli {
namespace {

constexpr double kAnswerLimit = 20;  // seconds a program may take to give its heap
constexpr std::uint32_t kWalkLimitMs = 60'000;
constexpr std::size_t kAtOnce = 4;  // the largest processes whose heaps are asked for
constexpr std::int64_t kTightest = 16 << 20;
constexpr const char* kEndedFirst = "the program ended before its heap was read";

}  // namespace

Captures::Captures(const RunOptions& options, RunFolder& folder, recording::Writer& writer,
                   const Headroom& headroom, watch::ProcessTree& tree,
                   const watch::Sampler& sampler,
                   std::function<void(const recording::HeapInfo&)> on_heap)
    : options_(options),
      folder_(folder),
      writer_(writer),
      headroom_(headroom),
      tree_(tree),
      sampler_(sampler),
      on_heap_(std::move(on_heap)) {}

void Captures::add(std::int64_t process, std::int32_t pid, double seen) {
  subjects_.try_emplace(process, Subject{process, pid, CaptureSchedule(seen), 0, ""});
}

void Captures::watch_with(std::vector<pollfd>& watched) const {
  for (const auto& running : running_) watched.push_back({running->capture->fd(), POLLIN, 0});
}

void Captures::ignore_copies() {
  for (const auto& running : running_) tree_.ignore(running->capture->copy_pid());
}

std::vector<Captures::Subject*> Captures::due(double at) {
  std::vector<std::pair<std::int64_t, Subject*>> by_size;
  for (auto& [id, subject] : subjects_) {
    const watch::Member* member = tree_.find(id);
    if (member && member->running()) by_size.emplace_back(member->resident, &subject);
  }
  std::sort(by_size.begin(), by_size.end(),
            [](const auto& a, const auto& b) { return a.first > b.first; });
  if (by_size.size() > kAtOnce) by_size.resize(kAtOnce);
  std::vector<Subject*> due;
  for (auto& [size, subject] : by_size) {
    if (!subject->schedule.due(at)) continue;
    if (options_.heap_most > 0 && subject->taken >= options_.heap_most) continue;
    const bool busy = std::any_of(running_.begin(), running_.end(), [&](const auto& running) {
      return running->info.process == subject->process;
    });
    if (!busy) due.push_back(subject);
  }
  return due;
}

void Captures::start(double at, double rounds) {
  for (Subject* subject : due(at)) {
    if (running_.size() >= kAtOnce) return;
    ask(*subject, at, rounds);
  }
}

bool Captures::room_for_copy(std::int64_t resident, std::string& why) const {
  // The copy shares every page until the program writes to it, and a program that fills does not
  // write to what it has filled. A guess, then: a quarter of it, and a tenth for the tables of the
  // walk; step() watches the limit and gives the copy up first if the guess was wrong.
  const std::int64_t wanted = resident / 4 + resident / 10 + (8 << 20);
  const std::int64_t room = headroom_.left(sampler_.tree_sample().resident);
  if (room >= wanted) return true;
  why = fmt::format("no room for a heap snapshot: it may need {} and {} are left of {}",
                    to_text(Bytes{wanted}), to_text(Bytes{room}),
                    to_text(Bytes{headroom_.limit().bytes}));
  return false;
}

// Said once, not every time it is tried again.
void Captures::refuse(Subject& subject, double at, const std::string& why) {
  if (!why.empty() && why != subject.last_refusal) {
    writer_.put(recording::Event{at, subject.process, "heap-refused", why});
  }
  subject.last_refusal = why;
  subject.schedule.refused(at);
}

void Captures::ask(Subject& subject, double at, double rounds) {
  lowtide_slot* slot = folder_.slot_of(subject.pid);
  const watch::Reading* reading = sampler_.reading(subject.process);
  if (!slot || !reading) return subject.schedule.refused(at);
  std::string why;
  if (!room_for_copy(std::max<std::int64_t>(reading->resident, 0), why)) {
    const bool said = subject.last_refusal.starts_with("no room");  // its figures change
    return refuse(subject, at, said ? subject.last_refusal : why);
  }
  auto running = std::make_unique<Running>();
  running->info.process = subject.process;
  running->info.seconds = at;
  running->info.rounds = rounds;
  const std::int64_t heap = running->info.id = writer_.begin_heap(running->info);

  lowtide_ask question{};
  question.kind = LOWTIDE_ASK_HEAP;
  question.flags = options_.contents ? LOWTIDE_ASK_CONTENTS : 0;
  question.walk_limit_ms = kWalkLimitMs;
  question.lock_limit_ms = static_cast<std::uint32_t>(kAnswerLimit * 1000);
  if (headroom_.limit().bytes > 0) {
    const std::int64_t half = headroom_.left(sampler_.tree_sample().resident) / 2;
    question.memory_limit = static_cast<std::uint64_t>(std::max(half, kTightest));
  }
  auto capture = HeapCapture::ask(
      folder_, *slot, question, "",
      [this, heap](std::string_view piece) { writer_.put_heap(heap, piece); }, at);
  if (!capture) {
    writer_.drop_heap(heap);
    return refuse(subject, at, capture.error().message);
  }
  tree_.expect_copy(subject.pid);
  running->capture = std::move(*capture);
  running_.push_back(std::move(running));
}

void Captures::step(double at) {
  const std::int64_t limit = headroom_.limit().bytes;
  for (std::size_t i = 0; i < running_.size();) {
    HeapCapture& capture = *running_[i]->capture;
    tree_.ignore(capture.copy_pid());
    if (limit > 0 && capture.state() == HeapCapture::State::Streaming &&
        headroom_.left(sampler_.tree_sample().resident) < std::max(kTightest, limit / 40)) {
      capture.cancel("the heap snapshot was given up: memory got tight");
    }
    const HeapCapture::State state = capture.step(at, kAnswerLimit);
    if (state != HeapCapture::State::Done && state != HeapCapture::State::Failed) {
      ++i;
      continue;
    }
    const std::unique_ptr<Running> ended = std::move(running_[i]);
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
    if (state == HeapCapture::State::Done) {
      done(*ended);
    } else {
      failed(*ended, at);
    }
  }
}

void Captures::leave(bool all) {
  left_ = true;
  for (const auto& running : running_) {
    if (all || running->capture->state() == HeapCapture::State::Waiting) {
      running->capture->cancel(kEndedFirst);
    }
  }
}

void Captures::done(Running& running) {
  const HeapCapture& capture = *running.capture;
  const StreamFacts& facts = capture.facts();
  recording::HeapInfo& info = running.info;
  info.runtime = facts.runtime;
  info.lock_wait = capture.lock_wait();
  info.pause = capture.pause();
  info.walk = facts.walk_seconds;
  info.nodes = static_cast<std::int64_t>(facts.nodes);
  info.edges = static_cast<std::int64_t>(facts.edges);
  info.stored_bytes = capture.stored_bytes();
  info.whole = (facts.flags & (LOWTIDE_END_TIME | LOWTIDE_END_MEMORY)) == 0;
  writer_.end_heap(info);
  if (const auto found = subjects_.find(info.process); found != subjects_.end()) {
    Subject& subject = found->second;
    ++subject.taken;
    subject.last_refusal.clear();
    for (const std::int64_t old :
         subject.schedule.stored(info.id, capture.asked_at(), info.pause, info.walk)) {
      writer_.drop_heap(old);
    }
  }
  on_heap_(info);
}

void Captures::failed(Running& running, double at) {
  writer_.drop_heap(running.info.id);
  const auto found = subjects_.find(running.info.process);
  if (found == subjects_.end()) return;
  // That a program ends is no refusal.
  const watch::Member* member = tree_.find(running.info.process);
  const bool ended = left_ || !member || !member->running();
  refuse(found->second, at, ended ? "" : running.capture->failure());
}

}  // namespace lowtide::cli

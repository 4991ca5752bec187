// SPDX-License-Identifier: Apache-2.0
#include "cli/recorder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <limits>

#include "base/file.h"
#include "cli/account_parts.h"
#include "watch/proc_text.h"

namespace lowtide::cli {
namespace {

constexpr double kFinishLimit = 10;       // seconds we wait for a heap after the command has ended
constexpr double kRelayLimit = 1;         // seconds we wait for the last of a relayed output
constexpr double kGuardInterval = 0.005;  // between two looks at the limit while a copy lives
constexpr double kAccountPatience = 2;
constexpr double kMostAccountDistance = 60;
constexpr double kRollupShare = 0.002;           // of a core, for what is shared
constexpr std::size_t kMostAccounts = 24;        // processes whose smaps is read
constexpr int kMostLooks = 6;                    // for a runtime in a process
constexpr std::uint64_t kMostRounds = 1u << 20;  // stored: some 20 MiB

std::uint64_t monotonic_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(time.tv_nsec);
}

bool is_stopped(pid_t pid) {
  const auto text = read_file(fmt::format("/proc/{}/stat", pid), 1024);
  watch::Stat stat;
  return text && watch::parse_stat(*text, stat) && stat.state == 'T';
}

bool is_copy(pid_t pid) {
  const auto text = read_file(fmt::format("/proc/{}/comm", pid), 64);
  return text && *text == std::string(watch::kCopyName) + "\n";
}

}  // namespace

Recorder::Recorder(const RunOptions& options, RunFolder* folder, recording::Writer& writer,
                   watch::OomWatch oom, std::uint64_t started_ns)
    : options_(options),
      folder_(folder),
      writer_(writer),
      oom_(std::move(oom)),
      headroom_(oom_.container()),
      started_ns_(started_ns),
      runtimes_(watch::Roots{}),
      lines_(started_ns) {}

double Recorder::now() const { return static_cast<double>(monotonic_ns() - started_ns_) / 1e9; }

void Recorder::note(double at, std::int64_t process, std::string kind, std::string text) {
  writer_.put(recording::Event{at, process, std::move(kind), std::move(text)});
}

recording::End Recorder::watch_to_the_end(pid_t child, const std::vector<pid_t>& ours,
                                          int signals) {
  child_ = child;
  ours_.insert(ours.begin(), ours.end());
  watch::ProcessTree::Options tree_options;
  tree_options.subreaper = ::getpid();
  tree_ = std::make_unique<watch::ProcessTree>(watch::Roots{}, std::vector<std::int32_t>{child},
                                               tree_options);
  watch::Sampler::Options sampler_options;
  sampler_options.rollup_share = kRollupShare;
  sampler_options.clock = [this] { return now(); };
  sampler_ = std::make_unique<watch::Sampler>(watch::Roots{}, sampler_options);
  for (const pid_t pid : ours) tree_->ignore(pid);
  watch::raise_descriptor_limit();
  if (options_.heap && folder_) {
    captures_ =
        std::make_unique<Captures>(options_, *folder_, writer_, headroom_, *tree_, *sampler_,
                                   [this](const recording::HeapInfo& info) { on_heap(info); });
  }

  double next_tick = 0;
  double ended_at = -1;
  while (true) {
    double at = now();
    if (child_ended_) {
      if (ended_at < 0) ended_at = at;
      if (captures_) captures_->leave(at > ended_at + kFinishLimit);
      const bool reading = captures_ && !captures_->idle();
      const bool relaying = !ours_.empty() && at < ended_at + kRelayLimit;
      if (!reading && !relaying) break;
    } else if (at >= next_tick) {
      tick(at);
      at = now();
      // A late tick is not made up for: two readings at once say no more than one.
      next_tick = std::max(next_tick + options_.interval, at);
    }
    if (captures_) captures_->step(at);
    double wait = child_ended_ ? 0.05 : next_tick - at;
    if (captures_ && !captures_->idle() && headroom_.limit().bytes > 0)
      wait = std::min(wait, kGuardInterval);
    std::vector<pollfd> watched{{signals, POLLIN, 0}};
    if (captures_) captures_->watch_with(watched);
    const auto milliseconds = static_cast<int>(std::max(0.0, wait) * 1000 + 0.999);
    if (::poll(watched.data(), watched.size(), milliseconds) > 0 && watched[0].revents != 0) {
      on_signals(signals);
    }
  }

  const double at = now();
  recording::End end;
  end.seconds = at;
  if (WIFSIGNALED(child_status_)) {
    end.signal = WTERMSIG(child_status_);
    end.status = 128 + end.signal;
  } else {
    end.status = WEXITSTATUS(child_status_);
  }
  if (folder_) {
    lines_.drain(folder_->table());
    take_rounds();
    find_rounds(at);
  }
  take_changes(at);
  watch::Dead dead;
  dead.pid = child;
  dead.wait_status = child_status_;
  if (const watch::Member* member = tree_->find(1)) {
    dead.name = member->name;
    dead.peak = member->peak;
    if (const watch::Reading* last = sampler_->reading(1)) {
      dead.resident = last->resident;
      dead.age = at - last->seconds;
    }
  }
  const watch::Ending ending = oom_.judge(dead);
  end.oom = ending.oom();
  end.oom_text = ending.text;
  if (!end.oom && oom_.kills() > 0) {
    note(at, 0, "oom", "the OOM killer took a process of this container during the run");
  }
  end.processes = tree_->count();
  end.peak = std::max(sampler_->peak(), largest_peak_);
  if (const auto unseen = tree_->unseen(); unseen.at_least > 0) {
    note(at, 0, "lost",
         unseen.at_least == 1
             ? std::string("1 process ended between two samples")
             : fmt::format("{} processes ended between two samples", unseen.at_least));
  }
  if (lines_.lost() > 0) {
    note(at, 0, "lost",
         fmt::format("{} lines of output came too fast to be looked at", lines_.lost()));
  }
  if (rounds_written_ > kMostRounds) {
    note(at, 0, "lost",
         fmt::format("of {} rounds the first {} are stored", rounds_written_, kMostRounds));
  }
  return end;
}

// ---- signals -------------------------------------------------------------------------------

void Recorder::on_signals(int signals) {
  signalfd_siginfo info;
  while (::read(signals, &info, sizeof info) == sizeof info) {
    const auto signal = static_cast<int>(info.ssi_signo);
    if (signal == SIGCHLD) {
      reap();
      continue;
    }
    const bool ends =
        signal == SIGINT || signal == SIGQUIT || signal == SIGTERM || signal == SIGHUP;
    if (child_ended_ && ends && captures_) captures_->leave(true);
    // What the terminal sends goes to the whole process group, the target too. What our own writes
    // bring about (a closed pipe, a file that may not grow) is our own affair. And who belongs to
    // the target and signals its process group has met the target already.
    if (info.ssi_code == SI_KERNEL) continue;
    const auto sender = static_cast<pid_t>(info.ssi_pid);
    if (sender == ::getpid() || (sender > 0 && tree_->running(sender))) continue;
    // `fg` wakes the whole group; twice woken is once too often for some.
    if (signal == SIGCONT && !is_stopped(child_)) continue;
    pass_on(info);
  }
}

void Recorder::pass_on(const signalfd_siginfo& info) {
  if (child_ended_) return;
  const auto signal = static_cast<int>(info.ssi_signo);
  if (info.ssi_code == SI_QUEUE) {
    sigval value{};
    value.sival_ptr = reinterpret_cast<void*>(info.ssi_ptr);
    ::sigqueue(child_, signal, value);
  } else {
    ::kill(child_, signal);
  }
}

// Our shell shall see a stopped job, and its `fg` wakes us both. Never without a terminal: there
// nobody might wake us.
void Recorder::stop_with_target(int signal) {
  const Fd terminal(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!terminal) return;
  // Somebody stopped the target alone, unless it did so itself, in the foreground, as programs do
  // that tidy up the screen first.
  if (signal == SIGSTOP && ::tcgetpgrp(terminal.number()) != ::getpgrp()) return;
  ::raise(SIGSTOP);
}

void Recorder::reap() {
  while (true) {
    siginfo_t info{};
    if (::waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL) != 0 ||
        info.si_pid == 0) {
      return;
    }
    const pid_t pid = info.si_pid;
    // A copy that walked a heap: adopted by us like any orphan, and none of the target's.
    if (pid != child_ && is_copy(pid)) tree_->ignore(pid);
    int status = 0;
    rusage usage{};
    if (::wait4(pid, &status, WNOHANG | WUNTRACED | __WALL, &usage) != pid) return;
    if (ours_.erase(pid) > 0) continue;
    if (WIFSTOPPED(status)) {
      if (pid == child_) stop_with_target(WSTOPSIG(status));
      continue;
    }
    if (pid == child_) {
      child_ended_ = true;
      child_status_ = status;
    }
    tree_->note_exit(pid, status, usage, now());
  }
}

// ---- samples -------------------------------------------------------------------------------

void Recorder::tick(double at) {
  if (folder_) {
    lines_.drain(folder_->table());
    take_slots(at);
  }
  take_changes(at);
  const std::int64_t container = headroom_.container().known() ? headroom_.container().usage() : -1;
  for (const recording::Sample& sample : sampler_->sample(*tree_, at, container)) {
    writer_.put(sample);
  }
  if (at >= next_runtimes_) find_runtimes(at);
  // Of pages that a copy of ours shares only half would be seen; but late is better than never.
  if (at >= next_account_ && (at > next_account_ + kAccountPatience || !tree_->copied())) {
    take_account(at);
  }
  if (captures_) captures_->start(at, static_cast<double>(lines_.round_count()));
  if (at >= next_settle_) {
    take_rounds();
    writer_.settle(at);
    next_settle_ = at + 1;
  }
}

void Recorder::put_process(const watch::Member& member) {
  largest_peak_ = std::max(largest_peak_, member.peak);
  recording::Process process;
  process.id = member.id;
  process.pid = member.pid;
  process.parent = member.parent;
  process.name = member.name;
  if (const auto known = runtime_of_.find(member.id); known != runtime_of_.end()) {
    process.runtime = known->second;
  }
  process.started = member.seen;
  if (!member.running()) process.ended = member.ended;
  process.peak = std::max<std::int64_t>(member.peak, 0);
  if (member.wait_status >= 0) {
    if (WIFSIGNALED(member.wait_status)) {
      process.note = fmt::format("killed by signal {}", WTERMSIG(member.wait_status));
    } else if (WEXITSTATUS(member.wait_status) != 0) {
      process.note = fmt::format("exited with {}", WEXITSTATUS(member.wait_status));
    }
  }
  writer_.put(process);
}

void Recorder::take_changes(double at) {
  // A copy is our child for as long as it lives, and none of the target's.
  if (captures_) captures_->ignore_copies();
  for (const watch::Change& change : tree_->update(at)) {
    const watch::Member* member = tree_->find(change.id);
    if (!member) continue;
    if (change.kind == watch::Change::Kind::Exec) runtime_of_.erase(change.id);
    put_process(*member);
    if (change.kind != watch::Change::Kind::Started) {
      if (captures_) captures_->forget(change.id);
      runtime_of_.erase(change.id);
      runtime_looks_.erase(change.id);
      allocator_seen_.erase(change.id);
    }
    if (change.kind == watch::Change::Kind::Ended) {
      if (folder_) {
        for (lowtide_slot& slot : folder_->table().slots) {
          if (slot.pid == member->pid && !tree_->running(member->pid)) {
            std::atomic_ref(slot.state).store(LOWTIDE_SLOT_FREE, std::memory_order_release);
          }
        }
      }
    } else {
      next_runtimes_ = at;
    }
  }
}

void Recorder::take_slots(double at) {
  const bool ask_allocator = at >= next_allocator_;
  if (ask_allocator) next_allocator_ = at + std::clamp(at * 0.02, 0.5, 5.0);
  for (lowtide_slot& slot : folder_->table().slots) {
    const std::uint32_t state = std::atomic_ref(slot.state).load(std::memory_order_acquire);
    if (state == LOWTIDE_SLOT_FREE || state == LOWTIDE_SLOT_CLAIMED) continue;
    if (!folder_->speaks_our_pids(slot)) {
      if (state == LOWTIDE_SLOT_EXITED) {
        std::atomic_ref(slot.state).store(LOWTIDE_SLOT_FREE, std::memory_order_release);
      }
      continue;
    }
    tree_->adopt(slot.pid, at);
    if (slot.peak_rss > 0) tree_->note_peak(slot.pid, static_cast<std::int64_t>(slot.peak_rss));
    if (state == LOWTIDE_SLOT_EXITED) {
      std::atomic_ref(slot.state).store(LOWTIDE_SLOT_FREE, std::memory_order_release);
      continue;
    }
    if (ask_allocator) std::atomic_ref(slot.want_allocator).store(1, std::memory_order_relaxed);
    const watch::Member* member = tree_->running(slot.pid);
    if (!member) continue;
    const std::uint64_t updated =
        std::atomic_ref(slot.allocator.updated_ns).load(std::memory_order_acquire);
    std::uint64_t& seen = allocator_seen_[member->id];
    if (updated != seen) {
      seen = updated;
      sampler_->note_allocator(member->id, static_cast<std::int64_t>(slot.allocator.in_use),
                               static_cast<std::int64_t>(slot.allocator.free));
    }
  }
}

void Recorder::find_runtimes(double at) {
  next_runtimes_ = at + 0.5;
  for (const std::int64_t id : tree_->running_ids()) {
    const watch::Member* member = tree_->find(id);
    if (!member || runtime_of_.contains(id)) continue;
    // An interpreter may be mapped late, but not for ever: looks at 0, 0.5, 1.5, 3.5 … seconds.
    Look& look = runtime_looks_[id];
    if (look.times >= kMostLooks || at < look.next || look.resident == member->resident) continue;
    look.resident = member->resident;  // who stands still maps no interpreter either
    look.next = at + 0.5 * (1 << look.times++);
    const std::string runtime = runtimes_.runtime_of(member->pid);
    if (runtime.empty()) continue;
    runtime_of_[id] = runtime;
    put_process(*member);
    if (captures_ && runtime.starts_with("CPython")) {
      captures_->add(id, member->pid, member->seen);
    }
  }
}

void Recorder::take_rounds() {
  for (const double at : lines_.take_rounds()) {
    if (rounds_written_++ < kMostRounds) {
      writer_.put(recording::Round{at, at - last_round_, "pattern"});
    }
    last_round_ = at;
  }
}

void Recorder::find_rounds(double at) {
  if (options_.round) {
    if (lines_.round_count() == 0) {
      note(at, 0, "note",
           fmt::format("no line of output matched the pattern \"{}\"", options_.round_text));
    }
    return;
  }
  double last = 0;
  for (const double end : verdict::rounds_from_lines(lines_.kinds(), at)) {
    writer_.put(recording::Round{end, end - last, "lines"});
    last = end;
  }
}

void Recorder::take_account(double at) {
  next_account_ = at + account_distance_;
  account_distance_ = std::min(account_distance_ * 1.5, kMostAccountDistance);
  const double began = now();
  std::vector<std::pair<std::int64_t, std::int64_t>> by_size;
  for (const std::int64_t id : tree_->running_ids()) {
    if (const watch::Member* member = tree_->find(id)) by_size.emplace_back(member->resident, id);
  }
  std::sort(by_size.rbegin(), by_size.rend());
  if (by_size.size() > kMostAccounts) by_size.resize(kMostAccounts);
  std::map<std::int64_t, Accounted> accounts;
  std::vector<watch::Account> together;
  std::int64_t sum = 0;
  for (const auto& [resident, id] : by_size) {
    // smaps is dear, and a process that stands still has the same account as last time.
    const auto before = accounts_.find(id);
    if (before != accounts_.end() && std::abs(before->second.resident - resident) < resident / 64) {
      accounts.insert(*before);
    } else if (const auto mappings = watch::read_mappings(watch::Roots{}, tree_->find(id)->pid)) {
      watch::Known known;
      if (const watch::Reading* reading = sampler_->reading(id)) {
        known.allocator_in_use = reading->allocator_in_use;
        known.allocator_free = reading->allocator_free;
      }
      for (const auto& part : parts_of(*mappings, known, at, id)) writer_.put(part);
      accounts[id] = {resident, watch::make_account(*mappings, known, at, id, watch::Basis::Pss)};
    } else {
      continue;
    }
    together.push_back(accounts[id].account);
    sum += accounts[id].account.total;
  }
  accounts_ = std::move(accounts);
  for (const auto& part : watch::tree_account(together, at).parts) writer_.put(part);
  if (const std::int64_t rest = sampler_->tree_sample().resident - sum;
      tree_->running_ids().size() > by_size.size() && rest > 0) {
    writer_.put(recording::AccountPart{at, 0, kSmallerProcesses, rest});
  }
  if (headroom_.container().known()) {
    for (const auto& part : watch::container_parts(headroom_.container().stat(), at))
      writer_.put(part);
  }
  // Reading smaps of a large process takes long: never more than one part in two hundred.
  next_account_ = std::max(next_account_, at + (now() - began) * 200);
}

void Recorder::on_heap(const recording::HeapInfo& info) {
  if (!info.runtime.empty()) {
    runtime_of_[info.process] = info.runtime;
    if (const watch::Member* member = tree_->find(info.process)) put_process(*member);
  }
  // What smaps says belongs to what the heap says, as soon as the copy that gave it is gone.
  if (const double at = now(); at >= next_account_ - account_distance_ / 2) {
    next_account_ = std::min(next_account_, at);
  }
}

}  // namespace lowtide::cli

// SPDX-License-Identifier: Apache-2.0
#include "watch/sample.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "watch/proc_text.h"
#include "watch/rollup.h"

namespace lowtide::watch {
namespace {

constexpr double kAlone = 10;  // A lone process shares with nobody: measured this much more seldom.
constexpr double kIdle = 4;    // A process that has not changed: its status is read more seldom.
constexpr double kUnchangedFor = 30;  // seconds; an unchanged process is measured again after it
constexpr std::int64_t kNoise = 1 << 20;  // statm may be off by this without being corrected

// The share of a process' own pages that is its part of the tree's, by kind.
struct Ratios {
  double anonymous = 1;
  double file = 1;
  double shared = 1;
};

struct Track {
  Reading reading;
  int execs = 0;
  double status_due = -1;
  std::int64_t status_resident = -1;  // what it was when status was read
  std::int64_t bias = 0;              // of statm's anonymous, which Linux 6.2 made approximate
  std::optional<Ratios> ratios;       // of the last measurement
  std::int64_t measured_resident = -1;
  std::int64_t measured_shared = -1;
};

// A measurement waits here until its whole family has been measured.
struct Measured {
  std::int64_t id = 0;
  Rollup rollup;
  Reading at;  // what was known of the process then
};

double ratio(std::int64_t part, std::int64_t whole) {
  if (whole <= 0 || part < 0) return 1;
  return std::min(1.0, static_cast<double>(part) / static_cast<double>(whole));
}

std::int64_t scaled(std::int64_t bytes, double by) {
  return static_cast<std::int64_t>(static_cast<double>(bytes) * by);
}

void add_known(std::int64_t& sum, std::int64_t figure) {
  if (figure >= 0) sum = std::max<std::int64_t>(sum, 0) + figure;
}

}  // namespace

struct Sampler::State {
  Roots roots;
  Options options;
  std::unordered_map<std::int64_t, Track> tracks;
  std::vector<recording::Sample> samples;
  recording::Sample tree;
  std::int64_t peak = -1;
  std::int64_t ended_cpu = 0;
  std::vector<std::int64_t> ran;  // at the last sample

  double spent = 0;      // on smaps_rollup, by the clock
  double credit = 0;     // seconds of it that may be spent now; below zero after a long one
  double credited = -1;  // when credit was last added
  double pass_began = -std::numeric_limits<double>::infinity();
  std::vector<std::int64_t> to_measure;  // of this pass, taken from the back
  std::vector<Measured> measured;
  std::vector<std::int64_t> pass_members;
  bool family_changed = true;  // since the last pass that was committed

  void read_status(ProcessTree& tree, const Member& member, Track& track, double now);
  void read_process(ProcessTree& tree, const Member& member, double now);
  void notice_ends(const ProcessTree& tree);
  void spend(const ProcessTree& tree, double now);
  void measure(const Member& member, double now);
  void commit(const ProcessTree& tree);
  void sum(const ProcessTree& tree, double now, std::int64_t container);
};

void Sampler::State::read_status(ProcessTree& process_tree, const Member& member, Track& track,
                                 double now) {
  std::array<char, 4096> buffer;
  std::string path = roots.proc + "/" + std::to_string(member.pid) + "/status";
  std::string_view text = read_once(AT_FDCWD, path.c_str(), buffer);
  bool idle = track.status_resident == member.resident;
  track.status_due = now + options.slow_seconds * (idle ? kIdle : 1);
  if (field_number(text, "Pid") != member.pid) return;
  Reading& reading = track.reading;
  reading.shared = field_bytes(text, "RssShmem");
  reading.swap = field_bytes(text, "VmSwap");
  reading.peak = field_bytes(text, "VmHWM");
  reading.page_tables = field_bytes(text, "VmPTE");
  reading.threads =
      static_cast<int>(std::min<std::int64_t>(field_number(text, "Threads"), 1 << 22));
  track.status_resident = member.resident;
  if (reading.peak >= 0) process_tree.note_high_water(member.id, reading.peak);
}

void Sampler::State::read_process(ProcessTree& process_tree, const Member& member, double now) {
  Track& track = tracks[member.id];
  Reading& reading = track.reading;
  if (track.execs != member.execs) {  // Another program: nothing known of the old one holds.
    reading = Reading{};
    track = Track{};
    track.execs = member.execs;
  }
  if (now >= track.status_due) read_status(process_tree, member, track, now);
  reading.seconds = now;
  reading.cpu_ms = member.cpu_ms;
  std::int64_t shared = std::max<std::int64_t>(member.shared, 0);
  reading.resident = member.resident + track.bias;
  reading.anonymous = std::max<std::int64_t>(reading.resident - shared, 0);
  std::int64_t shmem = std::min(std::max<std::int64_t>(reading.shared, 0), shared);
  reading.file = shared - shmem;

  recording::Sample& sample = samples.emplace_back();
  sample.seconds = now;
  sample.process = member.id;
  sample.resident = reading.resident;
  sample.anonymous = reading.anonymous;
  sample.file = reading.file;
  sample.shared = shmem;
  sample.swap = reading.swap;
  sample.allocator_in_use = reading.allocator_in_use;
  sample.allocator_free = reading.allocator_free;
  sample.cpu_ms = reading.cpu_ms;
}

void Sampler::State::notice_ends(const ProcessTree& process_tree) {
  const std::vector<std::int64_t>& running = process_tree.running_ids();
  if (ran == running) return;
  family_changed = true;
  for (std::int64_t id : ran) {
    if (std::binary_search(running.begin(), running.end(), id)) continue;
    const Member* member = process_tree.find(id);
    auto found = tracks.find(id);
    std::int64_t cpu = member                  ? member->cpu_ms
                       : found != tracks.end() ? found->second.reading.cpu_ms
                                               : -1;
    ended_cpu += std::max<std::int64_t>(cpu, 0);
  }
  ran = running;
  if (tracks.size() <= 2 * ProcessTree::kEndedKept) return;
  for (auto at = tracks.begin(); at != tracks.end();) {
    at = process_tree.find(at->first) ? std::next(at) : tracks.erase(at);
  }
}

void Sampler::State::measure(const Member& member, double now) {
  std::array<char, 256> before_text, after_text;
  std::string statm_path = roots.proc + "/" + std::to_string(member.pid) + "/statm";
  double began = options.clock ? options.clock() : 0;
  Statm before, after;
  bool quiet = parse_statm(read_once(AT_FDCWD, statm_path.c_str(), before_text), before);
  std::optional<Rollup> rollup = read_rollup(roots.proc, member.pid);
  quiet = quiet && parse_statm(read_once(AT_FDCWD, statm_path.c_str(), after_text), after) &&
          before.resident == after.resident && before.shared == after.shared;
  // Without a clock: as dear as small pages are.
  double cost = options.clock ? std::max(options.clock() - began, 0.0)
                              : 15e-6 + 0.019 * static_cast<double>(member.resident) / (1 << 30);
  spent += cost;
  credit -= cost;
  if (!rollup) return;
  Track& track = tracks[member.id];
  if (quiet) {
    std::int64_t off = rollup->rss - before.resident * page_bytes();
    track.bias = off > kNoise || off < -kNoise ? off : 0;
  }
  track.measured_resident = member.resident;
  track.measured_shared = member.shared;
  Measured one{member.id, *rollup, track.reading};
  one.at.measured = now;
  measured.push_back(one);
}

// Lends the measurements of a pass to their processes, all at once: a fork and its parent share,
// and one's old share with the other's new one would not add up.
void Sampler::State::commit(const ProcessTree& process_tree) {
  // A child forked while the pass went on halves its parent's share, and is not measured itself.
  std::unordered_set<std::int64_t> parents_of_new;
  for (std::int64_t id : process_tree.running_ids()) {
    const Member* member = process_tree.find(id);
    if (member->forked && !std::binary_search(pass_members.begin(), pass_members.end(), id)) {
      parents_of_new.insert(member->parent);
    }
  }
  for (const Measured& one : measured) {
    auto found = tracks.find(one.id);
    const Member* member = process_tree.find(one.id);
    if (found == tracks.end() || !member || found->second.execs != member->execs) continue;
    if (parents_of_new.count(one.id)) continue;
    const Rollup& rollup = one.rollup;
    Reading& reading = found->second.reading;
    reading.measured = one.at.measured;
    reading.proportional = rollup.pss;
    std::int64_t mapped = rollup.rss - rollup.anonymous;  // files and shmem
    Ratios ratios;
    if (rollup.pss_anonymous >= 0) {
      reading.anonymous_proportional = rollup.pss_anonymous;
      reading.file_proportional = rollup.pss_file;
      reading.shared_proportional = rollup.pss_shmem;
      std::int64_t shmem = std::min(std::max<std::int64_t>(one.at.shared, 0), mapped);
      ratios.anonymous = ratio(rollup.pss_anonymous, rollup.anonymous);
      ratios.file = ratio(rollup.pss_file, mapped - shmem);
      ratios.shared = ratio(rollup.pss_shmem, shmem);
    } else {
      // Before Linux 5.3 all there is to say is by how much the whole is shared. Anonymous pages
      // mostly are not: what is shared is taken from the files first.
      double shared = static_cast<double>(rollup.rss - rollup.pss);
      double from_files = std::min(shared, static_cast<double>(mapped));
      ratios.file = mapped > 0 ? 1 - from_files / static_cast<double>(mapped) : 1;
      ratios.shared = ratios.file;
      ratios.anonymous = rollup.anonymous > 0
                             ? 1 - (shared - from_files) / static_cast<double>(rollup.anonymous)
                             : 1;
    }
    found->second.ratios = ratios;
  }
  measured.clear();
}

// Measures as many processes as the budget has room for.
void Sampler::State::spend(const ProcessTree& process_tree, double now) {
  if (credited < 0) {
    credit = options.rollup_share;
  } else {
    credit = std::min(credit + (now - credited) * options.rollup_share, options.rollup_share);
  }
  credited = now;
  if (process_tree.copied()) return;
  const std::vector<std::int64_t>& running = process_tree.running_ids();
  double apart = options.rollup_seconds * (running.size() == 1 ? kAlone : 1);
  if (to_measure.empty() && credit > 0 && now - pass_began >= apart && !running.empty()) {
    pass_began = now;
    pass_members = running;
    for (auto id = running.rbegin(); id != running.rend(); ++id) {
      const Member* member = process_tree.find(*id);
      const Track& track = tracks[*id];
      bool same = track.measured_resident == member->resident &&
                  track.measured_shared == member->shared && track.ratios &&
                  now - track.reading.measured < kUnchangedFor;
      if (family_changed || !same) to_measure.push_back(*id);
    }
    family_changed = false;
  }
  if (to_measure.empty()) return;
  while (!to_measure.empty() && credit > 0) {
    const Member* member = process_tree.find(to_measure.back());
    to_measure.pop_back();
    if (member && member->running()) measure(*member, now);
  }
  if (to_measure.empty()) commit(process_tree);
}

void Sampler::State::sum(const ProcessTree& process_tree, double now, std::int64_t container) {
  // Two floors of each union; see the header.
  std::int64_t sums[3] = {0, 0, 0};
  std::int64_t largest[3] = {0, 0, 0};
  tree = recording::Sample{};
  tree.seconds = now;
  tree.container = container;
  std::int64_t cpu = ended_cpu;
  for (std::int64_t id : process_tree.running_ids()) {
    const Member* member = process_tree.find(id);
    const Track& track = tracks[id];
    const Reading& reading = track.reading;
    std::int64_t shmem = reading.resident - reading.anonymous - reading.file;
    std::int64_t kinds[3] = {reading.anonymous, reading.file, shmem};
    for (int kind = 0; kind < 3; ++kind) largest[kind] = std::max(largest[kind], kinds[kind]);
    if (track.ratios) {
      sums[0] += scaled(kinds[0], track.ratios->anonymous);
      sums[1] += scaled(kinds[1], track.ratios->file);
      sums[2] += scaled(kinds[2], track.ratios->shared);
    } else {
      auto parent = tracks.find(member->parent);
      const Member* maker = process_tree.find(member->parent);
      bool copied = member->forked && parent != tracks.end() && maker && maker->running();
      std::int64_t theirs = copied ? parent->second.reading.anonymous : 0;
      sums[0] += std::max<std::int64_t>(kinds[0] - theirs, 0);
    }
    add_known(tree.swap, reading.swap);
    add_known(tree.allocator_in_use, reading.allocator_in_use);
    add_known(tree.allocator_free, reading.allocator_free);
    cpu += std::max<std::int64_t>(reading.cpu_ms, 0);
  }
  tree.anonymous = std::max(sums[0], largest[0]);
  tree.file = std::max(sums[1], largest[1]);
  tree.shared = std::max(sums[2], largest[2]);
  tree.resident = tree.anonymous + tree.file + tree.shared;
  tree.cpu_ms = cpu;
  peak = std::max(peak, tree.resident);
}

Sampler::Sampler(Roots roots, Options options) : state_(std::make_unique<State>()) {
  state_->roots = std::move(roots);
  state_->options = std::move(options);
}
Sampler::~Sampler() = default;
Sampler::Sampler(Sampler&&) noexcept = default;
Sampler& Sampler::operator=(Sampler&&) noexcept = default;

const std::vector<recording::Sample>& Sampler::sample(ProcessTree& tree, double now,
                                                      std::int64_t container) {
  State& s = *state_;
  s.samples.clear();
  s.notice_ends(tree);
  for (std::int64_t id : tree.running_ids()) {
    const Member* member = tree.find(id);
    s.read_process(tree, *member, now);
    s.peak = std::max(s.peak, member->peak);
  }
  s.spend(tree, now);
  s.sum(tree, now, container);
  s.samples.push_back(s.tree);
  return s.samples;
}

void Sampler::note_allocator(std::int64_t id, std::int64_t in_use, std::int64_t free) {
  Reading& reading = state_->tracks[id].reading;
  reading.allocator_in_use = in_use;
  reading.allocator_free = free;
}

const Reading* Sampler::reading(std::int64_t id) const {
  auto found = state_->tracks.find(id);
  return found == state_->tracks.end() ? nullptr : &found->second.reading;
}

const recording::Sample& Sampler::tree_sample() const { return state_->tree; }
std::int64_t Sampler::peak() const { return state_->peak; }
double Sampler::rollup_seconds_spent() const { return state_->spent; }

}  // namespace lowtide::watch

// SPDX-License-Identifier: Apache-2.0
#include "cli/conclude.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "cli/account_parts.h"
#include "cli/heap_store.h"
#include "heap/suspects.h"
#include "watch/account.h"

namespace lowtide::cli {
namespace {

using recording::HeapInfo;
using recording::Process;
using recording::Sample;

// Everything that is judged of one process, or of the tree (process 0).
struct Case {
  std::int64_t process = 0;
  verdict::Evidence evidence;
  verdict::Verdict verdict;
  std::vector<heap::Suspect> suspects;
  std::int64_t peak = 0;
};

// A process is stored when it changed, the tree each time: at the moments of the tree's samples in
// between, the process was as it was before.
std::vector<verdict::Point> points_of(const std::vector<Sample>& samples,
                                      const std::vector<Sample>& tree) {
  std::vector<verdict::Point> points;
  points.reserve(samples.size());
  auto moment = tree.begin();
  for (const Sample& sample : samples) {
    if (sample.resident < 0) continue;
    for (; moment != tree.end() && moment->seconds <= sample.seconds; ++moment) {
      if (points.empty() || moment->seconds <= points.back().seconds) continue;
      if (moment->seconds == sample.seconds) continue;
      points.push_back(points.back());
      points.back().seconds = moment->seconds;
    }
    verdict::Point point;
    point.seconds = sample.seconds;
    point.resident = sample.resident;
    point.anonymous = sample.anonymous;
    if (point.anonymous >= 0 && sample.swap > 0) point.anonymous += sample.swap;
    point.file = sample.file;
    point.shared = sample.shared;
    point.allocator_in_use = sample.allocator_in_use;
    point.allocator_free = sample.allocator_free;
    points.push_back(point);
  }
  return points;
}

bool is_growth(verdict::Name name) { return name == verdict::Name::Leak; }

struct Rounds {
  std::vector<double> ends;
  bool guessed = false;  // by the lines of output, not by the person's pattern
};

Rounds rounds_of(const recording::Reader& reading) {
  Rounds rounds;
  for (const recording::Round& round : reading.rounds()) {
    rounds.ends.push_back(round.seconds);
    rounds.guessed = rounds.guessed || round.source != "pattern";
  }
  return rounds;
}

double rounds_until(const std::vector<double>& ends, double seconds) {
  return static_cast<double>(std::upper_bound(ends.begin(), ends.end(), seconds) - ends.begin());
}

// The heaps of a process, boiled down one after the other: at any time one graph is in memory, and
// at the end the last.
struct HeapStory {
  std::vector<verdict::LivePoint> live;
  std::vector<heap::Suspect> suspects;
  std::int64_t live_shallow = 0;
  std::int64_t live_native = 0;
  std::vector<std::pair<std::string, Bytes>> account;  // of the last graph
  std::vector<std::string> notes;
};

HeapStory read_heaps(const recording::Reader& reading, const std::vector<HeapInfo>& heaps,
                     const std::vector<double>& rounds, const ConcludeOptions& options) {
  HeapStory story;
  std::vector<heap::CensusPoint> points;
  std::unique_ptr<heap::Graph> last;
  int number = 0;
  for (const HeapInfo& info : heaps) {
    if (options.progress) {
      options.progress(fmt::format("reading heap {} of {} ({} objects) …", ++number, heaps.size(),
                                   count_text(info.nodes)));
    }
    last.reset();
    auto graph = load_heap(reading, info);
    if (!graph) {
      story.notes.push_back(graph.error().message);
      continue;
    }
    last = std::make_unique<heap::Graph>(std::move(*graph));
    auto census = heap::take_census(*last);
    verdict::LivePoint live;
    live.seconds = info.seconds;
    live.bytes = heap::reachable_bytes(*census).count;
    live.garbage = heap::garbage_bytes(*census).count;
    live.objects = last->node_count();
    story.live.push_back(live);
    points.push_back({info.seconds, rounds_until(rounds, info.seconds), std::move(census)});
  }
  if (!last) return story;
  for (heap::NodeId n = 0; n < last->node_count(); ++n) {
    story.live_shallow += last->shallow(n).count;
    story.live_native += last->native(n).count;
  }
  story.account = last->account;
  for (const std::string& note : last->notes) story.notes.push_back(note);
  if (points.size() >= 2) {
    if (options.progress) options.progress("looking for what grew and who holds it …");
    story.suspects = heap::find_suspects(points, *last, heap::SuspectOptions{});
  }
  return story;
}

// The account of the tree. The recorder closed it on what smaps and malloc say; here the anonymous
// part of each process is split further by what its last heap says is alive in it.
std::vector<report::Part> account_of(const recording::Reader& reading,
                                     const std::vector<Process>& processes,
                                     const std::map<std::int64_t, HeapStory>& stories) {
  std::map<std::int64_t, std::map<std::string, std::int64_t>> by_process;
  double closed = 0;  // when the account of the tree was closed last
  for (const auto& part : reading.account()) {
    by_process[part.process][part.part] = part.bytes;
    if (part.process == 0) closed = std::max(closed, part.seconds);
  }
  // Parts are kept for whoever ended long ago, too.
  for (const Process& process : processes) {
    if (process.ended && *process.ended < closed) by_process.erase(process.id);
  }
  std::vector<watch::Account> accounts;
  for (const auto& [process, parts] : by_process) {
    const auto bytes = [&](const char* name) {
      const auto found = parts.find(name);
      return found == parts.end() ? std::int64_t{-1} : found->second;
    };
    if (process == 0 || bytes(kMappedAnonymous) < 0) continue;
    watch::Known known;
    known.allocator_in_use = bytes(kMallocInUse);
    known.allocator_free = bytes(kMallocFree);
    if (const auto found = stories.find(process); found != stories.end()) {
      const HeapStory& story = found->second;
      known.runtime = "Python";
      known.live = story.live_shallow;
      known.live_native = story.live_native;
      std::int64_t arenas = 0;
      std::int64_t in_use = 0;
      for (const auto& [part, size] : story.account) {
        if (part == "pymalloc arenas") arenas = size.count;
        if (part == "pymalloc in use") in_use = size.count;
      }
      if (arenas > 0) known.runtime_free = std::max<std::int64_t>(arenas - in_use, 0);
    }
    accounts.push_back(
        watch::make_account(mappings_of(bytes), known, 0, process, watch::Basis::Pss));
  }
  std::vector<report::Part> account;
  for (const auto& part : watch::tree_account(accounts, 0).parts) {
    account.push_back({part.part, part.bytes});
  }
  if (const auto tree = by_process.find(0); tree != by_process.end()) {
    const auto rest = tree->second.find(kSmallerProcesses);
    if (rest != tree->second.end()) account.push_back({rest->first, rest->second});
  }
  return account;
}

// Which of the cases is what a person should be told. A process that leaks comes first, the fastest
// of them; its growth has to show in the tree or in its heap, because a fork that unshares its
// parent's pages grows alone. Then the tree, where many small processes grow or more and more of
// them live.
const Case& choose(const std::vector<Case>& cases) {
  const Case& tree = cases.front();
  const Case* best = nullptr;
  for (std::size_t i = 1; i < cases.size(); ++i) {
    const Case& one = cases[i];
    if (!is_growth(one.verdict.name)) continue;
    const bool shows = !one.suspects.empty() || is_growth(tree.verdict.name) ||
                       tree.verdict.rate_per_second > one.verdict.rate_per_second / 2;
    if (!shows) continue;
    if (!best || one.verdict.rate_per_second > best->verdict.rate_per_second) best = &one;
  }
  if (best) return *best;
  if (is_growth(tree.verdict.name)) return tree;
  // Nothing leaks. One process that is nearly all of the tree knows more than the sum does.
  for (std::size_t i = 1; i < cases.size(); ++i) {
    if (cases[i].peak > tree.peak / 2) return cases[i];
  }
  return tree;
}

}  // namespace

report::Findings conclude(const recording::Reader& reading, const std::string& path,
                          const ConcludeOptions& options) {
  report::Findings findings;
  findings.run = reading.run();
  findings.recording = path;
  const auto stored_end = reading.end();
  findings.ended = options.end.has_value() || stored_end.has_value();
  findings.end = options.end.value_or(stored_end.value_or(recording::End{}));

  const std::vector<Process> processes = reading.processes();
  const std::vector<HeapInfo> heaps = reading.heaps();
  const Rounds rounds = rounds_of(reading);
  const std::vector<Sample> tree_samples = reading.samples(0);
  if (!findings.ended) {
    findings.end.seconds = tree_samples.empty() ? 0 : tree_samples.back().seconds;
    findings.end.processes = static_cast<std::int64_t>(processes.size());
    for (const Sample& sample : tree_samples) {
      findings.end.peak = std::max(findings.end.peak, sample.resident);
    }
  }

  // The tree, then the processes that matter: with heaps, or more than a twentieth of the whole.
  std::vector<Case> cases(1);
  cases[0].peak = findings.end.peak;
  std::map<std::int64_t, HeapStory> stories;
  std::vector<const Process*> by_size;
  for (const Process& process : processes) by_size.push_back(&process);
  std::sort(by_size.begin(), by_size.end(),
            [](const Process* a, const Process* b) { return a->peak > b->peak; });
  for (const Process* process : by_size) {
    if (cases.size() > 8) break;
    const bool large = process->peak > findings.end.peak / 20;
    const auto own = heaps_of(heaps, process->id);
    if (!large && own.size() < 2) continue;
    Case one;
    one.process = process->id;
    one.peak = process->peak;
    cases.push_back(one);
    if (!own.empty() && stories.size() < 4) {
      stories.emplace(process->id, read_heaps(reading, worth_reading(own), rounds.ends, options));
    }
  }
  for (Case& one : cases) {
    verdict::Evidence& evidence = one.evidence;
    evidence.points = one.process == 0 ? points_of(tree_samples, {})
                                       : points_of(reading.samples(one.process), tree_samples);
    evidence.limit = findings.run.limit;
    evidence.ended_by_limit = findings.end.oom;
    evidence.rounds = rounds.ends;
    evidence.rounds_guessed = rounds.guessed;
    if (const auto story = stories.find(one.process); story != stories.end()) {
      evidence.live = story->second.live;
      one.suspects = story->second.suspects;
      evidence.growing_suspects = !one.suspects.empty();
    }
    if (one.process == 0) {
      for (const auto& part : reading.account()) {
        if (part.part == "container: page cache") evidence.container_cache = part.bytes;
      }
    }
    if (evidence.rounds.empty()) {
      evidence.rounds = verdict::find_rounds(evidence.points);
      evidence.rounds_guessed = true;
    }
    one.verdict = verdict::judge(evidence);
  }
  const Case& chosen = choose(cases);
  findings.verdict = chosen.verdict;
  const auto process_of = [&](std::int64_t id) -> const Process* {
    for (const Process& process : processes) {
      if (process.id == id) return &process;
    }
    return nullptr;
  };
  if (is_growth(chosen.verdict.name)) {
    for (const Case& one : cases) {
      const Process* process = process_of(one.process);
      if (!process || (&one != &chosen && !is_growth(one.verdict.name))) continue;
      for (const heap::Suspect& suspect : one.suspects) {
        findings.suspects.push_back({suspect, process->pid, process->runtime});
      }
    }
    std::stable_sort(
        findings.suspects.begin(), findings.suspects.end(),
        [](const auto& a, const auto& b) { return a.what.retained > b.what.retained; });
  }

  if (chosen.verdict.name == verdict::Name::Undecided && !chosen.suspects.empty()) {
    const heap::Suspect& first = chosen.suspects.front();
    findings.notes.push_back(fmt::format(
        "what grew so far, too little to accuse anybody: +{} {}{}", count_text(first.count),
        first.type, first.holders.empty() ? "" : ", held by " + first.holders.front().text));
  }
  findings.account = account_of(reading, processes, stories);
  for (const Process& process : processes) {
    findings.processes.push_back(
        {process.pid, process.name, process.runtime, process.peak, process.note});
  }
  for (const HeapInfo& info : heaps) {
    const Process* process = process_of(info.process);
    report::Snapshot snapshot;
    snapshot.pid = process ? process->pid : 0;
    snapshot.seconds = info.seconds;
    snapshot.pause = info.pause;
    snapshot.lock_wait = info.lock_wait;
    snapshot.nodes = info.nodes;
    findings.snapshots.push_back(snapshot);
  }
  for (const recording::Event& event : reading.events()) {
    if (event.kind == "heap-refused") {
      const Process* process = process_of(event.process);
      report::Snapshot snapshot;
      snapshot.pid = process ? process->pid : 0;
      snapshot.seconds = event.seconds;
      snapshot.refused = event.text;
      findings.snapshots.push_back(snapshot);
    } else if (event.kind == "lost" || event.kind == "no-probe" || event.kind == "oom" ||
               event.kind == "note") {
      findings.notes.push_back(event.text);
    }
  }
  // No heap at all: the first reason is why nobody is named.
  const auto refusal = std::find_if(findings.snapshots.begin(), findings.snapshots.end(),
                                    [](const auto& one) { return !one.refused.empty(); });
  if (heaps.empty() && refusal != findings.snapshots.end()) {
    findings.notes.push_back("no heap was read: " + refusal->refused);
  }
  for (const auto& [id, story] : stories) {
    findings.notes.insert(findings.notes.end(), story.notes.begin(), story.notes.end());
  }
  if (!options.end) {
    for (const std::string& sentence : reading.missing()) findings.notes.push_back(sentence);
  }
  return findings;
}

}  // namespace lowtide::cli

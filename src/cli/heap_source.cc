// SPDX-License-Identifier: Apache-2.0
#include "cli/heap_source.h"

#include <dirent.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <map>
#include <string_view>
#include <utility>

#include "cli/console.h"
#include "cli/heap_capture.h"
#include "cli/heap_store.h"
#include "cli/run_folder.h"

namespace lowtide::cli {
namespace {

double seconds_now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

bool is_file(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0;
}

// The number a text is, or -1.
int number_of(std::string_view text) {
  int number = -1;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && rest == text.data() + text.size() && number >= 0 ? number : -1;
}

// The process whose heaps a question without a pid means: the one with most of them, and of those
// the one with most objects.
std::int64_t main_process(const std::vector<recording::HeapInfo>& heaps) {
  std::map<std::int64_t, std::pair<std::size_t, std::int64_t>> weight;
  for (const recording::HeapInfo& info : heaps) {
    auto& [count, nodes] = weight[info.process];
    ++count;
    nodes = std::max(nodes, info.nodes);
  }
  const auto best = std::max_element(
      weight.begin(), weight.end(),
      [](const auto& a, const auto& b) { return a.second.second < b.second.second; });
  return best == weight.end() ? 0 : best->first;
}

}  // namespace

Result<std::string> newest_recording() {
  std::string newest;
  timespec newest_time{};
  if (DIR* folder = ::opendir(".")) {
    while (const dirent* entry = ::readdir(folder)) {
      const std::string name = entry->d_name;
      struct stat facts {};
      if (!name.ends_with(".tide") || ::stat(name.c_str(), &facts) != 0) continue;
      const timespec& time = facts.st_mtim;
      if (newest.empty() || std::pair(time.tv_sec, time.tv_nsec) >
                                std::pair(newest_time.tv_sec, newest_time.tv_nsec)) {
        newest = name;
        newest_time = time;
      }
    }
    ::closedir(folder);
  }
  if (newest.empty()) {
    return Error{Code::NotFound,
                 "there is no recording (*.tide) in this folder; make one: lowtide run -- COMMAND"};
  }
  return newest;
}

Result<std::unique_ptr<recording::Reader>> open_recording(const std::string& file,
                                                          std::string& path) {
  path = file;
  if (file.empty()) {
    auto newest = newest_recording();
    if (!newest) return newest.error();
    path = *newest;
  }
  return recording::Reader::open(path);
}

Result<cpython::HeapAnswer> ask_process(std::int32_t pid, lowtide_ask question,
                                        const std::string& text, double limit) {
  if (::kill(pid, 0) != 0 && errno == ESRCH) {
    return Error{Code::NotFound, fmt::format("there is no process {}", pid)};
  }
  for (const std::string& path : RunFolder::all()) {
    auto folder = RunFolder::join(path);
    if (!folder || ::kill(folder->table().recorder_pid, 0) != 0) continue;
    lowtide_slot* slot = folder->slot_of(pid);
    if (!slot) continue;

    cpython::StreamReader stream;
    Status fed = Done{};
    const auto take = [&](std::string_view piece) {
      if (fed) fed = stream.feed(piece);
    };
    // The recorder asks too, now and then, and one at a time is answered.
    const double began = seconds_now();
    auto capture = HeapCapture::ask(*folder, *slot, question, text, take, began, true);
    while (!capture && capture.error().code == Code::Limit && seconds_now() - began < limit) {
      ::poll(nullptr, 0, 50);
      capture = HeapCapture::ask(*folder, *slot, question, text, take, seconds_now(), true);
    }
    if (!capture) return capture.error();
    Progress progress(true);
    HeapCapture::State state = HeapCapture::State::Waiting;
    while (state == HeapCapture::State::Waiting || state == HeapCapture::State::Streaming) {
      pollfd watched{(*capture)->fd(), POLLIN, 0};
      ::poll(&watched, 1, 100);
      state = (*capture)->step(seconds_now(), limit);
      progress.show(state == HeapCapture::State::Waiting
                        ? fmt::format("waiting for process {} …", pid)
                        : fmt::format("reading the heap of process {} ({} objects) …", pid,
                                      count_text(stream.nodes())));
    }
    if (!fed) return fed.error();
    if (state == HeapCapture::State::Failed) {
      return Error{Code::Unsupported, (*capture)->failure()};
    }
    return std::move(stream).finish();
  }
  return Error{Code::NotFound,
               fmt::format("process {} does not run under 'lowtide run' (or without "
                           "the probe), so it cannot be asked",
                           pid)};
}

Result<HeapChoice> choose_heap(const std::string& target, int snapshot, bool contents) {
  std::string file = target;
  if (const int pid = number_of(target); pid > 0 && !is_file(target)) {
    lowtide_ask question{};
    question.kind = LOWTIDE_ASK_HEAP;
    question.flags = contents ? LOWTIDE_ASK_CONTENTS : 0;
    question.walk_limit_ms = 60'000;
    question.lock_limit_ms = 30'000;
    auto answer = ask_process(pid, question, "", 30);
    if (!answer) return answer.error();
    HeapChoice choice;
    choice.graph = std::move(answer->graph);
    choice.name = fmt::format("process {}, now", pid);
    return choice;
  }
  if (const auto at = file.rfind('@'); at != std::string::npos && !is_file(file)) {
    const int number = number_of(std::string_view(file).substr(at + 1));
    if (number > 0) {
      if (snapshot == 0) snapshot = number;
      file.resize(at);
    }
  }
  HeapChoice choice;
  std::string path;
  auto reader = open_recording(file, path);
  if (!reader) return reader.error();
  choice.reader = std::move(*reader);
  const auto all = choice.reader->heaps();
  choice.process = main_process(all);
  choice.heaps = heaps_of(all, choice.process);
  if (choice.heaps.empty()) {
    std::string why = "no process of it could be read";
    for (const recording::Event& event : choice.reader->events()) {
      if (event.kind == "heap-refused" || event.kind == "no-probe") why = event.text;
    }
    return Error{Code::NotFound, fmt::format("{} holds no heap: {}", path, why)};
  }
  const auto count = choice.heaps.size();
  if (snapshot < 0 || static_cast<std::size_t>(snapshot) > count) {
    return Error{Code::Invalid,
                 fmt::format("{} holds {} heaps, there is no number {}", path, count, snapshot)};
  }
  choice.position = snapshot == 0 ? count - 1 : static_cast<std::size_t>(snapshot) - 1;
  const recording::HeapInfo& info = choice.heaps[choice.position];
  auto graph = load_heap(*choice.reader, info);
  if (!graph) return graph.error();
  choice.graph = std::move(*graph);
  choice.name = fmt::format("{}, heap {} of {}, at {}", path, choice.position + 1, count,
                            duration_text(info.seconds));
  return choice;
}

}  // namespace lowtide::cli

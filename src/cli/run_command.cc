// SPDX-License-Identifier: Apache-2.0
//
// lowtide run: starts a command, watches it to its end, says what was found.

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdlib>
#include <ctime>

#include "cli/commands.h"
#include "cli/conclude.h"
#include "cli/console.h"
#include "cli/launch.h"
#include "cli/recorder.h"
#include "cli/relay.h"
#include "cli/run_options.h"
#include "cli/run_output.h"
#include "cli/run_signals.h"
#include "report/json.h"
#include "report/summary.h"
#include "wire/loadable.h"

namespace lowtide::cli {
namespace {

std::string time_text(const char* format) {
  const time_t now = ::time(nullptr);
  tm local{};
  ::localtime_r(&now, &local);
  std::array<char, 64> text{};
  return std::string(text.data(), std::strftime(text.data(), text.size(), format, &local));
}

std::string host_text() {
  utsname kernel{};
  ::uname(&kernel);
  const watch::HostMemory memory = watch::host_memory(watch::Roots{});
  return fmt::format("{} {}, {} processors, {}", kernel.sysname, kernel.release,
                     ::sysconf(_SC_NPROCESSORS_ONLN), to_text(Bytes{memory.total}));
}

// The probe that lies beside this program, built or installed; "" where there is none.
std::string probe_path() {
  std::array<char, PATH_MAX> self{};
  const ssize_t length = ::readlink("/proc/self/exe", self.data(), self.size() - 1);
  if (length <= 0) return "";
  const std::string program(self.data(), static_cast<std::size_t>(length));
  const std::string folder = program.substr(0, program.rfind('/'));
  for (const char* place : {"/liblowtide_probe.so", "/../lib/lowtide/liblowtide_probe.so",
                            "/../lib64/lowtide/liblowtide_probe.so"}) {
    const std::string candidate = folder + place;
    if (::access(candidate.c_str(), R_OK) != 0) continue;
    std::array<char, PATH_MAX> real{};
    return ::realpath(candidate.c_str(), real.data()) ? real.data() : candidate;
  }
  return "";
}

// How the command is started: with the probe, or `without` and why.
struct Start {
  Launch what;
  std::unique_ptr<RunFolder> folder;
  std::string without;
  std::vector<Relay> relays;  // of output, where rounds are wanted and no probe sees them
};

// Rounds of a command without a probe are looked for on the way of its output.
void relay_output(const RunOptions& options, Start& start, std::uint64_t started_ns) {
  if (!start.folder) {
    auto made = RunFolder::create("", &*options.round, started_ns);
    if (!made) return;
    start.folder = std::make_unique<RunFolder>(std::move(*made));
  }
  for (const int descriptor : {STDOUT_FILENO, STDERR_FILENO}) {
    auto relay = Relay::start(descriptor, *options.round, start.folder->table());
    if (!relay) continue;
    (descriptor == STDOUT_FILENO ? start.what.output : start.what.error) = relay->end();
    start.relays.push_back(std::move(*relay));
  }
}

Start plan_start(const RunOptions& options, const std::string& program, std::uint64_t started_ns) {
  Start start;
  start.what.command = options.command;
  if (!options.probe) return start;
  const std::string probe = probe_path();
  const char* preload = std::getenv("LD_PRELOAD");
  if (preload && lowtide_preload_names_sanitizer(preload)) {
    start.without = lowtide_loadable_sentence(LOWTIDE_LOADABLE_SANITIZER);
  } else if (probe.empty()) {
    start.without = "the probe (liblowtide_probe.so) is not where lowtide is installed";
  } else if (const lowtide_loadable can =
                 lowtide_can_load(program.c_str(), std::getenv("PATH"), probe.c_str());
             can != LOWTIDE_LOADABLE) {
    start.without = lowtide_loadable_sentence(can);
  }
  if (probe.empty()) return start;
  RunFolder::remove_stale();
  auto made = RunFolder::create(probe, options.round ? &*options.round : nullptr, started_ns);
  if (!made) {
    start.without = made.error().message;
    return start;
  }
  start.folder = std::make_unique<RunFolder>(std::move(*made));
  if (!start.without.empty()) return start;
  // A variable that is set but empty stays so: the probe takes its own entry out again.
  start.what.environment = {
      fmt::format("LD_PRELOAD={}{}{}", probe, preload ? ":" : "", preload ? preload : ""),
      fmt::format("{}={}", LOWTIDE_ENVIRONMENT, start.folder->path())};
  return start;
}

// Says and writes what the run found. Its troubles are the recorder's, never the target's.
void conclude_run(const RunOptions& options, recording::Writer& writer, JsonFile& json_file,
                  const recording::End& end) {
  const std::string path = writer.path();
  writer.settle(end.seconds);
  report::Findings findings;
  if (auto reader = recording::Reader::open(path)) {
    Progress progress(!options.quiet);
    ConcludeOptions how;
    how.end = end;
    how.progress = [&](std::string_view line) { progress.show(line); };
    findings = conclude(**reader, path, how);
  } else {
    findings.run.command = options.command;
    findings.end = end;
    findings.ended = true;
    findings.notes.push_back(reader.error().message);
  }
  if (const std::string trouble = writer.trouble(); !trouble.empty()) {
    findings.notes.push_back(trouble);
  }
  const std::string json = report::to_json(findings);
  writer.put(recording::Conclusion{json});
  writer.finish(end);
  if (const Status put = json_file.write(json + "\n"); !put) say(put.error().message);
  if (!options.quiet) tell(report::summary(findings, style_of(STDERR_FILENO)));
}

}  // namespace

int run_command(const RunOptions& options) {
  fill_standard_descriptors();
  RunSignals signals;
  const auto program = find_program(options.command[0]);
  if (!program) {
    say(program.error().message);
    return program.error().code == Code::NotFound ? 127 : 126;
  }

  recording::Run about;
  about.command = options.command;
  about.started = time_text("%Y-%m-%dT%H:%M:%S%z");
  about.interval = options.interval;
  about.round_pattern = options.round_text;
  about.host = host_text();
  about.lowtide = LOWTIDE_VERSION;
  watch::OomWatch oom = watch::OomWatch::begin(watch::Roots{}, ::getpid());
  const watch::Limit limit = watch::Container(oom.container()).limit();
  about.limit = limit.bytes;
  about.limit_source = limit.source;
  auto json = JsonFile::open(options.json);
  if (!json) return fail(json.error().message);
  auto writer = place_recording(options, about, time_text("%Y%m%d-%H%M%S"));
  if (!writer) {
    json->forget();
    return fail(writer.error().message);
  }

  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  const std::uint64_t started_ns = static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u +
                                   static_cast<std::uint64_t>(time.tv_nsec);
  Start start = plan_start(options, *program, started_ns);
  if (options.round && (!options.probe || !start.without.empty())) {
    relay_output(options, start, started_ns);
  }
  start.what.signal_mask = signals.mask_before();
  start.what.child_signal_ignored = signals.child_signal_ignored();
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  signals.die_of_what_came_early();
  const Launched launched = launch(start.what, *program);
  if (launched.pid < 0) {
    discard(std::move(*writer));
    json->forget();
    say(launched.failure.sentence);
    return launched.failure.status;
  }
  std::vector<pid_t> ours;
  for (Relay& relay : start.relays) {
    relay.release();
    ours.push_back(relay.pid());
  }
  release_inherited_descriptors();
  if (!start.without.empty()) {
    (*writer)->put(
        recording::Event{0, 0, "no-probe", "no heap from the command itself: " + start.without});
  }

  Recorder recorder(options, start.folder.get(), **writer, std::move(oom), started_ns);
  const recording::End end = recorder.watch_to_the_end(launched.pid, ours, signals.fd());
  start.folder.reset();
  signals.let_interrupt(
      end.status, fmt::format("\nlowtide: interrupted; what was found says: lowtide report {}\n",
                              (*writer)->path()));
  conclude_run(options, **writer, *json, end);
  return end.status;
}

}  // namespace lowtide::cli

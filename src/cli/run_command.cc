// SPDX-License-Identifier: Apache-2.0
//
// lowtide run: starts a command, watches it to its end, says what was found.

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <ctime>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/conclude.h"
#include "cli/console.h"
#include "cli/launch.h"
#include "cli/recorder.h"
#include "cli/run_options.h"
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

// "python3" of "/usr/bin/python3", with nothing a file name should not have.
std::string file_word(const std::string& program) {
  std::string word;
  for (char c : program.substr(program.rfind('/') + 1)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '_' || c == '+';
    word += plain ? c : '_';
  }
  return word.substr(0, 40);
}

std::string host_text() {
  utsname kernel{};
  ::uname(&kernel);
  const watch::HostMemory memory = watch::host_memory(watch::Roots{});
  return fmt::format("{} {}, {} processors, {}", kernel.sysname, kernel.release,
                     ::sysconf(_SC_NPROCESSORS_ONLN), to_text(Bytes{memory.total}));
}

// Where the recording goes. A folder that cannot be written is no reason to refuse, unless the
// person named it.
Result<std::unique_ptr<recording::Writer>> open_recording(const RunOptions& options,
                                                          const recording::Run& run) {
  if (!options.out.empty()) {
    ::unlink(options.out.c_str());
    return recording::Writer::create(options.out, run);
  }
  const std::string name =
      fmt::format("lowtide-{}-{}", file_word(options.command[0]), time_text("%Y%m%d-%H%M%S"));
  const char* temporary = std::getenv("TMPDIR");
  Error last{Code::Io, ""};
  for (const std::string& folder :
       {std::string(), std::string(temporary ? temporary : "/tmp") + "/"}) {
    for (int again = 1; again < 100; ++again) {
      std::string path = folder + name;
      if (again > 1) path += fmt::format("-{}", again);
      path += ".tide";
      struct stat facts {};
      if (::lstat(path.c_str(), &facts) == 0) continue;  // two runs in one second
      auto writer = recording::Writer::create(path, run);
      if (writer) {
        if (!folder.empty()) {
          say(fmt::format("this folder cannot be written, so the recording goes to {}", path));
        }
        return writer;
      }
      last = writer.error();
      break;
    }
  }
  return last;
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

// The signals a run waits for; blocked in us from before the command starts, never in it.
sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (int signal : {SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH,
                     SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU, SIGPIPE}) {
    sigaddset(&set, signal);
  }
  return set;
}

// Says and writes what the run found. Its troubles are the recorder's, never the target's.
void conclude_run(const RunOptions& options, recording::Writer& writer, const recording::End& end) {
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
    findings.notes.push_back(reader.error().message);
  }
  if (const std::string trouble = writer.trouble(); !trouble.empty()) {
    findings.notes.push_back(trouble);
  }
  const std::string json = report::to_json(findings);
  writer.put(recording::Conclusion{json});
  writer.finish(end);
  if (!options.json.empty()) {
    if (const Status put = write_file(options.json, json + "\n"); !put) say(put.error().message);
  }
  if (!options.quiet) tell(report::summary(findings, style_of(STDERR_FILENO)));
}

}  // namespace

int run_command(const RunOptions& options) {
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
  auto writer = open_recording(options, about);
  if (!writer) return fail(writer.error().message);
  if (!options.json.empty()) {
    // Found out now, not after hours.
    if (const Status can = write_file(options.json, ""); !can) {
      ::unlink((*writer)->path().c_str());
      return fail(can.error().message);
    }
  }

  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  const std::uint64_t started_ns = static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u +
                                   static_cast<std::uint64_t>(time.tv_nsec);

  Launch what;
  what.command = options.command;
  std::unique_ptr<RunFolder> folder;
  std::string no_probe;
  if (options.probe) {
    const std::string probe = probe_path();
    if (const char* preload = std::getenv("LD_PRELOAD");
        preload && lowtide_preload_names_sanitizer(preload)) {
      no_probe = lowtide_loadable_sentence(LOWTIDE_LOADABLE_SANITIZER);
    } else if (probe.empty()) {
      no_probe = "the probe (liblowtide_probe.so) is not where lowtide is installed";
    } else if (const lowtide_loadable can =
                   lowtide_can_load(program->c_str(), std::getenv("PATH"), probe.c_str());
               can != LOWTIDE_LOADABLE) {
      no_probe = lowtide_loadable_sentence(can);
    }
    if (!probe.empty()) {
      auto made = RunFolder::create(probe, options.round ? &*options.round : nullptr, started_ns);
      if (made) {
        folder = std::make_unique<RunFolder>(std::move(*made));
      } else {
        no_probe = made.error().message;
      }
    }
    if (folder && no_probe.empty()) {
      // A variable that is set but empty stays so: the probe takes its own entry out again.
      const char* preload = std::getenv("LD_PRELOAD");
      what.environment = {
          fmt::format("LD_PRELOAD={}{}{}", probe, preload ? ":" : "", preload ? preload : ""),
          fmt::format("{}={}", LOWTIDE_ENVIRONMENT, folder->path())};
    }
  }

  const sigset_t waited_for = watched_signals();
  ::sigprocmask(SIG_BLOCK, &waited_for, &what.signal_mask);
  Fd signals(::signalfd(-1, &waited_for, SFD_CLOEXEC | SFD_NONBLOCK));
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const Launched launched = launch(what, *program);
  if (launched.pid < 0) {
    ::unlink((*writer)->path().c_str());
    say(launched.failure.sentence);
    return launched.failure.status;
  }
  if (!no_probe.empty()) {
    (*writer)->put(recording::Event{0, 0, "no-probe",
                                    "no heap and no rounds from the command itself: " + no_probe});
    if (options.round) {
      (*writer)->put(recording::Event{0, 0, "note", "--round cannot be matched: " + no_probe});
    }
  }

  Recorder recorder(options, folder.get(), **writer, std::move(oom), started_ns);
  const recording::End end = recorder.watch_to_the_end(launched.pid, signals.number());
  folder.reset();
  conclude_run(options, **writer, end);
  return end.status;
}

}  // namespace lowtide::cli

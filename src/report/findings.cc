// SPDX-License-Identifier: Apache-2.0
#include "report/findings.h"

#include <fmt/format.h>

#include <array>
#include <csignal>
#include <string_view>

#include "report/text.h"

namespace lowtide::report {
namespace {

// sigabbrev_np() is newer than the glibc of the oldest machine this is to be built on.
std::string signal_name(int signal) {
  struct Named {
    int number;
    const char* name;
  };
  static constexpr std::array kNames = {
      Named{SIGHUP, "SIGHUP"},   Named{SIGINT, "SIGINT"},   Named{SIGQUIT, "SIGQUIT"},
      Named{SIGILL, "SIGILL"},   Named{SIGTRAP, "SIGTRAP"}, Named{SIGABRT, "SIGABRT"},
      Named{SIGBUS, "SIGBUS"},   Named{SIGFPE, "SIGFPE"},   Named{SIGKILL, "SIGKILL"},
      Named{SIGUSR1, "SIGUSR1"}, Named{SIGSEGV, "SIGSEGV"}, Named{SIGUSR2, "SIGUSR2"},
      Named{SIGPIPE, "SIGPIPE"}, Named{SIGALRM, "SIGALRM"}, Named{SIGTERM, "SIGTERM"},
      Named{SIGXCPU, "SIGXCPU"}, Named{SIGXFSZ, "SIGXFSZ"}, Named{SIGSYS, "SIGSYS"}};
  for (const Named& named : kNames) {
    if (named.number == signal) return named.name;
  }
  return fmt::format("signal {}", signal);
}

std::string quoted(const std::string& word) {
  if (!word.empty() && word.find_first_of(" \t\n'\"\\$`;&|<>(){}*?#!") == std::string::npos) {
    return word;
  }
  std::string out = "'";
  for (char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace

std::string command_text(const std::vector<std::string>& command) {
  std::string text;
  for (const std::string& word : command) text += (text.empty() ? "" : " ") + quoted(word);
  return clean(text);
}

std::string exit_text(const recording::End& end) {
  if (end.oom) return "killed by the OOM killer";
  if (end.signal != 0) return "killed by " + signal_name(end.signal);
  return end.status == 0 ? "" : fmt::format("exited with {}", end.status);
}

std::string_view meaning(verdict::Name name) {
  using verdict::Name;
  switch (name) {
    case Name::Steady:
      return "nothing leaks";
    case Name::Leak:
      return "the low-water mark rises";
    case Name::WarmingUp:
      return "grows only while it starts";
    case Name::LevellingOff:
      return "growth that decays";
    case Name::RetainedByAllocator:
      return "freed by the program, kept by malloc";
    case Name::CacheAtCap:
      return "a cache that filled up and stopped";
    case Name::PageCache:
      return "file pages the kernel takes back when it needs them";
    case Name::Burst:
      return "a peak that goes away again";
    case Name::Undecided:
      return "not enough to tell";
  }
  return "";
}

bool is_quiet(const Findings& findings) {
  using verdict::Name;
  const Name name = findings.verdict.name;
  return name != Name::Leak && name != Name::Undecided && !findings.end.oom && findings.ended;
}

}  // namespace lowtide::report

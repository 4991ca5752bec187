// SPDX-License-Identifier: Apache-2.0
#include "watch/oom.h"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>

#include "base/file.h"
#include "base/units.h"
#include "watch/proc_text.h"

namespace lowtide::watch {
namespace {

constexpr int kShellsSigkill = 128 + SIGKILL;

// By how much a counter rose; 0 where the kernel did not say at either time.
std::int64_t rise(std::int64_t before, std::int64_t after) {
  return before >= 0 && after > before ? after - before : 0;
}

std::string who(const Dead& dead) { return dead.name + " (pid " + std::to_string(dead.pid) + ")"; }

// ": it held 1.97 GiB 80 ms before (peak 1.98 GiB)", as far as is known.
std::string what_it_held(const Dead& dead) {
  if (dead.resident < 0) return "";
  std::string text = "; it held " + to_text(Bytes{dead.resident});
  if (dead.age >= 0) text += " " + duration_text(dead.age) + " before";
  if (dead.peak > dead.resident) text += ", at its peak " + to_text(Bytes{dead.peak});
  return text;
}

}  // namespace

OomWatch OomWatch::begin(const Roots& roots, std::int32_t pid) {
  OomWatch watch;
  watch.roots_ = roots;
  watch.container_ = Container::of(roots, pid);
  watch.before_ = watch.read();
  return watch;
}

OomWatch::Counters OomWatch::read() const {
  Counters counters;
  for (std::size_t i = 0; i < container_.groups().size(); ++i) {
    counters.groups.push_back(container_.events(i));
  }
  Result<std::string> text = read_file(roots_.proc + "/vmstat");
  if (text) counters.machine = keyed_number(*text, "oom_kill");
  return counters;
}

int OomWatch::group_at_limit(const Counters& now) const {
  for (std::size_t i = 0; i < now.groups.size(); ++i) {
    const MemoryEvents &was = before_.groups[i], &is = now.groups[i];
    // v2: oom rises in the group that met its limit and in those above, so the first is the one.
    // v1 counts no such thing; it counts how often the limit was met.
    bool v2 = container_.groups()[i].version == 2;
    if (v2 ? rise(was.oom, is.oom) > 0 : rise(was.max, is.max) > 0) return static_cast<int>(i);
  }
  // v1 counts nothing where memory and swap together have the same limit, as container engines
  // like to set it (seen on 6.18). Then the most the group ever used must do.
  for (std::size_t i = 0; i < now.groups.size(); ++i) {
    if (container_.groups()[i].version == 2) continue;
    std::int64_t limit = container_.limit_of(i);
    if (limit > 0 && container_.peak_of(i) >= limit - limit / 50) return static_cast<int>(i);
  }
  return -1;
}

std::int64_t OomWatch::kills() const {
  Counters now = read();
  if (now.groups.empty()) return rise(before_.machine, now.machine);
  return rise(before_.groups[0].oom_kill, now.groups[0].oom_kill);
}

Ending OomWatch::judge(const Dead& dead) {
  bool killed = WIFSIGNALED(dead.wait_status) && WTERMSIG(dead.wait_status) == SIGKILL;
  bool passed_on = WIFEXITED(dead.wait_status) && WEXITSTATUS(dead.wait_status) == kShellsSigkill;
  if (!killed && !passed_on) return {};
  Counters now = read();
  bool counted = !now.groups.empty() && now.groups[0].oom_kill >= 0;
  std::int64_t kills = counted ? rise(before_.groups[0].oom_kill, now.groups[0].oom_kill)
                               : rise(before_.machine, now.machine);
  if (kills <= told_) {
    if (passed_on) return {};
    std::string text = who(dead) + " was killed by SIGKILL";
    text += counted || now.machine >= 0
                ? ", and not by the kernel's OOM killer, which counts no kill here"
                : "; whether by the OOM killer, this kernel does not say";
    return {Death::Killed, text + what_it_held(dead) + "."};
  }
  ++told_;
  std::string text = "The kernel's OOM killer took ";
  text += passed_on ? "a process that " + who(dead) + " had started" : who(dead);
  int at = group_at_limit(now);
  if (at < 0) {
    HostMemory host = host_memory(roots_);
    text += counted ? " for want of memory of the machine" : " or another process of this machine";
    if (host.total > 0) text += " (" + to_text(Bytes{host.total}) + ")";
    if (counted) text += ", or at a limit above what this container shows";
    return {Death::MachineOom, text + what_it_held(dead) + "."};
  }
  const Group& group = container_.groups()[static_cast<std::size_t>(at)];
  std::int64_t limit = container_.limit_of(static_cast<std::size_t>(at));
  text += " at the container limit";
  if (limit > 0) text += " of " + to_text(Bytes{limit});
  text += " (group " + readable(group.path, 80) + ")";
  bool whole = rise(before_.groups[0].oom_group_kill, now.groups[0].oom_group_kill) > 0 ||
               container_.kills_whole_group();
  if (whole) text += ", and with it the whole group (memory.oom.group)";
  return {whole ? Death::GroupOom : Death::ContainerOom, text + what_it_held(dead) + "."};
}

}  // namespace lowtide::watch

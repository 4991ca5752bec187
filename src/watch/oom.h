// SPDX-License-Identifier: Apache-2.0
#pragma once

// Was it the OOM killer? SIGKILL does not say who sent it; the kernel's counters do.
//
// The counters are read when the watch begins and again when a process has died:
//
//     oom_kill of its group rose, and oom of a group   -> that group's limit
//     oom_kill rose, and no group's oom                -> the machine's memory, or a limit
//                                                         further up than this container sees
//     nothing rose                                     -> somebody else's SIGKILL

#include <cstdint>
#include <string>
#include <vector>

#include "watch/cgroup.h"

namespace lowtide::watch {

enum class Death {
  NotKilled,     // it ended otherwise
  Killed,        // SIGKILL, and not by the OOM killer as far as the kernel's counters say
  ContainerOom,  // the OOM killer, at the limit of a group
  GroupOom,      // the same, and the kernel took the whole group (memory.oom.group)
  MachineOom,    // the OOM killer, for want of memory of the machine (or a limit we cannot see)
};

struct Ending {
  Death death = Death::NotKilled;
  std::string text;  // one sentence with the process and what it held; "" for NotKilled
  bool oom() const {
    return death == Death::ContainerOom || death == Death::GroupOom || death == Death::MachineOom;
  }
};

// Who died, and what was last known of it. Bytes, -1 unknown.
struct Dead {
  std::string name = {};
  std::int32_t pid = 0;
  int wait_status = 0;         // as wait4 gave it
  std::int64_t resident = -1;  // last reading
  std::int64_t peak = -1;
  double age = -1;  // seconds between that reading and the end
};

class OomWatch {
 public:
  // Of the groups `pid` is in now. Begin before the command can have died.
  static OomWatch begin(const Roots& roots, std::int32_t pid);

  // Each kill that the kernel counted is set against one death, so that a later SIGKILL of somebody
  // else's is not taken for one. A shell's 137 is one of the deaths.
  Ending judge(const Dead& dead);
  // Whether the OOM killer took any process of the groups since the beginning: a grandchild whose
  // status nobody passes to us.
  std::int64_t kills() const;
  const Container& container() const { return container_; }

 private:
  struct Counters {
    std::vector<MemoryEvents> groups;
    std::int64_t machine = -1;  // oom_kill of /proc/vmstat
  };
  Counters read() const;
  int group_at_limit(const Counters& now) const;  // index, -1: none

  Roots roots_;
  Container container_;
  Counters before_;
  std::int64_t told_ = 0;  // kills that were set against a death
};

}  // namespace lowtide::watch

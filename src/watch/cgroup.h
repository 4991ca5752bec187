// SPDX-License-Identifier: Apache-2.0
#pragma once

// The limit a process runs under, and what counts against it.
//
//     host memory            MemTotal
//       └ /kubepods          memory.max, memory.high
//           └ /pod           the smallest on the way up is the limit
//               └ /app       the process' own group
//
// cgroup v2, v1 and both at once; from outside, and from inside a container, where the group's
// path is "/" or names a folder the mount does not show. Files that are not there mean "not
// known", never an error.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "watch/roots.h"

namespace lowtide::watch {

struct Limit {
  std::int64_t bytes = 0;  // 0: none known, not even the machine's memory
  std::string source;      // "container limit", "memory of this machine", "ulimit -v"
  std::string where;       // the file that says so
  std::int64_t high = 0;   // the smallest memory.high on the way up; 0: none. Slows, does not kill.
  std::int64_t swap = -1;  // what may be swapped out beyond the limit; -1: not limited or unknown
};

// How often the kernel says it had trouble. -1: this kernel does not say.
struct MemoryEvents {
  std::int64_t high = -1;
  std::int64_t max = -1;       // v1: memory.failcnt and memory.memsw.failcnt
  std::int64_t oom = -1;       // the limit could not be kept by reclaim
  std::int64_t oom_kill = -1;  // processes of the group (v2: and below) the OOM killer took
  std::int64_t oom_group_kill = -1;
};

// memory.stat under one name each, whichever version. Bytes, -1: not told apart.
struct MemoryStat {
  std::int64_t anonymous = -1;
  std::int64_t file = -1;  // page cache, shmem included
  std::int64_t file_mapped = -1;
  std::int64_t shmem = -1;
  std::int64_t kernel_stack = -1;
  std::int64_t page_tables = -1;
  std::int64_t slab = -1;
  std::int64_t sock = -1;
  std::int64_t kernel = -1;  // all of the kernel's share; v1: memory.kmem.usage_in_bytes
};

// One group on the way up, the process' own first.
struct Group {
  std::string folder;  // where its files are
  std::string path;    // as the kernel names it: "/kubepods/pod/app"
  int version = 2;
};

// The memory groups a process is in. Found once; the files are read at each call.
class Container {
 public:
  static Container of(const Roots& roots, std::int32_t pid);

  bool known() const { return !groups_.empty(); }
  const std::vector<Group>& groups() const { return groups_; }

  // The smallest of all limits: groups, the process' address space (ulimit -v), the machine. Reads
  // them anew, and remembers which group it was.
  Limit limit();
  // What counts against the limit: memory.current of the group that sets it (of the process' own
  // where none does). -1: not known.
  std::int64_t usage() const;
  MemoryStat stat() const;                       // of the same group
  MemoryEvents events(std::size_t group) const;  // v2: of the groups below, too
  MemoryEvents local_events(std::size_t group) const;
  std::int64_t limit_of(std::size_t group) const;  // of this group alone; 0: none
  std::int64_t peak_of(std::size_t group) const;   // the most it ever used; -1: not known
  bool kills_whole_group() const;                  // memory.oom.group of any of them

 private:
  MemoryEvents events_in(std::size_t group, const char* file) const;

  Roots roots_;
  std::int32_t pid_ = 0;
  std::vector<Group> groups_;
  std::size_t limiting_ = 0;  // the group that set the limit, or 0
};

// Free for use on the machine: MemTotal, MemAvailable. Bytes, -1 unknown.
struct HostMemory {
  std::int64_t total = -1;
  std::int64_t available = -1;
};
HostMemory host_memory(const Roots& roots);

// "Max address space" of /proc/PID/limits. Nothing where unlimited or unknown.
std::optional<std::int64_t> address_space_limit(const Roots& roots, std::int32_t pid);

}  // namespace lowtide::watch

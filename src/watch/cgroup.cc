// SPDX-License-Identifier: Apache-2.0
#include "watch/cgroup.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

#include "base/file.h"
#include "watch/proc_text.h"

namespace lowtide::watch {
namespace {

// v1 says "unlimited" as LONG_MAX cut to a page; anything near it is more than any machine has.
constexpr std::int64_t kHuge = std::int64_t{1} << 60;
constexpr std::size_t kMostText = 1 << 20;
constexpr int kMostGroups = 64;

std::string text_of(const std::string& path) {
  Result<std::string> text = read_file(path, kMostText);
  return text ? std::move(*text) : std::string{};
}

std::int64_t number_in(const std::string& path) {
  std::string text = text_of(path);
  std::string_view rest = text;
  return parse_number(next_word(rest));
}

bool there(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

// A limit file: bytes, or 0 for "max", "unlimited" and a file that is not there.
std::int64_t limit_in(const std::string& path) {
  std::int64_t bytes = number_in(path);
  return bytes < 0 || bytes >= kHuge ? 0 : bytes;
}

// Where a hierarchy is mounted, and which of its groups is at the mount's top: in a container
// without a namespace of its own that is the container's group, not "/".
struct Mount {
  std::string folder;
  std::string top = "/";
};

bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    std::size_t comma = list.find(',');
    if (list.substr(0, comma) == word) return true;
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  }
  return false;
}

// Finds the mount in mountinfo: "36 35 0:33 ROOT POINT rw shared:1 - cgroup cgroup rw,memory".
// `cgroup` takes the place of /sys/fs/cgroup in it.
bool find_mount(const Roots& roots, int version, Mount& mount) {
  constexpr std::string_view kUsual = "/sys/fs/cgroup";
  std::string text = text_of(roots.proc + "/self/mountinfo");
  std::string_view lines = text;
  while (!lines.empty()) {
    std::string_view line = next_line(lines);
    std::size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) continue;
    std::string_view after = line.substr(dash + 3);
    std::string_view type = next_word(after);
    next_word(after);
    std::string_view options = next_word(after);
    bool wanted =
        version == 2 ? type == "cgroup2" : type == "cgroup" && has_word(options, "memory");
    if (!wanted) continue;
    std::string_view before = line.substr(0, dash);
    for (int i = 0; i < 3; ++i) next_word(before);
    std::string_view top = next_word(before);
    std::string_view point = next_word(before);
    if (point.substr(0, kUsual.size()) == kUsual) {
      mount.folder = roots.cgroup + std::string(point.substr(kUsual.size()));
    } else {
      mount.folder = point;
    }
    mount.top = top;
    if (there(mount.folder)) return true;
  }
  // A folder of text has no mounts; nor has a /proc that hides them.
  mount.top = "/";
  if (version == 1) {
    mount.folder = roots.cgroup + "/memory";
    return there(mount.folder);
  }
  for (const char* name : {"", "/unified"}) {
    mount.folder = roots.cgroup + name;
    if (there(mount.folder + "/cgroup.controllers")) return true;
  }
  return false;
}

// "/docker/abc/app" below the top "/docker/abc" is "/app". What lies outside the mount, as ".."
// or another branch, is seen from the top at best.
std::string below(std::string_view path, std::string_view top) {
  if (path.find("..") != std::string_view::npos) return "";
  if (top == "/") top = "";
  if (path.substr(0, top.size()) != top) return "";
  path.remove_prefix(top.size());
  if (!path.empty() && path.front() != '/') return "";
  while (!path.empty() && path.back() == '/') path.remove_suffix(1);
  return std::string(path);
}

// The group and those above it, as far as the mount shows them.
std::vector<Group> walk_up(const Mount& mount, std::string_view path, int version) {
  std::vector<Group> groups;
  std::string rest = below(path, mount.top);
  std::string top = mount.top == "/" ? "" : mount.top;
  for (int i = 0; i < kMostGroups; ++i) {
    std::string folder = mount.folder + rest;
    if (there(folder)) groups.push_back({folder, top + rest == "" ? "/" : top + rest, version});
    if (rest.empty()) break;
    rest.resize(rest.rfind('/'));
  }
  return groups;
}

// Which of a group's files says what.
struct Files {
  const char *usage, *max, *high, *swap;
};
Files files_of(const Group& group) {
  if (group.version == 2)
    return {"/memory.current", "/memory.max", "/memory.high", "/memory.swap.max"};
  return {"/memory.usage_in_bytes", "/memory.limit_in_bytes", "", "/memory.memsw.limit_in_bytes"};
}

}  // namespace

Container Container::of(const Roots& roots, std::int32_t pid) {
  Container container;
  container.roots_ = roots;
  container.pid_ = pid;
  std::string text = text_of(roots.proc + "/" + std::to_string(pid) + "/cgroup");
  std::string_view lines = text;
  std::optional<std::string> unified, memory;
  while (!lines.empty()) {  // "4:memory:/a/b", "0::/a/b"; a path may hold ':'
    std::string_view line = next_line(lines);
    std::size_t first = line.find(':');
    std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    std::string_view controllers = line.substr(first + 1, second - first - 1);
    std::string path(line.substr(second + 1));
    if (line.substr(0, first) == "0" && controllers.empty()) unified = path;
    if (has_word(controllers, "memory")) memory = path;
  }
  // Memory is in one hierarchy only: v1 if one claims it, otherwise v2.
  Mount mount;
  if (memory) {
    if (find_mount(roots, 1, mount)) container.groups_ = walk_up(mount, *memory, 1);
  } else if (unified) {
    if (find_mount(roots, 2, mount)) container.groups_ = walk_up(mount, *unified, 2);
  }
  // Without usage of its own a group counts nothing: the controller is not enabled for it, or it
  // is v2's root. The walk begins at the first that does.
  while (!container.groups_.empty() &&
         !there(container.groups_.front().folder + files_of(container.groups_.front()).usage)) {
    container.groups_.erase(container.groups_.begin());
  }
  container.limit();
  return container;
}

Limit Container::limit() {
  Limit limit;
  limit.bytes = std::numeric_limits<std::int64_t>::max();
  limiting_ = 0;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const Group& group = groups_[i];
    Files files = files_of(group);
    std::string file = group.folder + files.max;
    std::int64_t bytes = limit_in(file);
    if (bytes > 0 && bytes < limit.bytes) {
      limit.bytes = bytes;
      limit.source = "container limit";
      limit.where = file;
      limiting_ = i;
    }
    if (group.version == 2) {
      std::int64_t high = limit_in(group.folder + files.high);
      if (high > 0 && (limit.high == 0 || high < limit.high)) limit.high = high;
      std::string text = text_of(group.folder + files.swap);
      std::string_view rest = text;
      std::int64_t swap = parse_number(next_word(rest));  // 0 is a limit here: no swap at all.
      if (swap >= 0 && (limit.swap < 0 || swap < limit.swap)) limit.swap = swap;
    } else {
      // Memory and swap together.
      std::int64_t both = limit_in(group.folder + files.swap);
      if (both > 0 && bytes > 0 && both >= bytes && (limit.swap < 0 || both - bytes < limit.swap)) {
        limit.swap = both - bytes;
      }
      // A group above that this mount does not show still limits, and stat knows.
      std::string stat = group.folder + "/memory.stat";
      std::int64_t above = keyed_number(text_of(stat), "hierarchical_memory_limit");
      if (above > 0 && above < kHuge && above < limit.bytes) {
        limit.bytes = above;
        limit.source = "container limit";
        limit.where = stat;
        limiting_ = i;
      }
    }
  }
  HostMemory host = host_memory(roots_);
  // A limit the machine does not reach is none.
  if (host.total > 0 && host.total < limit.bytes) {
    limit.bytes = host.total;
    limit.source = "memory of this machine";
    limit.where = roots_.proc + "/meminfo";
  }
  std::optional<std::int64_t> space = address_space_limit(roots_, pid_);
  if (space && *space < limit.bytes) {
    limit.bytes = *space;
    limit.source = "ulimit -v";
    limit.where = roots_.proc + "/" + std::to_string(pid_) + "/limits";
  }
  if (limit.bytes == std::numeric_limits<std::int64_t>::max()) limit.bytes = 0;
  return limit;
}

std::int64_t Container::usage() const {
  if (groups_.empty()) return -1;
  const Group& group = groups_[limiting_];
  return number_in(group.folder + files_of(group).usage);
}

MemoryStat Container::stat() const {
  MemoryStat stat;
  if (groups_.empty()) return stat;
  const Group& group = groups_[limiting_];
  std::string text = text_of(group.folder + "/memory.stat");
  if (group.version == 2) {
    stat.anonymous = keyed_number(text, "anon");
    stat.file = keyed_number(text, "file");
    stat.file_mapped = keyed_number(text, "file_mapped");
    stat.shmem = keyed_number(text, "shmem");
    stat.kernel_stack = keyed_number(text, "kernel_stack");
    stat.page_tables = keyed_number(text, "pagetables");
    stat.slab = keyed_number(text, "slab");
    stat.sock = keyed_number(text, "sock");
    stat.kernel = keyed_number(text, "kernel");
    return stat;
  }
  // total_* are of the group and all below it, as v2's are and as the limit counts.
  auto total = [&](const std::string& name) {
    std::int64_t bytes = keyed_number(text, "total_" + name);
    return bytes >= 0 ? bytes : keyed_number(text, name);
  };
  stat.anonymous = total("rss");
  stat.file = total("cache");
  stat.file_mapped = total("mapped_file");
  stat.shmem = total("shmem");
  stat.sock = number_in(group.folder + "/memory.kmem.tcp.usage_in_bytes");
  stat.kernel = number_in(group.folder + "/memory.kmem.usage_in_bytes");
  return stat;
}

MemoryEvents Container::events_in(std::size_t index, const char* file) const {
  MemoryEvents events;
  if (index >= groups_.size()) return events;
  const Group& group = groups_[index];
  if (group.version == 2) {
    std::string text = text_of(group.folder + file);
    events.high = keyed_number(text, "high");
    events.max = keyed_number(text, "max");
    events.oom = keyed_number(text, "oom");
    events.oom_kill = keyed_number(text, "oom_kill");
    events.oom_group_kill = keyed_number(text, "oom_group_kill");
    return events;
  }
  events.max = number_in(group.folder + "/memory.failcnt");
  std::int64_t with_swap = number_in(group.folder + "/memory.memsw.failcnt");
  if (with_swap > 0 && events.max >= 0) events.max += with_swap;
  events.oom_kill = keyed_number(text_of(group.folder + "/memory.oom_control"), "oom_kill");
  return events;
}

MemoryEvents Container::events(std::size_t group) const {
  return events_in(group, "/memory.events");
}

MemoryEvents Container::local_events(std::size_t group) const {
  return events_in(group, "/memory.events.local");
}

std::int64_t Container::limit_of(std::size_t group) const {
  return group < groups_.size() ? limit_in(groups_[group].folder + files_of(groups_[group]).max)
                                : 0;
}

std::int64_t Container::peak_of(std::size_t index) const {
  if (index >= groups_.size()) return -1;
  const Group& group = groups_[index];
  if (group.version == 2) return number_in(group.folder + "/memory.peak");
  return std::max(number_in(group.folder + "/memory.max_usage_in_bytes"),
                  number_in(group.folder + "/memory.memsw.max_usage_in_bytes"));
}

bool Container::kills_whole_group() const {
  return std::any_of(groups_.begin(), groups_.end(), [](const Group& group) {
    return group.version == 2 && number_in(group.folder + "/memory.oom.group") == 1;
  });
}

HostMemory host_memory(const Roots& roots) {
  std::string text = text_of(roots.proc + "/meminfo");
  return {field_bytes(text, "MemTotal"), field_bytes(text, "MemAvailable")};
}

std::optional<std::int64_t> address_space_limit(const Roots& roots, std::int32_t pid) {
  constexpr std::string_view kLine = "Max address space";
  std::string text = text_of(roots.proc + "/" + std::to_string(pid) + "/limits");
  std::string_view lines = text;
  while (!lines.empty()) {
    std::string_view line = next_line(lines);
    if (line.substr(0, kLine.size()) != kLine) continue;
    line.remove_prefix(kLine.size());
    std::int64_t soft = parse_number(next_word(line));
    if (soft > 0 && soft < kHuge) return soft;
  }
  return {};
}

}  // namespace lowtide::watch

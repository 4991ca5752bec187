// SPDX-License-Identifier: Apache-2.0
#include "watch/process_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

namespace lowtide::watch {
namespace {

constexpr std::size_t kMostThreadsKept = 128;  // of one process; more are opened each time
constexpr off_t kMostChildrenText = 4 << 20;   // half a million pids

// struct linux_dirent64, whose name has no length of its own.
struct DirectoryEntry {
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t length;
  std::uint8_t type;
  char name[1];
};

// Calls `each` with every number that names an entry of an open folder. No allocation, unlike
// opendir: this runs for each process with threads whenever the machine starts anything.
template <typename Each>
void each_number(int folder, Each each) {
  alignas(8) std::array<char, 8192> buffer;
  if (lseek(folder, 0, SEEK_SET) != 0) return;
  for (;;) {
    long n = syscall(SYS_getdents64, folder, buffer.data(), buffer.size());
    if (n <= 0) return;
    for (long at = 0; at < n;) {
      const auto* entry = reinterpret_cast<const DirectoryEntry*>(buffer.data() + at);
      if (entry->length == 0) return;
      std::int64_t number = parse_number(entry->name);
      if (number > 0 && number < (std::int64_t{1} << 30)) each(static_cast<std::int32_t>(number));
      at += entry->length;
    }
  }
}

bool read_list(int fd, std::vector<std::int32_t>& pids) {
  std::array<char, 4096> buffer;
  std::int64_t carry = 0;
  off_t at = 0;
  bool any = false;
  while (at < kMostChildrenText) {
    ssize_t n = pread(fd, buffer.data(), buffer.size(), at);
    if (n < 0) return any;
    any = true;
    if (n == 0) break;
    parse_pids({buffer.data(), static_cast<std::size_t>(n)}, carry, pids);
    at += n;
    // The kernel ends each pid with a blank; what ends so and is short has no more to come.
    if (n < 2048 && buffer[static_cast<std::size_t>(n) - 1] == ' ') break;
  }
  parse_pids(" ", carry, pids);
  return any;
}

}  // namespace

ProcessFiles::ProcessFiles(const std::string& proc_root, std::int32_t pid, DescriptorBudget& budget)
    : folder_(proc_root + "/" + std::to_string(pid) + "/"), budget_(budget) {
  statm_ = keep(Fd(open((folder_ + "statm").c_str(), O_RDONLY | O_CLOEXEC)));
  task_ = keep(Fd(open((folder_ + "task").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
}

ProcessFiles::~ProcessFiles() { budget_.left += kept_; }

Fd ProcessFiles::keep(Fd fd) {
  if (!fd || budget_.left == 0) return {};
  --budget_.left;
  ++kept_;
  return fd;
}

bool ProcessFiles::read_statm(Statm& statm) {
  std::array<char, 256> buffer;
  return parse_statm(statm_ ? read_at_start(statm_.number(), buffer) : read("statm", buffer),
                     statm);
}

std::string_view ProcessFiles::read(const char* name, std::span<char> buffer) const {
  return read_once(AT_FDCWD, (folder_ + name).c_str(), buffer);
}

void ProcessFiles::list_threads(int folder) {
  std::vector<Thread> before;
  before.swap(threads_);
  each_number(folder, [&](std::int32_t id) {
    auto old = std::find_if(before.begin(), before.end(),
                            [id](const Thread& thread) { return thread.id == id; });
    Thread thread{id, old == before.end() ? Fd{} : std::move(old->children)};
    if (old != before.end()) old->id = 0;
    threads_.push_back(std::move(thread));
  });
  for (const Thread& thread : before) {
    if (!thread.children) continue;
    ++budget_.left;
    --kept_;
  }
}

void ProcessFiles::read_children(bool threads_may_differ, std::vector<std::int32_t>& pids) {
  Fd opened;
  if (!task_) opened.reset(open((folder_ + "task").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  int folder = task_ ? task_.number() : opened.number();
  if (folder < 0) return;
  struct stat status {};
  std::int64_t links = fstat(folder, &status) == 0 ? static_cast<std::int64_t>(status.st_nlink) : 0;
  // One thread, the same as before: nothing to list, whatever the rest of the machine does.
  bool single = links == task_links_ && threads_.size() == 1;
  if (threads_.empty() || links != task_links_ || (threads_may_differ && !single)) {
    list_threads(folder);
    task_links_ = links;
  }
  for (Thread& thread : threads_) {
    if (thread.children) {
      read_list(thread.children.number(), pids);
      continue;
    }
    char path[48];
    std::snprintf(path, sizeof path, "%d/children", thread.id);
    Fd fd(openat(folder, path, O_RDONLY | O_CLOEXEC));
    if (!fd) continue;
    read_list(fd.number(), pids);
    if (threads_.size() <= kMostThreadsKept) thread.children = keep(std::move(fd));
  }
}

}  // namespace lowtide::watch

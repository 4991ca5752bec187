// SPDX-License-Identifier: Apache-2.0
#include "cli/run_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "base/file.h"

namespace lowtide::cli {
namespace {

constexpr std::string_view kPrefix = "lowtide-run-";
constexpr time_t kGrace = 2;  // seconds

std::string temporary_directory() {
  const char* named = std::getenv("TMPDIR");
  return named && named[0] == '/' ? named : "/tmp";
}

Result<lowtide_table*> map_table(int fd, const std::string& path) {
  void* at = ::mmap(nullptr, sizeof(lowtide_table), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) return io_error("map", path, errno);
  return static_cast<lowtide_table*>(at);
}

void remove_folder(const std::string& path) {
  // A folder of ours holds a table and sockets; anything else in it is not ours to remove.
  if (DIR* directory = ::opendir(path.c_str())) {
    while (const dirent* entry = ::readdir(directory)) {
      const std::string_view name = entry->d_name;
      if (name == "table" || (name.starts_with("heap-") && name.ends_with(".sock"))) {
        ::unlinkat(::dirfd(directory), entry->d_name, 0);
      }
    }
    ::closedir(directory);
  }
  ::rmdir(path.c_str());
}

// Is this the folder of a run of ours whose recorder is dead?
bool is_stale(const std::string& path) {
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode) ||
      facts.st_uid != ::geteuid()) {
    return false;
  }
  // In the moment between making a folder and locking its table a run looks dead.
  if (::time(nullptr) - facts.st_mtime < kGrace) return false;
  Fd fd(::open((path + "/table").c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!fd) return errno == ENOENT;
  if (::flock(fd.number(), LOCK_EX | LOCK_NB) != 0) return false;
  // The pid alone would not do, for it may be one of another container's; nor would the lock on a
  // file system that knows none.
  std::int32_t recorder = 0;
  const ssize_t got = ::pread(fd.number(), &recorder, sizeof recorder,
                              static_cast<off_t>(offsetof(lowtide_table, recorder_pid)));
  return got != sizeof recorder || recorder <= 0 || (::kill(recorder, 0) != 0 && errno == ESRCH);
}

}  // namespace

void RunFolder::remove_stale() {
  for (const std::string& path : all()) {
    if (is_stale(path)) remove_folder(path);
  }
}

Result<RunFolder> RunFolder::create(std::string_view probe, const LinePattern* pattern,
                                    std::uint64_t now_ns) {
  std::string path = fmt::format("{}/{}{}-XXXXXX", temporary_directory(), kPrefix, ::getuid());
  if (!::mkdtemp(path.data())) return io_error("make a folder in", temporary_directory(), errno);
  const std::string file = path + "/table";
  Fd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  // Allocated, not sparse: a disk that fills up later would be a SIGBUS in the target.
  const int full = fd ? ::posix_fallocate(fd.number(), 0, sizeof(lowtide_table)) : errno;
  if (full != 0) {
    const Error error = io_error("create", file, full);
    ::unlink(file.c_str());
    ::rmdir(path.c_str());
    return error;
  }
  auto mapped = map_table(fd.number(), file);
  if (!mapped) return mapped.error();
  ::flock(fd.number(), LOCK_EX | LOCK_NB);
  lowtide_table& table = **mapped;
  table.version = LOWTIDE_TABLE_VERSION;
  table.recorder_pid = ::getpid();
  table.started_ns = now_ns;
  table.next_request = 1;
  probe.copy(table.probe_path, sizeof table.probe_path - 1);
  if (pattern) {
    const auto& states = pattern->states();
    table.pattern.states = static_cast<std::uint32_t>(states.size());
    std::memcpy(table.pattern.next, states.data(), states.size() * sizeof states[0]);
  }
  table.magic = LOWTIDE_TABLE_MAGIC;  // last: from here on it is a table
  return RunFolder(std::move(path), &table, true, std::move(fd));
}

Result<RunFolder> RunFolder::join(const std::string& path) {
  const std::string file = path + "/table";
  Fd fd(::open(file.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!fd) return io_error("open", file, errno);
  struct stat facts {};
  if (::fstat(fd.number(), &facts) != 0 || facts.st_size != sizeof(lowtide_table) ||
      facts.st_uid != ::getuid()) {
    return Error{Code::Corrupt, fmt::format("{} is not the table of a run of yours", file)};
  }
  auto mapped = map_table(fd.number(), file);
  if (!mapped) return mapped.error();
  if ((*mapped)->magic != LOWTIDE_TABLE_MAGIC || (*mapped)->version != LOWTIDE_TABLE_VERSION) {
    ::munmap(*mapped, sizeof(lowtide_table));
    return Error{Code::Unsupported, fmt::format("{} was made by another version of lowtide", file)};
  }
  return RunFolder(path, *mapped, false, Fd());
}

std::vector<std::string> RunFolder::all() {
  std::vector<std::string> found;
  const std::string parent = temporary_directory();
  const std::string prefix = fmt::format("{}{}-", kPrefix, ::getuid());
  DIR* directory = ::opendir(parent.c_str());
  if (!directory) return found;
  while (const dirent* entry = ::readdir(directory)) {
    if (std::string_view(entry->d_name).starts_with(prefix)) {
      found.push_back(parent + "/" + entry->d_name);
    }
  }
  ::closedir(directory);
  return found;
}

RunFolder::RunFolder(RunFolder&& other) noexcept
    : path_(std::move(other.path_)),
      table_(std::exchange(other.table_, nullptr)),
      made_here_(other.made_here_),
      locked_(std::move(other.locked_)),
      namespace_(other.namespace_) {}

RunFolder::~RunFolder() {
  if (!table_) return;
  ::munmap(table_, sizeof(lowtide_table));
  if (made_here_) remove_folder(path_);
}

std::uint64_t RunFolder::own_namespace() {
  struct stat facts {};
  return ::stat("/proc/self/ns/pid", &facts) == 0 ? facts.st_ino : 0;
}

bool RunFolder::speaks_our_pids(const lowtide_slot& slot) const {
  return slot.pid_namespace == 0 || namespace_ == 0 || slot.pid_namespace == namespace_;
}

lowtide_slot* RunFolder::slot_of(std::int32_t pid) const {
  // exec leaves the slot of the program before behind: the newest is the one that answers.
  lowtide_slot* newest = nullptr;
  for (lowtide_slot& slot : table_->slots) {
    const std::uint32_t state = std::atomic_ref(slot.state).load(std::memory_order_acquire);
    if (state != LOWTIDE_SLOT_LIVE || slot.pid != pid || !speaks_our_pids(slot)) continue;
    if (!newest || slot.started_ns > newest->started_ns) newest = &slot;
  }
  return newest;
}

std::string RunFolder::socket_path(std::uint32_t request) const {
  return fmt::format("{}/heap-{}.sock", path_, request);
}

}  // namespace lowtide::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once

// For tests only: folders of text that stand for /proc, and real children that do as they are told.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "watch/roots.h"

namespace lowtide::watch::testing {

// A folder of its own, gone with the object.
class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "lowtide-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }

  // Makes the folders above it. Written in place, so that a descriptor kept open sees the change.
  void write(const std::string& name, std::string_view text) const {
    std::filesystem::path file = *this / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
  }
  void make_folder(const std::string& name) const {
    std::filesystem::create_directories(*this / name);
  }
  void remove(const std::string& name) const { std::filesystem::remove_all(*this / name); }

 private:
  std::string path_;
};

// A process as text, in a folder that stands for /proc.
struct FakeProcess {
  std::int32_t pid = 0;
  std::int32_t parent = 1;
  std::string comm = "fake";
  std::string cmdline = {};  // with its NULs
  char state = 'S';
  std::uint64_t start = 1000;
  std::uint64_t stack = 4096;
  std::int64_t size = 1000, resident = 100, shared = 40, code = 10;  // pages
  std::int64_t shmem_kb = 0, swap_kb = 0, peak_kb = 400;
  std::int64_t children_faults = 0;
  std::vector<std::vector<std::int32_t>> children = {{}};  // of each thread; the first is the main

  void put(const Folder& proc) const {
    auto n = [](auto value) { return std::to_string(value); };
    std::string folder = n(pid) + "/";
    std::string stat = n(pid) + " (" + comm + ") " + state + " " + n(parent) + " 0 0 0 0 0 0 " +
                       n(children_faults) + " 0 0 7 3 0 0 20 0 " + n(children.size()) + " 0 " +
                       n(start) + " 0 " + n(resident) + " 0 1 2 " + n(stack) + " 0\n";
    proc.write(folder + "stat", stat);
    proc.write(folder + "statm",
               n(size) + " " + n(resident) + " " + n(shared) + " " + n(code) + " 0 50 0\n");
    proc.write(folder + "cmdline", cmdline);
    std::int64_t page_kb = sysconf(_SC_PAGESIZE) / 1024;
    proc.write(folder + "status", "Name:\t" + comm + "\nPid:\t" + n(pid) + "\nVmHWM:\t" +
                                      n(peak_kb) + " kB\nRssAnon:\t" +
                                      n((resident - shared) * page_kb) + " kB\nRssShmem:\t" +
                                      n(shmem_kb) + " kB\nVmPTE:\t52 kB\nVmSwap:\t" + n(swap_kb) +
                                      " kB\nThreads:\t" + n(children.size()) + "\n");
    for (std::size_t i = 0; i < children.size(); ++i) {
      std::string list;
      for (std::int32_t child : children[i]) list += n(child) + " ";
      proc.write(folder + "task/" + n(static_cast<std::size_t>(pid) + i) + "/children", list);
    }
  }
};

// One byte between processes, instead of sleeping.
class Signal {
 public:
  Signal() {
    if (pipe2(ends_, O_CLOEXEC) != 0) std::abort();
  }
  ~Signal() {
    close(ends_[0]);
    close_sender();
  }
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;

  void send() const { (void)!write(ends_[1], "!", 1); }
  // Until a byte has come; false where every copy of the sending end was closed first, as exec and
  // exit do.
  bool wait() const {
    char byte;
    return read(ends_[0], &byte, 1) == 1;
  }
  bool came_within_ms(int timeout) const {
    pollfd ready{ends_[0], POLLIN, 0};
    return poll(&ready, 1, timeout) == 1;
  }
  void close_sender() {
    if (ends_[1] >= 0) close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  int ends_[2] = {-1, -1};
};

// A forked child that runs `body` and ends. Killed and reaped with the object.
class Child {
 public:
  template <typename Body>
  explicit Child(Body body) : pid_(fork()) {
    if (pid_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    body();
    _exit(0);
  }
  ~Child() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  int wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = 0;
    return status;
  }

 private:
  pid_t pid_;
};

// What a child does that is only to be looked at.
inline void stay() {
  for (;;) pause();
}

}  // namespace lowtide::watch::testing

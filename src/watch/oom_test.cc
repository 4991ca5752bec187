// SPDX-License-Identifier: Apache-2.0
#include "watch/oom.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstring>
#include <fstream>
#include <string>

#include "watch/testing.h"

namespace lowtide::watch {
namespace {

using testing::Child;
using testing::Folder;
using testing::Signal;

constexpr int kBySigkill = SIGKILL;  // wait statuses
constexpr int kByExit137 = 137 << 8;

Dead dead_by(int status) {
  return {.name = "python3 train.py",
          .pid = 7,
          .wait_status = status,
          .resident = std::int64_t{1} << 30,
          .peak = std::int64_t{3} << 29,
          .age = 0.08};
}

// A v2 machine; process 7 is in /pod/app, whose parent has a limit of 2 GiB.
struct Machine {
  Machine() {
    folder.write("proc/meminfo", "MemTotal: 8388608 kB\n");
    folder.write("proc/7/cgroup", "0::/pod/app\n");
    folder.write("cgroup/cgroup.controllers", "memory\n");
    folder.write("cgroup/pod/memory.current", "1\n");
    folder.write("cgroup/pod/memory.max", "2147483648\n");
    folder.write("cgroup/pod/app/memory.current", "1\n");
    folder.write("cgroup/pod/app/memory.max", "max\n");
    folder.write("cgroup/pod/app/memory.oom.group", "0\n");
    count(0, 0, 0, 3);
  }
  void count(int pod_oom, int app_oom, int kills, int machine) const {
    auto text = [](int oom, int kill) {
      return "low 0\nhigh 9\nmax 9\noom " + std::to_string(oom) + "\noom_kill " +
             std::to_string(kill) + "\noom_group_kill 0\n";
    };
    folder.write("cgroup/pod/memory.events", text(pod_oom, kills));
    folder.write("cgroup/pod/app/memory.events", text(app_oom, kills));
    folder.write("proc/vmstat", "nr_free 1\noom_kill " + std::to_string(machine) + "\n");
  }
  OomWatch begin() const { return OomWatch::begin({folder / "proc", folder / "cgroup"}, 7); }
  Folder folder;
};

bool says(const Ending& ending, std::string_view what) {
  return ending.text.find(what) != std::string::npos;
}

TEST(OomWatch, AtALimitAboveItsOwnGroupNamesThatGroup) {
  Machine m;
  OomWatch watch = m.begin();
  m.count(1, 0, 1, 4);
  Ending ending = watch.judge(dead_by(kBySigkill));
  EXPECT_EQ(ending.death, Death::ContainerOom);
  EXPECT_TRUE(ending.oom());
  EXPECT_EQ(
      ending.text,
      "The kernel's OOM killer took python3 train.py (pid 7) at the container limit of 2.00 GiB "
      "(group /pod); it held 1.00 GiB 80 ms before, at its peak 1.50 GiB.");
}

TEST(OomWatch, AWholeGroupIsSaidToBeOne) {
  Machine m;
  m.folder.write("cgroup/pod/app/memory.oom.group", "1\n");
  OomWatch watch = m.begin();
  m.count(1, 1, 5, 8);
  Ending ending = watch.judge(dead_by(kBySigkill));
  EXPECT_EQ(ending.death, Death::GroupOom);
  EXPECT_TRUE(says(ending, "the whole group"));
}

TEST(OomWatch, WithoutAGroupAtItsLimitItWasTheMachine) {
  Machine m;
  OomWatch watch = m.begin();
  m.count(0, 0, 1, 4);
  Ending ending = watch.judge(dead_by(kBySigkill));
  EXPECT_EQ(ending.death, Death::MachineOom);
  EXPECT_TRUE(says(ending, "8.00 GiB")) << ending.text;
}

TEST(OomWatch, SomebodyElsesSigkillIsNotTheKernels) {
  Machine m;
  OomWatch watch = m.begin();
  m.count(0, 0, 0, 9);  // Others of the machine were taken meanwhile.
  Ending ending = watch.judge(dead_by(kBySigkill));
  EXPECT_EQ(ending.death, Death::Killed);
  EXPECT_FALSE(ending.oom());
  EXPECT_TRUE(says(ending, "not by the kernel's OOM killer")) << ending.text;
}

TEST(OomWatch, OneKillIsSetAgainstOneDeath) {
  Machine m;
  OomWatch watch = m.begin();
  m.count(1, 1, 1, 4);
  EXPECT_EQ(watch.kills(), 1);
  EXPECT_EQ(watch.judge(dead_by(kBySigkill)).death, Death::ContainerOom);
  EXPECT_EQ(watch.judge(dead_by(kBySigkill)).death, Death::Killed);
}

TEST(OomWatch, AShellsStatusCountsOnlyWithAKill) {
  Machine m;
  OomWatch watch = m.begin();
  EXPECT_EQ(watch.judge(dead_by(kByExit137)).death, Death::NotKilled);
  m.count(1, 1, 1, 4);
  Ending ending = watch.judge(dead_by(kByExit137));
  EXPECT_EQ(ending.death, Death::ContainerOom);
  EXPECT_TRUE(says(ending, "a process that python3 train.py"));
}

TEST(OomWatch, OtherEndsAreNone) {
  Machine m;
  OomWatch watch = m.begin();
  m.count(1, 1, 1, 4);
  EXPECT_EQ(watch.judge(dead_by(0)).death, Death::NotKilled);
  EXPECT_EQ(watch.judge(dead_by(SIGTERM)).text, "");
}

TEST(OomWatch, WithoutGroupsTheMachinesCounterIsAllThereIs) {
  Folder folder;
  folder.write("vmstat", "oom_kill 1\n");
  OomWatch watch = OomWatch::begin({folder.path(), folder / "none"}, 7);
  EXPECT_EQ(watch.judge(dead_by(kBySigkill)).death, Death::Killed);
  folder.write("vmstat", "oom_kill 2\n");
  EXPECT_EQ(watch.judge(dead_by(kBySigkill)).death, Death::MachineOom);
}

TEST(OomWatch, WhereNothingCountsItSaysSo) {
  Folder folder;
  OomWatch watch = OomWatch::begin({folder.path(), folder / "none"}, 7);
  EXPECT_TRUE(says(watch.judge(dead_by(kBySigkill)), "this kernel does not say"));
}

// A real memory group under which a child can be starved. Needs root and a writable hierarchy.
class RealGroup {
 public:
  RealGroup(std::int64_t limit, bool no_swap) {
    std::string name = "lowtide-test-" + std::to_string(getpid());
    if (make("/sys/fs/cgroup/memory/" + name, "memory.limit_in_bytes", limit)) {
      if (no_swap) write("memory.memsw.limit_in_bytes", limit);
    } else if (make("/sys/fs/cgroup/" + name, "memory.max", limit)) {
      write("memory.swap.max", 0);
    }
  }
  ~RealGroup() {
    if (!folder_.empty()) rmdir(folder_.c_str());
  }
  bool made() const { return !folder_.empty(); }
  void join() const { write("cgroup.procs", getpid()); }

 private:
  bool make(const std::string& folder, const char* file, std::int64_t limit) {
    if (mkdir(folder.c_str(), 0755) != 0) return false;
    folder_ = folder;
    if (write(file, limit)) return true;
    rmdir(folder.c_str());
    folder_.clear();
    return false;
  }
  bool write(const char* file, std::int64_t value) const {
    std::ofstream out(folder_ + "/" + file);
    return static_cast<bool>(out << value << std::flush);
  }
  std::string folder_;
};

void tell_kills_apart(bool no_swap) {
  RealGroup group(std::int64_t{24} << 20, no_swap);
  if (!group.made()) {
    GTEST_SKIP() << "needs root and a memory cgroup that can be made: /sys/fs/cgroup/memory (v1) "
                    "or the memory controller enabled in /sys/fs/cgroup (v2)";
  }
  auto starve = [&](auto body) {
    Signal ready, go;
    Child child([&] {
      group.join();
      ready.send();
      go.wait();
      body();
      testing::stay();
    });
    ready.wait();
    OomWatch watch = OomWatch::begin(Roots{}, child.pid());
    EXPECT_EQ(watch.container().groups().empty(), false);
    pid_t pid = child.pid();
    go.send();
    Dead dead = dead_by(child.wait());
    dead.pid = pid;
    return watch.judge(dead);
  };
  Ending plain = starve([] { kill(getpid(), SIGKILL); });
  EXPECT_EQ(plain.death, Death::Killed) << plain.text;
  Ending starved = starve([] {
    void* memory = mmap(nullptr, std::size_t{64} << 20, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::memset(memory, 1, std::size_t{64} << 20);
  });
  EXPECT_EQ(starved.death, Death::ContainerOom) << starved.text;
  EXPECT_TRUE(says(starved, "container limit of 24.0 MiB")) << starved.text;
  EXPECT_TRUE(says(starved, "lowtide-test-")) << starved.text;
}

TEST(OomWatchOnLinux, ARealOomKillIsToldFromARealSigkill) { tell_kills_apart(false); }
TEST(OomWatchOnLinux, AlsoWhereSwapCountsAgainstTheSameLimit) { tell_kills_apart(true); }

}  // namespace
}  // namespace lowtide::watch

// SPDX-License-Identifier: Apache-2.0
// The tree against the kernel's own /proc.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "watch/testing.h"
#include "watch/tree.h"

namespace lowtide::watch {
namespace {

using testing::Child;
using testing::Signal;
using testing::stay;

std::size_t count(const std::vector<Change>& changes, Change::Kind kind) {
  return static_cast<std::size_t>(std::count_if(
      changes.begin(), changes.end(), [kind](const Change& c) { return c.kind == kind; }));
}

TEST(ProcessTreeOnLinux, FindsGrandchildrenAndForksOfThreads) {
  Signal ready;
  Child child([&] {
    std::thread([&] {
      if (fork() == 0) {  // Of a thread that is not the first.
        if (fork() == 0) {
          ready.send();
          stay();
        }
        ready.send();
        stay();
      }
      stay();
    }).detach();
    stay();
  });
  ready.wait();
  ready.wait();
  ProcessTree tree(Roots{}, child.pid());
  tree.update(0);
  ASSERT_EQ(tree.running_ids().size(), 3u);
  EXPECT_EQ(tree.find(1)->threads, 2);
  EXPECT_EQ(tree.find(2)->parent, 1);
  EXPECT_EQ(tree.find(3)->parent, 2);
  EXPECT_TRUE(tree.find(2)->forked);
  for (std::int64_t id : {3, 2}) kill(tree.find(id)->pid, SIGKILL);
}

TEST(ProcessTreeOnLinux, SeesExecAndEnd) {
  Signal go;
  Child child([&] {
    go.wait();
    execlp("sleep", "sleep", "1000", nullptr);
  });
  ProcessTree tree(Roots{}, child.pid());
  tree.update(0);
  EXPECT_NE(tree.find(1)->name.find("watch_test"), std::string::npos) << tree.find(1)->name;
  go.send();
  std::vector<Change> seen;
  for (double now = 1; seen.empty(); now += 0.2) {
    seen = tree.update(now);
    sched_yield();
  }
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].kind, Change::Kind::Exec);
  EXPECT_EQ(tree.find(1)->name, "sleep 1000");
  EXPECT_EQ(tree.find(1)->execs, 1);
  kill(child.pid(), SIGKILL);
  for (double now = 100; !tree.running_ids().empty(); now += 0.2) {
    tree.update(now);
    sched_yield();
  }
  EXPECT_GE(tree.find(1)->ended, 100);  // Nobody has waited for it yet: a zombie has ended, too.
}

TEST(ProcessTreeOnLinux, ADaemonStaysInTheTree) {
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  Signal ready;
  Child child([&] {
    if (fork() == 0) {
      setsid();
      if (fork() == 0) {
        ready.send();
        stay();
      }
      _exit(0);  // The middle one goes: the daemon is an orphan now.
    }
    waitpid(-1, nullptr, 0);
    ready.send();
    stay();
  });
  ready.wait();
  ready.wait();
  ProcessTree tree(Roots{}, {child.pid()}, {.subreaper = getpid()});
  tree.update(0);
  ASSERT_EQ(tree.running_ids().size(), 2u);
  std::int32_t daemon = tree.find(2)->pid;
  kill(daemon, SIGKILL);
  int status = 0;
  rusage usage{};
  ASSERT_EQ(wait4(daemon, &status, 0, &usage), daemon);
  tree.note_exit(daemon, status, usage, 0.1);
  EXPECT_EQ(count(tree.update(0.2), Change::Kind::Ended), 1u);
  EXPECT_TRUE(WIFSIGNALED(tree.find(2)->wait_status));
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST(ProcessTreeOnLinux, TwoThousandShortForksAreFoundOrCounted) {
  constexpr int kForks = 2000;
  Signal done;
  Child child([&] {
    for (int i = 0; i < kForks; ++i) {
      pid_t pid = fork();
      if (pid == 0) _exit(0);
      waitpid(pid, nullptr, 0);
    }
    done.send();
    stay();
  });
  ProcessTree tree(Roots{}, child.pid());
  std::thread waiter;
  std::atomic<bool> over{false};
  waiter = std::thread([&] {
    done.wait();
    over = true;
  });
  double now = 0;
  while (!over) tree.update(now += 0.01);
  tree.update(now += 2);
  waiter.join();
  Unseen unseen = tree.unseen();
  ASSERT_GE(unseen.at_most, 0);
  EXPECT_GE(tree.count() - 1 + unseen.at_most, kForks);
  EXPECT_LE(unseen.at_least, unseen.at_most);
  EXPECT_EQ(tree.running_ids().size(), 1u);
}

TEST(ProcessTreeOnLinux, FiveHundredAtOnceAreAllFound) {
  constexpr std::size_t kChildren = 500;
  Signal ready;
  Child child([&] {
    for (std::size_t i = 0; i < kChildren; ++i) {
      if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        ready.send();
        stay();
      }
    }
    stay();
  });
  for (std::size_t i = 0; i < kChildren; ++i) ready.wait();
  // Fewer descriptors than files: what is past them is opened each time.
  ProcessTree tree(Roots{}, {child.pid()}, {.subreaper = 0, .descriptors = 200});
  EXPECT_EQ(count(tree.update(0), Change::Kind::Started), kChildren + 1);
  tree.update(0.1);
  EXPECT_EQ(tree.running_ids().size(), kChildren + 1);
  kill(child.pid(), SIGKILL);
  child.wait();
  // The children die of PDEATHSIG; nobody tells us when, so look until they are gone.
  for (double now = 1; !tree.running_ids().empty(); now += 0.1) {
    tree.update(now);
    sched_yield();
  }
  EXPECT_EQ(tree.count(), static_cast<std::int64_t>(kChildren + 1));
}

TEST(ProcessTreeOnLinux, DescriptorsComeBackWhenProcessesEnd) {
  auto open_now = [] {
    std::size_t n = 0;
    for (int fd = 0; fd < 4096; ++fd) n += fcntl(fd, F_GETFD) != -1;
    return n;
  };
  std::size_t before = open_now();
  {
    ProcessTree tree(Roots{}, getpid());
    for (int round = 0; round < 20; ++round) {
      Child one(stay);
      Child two(stay);
      tree.update(round * 2);
      EXPECT_EQ(tree.running_ids().size(), 3u);
    }
    tree.update(100);
    EXPECT_LE(open_now(), before + 6);
  }
  EXPECT_EQ(open_now(), before);
}

}  // namespace
}  // namespace lowtide::watch

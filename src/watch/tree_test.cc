// SPDX-License-Identifier: Apache-2.0
#include "watch/tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "watch/testing.h"

namespace lowtide::watch {
namespace {

using testing::FakeProcess;
using testing::Folder;

Roots roots_of(const Folder& proc) { return {proc.path(), proc / "no-cgroup"}; }

std::string said(const std::vector<Change>& changes) {
  std::string text;
  for (const Change& change : changes) {
    text += change.kind == Change::Kind::Started ? "+"
            : change.kind == Change::Kind::Exec  ? "!"
                                                 : "-";
    text += std::to_string(change.id) + " ";
  }
  return text;
}

TEST(ProcessTree, FindsTheChildrenOfEveryThread) {
  Folder proc;
  FakeProcess{.pid = 100, .children = {{200}, {}, {300, 400}}}.put(proc);
  FakeProcess{.pid = 200, .parent = 100, .children = {{500}}}.put(proc);
  FakeProcess{.pid = 300, .parent = 100}.put(proc);
  FakeProcess{.pid = 400, .parent = 100}.put(proc);
  FakeProcess{.pid = 500, .parent = 200}.put(proc);
  FakeProcess{.pid = 600, .parent = 1}.put(proc);
  ProcessTree tree(roots_of(proc), 100);
  EXPECT_EQ(said(tree.update(0)), "+1 +2 +3 +4 +5 ");
  EXPECT_EQ(tree.find(1)->threads, 3);
  EXPECT_EQ(tree.running(500)->parent, tree.running(200)->id);
  EXPECT_EQ(tree.running(600), nullptr);
  EXPECT_EQ(said(tree.update(0.1)), "");
}

TEST(ProcessTree, AnEndIsSeenOnceAndTheGrandchildrenStay) {
  Folder proc;
  FakeProcess{.pid = 100, .children = {{200}}}.put(proc);
  FakeProcess{.pid = 200, .parent = 100, .children = {{300}}}.put(proc);
  FakeProcess{.pid = 300, .parent = 200}.put(proc);
  ProcessTree tree(roots_of(proc), 100);
  tree.update(0);
  FakeProcess{.pid = 100, .children = {{}}}.put(proc);
  FakeProcess{
      .pid = 200, .parent = 100, .state = 'Z', .size = 0, .resident = 0, .shared = 0, .code = 0}
      .put(proc);
  EXPECT_EQ(said(tree.update(0.5)), "-2 ");
  EXPECT_EQ(tree.find(2)->ended, 0.5);
  EXPECT_EQ(said(tree.update(0.6)), "");
  EXPECT_EQ(tree.running_ids(), (std::vector<std::int64_t>{1, 3}));
}

TEST(ProcessTree, AZombieInItsParentsListIsNotANewProcess) {
  Folder proc;
  FakeProcess{.pid = 100, .children = {{200}}}.put(proc);
  FakeProcess zombie{.pid = 200, .parent = 100, .state = 'Z', .size = 0};
  zombie.put(proc);
  ProcessTree tree(roots_of(proc), 100);
  EXPECT_EQ(said(tree.update(0)), "+1 +2 -2 ");
  EXPECT_FALSE(tree.find(2)->sampled);
  for (int second = 1; second < 5; ++second) EXPECT_EQ(said(tree.update(second)), "");
}

TEST(ProcessTree, APidThatComesAgainIsAnotherProcess) {
  Folder proc;
  FakeProcess{.pid = 100, .children = {{200}}}.put(proc);
  FakeProcess{.pid = 200, .parent = 100, .start = 5000}.put(proc);
  ProcessTree tree(roots_of(proc), {100}, {.subreaper = 0, .descriptors = 0});
  tree.update(0);
  FakeProcess{.pid = 200, .parent = 100, .start = 9000}.put(proc);
  EXPECT_EQ(said(tree.update(1)), "-2 +3 ");
  EXPECT_EQ(tree.running(200)->start_ticks, 9000u);
  EXPECT_EQ(tree.count(), 3);
}

TEST(ProcessTree, ExecChangesTheNameAndNotTheProcess) {
  Folder proc;
  using namespace std::string_literals;
  FakeProcess process{.pid = 100, .comm = "sh", .cmdline = "/bin/sh\0-c\0python3 x.py\0"s};
  process.put(proc);
  ProcessTree tree(roots_of(proc), 100);
  tree.update(0);
  EXPECT_EQ(tree.find(1)->name, "sh -c python3 x.py");
  process.comm = "python3";
  process.cmdline = "/usr/bin/python3\0x.py\0"s;
  process.stack = 8192;
  process.code = 77;
  process.put(proc);
  EXPECT_EQ(said(tree.update(0.1)), "!1 ");
  EXPECT_EQ(tree.find(1)->name, "python3 x.py");
  EXPECT_EQ(tree.find(1)->execs, 1);
}

TEST(ProcessTree, ARenamedProcessIsNotAnotherProgram) {
  Folder proc;
  FakeProcess process{.pid = 100, .comm = "python3"};
  process.put(proc);
  ProcessTree tree(roots_of(proc), 100);
  tree.update(0);
  process.comm = "worker [idle]";
  process.put(proc);
  EXPECT_EQ(said(tree.update(2)), "");
}

TEST(ProcessTree, AForkIsToldFromAnotherProgram) {
  Folder proc;
  FakeProcess{.pid = 100, .stack = 111, .children = {{200, 300}}}.put(proc);
  FakeProcess{.pid = 200, .parent = 100, .stack = 111}.put(proc);
  FakeProcess{.pid = 300, .parent = 100, .stack = 222}.put(proc);
  ProcessTree tree(roots_of(proc), 100);
  tree.update(0);
  EXPECT_TRUE(tree.running(200)->forked);
  EXPECT_FALSE(tree.running(300)->forked);
}

TEST(ProcessTree, OrphansAreFoundAtTheSubreaper) {
  Folder proc;
  FakeProcess{.pid = 10, .children = {{100, 700}, {800}}}.put(proc);
  FakeProcess{.pid = 100, .parent = 10}.put(proc);
  FakeProcess{.pid = 700, .parent = 10, .children = {{701}}}.put(proc);
  FakeProcess{.pid = 701, .parent = 700}.put(proc);
  FakeProcess{.pid = 800, .parent = 10}.put(proc);
  ProcessTree tree(roots_of(proc), {100}, {.subreaper = 10});
  tree.ignore(800);
  EXPECT_EQ(said(tree.update(0)), "+1 +2 +3 ");
  EXPECT_EQ(tree.running(700)->parent, 0);
  EXPECT_EQ(tree.running(701)->parent, 2);
  EXPECT_EQ(tree.running(800), nullptr);
}

TEST(ProcessTree, WhatAProbeReportsIsKeptEvenIfItIsGone) {
  Folder proc;
  FakeProcess{.pid = 100}.put(proc);
  FakeProcess{.pid = 200}.put(proc);
  ProcessTree tree(roots_of(proc), 100);
  tree.update(0);
  EXPECT_TRUE(tree.adopt(200, 0.1));
  EXPECT_FALSE(tree.adopt(200, 0.1));
  EXPECT_TRUE(tree.adopt(300, 0.1));
  EXPECT_FALSE(tree.adopt(300, 0.1));
  EXPECT_EQ(said(tree.update(0.2)), "+2 +3 -3 ");
  EXPECT_EQ(tree.unseen().at_least, 1);
  EXPECT_EQ(tree.unseen().at_most, -1);
}

TEST(ProcessTree, TheKernelsLastPidBoundsWhatWasMissed) {
  Folder proc;
  proc.write("loadavg", "0.00 0.00 0.00 1/99 4000\n");
  proc.write("uptime", "20.35 39.00\n");
  FakeProcess{.pid = 100, .start = 1000}.put(proc);
  ProcessTree tree(roots_of(proc), 100);
  tree.update(0);
  proc.write("loadavg", "0.00 0.00 0.00 1/99 4012\n");
  FakeProcess{.pid = 100, .start = 1000, .children = {{4005}}}.put(proc);
  FakeProcess{.pid = 4005, .parent = 100, .start = 3000}.put(proc);
  EXPECT_EQ(said(tree.update(0.1)), "+2 ");
  EXPECT_EQ(tree.unseen().at_most, 11);
  EXPECT_EQ(tree.unseen().at_least, 0);
}

TEST(ProcessTree, WhereNothingWasStartedNoListIsRead) {
  Folder proc;
  proc.write("loadavg", "0.00 0.00 0.00 1/99 4000\n");
  FakeProcess{.pid = 100}.put(proc);
  ProcessTree tree(roots_of(proc), 100);
  tree.update(0);
  tree.update(0.1);
  FakeProcess{.pid = 100, .children = {{200}}}.put(proc);
  FakeProcess{.pid = 200, .parent = 100}.put(proc);
  EXPECT_EQ(said(tree.update(0.2)), "");
  EXPECT_EQ(said(tree.update(1.2)), "+2 ");  // But once a second, whatever loadavg says.
}

TEST(ProcessTree, AChildOnlyItsParentsUsageKnows) {
  Folder proc;
  FakeProcess process{.pid = 100};
  process.put(proc);
  ProcessTree tree(roots_of(proc), 100);
  tree.update(0);
  process.children_faults = 250;
  process.put(proc);
  tree.update(1.5);
  EXPECT_EQ(tree.unseen().at_least, 1);
  tree.update(3);
  EXPECT_EQ(tree.unseen().at_least, 1);
}

TEST(ProcessTree, ARootThatIsGoneBeforeTheFirstLookIsStillAMember) {
  Folder proc;
  ProcessTree tree(roots_of(proc), 100);
  rusage usage{};
  usage.ru_maxrss = 4096;
  usage.ru_utime.tv_sec = 2;
  tree.note_exit(100, 0, usage, 0.01);
  EXPECT_EQ(said(tree.update(0.1)), "+1 -1 ");
  EXPECT_EQ(tree.find(1)->peak, 4096 * 1024);
  EXPECT_EQ(tree.find(1)->cpu_ms, 2000);
  EXPECT_EQ(tree.find(1)->wait_status, 0);
}

TEST(ProcessTree, AnInheritedPeakIsNotItsOwn) {
  Folder proc;
  FakeProcess{.pid = 100, .resident = 300000, .children = {{200}}}.put(proc);
  FakeProcess{.pid = 200, .parent = 100, .resident = 100}.put(proc);
  ProcessTree tree(roots_of(proc), 100);
  tree.update(0);
  tree.update(0.1);
  rusage usage{};
  usage.ru_maxrss = 300000 * 4;  // What it had from its parent at the fork.
  tree.note_exit(200, 0, usage, 0.2);
  EXPECT_EQ(tree.find(2)->peak, 100 * sysconf(_SC_PAGESIZE));
  usage.ru_maxrss = 300000 * 4 + 5000;  // More than anybody it comes from.
  tree.note_exit(100, 0, usage, 0.3);
  EXPECT_EQ(tree.find(1)->peak, (300000 * 4 + 5000) * std::int64_t{1024});
}

TEST(ProcessTree, FilesFullOfNonsenseEndNothingButThemselves) {
  Folder proc;
  proc.write("loadavg", "nonsense");
  FakeProcess{.pid = 100, .children = {{200, 300, 400, 100}}}.put(proc);
  proc.write("100/task/x/children", "5");
  proc.write("100/task/101/children", "-7 0 99999999999999999999 18446744073709551617 400x500");
  proc.write("200/stat", "");
  proc.write("300/stat", "300 (a");
  FakeProcess{.pid = 400, .parent = 100, .comm = ") \n(", .children = {{100}}}.put(proc);
  ProcessTree tree(roots_of(proc), 100);
  EXPECT_EQ(said(tree.update(0)), "+1 +2 ");
  EXPECT_EQ(tree.running(400)->name, "[) ?(]");
  proc.write("400/statm", "12 what");
  EXPECT_EQ(said(tree.update(0.1)), "-2 ");
}

TEST(ProcessTree, ThoseWhoEndedLongAgoAreForgotten) {
  Folder proc;
  FakeProcess{.pid = 100}.put(proc);
  ProcessTree tree(roots_of(proc), 100);
  tree.update(0);
  for (int i = 0; i < 6000; ++i) tree.adopt(1000 + i, 0.1);
  tree.update(0.2);
  tree.update(0.3);
  EXPECT_EQ(tree.count(), 6001);
  EXPECT_EQ(tree.find(2), nullptr);
  EXPECT_NE(tree.find(6001), nullptr);
  EXPECT_NE(tree.find(1), nullptr);
}

TEST(ShortName, IsTheProgramWithoutItsFolderAndItsArguments) {
  using namespace std::string_literals;
  EXPECT_EQ(short_name("/usr/bin/python3\0train.py\0--lr\0"
                       "0.1\0"s,
                       "python3"),
            "python3 train.py --lr 0.1");
  EXPECT_EQ(short_name("", "kworker/0"), "[kworker/0]");
  EXPECT_EQ(short_name("\0\0"s, "x"), "[x]");
  EXPECT_EQ(short_name("node"s, "node"), "node");
  EXPECT_EQ(short_name("/\0a"s, "x"), "/ a");
  EXPECT_EQ(short_name("python3\0-c\0import os\nos.fork()\0"s, "x", 24), "python3 -c import os?…");
}

}  // namespace
}  // namespace lowtide::watch

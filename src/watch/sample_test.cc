// SPDX-License-Identifier: Apache-2.0
#include "watch/sample.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <string>

#include "watch/testing.h"

namespace lowtide::watch {
namespace {

using testing::Child;
using testing::FakeProcess;
using testing::Folder;
using testing::Signal;
using testing::stay;

constexpr std::int64_t kMi = 1 << 20;

std::int64_t pages(std::int64_t n) { return n * sysconf(_SC_PAGESIZE); }

// A rollup of `anonymous` KiB of which `own` KiB are this process' part, and of 160 KiB of files.
std::string rollup(std::int64_t anonymous, std::int64_t own, std::int64_t files_own = 160) {
  auto n = [](std::int64_t v) { return std::to_string(v) + " kB\n"; };
  return "1000-2000 ---p 00000000 00:00 0 [rollup]\nRss: " + n(anonymous + 160) +
         "Pss: " + n(own + files_own) + "Pss_Anon: " + n(own) + "Pss_File: " + n(files_own) +
         "Pss_Shmem: 0 kB\nAnonymous: " + n(anonymous) + "SwapPss: 0 kB\n";
}

struct Watch {
  explicit Watch(Roots r, std::int32_t root) : tree(r, root), sampler(r, {}) {}
  const std::vector<recording::Sample>& at(double now) {
    tree.update(now);
    return sampler.sample(tree, now, 777);
  }
  ProcessTree tree;
  Sampler sampler;
};

TEST(Sampler, TellsAProcessApartIntoItsKinds) {
  Folder proc;
  FakeProcess{.pid = 100, .resident = 1000, .shared = 300, .shmem_kb = 400, .swap_kb = 8}.put(proc);
  Watch watch({proc.path(), ""}, 100);
  const auto& samples = watch.at(0);
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_EQ(samples[0].process, 1);
  EXPECT_EQ(samples[0].resident, pages(1000));
  EXPECT_EQ(samples[0].anonymous, pages(700));
  EXPECT_EQ(samples[0].shared, 400 * 1024);
  EXPECT_EQ(samples[0].file, pages(300) - 400 * 1024);
  EXPECT_EQ(samples[0].swap, 8 * 1024);
  EXPECT_EQ(samples[0].cpu_ms, 100);
  EXPECT_EQ(samples[0].allocator_in_use, -1);
  EXPECT_EQ(samples[1].process, 0);
  EXPECT_EQ(samples[1].resident, samples[0].resident);
  EXPECT_EQ(samples[1].container, 777);
}

TEST(Sampler, ForksCountWhatTheyShareOnce) {
  Folder proc;
  FakeProcess{.pid = 100, .resident = 1040, .children = {{200}}}.put(proc);
  FakeProcess{.pid = 200, .parent = 100, .resident = 1040}.put(proc);
  proc.write("100/smaps_rollup", rollup(4000, 2000, 80));
  proc.write("200/smaps_rollup", rollup(4000, 2000, 80));
  Watch watch({proc.path(), ""}, 100);
  watch.at(0);
  EXPECT_EQ(watch.sampler.tree_sample().anonymous, 4000 * 1024);
  EXPECT_EQ(watch.sampler.tree_sample().file, pages(40));
  // The child dirties all of it: no page is shared, though statm says the same.
  FakeProcess{.pid = 200, .parent = 100, .resident = 1041}.put(proc);
  proc.write("100/smaps_rollup", rollup(4000, 4000, 80));
  proc.write("200/smaps_rollup", rollup(4004, 4004, 80));
  watch.at(40);
  EXPECT_EQ(watch.sampler.tree_sample().anonymous, 8004 * 1024);
  EXPECT_GT(watch.sampler.peak(), 8000 * 1024);
}

TEST(Sampler, AnUnmeasuredForkAddsNothingUntilItGrows) {
  Folder proc;
  FakeProcess{.pid = 100, .resident = 1040, .children = {{200}}}.put(proc);
  FakeProcess{.pid = 200, .parent = 100, .resident = 1040}.put(proc);
  Watch watch({proc.path(), ""}, 100);
  watch.at(0);
  EXPECT_EQ(watch.sampler.tree_sample().anonymous, pages(1000));
  FakeProcess{.pid = 200, .parent = 100, .resident = 1540}.put(proc);
  watch.at(0.1);
  EXPECT_EQ(watch.sampler.tree_sample().anonymous, pages(1500));
}

TEST(Sampler, ProgramsOfTheirOwnAddUp) {
  Folder proc;
  FakeProcess{.pid = 100, .stack = 1, .resident = 1040, .children = {{200}}}.put(proc);
  FakeProcess{.pid = 200, .parent = 100, .stack = 2, .resident = 540}.put(proc);
  Watch watch({proc.path(), ""}, 100);
  watch.at(0);
  EXPECT_EQ(watch.sampler.tree_sample().anonymous, pages(1500));
}

TEST(Sampler, WhatMallocSaysIsCarriedUntilAnExec) {
  Folder proc;
  FakeProcess process{.pid = 100, .comm = "sh", .stack = 1};
  process.put(proc);
  Watch watch({proc.path(), ""}, 100);
  watch.at(0);
  watch.sampler.note_allocator(1, 5000, 300);
  EXPECT_EQ(watch.at(0.1)[0].allocator_in_use, 5000);
  EXPECT_EQ(watch.at(0.2)[1].allocator_free, 300);
  process.stack = 2;
  process.code = 99;
  process.cmdline = "other";
  process.put(proc);
  EXPECT_EQ(watch.at(0.3)[0].allocator_in_use, -1);
}

TEST(Sampler, ProcessorTimeOfTheTreeNeverFalls) {
  Folder proc;
  FakeProcess{.pid = 100, .children = {{200}}}.put(proc);
  FakeProcess{.pid = 200, .parent = 100}.put(proc);
  Watch watch({proc.path(), ""}, 100);
  watch.at(0);
  EXPECT_EQ(watch.sampler.tree_sample().cpu_ms, 200);
  FakeProcess{.pid = 200, .parent = 100, .state = 'Z', .size = 0, .resident = 0, .shared = 0}.put(
      proc);
  watch.at(0.5);
  EXPECT_EQ(watch.tree.running_ids().size(), 1u);
  EXPECT_EQ(watch.sampler.tree_sample().cpu_ms, 200);
}

TEST(Sampler, RollupsAreSpacedByWhatTheyCost) {
  Folder proc;
  FakeProcess{.pid = 100, .children = {{200}}}.put(proc);
  FakeProcess{.pid = 200, .parent = 100}.put(proc);
  proc.write("100/smaps_rollup", rollup(240, 240));
  proc.write("200/smaps_rollup", rollup(240, 240));
  Roots roots{proc.path(), ""};
  ProcessTree tree(roots, 100);
  double clock = 0;
  Sampler::Options options;
  options.clock = [&clock] { return clock += 0.05; };  // Each reading takes 50 ms.
  Sampler sampler(roots, options);
  for (int now = 0; now <= 1000; ++now) {
    // Something always changes, so there is always a reason to measure.
    proc.write("100/statm", "1000 " + std::to_string(100 + now % 7) + " 40 10 0 50 0\n");
    tree.update(now);
    sampler.sample(tree, now);
  }
  EXPECT_GT(sampler.rollup_seconds_spent(), 1000 * 0.004);
  EXPECT_LE(sampler.rollup_seconds_spent(), 1000 * 0.005 + 0.1);
}

TEST(Sampler, AStatusOfNonsenseLeavesThingsUnknown) {
  Folder proc;
  FakeProcess{.pid = 100, .resident = 100, .shared = 400}.put(proc);
  proc.write("100/status", "Pid:\t100\nVmHWM:\tlots\nRssShmem:\t99999999999999999999 kB\nThreads:");
  proc.write("100/smaps_rollup", "Rss: 5 kB");
  Watch watch({proc.path(), ""}, 100);
  const auto& samples = watch.at(0);
  EXPECT_EQ(samples[0].anonymous, 0);
  EXPECT_EQ(samples[0].swap, -1);
  EXPECT_GE(samples[0].file, 0);
}

TEST(SamplerOnLinux, AForkOfALargeProcessDoesNotDoubleTheTree) {
  Signal ready;
  Child child([&] {
    void* memory =
        mmap(nullptr, 64 * kMi, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::memset(memory, 1, 64 * kMi);
    for (int i = 0; i < 3; ++i) {
      if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        ready.send();
        stay();
      }
    }
    stay();
  });
  for (int i = 0; i < 3; ++i) ready.wait();
  Watch watch(Roots{}, child.pid());
  for (int i = 0; i < 30; ++i) {
    const auto& samples = watch.at(i);
    ASSERT_EQ(samples.size(), 5u);
    EXPECT_GE(watch.sampler.tree_sample().anonymous, 64 * kMi);
    EXPECT_LE(watch.sampler.tree_sample().anonymous, watch.sampler.reading(1)->anonymous + 8 * kMi)
        << "at " << i;
  }
  EXPECT_GE(watch.sampler.reading(1)->measured, 0);
  EXPECT_LE(watch.sampler.reading(1)->anonymous_proportional,
            watch.sampler.reading(1)->anonymous / 3);
}

TEST(SamplerOnLinux, SharedMemoryIsShared) {
  Signal ready;
  Child child([&] {
    void* memory =
        mmap(nullptr, 32 * kMi, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    std::memset(memory, 1, 32 * kMi);
    if (fork() == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      volatile char sum = 0;
      for (std::int64_t i = 0; i < 32 * kMi; i += 4096) sum = sum + static_cast<char*>(memory)[i];
      ready.send();
      stay();
    }
    stay();
  });
  ready.wait();
  Watch watch(Roots{}, child.pid());
  for (int i = 0; i < 10; ++i) watch.at(i);
  EXPECT_GE(watch.sampler.tree_sample().shared, 32 * kMi);
  EXPECT_LE(watch.sampler.tree_sample().shared, 33 * kMi);
}

}  // namespace
}  // namespace lowtide::watch

// SPDX-License-Identifier: Apache-2.0
#include "watch/account.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>

#include <cstring>
#include <map>
#include <random>
#include <string>

#include "watch/rollup.h"
#include "watch/testing.h"

namespace lowtide::watch {
namespace {

using testing::Child;
using testing::Folder;
using testing::Signal;
using testing::stay;

constexpr std::int64_t kMi = 1 << 20;

// One mapping of smaps; sizes in KiB.
std::string mapping(const std::string& range, const std::string& permissions,
                    const std::string& name, int rss, int pss, int anonymous,
                    const std::string& flags = "rd wr mr mw me ac") {
  auto n = [](int v) { return std::to_string(v) + " kB\n"; };
  return range + " " + permissions + " 00000000 00:00 0   " + name +
         "\nSize: 9999 kB\nRss: " + n(rss) + "Pss: " + n(pss) + "Anonymous: " + n(anonymous) +
         "AnonHugePages: 0 kB\nSwap: 1 kB\nVmFlags: " + flags + "\n";
}

Mappings read(const Folder& proc, const std::string& smaps, int threads) {
  proc.write("7/smaps", smaps);
  proc.write("7/status", "VmPTE: 52 kB\nThreads: " + std::to_string(threads) + "\n");
  auto mappings = read_mappings({proc.path(), ""}, 7);
  EXPECT_TRUE(mappings);
  return mappings ? *mappings : Mappings{};
}

std::map<std::string, std::int64_t> by_name(const Account& account) {
  std::map<std::string, std::int64_t> parts;
  std::int64_t sum = 0;
  for (const recording::AccountPart& part : account.parts) {
    parts[part.part] += part.bytes;
    sum += part.bytes;
    EXPECT_GT(part.bytes, 0) << part.part;
  }
  EXPECT_EQ(sum, account.total);
  return parts;
}

TEST(Mappings, AreSortedByTheirNames) {
  Folder proc;
  Mappings m = read(proc,
                    mapping("1000-2000", "r-xp", "/usr/bin/python3", 100, 50, 0) +
                        mapping("2000-3000", "rw-p", "/usr/lib/libx (y) z.so", 30, 25, 20) +
                        mapping("3000-4000", "rw-p", "[heap]", 400, 400, 400) +
                        mapping("4000-5000", "rw-p", "", 50, 40, 50) +
                        mapping("5000-6000", "rw-s", "/memfd:x (deleted)", 60, 30, 0) +
                        mapping("6000-7000", "rw-s", "/dev/shm/y", 6, 3, 0) +
                        mapping("7000-8000", "rw-p", "[anon:stack_and_tls:9]", 7, 7, 7) +
                        mapping("8000-9000", "rw-p", "[stack]", 9, 9, 9) +
                        mapping("9000-a000", "rw-s", "/dev/nvidia0", 11, 11, 0) +
                        mapping("a000-b000", "r-xp", "[vdso]", 4, 0, 0),
                    1);
  EXPECT_EQ(m.files.rss, (100 + 10) * 1024);
  EXPECT_EQ(m.files.pss, (50 + 5) * 1024);
  EXPECT_EQ(m.heap.rss, 400 * 1024);
  EXPECT_EQ(m.anonymous.rss, (50 + 20) * 1024);
  EXPECT_EQ(m.shared.pss, 33 * 1024);
  EXPECT_EQ(m.stacks.rss, 16 * 1024);
  EXPECT_EQ(m.other.rss, 15 * 1024);
  EXPECT_EQ(m.total().rss, (100 + 30 + 400 + 50 + 60 + 6 + 7 + 9 + 11 + 4) * 1024);
  EXPECT_EQ(m.swap, 10 * 1024);
  EXPECT_EQ(m.page_tables, 52 * 1024);
  EXPECT_TRUE(m.whole);
}

TEST(Mappings, AThreadsStackIsKnownByItsGuard) {
  Folder proc;
  std::string guard = mapping("7f0000000000-7f0000001000", "---p", "", 0, 0, 0, "mr mw me");
  std::string above = "7f0000001000-7f0000801000";
  EXPECT_EQ(read(proc, guard + mapping(above, "rw-p", "", 20, 20, 20), 3).thread_stacks, 1);
  EXPECT_EQ(read(proc, guard + mapping(above, "rw-p", "", 20, 20, 20), 1).thread_stacks, 0);
  EXPECT_EQ(read(proc, guard + mapping(above, "rw-p", "", 20, 20, 20, "rd nh"), 1).thread_stacks,
            1);
  EXPECT_EQ(read(proc, guard + mapping(above, "rw-p", "/x", 20, 20, 20), 3).thread_stacks, 0);
  EXPECT_EQ(read(proc, guard + mapping(above, "rwxp", "", 20, 20, 20), 3).thread_stacks, 0);
  EXPECT_EQ(read(proc, mapping(above, "rw-p", "", 20, 20, 20), 3).thread_stacks, 0);
}

TEST(Mappings, HostileTextIsBounded) {
  Folder proc;
  std::string name(200000, 'x');
  Mappings m =
      read(proc,
           mapping("1000-2000", "rw-p", "/" + name, 5, 5, 0) +
               mapping("2000-3000", "rw-p", "[heap]", 7, 7, 7) +
               "zzzz\n3000-2000 rw-p\nRss: 99999999999999999999999 kB\nRss: -5 kB\nRss:\n\n\n",
           1);
  EXPECT_EQ(m.files.rss, 5 * 1024);
  EXPECT_EQ(m.heap.rss, 7 * 1024);
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    std::string text = mapping("1000-2000", "rw-p", "[heap]", 7, 7, 7);
    for (int i = 0; i < 9; ++i) text[random() % text.size()] = static_cast<char>(random());
    proc.write("7/smaps", text);
    (void)read_mappings({proc.path(), ""}, 7).has_value();
  }
}

TEST(Mappings, OfNobodyAreASentence) {
  auto gone = read_mappings(Roots{}, 0);
  ASSERT_FALSE(gone);
  EXPECT_NE(gone.error().message.find("/proc/0/smaps"), std::string::npos);
}

Mappings typical() {
  Mappings m;
  m.heap = {600, 300};
  m.anonymous = {400, 200};
  m.stacks = {50, 50};
  m.files = {200, 20};
  m.shared = {100, 50};
  return m;
}

TEST(Account, ClosesWhateverIsKnown) {
  std::mt19937_64 random(11);
  auto any = [&] { return static_cast<std::int64_t>(random() % 1500) - 200; };
  for (int round = 0; round < 2000; ++round) {
    Known known;
    for (std::int64_t* figure :
         {&known.live, &known.garbage, &known.live_native, &known.runtime_free,
          &known.allocator_in_use, &known.allocator_free}) {
      *figure = std::max<std::int64_t>(any(), -1);
    }
    for (Basis basis : {Basis::Rss, Basis::Pss}) {
      Account account = make_account(typical(), known, 1, 2, basis);
      by_name(account);
      EXPECT_EQ(account.total, basis == Basis::Rss ? 1350 : 620);
    }
  }
}

TEST(Account, SaysWhatAHeapGraphFoundAndTheRestIsUnexplained) {
  Known known{.allocator_in_use = 900,
              .allocator_free = 40,
              .live = 500,
              .live_native = 250,
              .garbage = 10,
              .runtime_free = 30,
              .runtime = "Python"};
  Account account = make_account(typical(), known, 1, 2);
  auto parts = by_name(account);
  EXPECT_EQ(parts["live Python"], 500);
  EXPECT_EQ(parts["native"], 250);
  EXPECT_EQ(parts["garbage"], 10);
  EXPECT_EQ(parts["runtime free"], 30);
  EXPECT_EQ(parts["allocator free"], 40);
  EXPECT_EQ(parts["malloc in use"], 140);  // 900 - 500 - 10 - 250: nobody's object.
  EXPECT_EQ(parts["unexplained"], 30);
  EXPECT_EQ(account.parts.back().part, "unexplained");
  EXPECT_EQ(account.not_resident, 0);
}

TEST(Account, WhatWasNeverTouchedIsApart) {
  Known known;
  known.live = 100;
  known.live_native = 5000;
  Account account = make_account(typical(), known, 1, 2);
  EXPECT_EQ(by_name(account)["native"], 900);
  EXPECT_EQ(account.not_resident, 4100);
}

TEST(Account, OfTheTreeCountsForksOnce) {
  Known known{.live = 800, .runtime = "Python"};
  Account one = make_account(typical(), known, 1, 2, Basis::Pss);
  Account tree = tree_account({one, one}, 1);
  EXPECT_EQ(tree.total, 1240);
  EXPECT_EQ(by_name(tree)["live Python"], 800);
  for (const auto& part : tree.parts) EXPECT_EQ(part.process, 0);
}

TEST(Account, OfTheContainerNamesWhatNoProcessHolds) {
  MemoryStat stat;
  stat.file = 1000;
  stat.file_mapped = 300;
  stat.shmem = 200;
  stat.kernel_stack = 5;
  stat.slab = 7;
  stat.kernel = 20;
  std::map<std::string, std::int64_t> parts;
  for (const auto& part : container_parts(stat, 1)) parts[part.part] = part.bytes;
  EXPECT_EQ(parts["container: page cache"], 700);
  EXPECT_EQ(parts["container: slab"], 7);
  EXPECT_EQ(parts["container: other kernel memory"], 8);
  EXPECT_EQ(parts.count("container: page tables"), 0u);
}

void* touch_stack(void* ready) {
  char big[200000];
  std::memset(big, 1, sizeof big);
  asm volatile("" : : "r"(big) : "memory");
  static_cast<Signal*>(ready)->send();
  stay();
  return nullptr;
}

TEST(AccountOnLinux, SumsToTheKernelsTotal) {
  Signal ready;
  Child child([&] {
    void* memory =
        mmap(nullptr, 8 * kMi, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::memset(memory, 1, 8 * kMi);
    int fd = memfd_create("x", 0);
    if (ftruncate(fd, 2 * kMi) != 0) _exit(1);
    void* shared = mmap(nullptr, 2 * kMi, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    std::memset(shared, 1, 2 * kMi);
    for (int i = 0; i < 3; ++i) {
      pthread_t thread;
      pthread_create(&thread, nullptr, touch_stack, &ready);
    }
    stay();
  });
  for (int i = 0; i < 3; ++i) ready.wait();
  auto mappings = read_mappings(Roots{}, child.pid());
  auto rollup = read_rollup("/proc", child.pid());
  ASSERT_TRUE(mappings && rollup);
  EXPECT_TRUE(mappings->whole);
  EXPECT_EQ(mappings->total().rss, rollup->rss);
  // smaps rounds Pss down in each mapping, its rollup once.
  EXPECT_LE(mappings->total().pss, rollup->pss);
  EXPECT_EQ(mappings->thread_stacks, 3);
  EXPECT_GE(mappings->stacks.rss, 600000);
  EXPECT_GE(mappings->shared.rss, 2 * kMi);
  EXPECT_GE(mappings->anonymous.rss, 8 * kMi);
  Account account = make_account(*mappings, {}, 0, 1);
  by_name(account);
  EXPECT_EQ(account.total, rollup->rss);
}

}  // namespace
}  // namespace lowtide::watch

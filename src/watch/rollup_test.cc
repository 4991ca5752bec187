// SPDX-License-Identifier: Apache-2.0
#include "watch/rollup.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

namespace lowtide::watch {
namespace {

constexpr std::string_view kText =
    "56042467a000-7ffd01ac6000 ---p 00000000 00:00 0                          [rollup]\n"
    "Rss:                3968 kB\nPss:                 887 kB\nPss_Dirty:           576 kB\n"
    "Pss_Anon:            576 kB\nPss_File:            310 kB\nPss_Shmem:             1 kB\n"
    "Anonymous:           960 kB\nSwap:                  0 kB\nSwapPss:               0 kB\n";

TEST(Rollup, IsReadByTheNamesOfItsLines) {
  auto rollup = parse_rollup(kText);
  ASSERT_TRUE(rollup);
  EXPECT_EQ(rollup->rss, 3968 * 1024);
  EXPECT_EQ(rollup->pss, 887 * 1024);
  EXPECT_EQ(rollup->anonymous, 960 * 1024);
  EXPECT_EQ(rollup->pss_anonymous, 576 * 1024);
  EXPECT_EQ(rollup->pss_file, 310 * 1024);
  EXPECT_EQ(rollup->pss_shmem, 1024);
}

TEST(Rollup, CutOffOrEmptyIsNone) {
  EXPECT_FALSE(parse_rollup(""));
  EXPECT_FALSE(parse_rollup(kText.substr(0, 150)));
  EXPECT_FALSE(read_rollup("/proc", 0));
}

TEST(Rollup, OfOurselvesIsWhole) {
  auto rollup = read_rollup("/proc", getpid());
  ASSERT_TRUE(rollup);
  EXPECT_GT(rollup->rss, 0);
  EXPECT_LE(rollup->pss, rollup->rss);
}

}  // namespace
}  // namespace lowtide::watch

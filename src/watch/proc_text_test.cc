// SPDX-License-Identifier: Apache-2.0
#include "watch/proc_text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <string>

namespace lowtide::watch {
namespace {

constexpr std::string_view kStat =
    "3721 (bash) S 3718 3721 3721 0 -1 4194560 2794 35352 0 17 1 1 25 6 20 0 4 0 107342 5124096 "
    "951 18446744073709551615 94575790821376 94575791610781 140724631525024 0 0 0 65536 4\n";

TEST(ProcText, StatGivesTheFieldsByTheirPlace) {
  Stat stat;
  ASSERT_TRUE(parse_stat(kStat, stat));
  EXPECT_EQ(stat.pid, 3721);
  EXPECT_EQ(stat.comm, "bash");
  EXPECT_EQ(stat.state, 'S');
  EXPECT_EQ(stat.parent, 3718);
  EXPECT_EQ(stat.children_faults, 35352);
  EXPECT_EQ(stat.ticks, 2);
  EXPECT_EQ(stat.threads, 4);
  EXPECT_EQ(stat.start, 107342u);
  EXPECT_EQ(stat.pages, 951);
  EXPECT_EQ(stat.stack, 140724631525024u);
}

TEST(ProcText, ACommMayHoldAnything) {
  for (std::string comm : {"a b", "a) R 1", "((", "))", "a\nb", "", ") S 1 1 1 ("}) {
    Stat stat;
    std::string text = "7 (" + comm + ") S 1 7 7 0 -1 0 0 5 0 0 2 3 0 0 20 0 1 0 99 0 1";
    ASSERT_TRUE(parse_stat(text, stat)) << comm;
    EXPECT_EQ(stat.comm, comm);
    EXPECT_EQ(stat.parent, 1);
    EXPECT_EQ(stat.start, 99u);
  }
}

TEST(ProcText, AStatCutAnywhereIsRefusedOrWhole) {
  for (std::size_t cut = 0; cut <= kStat.size(); ++cut) {
    Stat stat;
    if (parse_stat(kStat.substr(0, cut), stat)) {
      EXPECT_EQ(stat.start, 107342u);
    }
  }
}

TEST(ProcText, NoisyTextIsNeverBelieved) {
  std::mt19937 random(7);
  for (int round = 0; round < 20000; ++round) {
    std::string text(kStat);
    for (int i = 0; i < 6; ++i) text[random() % text.size()] = static_cast<char>(random());
    text.resize(random() % (text.size() + 1));
    Stat stat;
    parse_stat(text, stat);
    Statm statm;
    parse_statm(text, statm);
    field_bytes(text, "Rss");
    std::vector<std::int32_t> pids;
    std::int64_t carry = 0;
    parse_pids(text, carry, pids);
    for (std::int32_t pid : pids) EXPECT_GT(pid, 0);
  }
}

TEST(ProcText, StatmNeedsFourNumbers) {
  Statm statm;
  EXPECT_TRUE(parse_statm("1251 992 752 193 0 239 0\n", statm));
  EXPECT_EQ(statm.size, 1251);
  EXPECT_EQ(statm.resident, 992);
  EXPECT_EQ(statm.shared, 752);
  EXPECT_EQ(statm.text, 193);
  EXPECT_FALSE(parse_statm("1251 992 752", statm));
  EXPECT_FALSE(parse_statm("1251 -2 752 1", statm));
  EXPECT_FALSE(parse_statm("9223372036854775807 2 752 1", statm));
  EXPECT_FALSE(parse_statm("", statm));
}

TEST(ProcText, AFieldIsFoundByItsWholeName) {
  std::string_view text = "VmRSSx:\t1 kB\nVmRSS:\t  3968 kB\nThreads:\t7\nRss\n";
  EXPECT_EQ(field_bytes(text, "VmRSS"), 3968 * 1024);
  EXPECT_EQ(field_number(text, "Threads"), 7);
  EXPECT_EQ(field_bytes(text, "Vm"), -1);
  EXPECT_EQ(field_bytes(text, "Rss"), -1);
  EXPECT_EQ(keyed_number("oom 3\noom_kill 2\n", "oom_kill"), 2);
  EXPECT_EQ(keyed_number("oom_kill 2", "oom"), -1);
}

TEST(ProcText, NumbersThatDoNotFitAreTheLargest) {
  EXPECT_EQ(parse_number("18446744073709551615"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parse_number("12a"), -1);
  EXPECT_EQ(parse_number("-1"), -1);
  EXPECT_EQ(parse_number(""), -1);
}

TEST(ProcText, APidCutByTheEdgeOfARead) {
  std::vector<std::int32_t> pids;
  std::int64_t carry = 0;
  parse_pids("12 34", carry, pids);
  parse_pids("56 7 99999999999999999999 ", carry, pids);
  EXPECT_EQ(pids, (std::vector<std::int32_t>{12, 3456, 7}));
}

TEST(ProcText, WhatPeopleReadIsOneLineAndWholeCharacters) {
  EXPECT_EQ(readable("a\nb\x1b[2J", 80), "a?b?[2J");
  EXPECT_EQ(readable("abcdef", 6), "abcdef");
  EXPECT_EQ(readable("abcdefg", 6), "abc…");
  EXPECT_EQ(readable("ab\xc3\xa4\xc3\xa4\xc3\xa4", 6), "ab…");
}

}  // namespace
}  // namespace lowtide::watch

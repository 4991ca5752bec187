// SPDX-License-Identifier: Apache-2.0
#include "base/line_pattern.h"

#include <gtest/gtest.h>

#include <random>
#include <regex>
#include <string>

namespace lowtide {
namespace {

bool found(std::string_view pattern, std::string_view line) {
  const auto compiled = LinePattern::compile(pattern, 1024);
  EXPECT_TRUE(compiled) << pattern;
  return compiled && compiled->found_in(line);
}

TEST(LinePattern, IsFoundAnywhereInALine) {
  EXPECT_TRUE(found("epoch", "an epoch ended"));
  EXPECT_FALSE(found("epoch", "an epic ended"));
  EXPECT_TRUE(found("aab", "aaab"));
}

TEST(LinePattern, AnchorsHoldItToTheEnds) {
  EXPECT_TRUE(found("^step [0-9]+$", "step 12"));
  EXPECT_FALSE(found("^step [0-9]+$", "a step 12"));
  EXPECT_FALSE(found("^step [0-9]+$", "step 12 done"));
  EXPECT_TRUE(found("^(a|b)$|x$", "ax"));
}

TEST(LinePattern, RepeatsCount) {
  EXPECT_TRUE(found("^a{2,3}$", "aaa"));
  EXPECT_FALSE(found("^a{2,3}$", "aaaa"));
  EXPECT_TRUE(found("^(ab){2}$", "abab"));
  EXPECT_TRUE(found("x{", "x{"));
}

TEST(LinePattern, WhatIsNoPatternIsRefusedInASentence) {
  for (const char* text : {"(", ")", "[a", "*a", "a{3,2}", "\\", "\\1", "", "a*", "x{300}"}) {
    const auto compiled = LinePattern::compile(text, 1024);
    ASSERT_FALSE(compiled) << text;
    EXPECT_NE(compiled.error().message.find("pattern"), std::string::npos);
  }
  EXPECT_FALSE(LinePattern::compile("a.{20}b", 100)) << "more states than allowed";
}

TEST(LinePattern, AgreesWithTheStandardLibraryOnRandomPatterns) {
  std::mt19937 random(7);
  const auto pick = [&](std::string_view from) { return from[random() % from.size()]; };
  int compared = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string pattern;
    for (int depth = 0, i = 0; i < 6 || depth > 0; ++i) {
      const auto what = static_cast<unsigned>(random() % 10);
      if (what == 0 && i < 5)
        pattern += "(a", ++depth;
      else if (depth > 0 && (what == 1 || i > 8))
        pattern += ')', --depth;
      else if (what == 2)
        pattern += "[ab]";
      else if (what == 3)
        pattern += '.';
      else if (what == 4)
        pattern += "c|b";
      else
        pattern += pick("abc");
      if (random() % 4 == 0) pattern += pick("*+?");
    }
    const auto compiled = LinePattern::compile(pattern, 4096);
    if (!compiled) continue;  // it matches everything
    const std::regex standard(pattern, std::regex::extended);
    for (int i = 0; i < 10; ++i) {
      std::string line;
      for (auto n = random() % 9; n > 0; --n) line += pick("abcd");
      EXPECT_EQ(compiled->found_in(line), std::regex_search(line, standard))
          << pattern << " in " << line;
      ++compared;
    }
  }
  EXPECT_GT(compared, 5000);
}

}  // namespace
}  // namespace lowtide

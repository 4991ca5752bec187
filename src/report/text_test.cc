// SPDX-License-Identifier: Apache-2.0
#include "report/text.h"

#include <gtest/gtest.h>

namespace lowtide::report {
namespace {

using Lines = std::vector<std::string>;

TEST(Text, MalformedBytesBecomeReplacementsAndTheRestSurvives) {
  EXPECT_EQ(clean("a\xff"
                  "b"),
            "a\uFFFDb");
  EXPECT_EQ(clean("\xc3"), "\uFFFD");                      // cut off
  EXPECT_EQ(clean("\xc0\x80"), "\uFFFD\uFFFD");            // overlong
  EXPECT_EQ(clean("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD");  // a surrogate
  EXPECT_EQ(clean("naïve → 名前"), "naïve → 名前");
}

TEST(Text, ControlCharactersAreShownNotSent) {
  EXPECT_EQ(clean("\x1b[31m\t\n"), "\\x1b[31m  ");
  EXPECT_EQ(clean("a\u202eb"), "a\\u202eb");
}

TEST(Text, ColumnsAreWhatATerminalTakes) {
  EXPECT_EQ(columns_of("abc → é"), 7);
  EXPECT_EQ(columns_of("名前"), 4);
  EXPECT_EQ(columns_of("e\u0301"), 1);
}

TEST(Text, ShorteningNeverSplitsACharacter) {
  EXPECT_EQ(shortened("名前名前", 5), "名前…");
  EXPECT_EQ(shortened("名前名前", 4), "名…");
  EXPECT_EQ(shortened("abc", 3), "abc");
  EXPECT_EQ(shortened("abcd", 1), "…");
  EXPECT_EQ(shortened("abcd", 0), "");
}

TEST(Text, LinesBreakAtSpacesAndLongWordsStayWhole) {
  EXPECT_EQ(wrapped("aa bb  cc", 5), (Lines{"aa bb", "cc"}));
  EXPECT_EQ(wrapped("a muchtoolongword b", 6), (Lines{"a", "muchtoolongword", "b"}));
  EXPECT_EQ(wrapped("aa bb", 5, 2), (Lines{"aa", "bb"}));
  EXPECT_EQ(wrapped("aa  bb", 0), (Lines{"aa  bb"}));
  EXPECT_EQ(wrapped("", 10), (Lines{""}));
  EXPECT_EQ(wrapped("a " + glued("b c"), 4), (Lines{"a", "b c"}));
}

}  // namespace
}  // namespace lowtide::report

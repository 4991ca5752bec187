// SPDX-License-Identifier: Apache-2.0
#include "probe/line.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace lowtide::probe {
namespace {

uint32_t shape(const std::string& text) {
  static const auto none = std::make_unique<lowtide_pattern>();
  Line line;
  for (const char byte : text) line.add(*none, static_cast<unsigned char>(byte));
  return line.shape();
}

TEST(Line, NumbersOfEveryFormAreOneSymbol) {
  const auto form = shape("step 7 loss 0.5 end");
  EXPECT_EQ(shape("step 123 loss 12 end"), form);
  EXPECT_EQ(shape("step 1,234 loss -1.5e-07 end"), form);
  EXPECT_EQ(shape("step 1 loss +3E+9 end"), form);
  EXPECT_NE(shape("step 7 loss none end"), form);
  EXPECT_NE(shape("steps 7 loss 0.5 end"), form);
}

TEST(Line, AMarkThatIsNoPartOfANumberCounts) {
  EXPECT_EQ(shape("took 5."), shape("took 61."));
  EXPECT_NE(shape("took 5."), shape("took 5"));
  EXPECT_NE(shape("took 5e"), shape("took 5"));
  EXPECT_NE(shape("a - b"), shape("a b"));
}

TEST(Line, PaddingAndBarsDoNotCount) {
  EXPECT_EQ(shape("epoch   1 [=>   ]"), shape("epoch 10 [====> ]"));
  EXPECT_EQ(shape("a\tb"), shape("a   b"));
  EXPECT_NE(shape("ab"), shape("abb"));
}

TEST(Line, ThePatternIsFollowedToItsEndAndNoFurther) {
  // "ab" anywhere.
  auto pattern = std::make_unique<lowtide_pattern>();
  pattern->states = 4;
  for (auto& next : pattern->next[1]) next = 1;
  for (auto& next : pattern->next[3]) next = 1;
  for (auto& next : pattern->next[2]) next = 2;
  pattern->next[1]['a'] = pattern->next[3]['a'] = 3;
  pattern->next[3]['b'] = 2;
  const auto matches = [&](const std::string& text) {
    Line line;
    for (const char byte : text) line.add(*pattern, static_cast<unsigned char>(byte));
    return line.matched();
  };
  EXPECT_TRUE(matches("xaab more"));
  EXPECT_FALSE(matches("xa b"));
  pattern->next[1]['z'] = 60000;  // A table somebody has damaged.
  EXPECT_FALSE(matches("z ab"));
}

TEST(Line, AnEmptyLineIsEmpty) {
  static const auto none = std::make_unique<lowtide_pattern>();
  Line line;
  EXPECT_TRUE(line.empty());
  line.add(*none, 'x');
  EXPECT_FALSE(line.empty());
}

}  // namespace
}  // namespace lowtide::probe

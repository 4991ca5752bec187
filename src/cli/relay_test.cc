// SPDX-License-Identifier: Apache-2.0
#include "cli/relay.h"

#include <gtest/gtest.h>

#include <memory>

namespace lowtide::cli {
namespace {

TEST(LineFinder, AMatchIsCountedOnceHoweverTheLineIsCut) {
  auto table = std::make_unique<lowtide_table>();
  const auto pattern = LinePattern::compile("^epoch [0-9]+$", 1024);
  ASSERT_TRUE(pattern);
  LineFinder finder(*pattern, *table);
  for (const char c : std::string_view("epoch 1\nnothing\nepoch 22\r\nepoch x\nepoch 3")) {
    finder.take(std::string_view(&c, 1), 7);
  }
  EXPECT_EQ(table->lines_written, 2u) << "the third has not ended yet";
  EXPECT_EQ(table->lines[1].ns, 7u);
  finder.take("\n", 9);
  EXPECT_EQ(table->lines_written, 3u);
  EXPECT_EQ(table->lines[2].matched, 1u);
}

}  // namespace
}  // namespace lowtide::cli

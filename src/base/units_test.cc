// SPDX-License-Identifier: Apache-2.0
#include "base/units.h"

#include <gtest/gtest.h>

namespace lowtide {
namespace {

TEST(Units, SizesHaveThreeSignificantDigits) {
  EXPECT_EQ(to_text(Bytes{0}), "0 B");
  EXPECT_EQ(to_text(Bytes{1023}), "1023 B");
  EXPECT_EQ(to_text(Bytes{1024}), "1.00 KiB");
  EXPECT_EQ(to_text(Bytes{1024 * 1024 - 1}), "1.00 MiB");
  EXPECT_EQ(to_text(Bytes{19189000}), "18.3 MiB");
  EXPECT_EQ(to_text(Bytes{-4096}), "-4.00 KiB");
  EXPECT_EQ(to_signed_text(Bytes{4096}), "+4.00 KiB");
}

TEST(Units, ASizeIsReadInAnyOfItsSpellings) {
  for (const char* text : {"1536K", "1536KB", "1536 KiB", "1.5M", "1572864"}) {
    EXPECT_EQ(parse_bytes(text), Bytes{1572864}) << text;
  }
  for (const char* text : {"", "x", "5Q", "-3M", "1e40G", "5Mi8"}) {
    EXPECT_FALSE(parse_bytes(text)) << text;
  }
}

TEST(Units, ADurationReadsAndPrints) {
  EXPECT_EQ(parse_seconds("100ms"), 0.1);
  EXPECT_EQ(parse_seconds("5m"), 300.0);
  EXPECT_EQ(parse_seconds("0.5"), 0.5);
  EXPECT_FALSE(parse_seconds("soon"));
  EXPECT_EQ(duration_text(0.34), "340 ms");
  EXPECT_EQ(duration_text(47.2), "47 s");
  EXPECT_EQ(duration_text(200), "3 min 20 s");
  EXPECT_EQ(duration_text(3 * 86400 + 4 * 3600), "3 days 4 h");
}

TEST(Units, CountsAreGroupedByThousands) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(-1000), "-1,000");
  EXPECT_EQ(count_text(1234567), "1,234,567");
}

}  // namespace
}  // namespace lowtide

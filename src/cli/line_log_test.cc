// SPDX-License-Identifier: Apache-2.0
#include "cli/line_log.h"

#include <gtest/gtest.h>

#include <memory>

namespace lowtide::cli {
namespace {

void write_line(lowtide_table& table, std::uint64_t ns, std::uint32_t shape, bool matched) {
  lowtide_line& entry = table.lines[table.lines_written % LOWTIDE_LINES];
  entry = {ns, 1, shape, matched, static_cast<std::uint32_t>(table.lines_written)};
  ++table.lines_written;
}

TEST(LineLog, RoundsAndKindsAreToldApart) {
  auto table = std::make_unique<lowtide_table>();
  LineLog log(1'000'000'000);
  write_line(*table, 2'000'000'000, 7, true);
  write_line(*table, 2'500'000'000, 8, false);
  log.drain(*table);
  write_line(*table, 3'000'000'000, 7, true);
  log.drain(*table);
  EXPECT_EQ(log.take_rounds(), (std::vector<double>{1, 2}));
  EXPECT_TRUE(log.take_rounds().empty());
  ASSERT_EQ(log.kinds().size(), 2u);
  EXPECT_EQ(log.kinds()[0].seconds, (std::vector<double>{1, 2}));
  EXPECT_EQ(log.lost(), 0u);
}

TEST(LineLog, AnEntryStillBeingWrittenIsWaitedFor) {
  auto table = std::make_unique<lowtide_table>();
  LineLog log(0);
  write_line(*table, 0, 7, true);
  write_line(*table, 5, 7, true);
  log.drain(*table);
  EXPECT_EQ(log.round_count(), 0u);
  table->lines[0].ns = 4;
  log.drain(*table);
  EXPECT_EQ(log.round_count(), 2u);
}

TEST(LineLog, AnOverrunRingIsCountedAsLost) {
  auto table = std::make_unique<lowtide_table>();
  LineLog log(0);
  for (std::uint64_t i = 0; i < LOWTIDE_LINES + 100; ++i) write_line(*table, i + 1, 7, true);
  log.drain(*table);
  EXPECT_EQ(log.lost(), 100u);
  EXPECT_EQ(log.round_count(), std::uint64_t{LOWTIDE_LINES});
}

TEST(TimeList, IsBoundedAndKeepsItsSpread) {
  TimeList list;
  for (int i = 0; i < 1'000'000; ++i) list.add(i);
  EXPECT_EQ(list.count(), 1'000'000u);
  EXPECT_LE(list.times().size(), TimeList::kMost);
  EXPECT_EQ(list.times()[0], 0);
  EXPECT_EQ(list.times()[1], static_cast<double>(list.stride()));
}

}  // namespace
}  // namespace lowtide::cli

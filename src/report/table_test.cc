// SPDX-License-Identifier: Apache-2.0
#include "report/table.h"

#include <gtest/gtest.h>

#include "report/holders_dot.h"
#include "report/testing.h"

namespace lowtide::report {
namespace {

std::vector<heap::TypeCount> types() {
  return {{"builtins.dict", 9000, Bytes{2000000}, Bytes{0}, Bytes{3000000}},
          {"pandas.core.frame.DataFrame", 412, Bytes{26368}, Bytes{333447168}, Bytes{333500000}}};
}

TEST(Table, FiguresStandOnTheRightAndNamesAreCutToTheTerminal) {
  EXPECT_EQ(heap_table(types(), 0, Style{.width = 60}),
            "count  retained   shallow   native  type\n"
            "  412   318 MiB  25.8 KiB  318 MiB  pandas.core.frame.DataF…\n"
            "9,000  2.86 MiB  1.91 MiB           builtins.dict\n");
  EXPECT_EQ(heap_table(types(), 1, Style{.width = 0}),
            "count  retained   shallow   native  type\n"
            "  412   318 MiB  25.8 KiB  318 MiB  pandas.core.frame.DataFrame\n"
            "and 1 more type\n");
}

TEST(Table, MissingCellsAreEmpty) {
  Table table({"a", "b"});
  table.add({"1"});
  table.add({});
  EXPECT_EQ(table.text(Style{}), "a  b\n1  \n   \n");
}

TEST(Table, ADiffShowsWhatChangedTheLargestGrowthFirst) {
  auto after = types();
  after[1].count += 10;
  after[1].native += Bytes{1048576};
  after[1].retained += Bytes{1048576};
  after.push_back({"new.Type", 1, Bytes{64}, Bytes{0}, Bytes{64}});
  after[0].count = 1;
  after[0].retained = Bytes{1000};
  const auto changes = changes_of(types(), after);
  ASSERT_EQ(changes.size(), 3u);
  EXPECT_EQ(diff_table(changes, 2, Style{}),
            "change  before  after   retained     native  type\n"
            "   +10     412    422  +1.00 MiB  +1.00 MiB  pandas.core.frame.DataFrame\n"
            "    +1       0      1      +64 B             new.Type\n"
            "and 1 more type\n");
  EXPECT_TRUE(changes_of(types(), types()).empty());
}

TEST(HoldersDot, PathsThatBeginAlikeShareTheirBeginning) {
  heap::Suspect s = leaking_run().suspects[0].what;
  s.holders = {{{"module m", ".cache", "['a\"\\n']"}, "", "module m", 400, Bytes{10}},
               {{"module m", ".cache", "[*]"}, "", "module m", 12, Bytes{}}};
  const std::string dot = to_dot(s);
  EXPECT_EQ(dot.find("module m"), dot.rfind("module m"));
  EXPECT_NE(dot.find("n0 -> n1;\n"), std::string::npos) << dot;
  EXPECT_NE(dot.find("['a\\\"\\\\n']"), std::string::npos) << dot;
  EXPECT_NE(dot.find("n2 -> what [label=\"alone frees 10 B\"]"), std::string::npos) << dot;
  EXPECT_NE(dot.find("n3 -> what [label=\"12\"]"), std::string::npos) << dot;
}

TEST(HoldersDot, GarbageIsHeldByNoOne) {
  heap::Suspect s;
  s.garbage = true;
  EXPECT_NE(to_dot(s).find("no one: unreachable cycles"), std::string::npos);
}

}  // namespace
}  // namespace lowtide::report

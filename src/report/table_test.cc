// SPDX-License-Identifier: Apache-2.0
#include "report/table.h"

#include <gtest/gtest.h>

#include "report/holders_dot.h"
#include "report/testing.h"

namespace lowtide::report {
namespace {

TEST(Table, FiguresStandOnTheRightAndNamesAreCutToTheTerminal) {
  Table table({"count", "retained", "type"});
  table.add({"412", "318 MiB", "pandas.core.frame.DataFrame"});
  table.add({"9,000", "2.86 MiB", "名前.名前.名前"});
  EXPECT_EQ(table.text(Style{.width = 30}),
            "count  retained  type\n"
            "  412   318 MiB  pandas.core.…\n"
            "9,000  2.86 MiB  名前.名前.名…\n");
  EXPECT_EQ(table.text(Style{.width = 0}),
            "count  retained  type\n"
            "  412   318 MiB  pandas.core.frame.DataFrame\n"
            "9,000  2.86 MiB  名前.名前.名前\n");
}

TEST(Table, MissingCellsAreEmpty) {
  Table table({"a", "b"});
  table.add({"1"});
  table.add({});
  EXPECT_EQ(table.text(Style{}), "a  b\n1  \n   \n");
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

// SPDX-License-Identifier: Apache-2.0
#include "cli/type_match.h"

#include <gtest/gtest.h>

namespace lowtide::cli {
namespace {

TEST(TypeMatch, ATypeIsNamedInFullByItsLastWordOrByPackageAndLastWord) {
  EXPECT_TRUE(names_type("pandas.core.frame.DataFrame", "pandas.core.frame.DataFrame"));
  EXPECT_TRUE(names_type("DataFrame", "pandas.core.frame.DataFrame"));
  EXPECT_TRUE(names_type("pandas.DataFrame", "pandas.core.frame.DataFrame"));
  EXPECT_TRUE(names_type("list", "list"));
  EXPECT_FALSE(names_type("Frame", "pandas.core.frame.DataFrame"));
  EXPECT_FALSE(names_type("core.DataFrame", "pandas.core.frame.DataFrame"));
  EXPECT_FALSE(names_type("pandasXDataFrame", "pandas.core.frame.DataFrame"));
  EXPECT_FALSE(names_type("", "list"));
}

}  // namespace
}  // namespace lowtide::cli

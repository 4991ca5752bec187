// SPDX-License-Identifier: Apache-2.0
#include "heap/naming.h"

#include <gtest/gtest.h>

#include "heap/graph.h"

namespace lowtide::heap {
namespace {

TEST(Naming, ClassesAreNamedAsTheyAreImported) {
  EXPECT_EQ(public_name("pandas.core.frame.DataFrame"), "pandas.DataFrame");
  EXPECT_EQ(public_name("builtins.dict"), "dict");
  EXPECT_EQ(public_name("__main__.Model"), "Model");
  EXPECT_EQ(public_name("app.models.Model"), "app.models.Model");
  EXPECT_EQ(public_name("_asyncio.Task"), "asyncio.Task");
  EXPECT_EQ(public_name("concurrent.futures._base.Future"), "concurrent.futures.Future");
  EXPECT_EQ(public_name("app.make.<locals>.Model"), "app.Model");
  EXPECT_EQ(public_name("__main__.make.<locals>.Model"), "Model");
  EXPECT_EQ(public_name("_thread.lock"), "thread.lock");
  EXPECT_EQ(public_name("dict"), "dict");
}

TEST(Naming, ClassesOfTheProgramSayMostAndPlumbingSaysNothing) {
  EXPECT_EQ(fame_of("app.Model", kUser), Fame::User);
  EXPECT_EQ(fame_of("logging.Logger", 0), Fame::Library);
  EXPECT_EQ(fame_of("builtins.ValueError", 0), Fame::Library);
  EXPECT_EQ(fame_of("builtins.type", 0), Fame::Class);
  EXPECT_EQ(fame_of("numpy.ndarray", kUser), Fame::Buffer);
  EXPECT_EQ(fame_of("builtins.function", 0), Fame::Function);
  EXPECT_EQ(fame_of("builtins.dict", 0), Fame::Builtin);
  EXPECT_EQ(fame_of("collections.deque", 0), Fame::Builtin);
  EXPECT_EQ(fame_of("builtins.cell", 0), Fame::Plumbing);
}

TEST(Naming, LabelsOfOneKindHaveAPattern) {
  EXPECT_EQ(common_label("Model_1", "Model_2"), "Model_*");
  EXPECT_EQ(common_label("Model_*", "Model_3"), "Model_*");
  EXPECT_EQ(common_label("run in a.py:1", "run in a.py:1"), "run in a.py:1");
  EXPECT_EQ(common_label("x", "y"), "");
}

}  // namespace
}  // namespace lowtide::heap

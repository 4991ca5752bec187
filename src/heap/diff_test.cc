// SPDX-License-Identifier: Apache-2.0
#include "heap/diff.h"

#include <gtest/gtest.h>

#include "heap/story.h"

namespace lowtide::heap {
namespace {

Graph with_results(int count) {
  return graph_after(
      [](Sketch& heap, int n) {
        std::vector<NodeId> kept;
        for (int i = 0; i < n; ++i) kept.push_back(heap.instance("app.Result", {}));
        heap.module("app", {{"history", heap.list(kept)}});
      },
      count);
}

TEST(Diff, TypesAndPathsSayWhatIsMore) {
  const auto before = take_census(with_results(3)), after = take_census(with_results(10));
  const Diff d = diff(*before, *after, 10);
  ASSERT_FALSE(d.types.empty());
  EXPECT_EQ(d.types[0].what, "app.Result");
  EXPECT_EQ(d.types[0].count(), 7);
  EXPECT_EQ(d.types[0].bytes(), Bytes{7 * (48 + 64)});
  ASSERT_FALSE(d.paths.empty());
  EXPECT_EQ(d.paths[0].count(), 7);
  EXPECT_NE(d.paths[0].what.find("module app → history : list → [*] : app.Result"),
            std::string::npos)
      << d.paths[0].what;
  EXPECT_EQ(d.reachable_after - d.reachable_before, Bytes{7 * (48 + 64)});
}

TEST(Diff, WhatIsGoneIsThereToo) {
  const auto before = take_census(with_results(3)), after = take_census(with_results(0));
  const Diff d = diff(*before, *after, 10);
  EXPECT_EQ(d.types[0].count(), -3);
  EXPECT_EQ(d.paths[0].count(), -3);
}

TEST(Diff, NothingChangedIsNothingSaid) {
  const auto one = take_census(with_results(3)), other = take_census(with_results(3));
  const Diff d = diff(*one, *other, 10);
  EXPECT_TRUE(d.types.empty());
  EXPECT_TRUE(d.paths.empty());
}

}  // namespace
}  // namespace lowtide::heap

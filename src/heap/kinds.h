// SPDX-License-Identifier: Apache-2.0
#pragma once

// The things that programs leak, and what is expected of the one suspect there is. Included by
// tests only.

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "heap/story.h"

namespace lowtide::heap {

inline constexpr std::uint8_t kClass = kCollectable | kUser;

inline NodeId bytes(Sketch& heap, std::int64_t size) {
  return heap.object("builtins.bytes", size, 0, "", 0);
}
inline NodeId text(Sketch& heap, std::int64_t size = 60) {
  return heap.object("builtins.str", size, 0, "", 0);
}
inline NodeId array(Sketch& heap, std::int64_t size, std::string_view label) {
  return heap.object("numpy.ndarray", 112, size, label, kClass);
}
inline NodeId frame_data(Sketch& heap, std::int64_t size) {
  const NodeId block = heap.instance("pandas.core.internals.blocks.NumericBlock",
                                     {{"values", array(heap, size, "float64 (2000, 20)")}});
  const NodeId blocks = heap.object("builtins.tuple", 48);
  heap.item(blocks, 0, block);
  const NodeId manager =
      heap.instance("pandas.core.internals.managers.BlockManager", {{"blocks", blocks}});
  return heap.instance("pandas.core.frame.DataFrame", {{"_mgr", manager}});
}

inline std::string all(const std::vector<Suspect>& suspects) {
  std::string out;
  for (const Suspect& s : suspects) {
    out += s.type + " +" + std::to_string(s.count) + " retained " +
           std::to_string(s.retained.count) + " freed " + std::to_string(s.freed_if_all.count) +
           " content '" + s.content + "' conf " + std::to_string(s.confidence) + " " + s.reason +
           "\n";
    for (const Holder& h : s.holders) {
      out += "    " + std::to_string(h.count) + " | " + h.text + " | alone " +
             std::to_string(h.freed_if_only_this.count) + "\n";
    }
  }
  return out.empty() ? "(silence)" : out;
}

inline bool holds(const Suspect& suspect, std::string_view text) {
  for (const Holder& holder : suspect.holders) {
    if (holder.text.find(text) != std::string::npos) return true;
  }
  return false;
}

// The one suspect there is, of this type, held by a path that reads like this.
inline void expect_only(const std::vector<Suspect>& found, std::string_view type,
                        std::string_view path, double per_round = 1) {
  SCOPED_TRACE(all(found));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].type, type);
  EXPECT_TRUE(holds(found[0], path)) << "wanted: " << path;
  if (per_round > 0) {
    EXPECT_NEAR(found[0].count_per_round, per_round, 0.01);
  }
  EXPECT_GT(found[0].confidence, 0.6);
  EXPECT_NE(found[0].fingerprint, 0u);
}

}  // namespace lowtide::heap

// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the bytes of something are: "float64 arrays (2000, 20)", "str, 20.0 KiB each".

#include <cstdint>
#include <string>
#include <unordered_map>

#include "heap/graph.h"

namespace lowtide::heap {

class Content {
 public:
  // A node of it; `owner` is the node a storage is the memory of, else n itself.
  void add(const Graph& graph, NodeId n, NodeId owner);
  // A node that is one of the things themselves.
  void add_named(const Graph& graph, NodeId n);
  // All of another's bytes.
  void add(const Content& other);

  // `type` is that of the things; "" where there is nothing to add to it.
  std::string text(const Graph& graph, NameId type) const;

 private:
  struct Part {
    std::int64_t bytes = 0, count = 0;
    NameId label = 0;  // the one of the most bytes (Boyer-Moore)
    std::int64_t lead = 0;
    std::uint8_t flags = 0;
  };
  std::string part_text(const Graph& graph, NameId type, const Part& part, bool itself) const;

  std::unordered_map<NameId, Part> parts_;
  std::string label_;  // of the named: one, or a pattern
  std::int64_t named_ = 0, total_ = 0;
};

}  // namespace lowtide::heap

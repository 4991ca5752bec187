// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is kept of a graph once the graph is gone: counts by type and by path shape, and for each
// type a sample of addresses by which a later graph tells who was there already.
//
// The sample of a type is the addresses with the lowest hashes: whether an object of a later graph
// was here is known exactly wherever its hash is below the threshold, and two samples of the same
// type ask about the same addresses.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "heap/graph.h"
#include "heap/reach.h"
#include "heap/shapes.h"
#include "heap/suspects.h"

namespace lowtide::heap {

class Census {
 public:
  struct Type {
    NameId name = 0;
    std::int64_t count = 0, shallow = 0, native = 0, retained = 0;  // reached from a root
    std::int64_t garbage_count = 0, garbage_bytes = 0;              // own bytes
    std::int64_t garbage_held = 0;  // garbage only this type leads to, own bytes included
    std::uint64_t threshold = 0;    // hashes up to this one are in the sample
    std::uint32_t first_hash = 0, hashes = 0;
  };
  struct ShapeCount {
    std::uint64_t id = 0;
    ShapeIndex parent = 0;
    NameId type = 0;
    NameId edge = 0;  // "._history" "[*]" "module pipeline": the step, folded, as text
    std::int64_t count = 0;
    std::int64_t bytes = 0;  // own
  };

  // `shapes` are those of `graph`; row i of shapes() then is shape i.
  Census(const Graph& graph, const Shapes& shapes);

  const Names& names() const { return names_; }
  const std::vector<Type>& types() const { return types_; }
  const std::vector<ShapeCount>& shapes() const { return shapes_; }
  // Null where the type is not there.
  const Type* type(std::string_view name) const;
  const ShapeCount* shape(std::uint64_t id) const;
  // Was an object of this type at this address? Nothing where the sample cannot say.
  std::optional<bool> had(const Type& type, std::uint64_t address) const;

  std::int64_t reachable = 0, garbage = 0;  // bytes
  std::int64_t objects = 0, garbage_objects = 0;
  bool whole = true, gc_off = false;

 private:
  void count_types(const Graph& graph, const Shapes& shapes);
  void count_shapes(const Graph& graph, const Shapes& shapes);
  void sample_addresses(const Graph& graph, const Shapes& shapes);
  void count_garbage(const Graph& graph, const Shapes& shapes);

  Names names_;
  std::vector<Type> types_;
  std::vector<ShapeCount> shapes_;
  std::vector<std::uint32_t> type_of_name_;  // own NameId -> row + 1
  std::vector<std::uint32_t> row_of_type_;   // the graph's NameId -> row + 1
  std::vector<ShapeIndex> by_id_;            // rows of shapes_ sorted by id
  std::vector<std::uint64_t> hashes_;
};

}  // namespace lowtide::heap

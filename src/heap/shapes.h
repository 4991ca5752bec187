// SPDX-License-Identifier: Apache-2.0
#pragma once

// The same way of being held, recognised in every snapshot.
//
//     module pipeline / ._history list / [*] Result / .frame DataFrame      one shape, 412 objects
//
// A shape is the path along the holder tree with indexes, keys of plain dicts, digits and line
// numbers folded; repeats of period 1 to 3 (`.next`, `._parents[*]`) do not make new shapes, so
// there are thousands of shapes for millions of objects. Its id is a hash of what it says, so
// shapes of two graphs are compared by number.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "heap/graph.h"
#include "heap/reach.h"

namespace lowtide::heap {

using ShapeIndex = std::uint32_t;
inline constexpr ShapeIndex kNoShape = ~ShapeIndex{0};

// "handler_12" and "handler_a7f3" are "handler_#": digits, and hex runs with a digit in them.
std::string fold_digits(std::string_view name);

// A hash of the text alone: the same in every process.
std::uint64_t text_hash(std::string_view text);

// What an edge is called once it is folded.
enum class FoldedEdge : std::uint8_t {
  Member,
  Element,
  Key,
  Local,
  Closure,
  Plumbing,
  Native,
  Root
};

struct Shape {
  std::uint64_t id = 0;
  std::uint64_t step = 0;  // hash of the folded edge and the type: what repeats in a chain
  ShapeIndex parent = 0;   // comes before it; the super-root's shape is its own parent
  NameId type = 0;         // of the graph
  EdgeId first = 0;        // the edge that holds its first object
  FoldedEdge edge = FoldedEdge::Root;
  bool transparent = false;  // a __dict__ or a cell: what it holds hangs on its parent
};

class Shapes {
 public:
  // More than `most` are not made: deeper paths then fold into one shape per root and type.
  Shapes(const Graph& graph, const HolderTree& tree, std::size_t most = 200'000);

  std::size_t size() const { return shapes_.size(); }
  const Shape& operator[](ShapeIndex i) const { return shapes_[i]; }
  // kNoShape where no root reaches.
  ShapeIndex of(NodeId n) const { return of_[n]; }
  // The reached nodes, each after the one it is held by in the tree.
  const std::vector<NodeId>& order() const { return order_; }

 private:
  std::vector<Shape> shapes_;
  std::vector<ShapeIndex> of_;
  std::vector<NodeId> order_;
};

// The reached nodes of a tree, parents first.
std::vector<NodeId> tree_order(const HolderTree& tree);

// What edges of one node have in common once folded: equal for all elements of a list, different
// for two attributes of a module.
class EdgeFolds {
 public:
  explicit EdgeFolds(const Graph& graph);
  FoldedEdge kind(NodeId from, EdgeId edge) const;
  std::uint64_t hash(NodeId from, EdgeId edge);
  std::uint64_t type_hash(NameId type);

 private:
  std::uint64_t folded(NameId name);
  std::uint64_t root_hash(EdgeId edge);

  const Graph& graph_;
  std::vector<std::uint64_t> exact_, folded_;  // by NameId; 0: not asked for yet
};

}  // namespace lowtide::heap

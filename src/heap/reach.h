// SPDX-License-Identifier: Apache-2.0
#pragma once

// What lives, and the shortest way to it that a person can follow.
//
//     root -- a -- b          live: a, b, c
//        \--- c ~~ d          d is only weakly referred to, e by nobody that lives: garbage
//             e -- d
//
// Every pass follows essential edges only (Graph::essential). Nothing here recurses.

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "heap/graph.h"

namespace lowtide::heap {

// A set of small numbers, one bit each: nodes, or edges.
class BitSet {
 public:
  BitSet() = default;
  explicit BitSet(std::size_t size) : words_((size + 63) / 64) {}
  bool contains(std::size_t i) const { return words_[i / 64] >> (i % 64) & 1; }
  void insert(std::size_t i) { words_[i / 64] |= std::uint64_t{1} << (i % 64); }
  void erase(std::size_t i) { words_[i / 64] &= ~(std::uint64_t{1} << (i % 64)); }
  // True where it was not there before.
  bool add(std::size_t i) {
    std::uint64_t& word = words_[i / 64];
    const std::uint64_t bit = std::uint64_t{1} << (i % 64);
    const bool fresh = (word & bit) == 0;
    word |= bit;
    return fresh;
  }
  std::size_t count() const {
    std::size_t n = 0;
    for (const std::uint64_t word : words_) n += static_cast<std::size_t>(std::popcount(word));
    return n;
  }

 private:
  std::vector<std::uint64_t> words_;
};

// Every node an edge of which `follow(EdgeId)` lets one reach from those in `stack`, which is
// used up. Nodes already in `reached` are not entered again.
template <typename Follow>
void extend_reach(const Graph& graph, std::vector<NodeId>& stack, BitSet& reached,
                  const Follow& follow) {
  while (!stack.empty()) {
    const NodeId n = stack.back();
    stack.pop_back();
    for (EdgeId e = graph.edges_begin(n); e < graph.edges_end(n); ++e) {
      if (graph.essential(e) && follow(e) && reached.add(graph.target(e))) {
        stack.push_back(graph.target(e));
      }
    }
  }
}

// The nodes that live if only the edges for which `follow(EdgeId)` is true were there.
template <typename Follow>
BitSet reachable_if(const Graph& graph, const Follow& follow) {
  BitSet reached(graph.node_count());
  std::vector<NodeId> stack{kSuperRoot};
  reached.insert(kSuperRoot);
  extend_reach(graph, stack, reached, follow);
  return reached;
}

// The nodes that live. The super-root is one of them.
BitSet reachable(const Graph& graph);
// ... if the edges of `cut` went.
BitSet reachable_without_edges(const Graph& graph, const BitSet& cut);
// ... if the nodes of `gone` went; these are not in the result.
BitSet reachable_without_nodes(const Graph& graph, const BitSet& gone);

// The own bytes of `live`'s nodes that are not in `still`: what a cut would free.
Bytes bytes_lost(const Graph& graph, const BitSet& live, const BitSet& still);
Bytes bytes_of(const Graph& graph, const BitSet& nodes);

// How well a person knows a kind of root, best first: modules, frames, threads, types,
// the runtime, native references.
int rank(RootKind kind);

// How far an edge leads away from what a person can read. Most cost 2 and one whose name folds
// away (`__dict__`, a cell) 1; a key as an object and plumbing such as `__class__` cost more, and
// roots cost by rank, so that a path begins at a module unless that is a long way round.
class EdgeCosts {
 public:
  explicit EdgeCosts(const Graph& graph);
  std::uint32_t of(EdgeId e) const;
  static std::uint32_t of(RootKind kind);
  static constexpr std::uint32_t kMost = 7;

 private:
  const Graph& graph_;
  NameId dict_, cell_;
};

// For each node the edge by which it is best reached, and from whom: following `parent` leads to
// the super-root by the cheapest way. A native root is taken only where there is no other. The
// same graph gives the same tree.
struct HolderTree {
  std::vector<NodeId> parent;  // kUnreached for the super-root and for garbage
  std::vector<EdgeId> edge;    // from parent to the node; meaningless where there is no parent
  std::vector<std::uint32_t> cost;
  bool reaches(NodeId n) const { return n == kSuperRoot || parent[n] != kUnreached; }
};
HolderTree holder_tree(const Graph& graph);

// The same if the edges of `cut` were not there: who else holds it?
HolderTree holder_tree_without(const Graph& graph, const BitSet& cut);

// The node an edge starts from, by halving: for single edges, not for passes.
NodeId source(const Graph& graph, EdgeId edge);

// Edges by their target, essential ones only: 4 bytes an edge and 4 a node.
class Referrers {
 public:
  explicit Referrers(const Graph& graph);
  // The edges that hold n, in the order of their ids.
  std::span<const EdgeId> of(NodeId n) const {
    return std::span(edges_).subspan(first_[n], first_[n + 1] - first_[n]);
  }

 private:
  std::vector<EdgeId> first_, edges_;
};

}  // namespace lowtide::heap

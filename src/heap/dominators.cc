// SPDX-License-Identifier: Apache-2.0
#include "heap/dominators.h"

#include <algorithm>
#include <utility>

#include "heap/column.h"
#include "heap/reach.h"

namespace lowtide::heap {

namespace {

// A node's place in the depth-first order; the super-root's is 0. Everything between the
// search and the result is told in numbers, so that "is an ancestor of" is "is less than".
using Number = std::uint32_t;

class SemiNca {
 public:
  explicit SemiNca(const Graph& graph) : graph_(graph) {}

  Dominators run() {
    number_nodes();
    collect_predecessors();
    find_semidominators();
    find_dominators();
    return result();
  }

 private:
  // Does the edge from u to v tell more than the tree does? The same question when they are
  // counted and when they are stored.
  bool counts(Number u, Number v) const { return v != 0 && v != u && ancestor_[v] != u; }

  void number_nodes() {
    const NodeId nodes = graph_.node_count();
    number_.resize(nodes);
    for (NodeId n = 0; n < nodes; ++n) number_[n] = kUnreached;
    for (Column<Number>* column : {&node_, &ancestor_, &semi_}) column->resize(nodes);
    first_.resize(std::size_t{nodes} + 1);

    // ancestor_ is the stack: where to go back to. semi_, not needed yet, is the edge to go on
    // with.
    Column<EdgeId>& next_edge = semi_;
    const auto enter = [&](NodeId n, Number from) {
      number_[n] = reached_;
      node_[reached_] = n;
      ancestor_[reached_] = from;
      next_edge[reached_] = graph_.edges_begin(n);
      first_[reached_] = 0;
      return reached_++;
    };
    for (Number at = enter(kSuperRoot, kUnreached); at != kUnreached;) {
      const EdgeId end = graph_.edges_end(node_[at]);
      EdgeId e = next_edge[at];
      Number deeper = kUnreached;
      for (; e < end && deeper == kUnreached; ++e) {
        if (!graph_.essential(e)) continue;
        const NodeId target = graph_.target(e);
        if (const Number known = number_[target]; known == kUnreached) {
          deeper = enter(target, at);
        } else if (counts(at, known)) {
          ++first_[known];
        }
      }
      next_edge[at] = e;
      at = deeper != kUnreached ? deeper : ancestor_[at];
    }
  }

  void collect_predecessors() {
    EdgeId sum = 0;
    for (Number v = 0; v < reached_; ++v) first_[v] = sum += first_[v];
    first_[reached_] = sum;
    predecessors_.resize(sum);
    for (NodeId n = 0; n < graph_.node_count(); ++n) {
      const Number u = number_[n];
      if (u == kUnreached) continue;
      for (EdgeId e = graph_.edges_begin(n); e < graph_.edges_end(n); ++e) {
        if (!graph_.essential(e)) continue;
        const Number v = number_[graph_.target(e)];
        if (counts(u, v)) predecessors_[--first_[v]] = u;
      }
    }
    number_ = {};
  }

  // Upwards through the order. The nodes from `linked` on form trees by ancestor_, which lead
  // to parents below `linked`.
  void find_semidominators() {
    dominator_.resize(reached_);
    for (Number v = 0; v < reached_; ++v) dominator_[v] = ancestor_[v];
    label_.resize(reached_);
    for (Number w = reached_; w-- > 1;) {
      Number least = ancestor_[w];
      for (EdgeId i = first_[w]; i < first_[w + 1]; ++i) {
        const Number u = predecessors_[i];
        least = std::min(least, u < w ? u : least_semi_above(u, w + 1));
      }
      semi_[w] = label_[w] = least;
    }
    predecessors_ = {};
    first_ = {};
    label_ = {};
    ancestor_ = {};
  }

  // The least semidominator from u up to the top of its tree. The way is shortened for the next
  // who asks; it is walked back by turning its pointers, so a chain of millions needs no stack.
  Number least_semi_above(Number u, Number linked) {
    if (ancestor_[u] < linked) return label_[u];
    Number below = kUnreached;
    Number top = u;
    while (ancestor_[top] >= linked) {
      const Number up = ancestor_[top];
      ancestor_[top] = below;
      below = top;
      top = up;
    }
    const Number beyond = ancestor_[top];
    Number least = label_[top];
    while (below != kUnreached) {
      const Number down = ancestor_[below];
      ancestor_[below] = beyond;
      label_[below] = least = std::min(least, label_[below]);
      below = down;
    }
    return least;
  }

  // A node's dominator is the nearest common ancestor, in the dominator tree, of its parent and
  // its semidominator.
  void find_dominators() {
    for (Number w = 1; w < reached_; ++w) {
      Number d = dominator_[w];
      while (d > semi_[w]) d = dominator_[d];
      dominator_[w] = d;
    }
    semi_ = {};
  }

  Dominators result() const {
    Dominators found;
    found.nearest.assign(graph_.node_count(), kUnreached);
    found.retained.assign(graph_.node_count(), Bytes{});
    for (Number w = 0; w < reached_; ++w) found.retained[node_[w]] = graph_.own(node_[w]);
    for (Number w = reached_; w-- > 1;) {
      const NodeId n = node_[w];
      const NodeId d = node_[dominator_[w]];
      found.nearest[n] = d;
      found.retained[d] += found.retained[n];
    }
    return found;
  }

  const Graph& graph_;
  Number reached_ = 0;
  Column<Number> number_;        // by node; kUnreached where there is none
  Column<NodeId> node_;          // by number, as all below
  Column<Number> ancestor_;      // the parent in the search, then something above it
  Column<Number> semi_;          // the semidominator
  Column<Number> label_;         // the least semidominator on the way to ancestor_
  Column<Number> dominator_;     // the parent in the search, then the nearest dominator
  Column<EdgeId> first_;         // of predecessors_
  Column<Number> predecessors_;  // besides the parent
};

// Calls enter(n) and leave(n) for every reached node as the dominator tree nests them.
template <typename Enter, typename Leave>
void walk_tree(const Dominators& dominators, const Enter& enter, const Leave& leave) {
  const auto nodes = static_cast<NodeId>(dominators.nearest.size());
  std::vector<NodeId> child(nodes, kUnreached);
  std::vector<NodeId> sibling(nodes, kUnreached);
  for (NodeId n = nodes; n-- > 1;) {
    const NodeId d = dominators.nearest[n];
    if (d != kUnreached) sibling[n] = std::exchange(child[d], n);
  }
  NodeId n = kSuperRoot;
  enter(n);
  for (;;) {
    if (child[n] != kUnreached) {
      n = child[n];
      enter(n);
      continue;
    }
    leave(n);
    while (sibling[n] == kUnreached) {
      if (n == kSuperRoot) return;
      n = dominators.nearest[n];
      leave(n);
      if (n == kSuperRoot) return;
    }
    n = sibling[n];
    enter(n);
  }
}

}  // namespace

Dominators dominators(const Graph& graph) { return SemiNca(graph).run(); }

std::vector<Bytes> retained_by_type(const Graph& graph, const Dominators& dominators) {
  std::vector<Bytes> retained(graph.names().size());
  std::vector<std::uint32_t> open(graph.names().size());
  walk_tree(
      dominators,
      [&](NodeId n) {
        const NameId type = graph.type_id(n);
        if (open[type]++ == 0 && n != kSuperRoot) retained[type] += dominators.retained[n];
      },
      [&](NodeId n) { --open[graph.type_id(n)]; });
  return retained;
}

Bytes retained_of_set(const Dominators& dominators, std::span<const NodeId> nodes) {
  BitSet chosen(dominators.nearest.size());
  for (const NodeId n : nodes) chosen.insert(n);
  BitSet covered(dominators.nearest.size());  // has a chosen dominator
  BitSet asked(dominators.nearest.size());
  Bytes sum;
  std::vector<NodeId> way;
  for (const NodeId n : nodes) {
    // Up to the first dominator whose answer is known; each is asked once over all calls.
    NodeId at = n;
    while (at != kUnreached && asked.add(at)) {
      way.push_back(at);
      at = dominators.nearest[at];
    }
    bool held = at != kUnreached && (chosen.contains(at) || covered.contains(at));
    for (; !way.empty(); way.pop_back()) {
      const NodeId down = way.back();
      if (held) covered.insert(down);
      if (chosen.contains(down)) {
        if (!held) sum += dominators.retained[down];
        held = true;
      }
    }
  }
  return sum;
}

}  // namespace lowtide::heap

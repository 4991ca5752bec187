// SPDX-License-Identifier: Apache-2.0
#include "heap/reach.h"

#include <array>

#include "heap/column.h"

namespace lowtide::heap {

namespace {

bool every_edge(EdgeId) { return true; }

// Dial's shortest paths: one bucket for each cost an edge can add, so the time is linear.
class Search {
 public:
  explicit Search(const Graph& graph) : graph_(graph), costs_(graph) {
    tree_.parent.assign(graph.node_count(), kUnreached);
    tree_.edge.assign(graph.node_count(), 0);
    tree_.cost.assign(graph.node_count(), ~std::uint32_t{0});
    tree_.cost[kSuperRoot] = 0;
  }

  template <typename Follow>
  HolderTree run(const Follow& follow) {
    enter_roots(follow, false);
    drain(follow);
    enter_roots(follow, true);
    drain(follow);
    return std::move(tree_);
  }

 private:
  template <typename Follow>
  void enter_roots(const Follow& follow, bool native) {
    at_ = 0;
    for (EdgeId e = graph_.edges_begin(kSuperRoot); e < graph_.edges_end(kSuperRoot); ++e) {
      const RootKind kind = graph_.root_kind(e);
      if ((kind == RootKind::Native) != native || !follow(e)) continue;
      // What has another holder keeps it.
      if (native && tree_.parent[graph_.target(e)] != kUnreached) continue;
      offer(kSuperRoot, e, EdgeCosts::of(kind));
    }
  }

  void offer(NodeId from, EdgeId e, std::uint32_t cost) {
    const NodeId to = graph_.target(e);
    if (cost >= tree_.cost[to]) return;
    tree_.cost[to] = cost;
    tree_.parent[to] = from;
    tree_.edge[to] = e;
    buckets_[cost % buckets_.size()].push_back(to);
    ++waiting_;
  }

  template <typename Follow>
  void drain(const Follow& follow) {
    for (; waiting_ != 0; ++at_) {
      auto& bucket = buckets_[at_ % buckets_.size()];
      for (std::size_t i = 0; i < bucket.size(); ++i) {
        const NodeId n = bucket[i];
        if (tree_.cost[n] != at_) continue;  // A shorter way came after this one.
        for (EdgeId e = graph_.edges_begin(n); e < graph_.edges_end(n); ++e) {
          if (graph_.essential(e) && follow(e)) offer(n, e, at_ + costs_.of(e));
        }
      }
      waiting_ -= bucket.size();
      bucket.clear();
    }
  }

  const Graph& graph_;
  EdgeCosts costs_;
  HolderTree tree_;
  std::array<std::vector<NodeId>, EdgeCosts::kMost + 1> buckets_;
  std::size_t waiting_ = 0;
  std::uint32_t at_ = 0;
};

}  // namespace

BitSet reachable(const Graph& graph) { return reachable_if(graph, every_edge); }

BitSet reachable_without_edges(const Graph& graph, const BitSet& cut) {
  return reachable_if(graph, [&cut](EdgeId e) { return !cut.contains(e); });
}

BitSet reachable_without_nodes(const Graph& graph, const BitSet& gone) {
  return reachable_if(graph, [&](EdgeId e) { return !gone.contains(graph.target(e)); });
}

Bytes bytes_lost(const Graph& graph, const BitSet& live, const BitSet& still) {
  Bytes sum;
  for (NodeId n = 0; n < graph.node_count(); ++n) {
    if (live.contains(n) && !still.contains(n)) sum += graph.own(n);
  }
  return sum;
}

Bytes bytes_of(const Graph& graph, const BitSet& nodes) {
  Bytes sum;
  for (NodeId n = 0; n < graph.node_count(); ++n) {
    if (nodes.contains(n)) sum += graph.own(n);
  }
  return sum;
}

int rank(RootKind kind) {
  switch (kind) {
    case RootKind::Module:
      return 0;
    case RootKind::Frame:
      return 1;
    case RootKind::Thread:
      return 2;
    case RootKind::Type:
      return 3;
    case RootKind::Runtime:
      return 4;
    case RootKind::Native:
      break;
  }
  return 5;
}

EdgeCosts::EdgeCosts(const Graph& graph)
    : graph_(graph),
      dict_(graph.names().find("__dict__")),
      cell_(graph.names().find("cell_contents")) {}

std::uint32_t EdgeCosts::of(EdgeId e) const {
  switch (graph_.kind(e)) {
    case EdgeKind::Root:
      return of(graph_.root_kind(e));
    case EdgeKind::KeyObject:
      return 3;
    case EdgeKind::Internal: {
      const NameId name = graph_.name_id(e);
      return name != 0 && (name == dict_ || name == cell_) ? 1 : kMost;
    }
    default:
      return 2;
  }
}

std::uint32_t EdgeCosts::of(RootKind kind) {
  static constexpr std::array<std::uint32_t, 6> kByRank{0, 2, 4, 5, 6, kMost};
  return kByRank[static_cast<std::size_t>(rank(kind))];
}

HolderTree holder_tree(const Graph& graph) { return Search(graph).run(every_edge); }

HolderTree holder_tree_without(const Graph& graph, const BitSet& cut) {
  return Search(graph).run([&cut](EdgeId e) { return !cut.contains(e); });
}

NodeId source(const Graph& graph, EdgeId edge) {
  // The last node whose edges begin at `edge` or before.
  NodeId low = 0;
  for (NodeId count = graph.node_count(); count > 1;) {
    const NodeId half = count / 2;
    if (graph.edges_begin(low + half) <= edge) low += half;
    count -= half;
  }
  return low;
}

Referrers::Referrers(const Graph& graph) : first_(std::size_t{graph.node_count()} + 1) {
  for (EdgeId e = 0; e < graph.edge_count(); ++e) {
    if (graph.essential(e)) ++first_[graph.target(e)];
  }
  EdgeId sum = 0;
  for (EdgeId& first : first_) first = sum += first;
  edges_.resize(sum);
  for (EdgeId e = graph.edge_count(); e-- > 0;) {
    if (graph.essential(e)) edges_[--first_[graph.target(e)]] = e;
  }
}

}  // namespace lowtide::heap

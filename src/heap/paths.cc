// SPDX-License-Identifier: Apache-2.0
#include "heap/paths.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

namespace lowtide::heap {

namespace {

// Ways in order of their cost, after Eppstein 1998: every way is the tree's way, but for some
// edges where it leaves the tree. A deviation enters the way of `before` at the target of `edge`
// and comes from edge's source, which is reached as the tree does.
//
//     root ... tree ... source --edge--> d ... as in `before` ... node
class Ways {
 public:
  Ways(const Graph& graph, const HolderTree& tree, const Referrers& referrers, NodeId node)
      : graph_(graph),
        tree_(tree),
        referrers_(referrers),
        costs_(graph),
        node_(node),
        on_way_(graph.node_count()) {}

  // The next way, cheapest first; none is given twice. Empty when there are no more, or when
  // looking further would take too long.
  Path next() {
    if (!begun_) {
      begun_ = true;
      if (!tree_.reaches(node_)) return {};
      Path first = way_of(kNone);
      deviate(kNone, node_, first);
      return first;
    }
    while (!waiting_.empty() && steps_ < kMostSteps) {
      const std::size_t index = std::get<1>(waiting_.top());
      waiting_.pop();
      Path way = way_of(index);
      if (dead_) continue;
      deviate(index, source(graph_, deviations_[index].edge), way);
      if (simple_) return way;
    }
    return {};
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  static constexpr std::size_t kMostSteps = 4'000'000;
  static constexpr std::uint32_t kNativeLast = 1u << 24;
  static constexpr int kMostAlike = 2;   // deviations at one node that read the same
  static constexpr int kStepsAbove = 6;  // as far as is looked for whether they do

  struct Deviation {
    std::size_t before;
    EdgeId edge;
    std::uint32_t cost;  // of the whole way
  };

  // From the root down. Sets simple_, and on_way_ until deviate() has used it.
  Path way_of(std::size_t index) {
    std::vector<EdgeId> deviations;
    for (std::size_t i = index; i != kNone; i = deviations_[i].before) {
      deviations.push_back(deviations_[i].edge);
    }
    Path upwards;
    simple_ = on_way_.add(node_);
    NodeId at = node_;
    const auto climb = [&](EdgeId e, NodeId from) {
      upwards.push_back(e);
      at = from;
      ++steps_;
      const bool fresh = at == kSuperRoot || on_way_.add(at);
      simple_ = simple_ && fresh;
      return fresh;
    };
    for (; simple_ && !deviations.empty(); deviations.pop_back()) {
      while (at != graph_.target(deviations.back())) climb(tree_.edge[at], tree_.parent[at]);
      climb(deviations.back(), source(graph_, deviations.back()));
    }
    dead_ = !simple_;
    tree_part_ = upwards.size();
    while (at != kSuperRoot && climb(tree_.edge[at], tree_.parent[at])) continue;
    for (const EdgeId e : upwards) on_way_.erase(graph_.target(e));
    on_way_.erase(at);
    std::reverse(upwards.begin(), upwards.end());
    return upwards;
  }

  // Puts up every deviation from the part of `way` that follows the tree, which begins at `at`.
  void deviate(std::size_t index, NodeId at, const Path& way) {
    const std::uint32_t cost = index == kNone ? tree_.cost[node_] : deviations_[index].cost;
    for (std::size_t left = way.size() - tree_part_; left-- > 0 && steps_ < kMostSteps;) {
      const EdgeId tree_edge = way[left];
      deviate_at(index, at, tree_edge, cost);
      at = tree_.parent[at];
    }
  }

  void deviate_at(std::size_t index, NodeId at, EdgeId tree_edge, std::uint32_t cost) {
    // A list that names its element a thousand times is one way of holding it; so are a thousand
    // lists in one list.
    alike_.clear();
    for (const EdgeId e : referrers_.of(at)) {
      ++steps_;
      const NodeId from = source(graph_, e);
      if (e == tree_edge || from == at || !tree_.reaches(from)) continue;
      if (known(e, from)) continue;
      std::uint32_t whole = cost - tree_.cost[at] + tree_.cost[from] + costs_.of(e);
      if (from == kSuperRoot && graph_.root_kind(e) == RootKind::Native) whole += kNativeLast;
      deviations_.push_back(Deviation{index, e, whole});
      waiting_.emplace(whole, deviations_.size() - 1);
    }
  }

  // Whether enough was seen of edges that read like this one, up to some steps above it.
  bool known(EdgeId e, NodeId from) {
    std::uint64_t hash = read_as(e, from);
    if (++alike_[mix(hash, from)] > 1) return true;  // the same holder, at another index
    for (int up = 0; up < kStepsAbove && from != kSuperRoot; ++up) {
      hash = mix(hash, graph_.type_id(from));
      hash = mix(hash, read_as(tree_.edge[from], tree_.parent[from]));
      from = tree_.parent[from];
    }
    return ++alike_[mix(hash, kUnreached)] > kMostAlike;
  }

  std::uint64_t read_as(EdgeId e, NodeId from) const {
    const std::uint64_t root = from == kSuperRoot ? 1 + std::uint64_t{e} : 0;
    const NameId name = graph_.kind(e) == EdgeKind::Item ? 0 : graph_.name_id(e);
    return mix(root << 8 | static_cast<std::uint64_t>(graph_.kind(e)), name);
  }

  static std::uint64_t mix(std::uint64_t hash, std::uint64_t part) {
    hash = (hash ^ part) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
  }

  using Waiting = std::tuple<std::uint32_t, std::size_t>;  // cost, deviation: oldest first

  const Graph& graph_;
  const HolderTree& tree_;
  const Referrers& referrers_;
  EdgeCosts costs_;
  NodeId node_;
  BitSet on_way_;
  bool begun_ = false;
  bool simple_ = true;         // of the way built last: no node is on it twice
  bool dead_ = false;          // nor can be mended by leaving the tree's way earlier
  std::size_t tree_part_ = 0;  // of the way built last: edges below where it follows the tree
  std::size_t steps_ = 0;
  std::vector<Deviation> deviations_;
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting_;
  std::unordered_map<std::uint64_t, int> alike_;
};

}  // namespace

Path path_to(const Graph& /*graph*/, const HolderTree& tree, NodeId node) {
  Path path;
  for (NodeId n = node; n != kSuperRoot && tree.reaches(n); n = tree.parent[n]) {
    path.push_back(tree.edge[n]);
  }
  std::reverse(path.begin(), path.end());
  return path;
}

std::vector<Path> retaining_paths(const Graph& graph, const HolderTree& tree,
                                  const Referrers& referrers, NodeId node, std::size_t most) {
  static constexpr int kMostInARow = 2000;  // ways that read like one that is there already
  std::vector<Path> found;
  if (node == kSuperRoot) return found;
  const ShortTypes types(graph);
  std::unordered_set<std::string> shapes;
  Ways ways(graph, tree, referrers, node);
  for (int known = 0; found.size() < most && known < kMostInARow;) {
    Path way = ways.next();
    if (way.empty()) break;
    if (shapes.insert(shape_text(graph, types, way)).second) {
      found.push_back(std::move(way));
      known = 0;
    } else {
      ++known;
    }
  }
  return found;
}

}  // namespace lowtide::heap

// SPDX-License-Identifier: Apache-2.0
#include "heap/layers.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace lowtide::heap {
namespace {

constexpr std::size_t kMostLayers = 5;
// What holds fewer of a sample than this holds the round that is under way, not the leak.
constexpr std::size_t kLeastShare = 20;  // one in
// So many containers of a shape are named one by one; more are taken by their shape.
constexpr std::size_t kFewContainers = 8;

constexpr std::size_t kOthers = 4;
constexpr std::uint32_t kLongWay = 10'000;  // not worth walking for a comparison

class LayerSearch {
 public:
  LayerSearch(const Graph& graph, const Shapes& shapes, const BitSet& grown)
      : graph_(graph), shapes_(shapes), grown_(grown), folds_(graph), cut_(graph.edge_count()) {}

  // True where a set has a holder that was not known.
  bool add_layers(const HolderTree& tree, std::size_t depth, std::vector<HeldSet>& sets) {
    find_entries(tree);
    std::vector<Layer*> wide;
    bool more = false;
    for (HeldSet& set : sets) more |= add_to(tree, depth, set, wide);
    cut_by_shape(wide);
    return more;
  }

  const BitSet& cut() const { return cut_; }

 private:
  struct Group {
    std::vector<NodeId> nodes;
    std::unordered_set<NodeId> containers;
    EdgeId edge = 0;
  };

  // For each node the first of the run of grown nodes that leads to it.
  void find_entries(const HolderTree& tree) {
    entry_.assign(graph_.node_count(), kUnreached);
    for (const NodeId n : tree_order(tree)) {
      const NodeId from = tree.parent[n];
      const bool follows =
          n != kSuperRoot && grown_.contains(n) && from != kSuperRoot && grown_.contains(from);
      entry_[n] = follows ? entry_[from] : n;
    }
  }

  static bool one_container(FoldedEdge kind) {
    return kind == FoldedEdge::Element || kind == FoldedEdge::Key;
  }

  std::uint64_t fold(NodeId from, EdgeId edge) {
    return one_container(folds_.kind(from, edge)) ? 1 : folds_.hash(from, edge);
  }

  std::uint64_t key_of(NodeId container, EdgeId edge) {
    const ShapeIndex shape = shapes_.of(container);
    const std::uint64_t id = shape == kNoShape ? 0 : shapes_[shape].id;
    return id * 0x9e3779b97f4a7c15ULL ^ fold(container, edge);
  }

  void cut_container(NodeId container, std::uint64_t fold_hash, Layer& layer) {
    for (EdgeId e = graph_.edges_begin(container); e < graph_.edges_end(container); ++e) {
      if (!graph_.essential(e) || !grown_.contains(graph_.target(e))) continue;
      if (fold(container, e) != fold_hash) continue;
      layer.cut.push_back(e);
      cut_.insert(e);
    }
  }

  bool add_to(const HolderTree& tree, std::size_t depth, HeldSet& set, std::vector<Layer*>& wide) {
    std::unordered_map<std::uint64_t, Group> groups;
    std::vector<std::uint64_t> keys;
    for (const NodeId n : set.sample) {
      if (!tree.reaches(n) || n == kSuperRoot) continue;
      const NodeId entry = entry_[n];
      const NodeId container = tree.parent[entry];
      const std::uint64_t key = key_of(container, tree.edge[entry]);
      Group& group = groups[key];
      if (group.nodes.empty()) keys.push_back(key);
      group.nodes.push_back(n);
      group.containers.insert(container);
      group.edge = tree.edge[entry];
    }
    std::stable_sort(keys.begin(), keys.end(), [&](std::uint64_t a, std::uint64_t b) {
      return groups[a].nodes.size() > groups[b].nodes.size();
    });
    bool more = false;
    for (const std::uint64_t key : keys) {
      Group& group = groups[key];
      Layer layer;
      layer.key = key;
      layer.held = group.nodes.size();
      layer.depth = depth;
      layer.alone = group.containers.size() == 1;
      // The way to the middle one: of a chain neither its head nor its far end.
      const auto middle = group.nodes.begin() + static_cast<std::ptrdiff_t>(group.nodes.size() / 2);
      std::nth_element(group.nodes.begin(), middle, group.nodes.end(), [&](NodeId a, NodeId b) {
        return std::pair(tree.cost[a], a) < std::pair(tree.cost[b], b);
      });
      const NodeId example = *middle;
      layer.path = path_to(graph_, tree, example);
      layer.container = tree.parent[entry_[example]];
      for (std::size_t i = 0; i < kOthers && group.nodes.size() > 1; ++i) {
        const NodeId other = group.nodes[i * (group.nodes.size() - 1) / (kOthers - 1)];
        if (other != example && tree.cost[other] < kLongWay) {
          layer.others.push_back(path_to(graph_, tree, other));
        }
      }
      more = true;
      if (group.containers.size() <= kFewContainers) {
        std::vector<NodeId> containers(group.containers.begin(), group.containers.end());
        std::sort(containers.begin(), containers.end());
        for (const NodeId c : containers) cut_container(c, fold(c, edge_in(tree, c, group)), layer);
      }
      const bool too_few =
          layer.held * kLeastShare < set.sample.size() || (layer.held < 2 && set.sample.size() > 4);
      if (too_few && group.containers.size() <= kFewContainers) continue;
      const auto known = std::find_if(set.layers.begin(), set.layers.end(),
                                      [key](const Layer& other) { return other.key == key; });
      if (known != set.layers.end()) {
        // Another container of a shape that is known. Of its own it is a layer only if it holds
        // them all once more, as the list of another event holds the same listener.
        if (layer.held * 2 <= set.sample.size() || known->depth == depth || !layer.alone) {
          known->cut.insert(known->cut.end(), layer.cut.begin(), layer.cut.end());
          continue;
        }
        layer.key += depth;
      }
      set.layers.push_back(std::move(layer));
      if (group.containers.size() > kFewContainers) wide_keys_.insert(key);
    }
    for (Layer& layer : set.layers) {
      if (layer.depth == depth && wide_keys_.contains(layer.key)) wide.push_back(&layer);
    }
    return more;
  }

  // The edges of a group have the same fold, so any of its edges says which.
  EdgeId edge_in(const HolderTree& tree, NodeId container, const Group& group) const {
    for (const NodeId n : group.nodes) {
      const NodeId entry = entry_[n];
      if (tree.parent[entry] == container) return tree.edge[entry];
    }
    return group.edge;
  }

  void cut_by_shape(const std::vector<Layer*>& wide) {
    if (wide.empty()) return;
    std::unordered_multimap<std::uint64_t, Layer*> layers;
    for (Layer* layer : wide) layers.emplace(layer->key, layer);
    for (NodeId n = 1; n < graph_.node_count(); ++n) {
      if (grown_.contains(n)) continue;
      for (EdgeId e = graph_.edges_begin(n); e < graph_.edges_end(n); ++e) {
        if (!graph_.essential(e) || !grown_.contains(graph_.target(e))) continue;
        const auto [first, last] = layers.equal_range(key_of(n, e));
        for (auto at = first; at != last; ++at) {
          at->second->cut.push_back(e);
          cut_.insert(e);
        }
      }
    }
  }

  const Graph& graph_;
  const Shapes& shapes_;
  const BitSet& grown_;
  EdgeFolds folds_;
  BitSet cut_;
  std::vector<NodeId> entry_;
  std::unordered_set<std::uint64_t> wide_keys_;
};

// The bytes that `still` has lost, of what the targets of `cuts` lead to.
Bytes lost_below(const Graph& graph, const BitSet& still,
                 const std::vector<const std::vector<EdgeId>*>& cuts) {
  BitSet seen(graph.node_count());
  std::vector<NodeId> stack;
  Bytes sum;
  const auto enter = [&](NodeId n) {
    if (still.contains(n) || !seen.add(n)) return;
    stack.push_back(n);
    sum += graph.own(n);
  };
  for (const auto* cut : cuts) {
    for (const EdgeId e : *cut) enter(graph.target(e));
  }
  while (!stack.empty()) {
    const NodeId n = stack.back();
    stack.pop_back();
    for (EdgeId e = graph.edges_begin(n); e < graph.edges_end(n); ++e) {
      if (graph.essential(e)) enter(graph.target(e));
    }
  }
  return sum;
}

void weigh_layers(const Graph& graph, std::vector<HeldSet>& sets) {
  BitSet all(graph.edge_count());
  std::size_t deepest = 0;
  for (const HeldSet& set : sets) {
    for (const Layer& layer : set.layers) {
      for (const EdgeId e : layer.cut) all.insert(e);
    }
    deepest = std::max(deepest, set.layers.size());
  }
  const BitSet still = reachable_without_edges(graph, all);
  for (HeldSet& set : sets) {
    std::vector<const std::vector<EdgeId>*> cuts;
    for (const Layer& layer : set.layers) cuts.push_back(&layer.cut);
    set.freed_together = lost_below(graph, still, cuts);
    if (set.layers.size() == 1) set.layers.front().freed_alone = set.freed_together;
  }
  for (std::size_t i = 0; i < deepest && deepest > 1; ++i) {
    BitSet one(graph.edge_count());
    for (const HeldSet& set : sets) {
      if (set.layers.size() < 2 || set.layers.size() <= i) continue;
      for (const EdgeId e : set.layers[i].cut) one.insert(e);
    }
    const BitSet left = reachable_without_edges(graph, one);
    for (HeldSet& set : sets) {
      if (set.layers.size() < 2 || set.layers.size() <= i) continue;
      set.layers[i].freed_alone = lost_below(graph, left, {&set.layers[i].cut});
    }
  }
}

// The layers of other sets that lead to this one too: what holds a listener holds what the
// listener holds. They were cut away with the first, so no later pass can have met them.
void share_layers(const Graph& graph, const BitSet& grown, std::vector<HeldSet>& sets) {
  std::unordered_map<NodeId, std::vector<std::size_t>> sets_of;
  for (std::size_t s = 0; s < sets.size(); ++s) {
    for (const NodeId n : sets[s].sample) sets_of[n].push_back(s);
  }
  std::vector<std::pair<std::size_t, Layer>> shared;
  for (const HeldSet& holder : sets) {
    for (const Layer& layer : holder.layers) {
      if (layer.cut.empty()) continue;
      std::unordered_map<NodeId, EdgeId> came_by;
      std::vector<NodeId> queue;
      for (const EdgeId e : layer.cut) {
        if (came_by.emplace(graph.target(e), e).second) queue.push_back(graph.target(e));
      }
      std::unordered_map<std::size_t, std::vector<NodeId>> met;
      for (std::size_t i = 0; i < queue.size(); ++i) {
        if (const auto at = sets_of.find(queue[i]); at != sets_of.end()) {
          for (const std::size_t s : at->second) met[s].push_back(queue[i]);
        }
        for (EdgeId e = graph.edges_begin(queue[i]); e < graph.edges_end(queue[i]); ++e) {
          const NodeId to = graph.target(e);
          if (!graph.essential(e) || !grown.contains(to)) continue;
          if (came_by.emplace(to, e).second) queue.push_back(to);
        }
      }
      for (const auto& [s, nodes] : met) {
        const HeldSet& set = sets[s];
        if (&set == &holder || nodes.size() * kLeastShare < set.sample.size()) continue;
        if (std::any_of(set.layers.begin(), set.layers.end(),
                        [&](const Layer& other) { return other.key == layer.key; })) {
          continue;
        }
        Layer copy = layer;
        copy.held = nodes.size();
        copy.others.clear();
        copy.depth = std::max<std::size_t>(1, layer.depth);
        Path tail;
        for (NodeId at = nodes[nodes.size() / 2]; at != layer.container;) {
          const EdgeId e = came_by.at(at);
          tail.push_back(e);
          at = source(graph, e);
          if (at == kSuperRoot || !came_by.contains(at)) break;
        }
        // The way to the container, then on from there.
        Path path;
        for (const EdgeId e : layer.path) {
          if (source(graph, e) == layer.container) break;
          path.push_back(e);
        }
        path.insert(path.end(), tail.rbegin(), tail.rend());
        copy.path = std::move(path);
        shared.emplace_back(s, std::move(copy));
      }
    }
  }
  for (auto& entry : shared) {
    std::vector<Layer>& layers = sets[entry.first].layers;
    const bool known = std::any_of(layers.begin(), layers.end(), [&](const Layer& other) {
      return other.key == entry.second.key;
    });
    if (!known) layers.push_back(std::move(entry.second));
  }
}

}  // namespace

void find_layers(const Graph& graph, const HolderTree& tree, const Shapes& shapes,
                 const BitSet& grown, std::vector<HeldSet>& sets) {
  LayerSearch search(graph, shapes, grown);
  bool more = search.add_layers(tree, 0, sets);
  for (std::size_t depth = 1; more && depth < kMostLayers; ++depth) {
    more = search.add_layers(holder_tree_without(graph, search.cut()), depth, sets);
  }
  share_layers(graph, grown, sets);
  weigh_layers(graph, sets);
}

}  // namespace lowtide::heap

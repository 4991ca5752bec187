// SPDX-License-Identifier: Apache-2.0
#include "heap/graph.h"

#include <utility>

namespace lowtide::heap {

Names::Names() : starts_{0, 0} {}

NameId Names::find(std::string_view text) const {
  if (text.empty()) return 0;
  const auto [first, last] = by_hash_.equal_range(std::hash<std::string_view>{}(text));
  for (auto at = first; at != last; ++at) {
    if (this->text(at->second) == text) return at->second;
  }
  return 0;
}

NameId Names::intern(std::string_view text) {
  if (text.empty()) return 0;
  if (const NameId known = find(text)) return known;
  const auto id = static_cast<NameId>(size());
  bytes_ += text;
  starts_.push_back(static_cast<std::uint32_t>(bytes_.size()));
  by_hash_.emplace(std::hash<std::string_view>{}(text), id);
  return id;
}

GraphBuilder::GraphBuilder() { add_node(Node{}); }

NodeId GraphBuilder::add_node(const Node& node) {
  const NodeId id = graph_.node_count();
  graph_.types_.push_back(node.type);
  graph_.labels_.push_back(node.label);
  graph_.shallow_.push_back(node.shallow);
  graph_.native_.push_back(node.native);
  graph_.addresses_.push_back(node.address);
  graph_.flags_.push_back(node.flags);
  graph_.first_edge_.push_back(graph_.edge_count());
  return id;
}

void GraphBuilder::add_edge(EdgeKind kind, std::uint32_t name, NodeId target) {
  graph_.kinds_.push_back(kind);
  graph_.edge_names_.push_back(name);
  graph_.targets_.push_back(target);
}

void GraphBuilder::add_root(RootKind kind, NameId name, NodeId target) {
  roots_.push_back(Root{kind, name, target});
}

Graph GraphBuilder::build() && {
  // Everything moves once: the super-root's edges go in front, edges to nobody go out.
  const NodeId nodes = graph_.node_count();
  graph_.first_edge_.push_back(graph_.edge_count());

  std::vector<NodeId> targets;
  std::vector<std::uint32_t> names;
  std::vector<EdgeKind> kinds;
  targets.reserve(graph_.targets_.size() + roots_.size());
  names.reserve(targets.capacity());
  kinds.reserve(targets.capacity());
  for (const Root& root : roots_) {
    if (root.target >= nodes) continue;
    targets.push_back(root.target);
    names.push_back(root.name);
    kinds.push_back(EdgeKind::Root);
    graph_.root_kinds_.push_back(root.kind);
  }
  std::vector<EdgeId> first(nodes + 1);
  for (NodeId n = 0; n < nodes; ++n) {
    if (n != kSuperRoot) first[n] = static_cast<EdgeId>(targets.size());
    for (EdgeId e = graph_.first_edge_[n]; e < graph_.first_edge_[n + 1]; ++e) {
      if (graph_.targets_[e] >= nodes || n == kSuperRoot) continue;
      targets.push_back(graph_.targets_[e]);
      names.push_back(graph_.edge_names_[e]);
      kinds.push_back(graph_.kinds_[e]);
    }
  }
  first[kSuperRoot] = 0;
  first[nodes] = static_cast<EdgeId>(targets.size());
  graph_.targets_ = std::move(targets);
  graph_.edge_names_ = std::move(names);
  graph_.kinds_ = std::move(kinds);
  graph_.first_edge_ = std::move(first);
  Graph built = std::move(graph_);
  *this = GraphBuilder();
  return built;
}

}  // namespace lowtide::heap

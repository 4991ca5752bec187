// SPDX-License-Identifier: Apache-2.0
#include "heap/graph.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <functional>
#include <utility>

namespace lowtide::heap {

namespace {

std::uint32_t hash_of(std::string_view text) {
  const std::uint64_t hash = std::hash<std::string_view>{}(text);
  return static_cast<std::uint32_t>(hash ^ hash >> 32);
}

}  // namespace

Names::Names() : starts_{0, 0}, slots_(64) {}

std::size_t Names::slot_of(std::string_view text, std::uint32_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  while (slots_[at].id != 0 && (slots_[at].hash != hash || this->text(slots_[at].id) != text)) {
    at = (at + 1) & mask;
  }
  return at;
}

NameId Names::find(std::string_view text) const {
  return text.empty() ? 0 : slots_[slot_of(text, hash_of(text))].id;
}

NameId Names::intern(std::string_view text) {
  if (text.empty()) return 0;
  const std::uint32_t hash = hash_of(text);
  std::size_t at = slot_of(text, hash);
  if (slots_[at].id != 0) return slots_[at].id;
  if (2 * size() >= slots_.size()) {
    grow();
    at = slot_of(text, hash);
  }
  const auto id = static_cast<NameId>(size());
  bytes_ += text;
  starts_.push_back(static_cast<std::uint32_t>(bytes_.size()));
  slots_[at] = Slot{hash, id};
  return id;
}

void Names::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.id == 0) continue;
    std::size_t at = slot.hash & mask;
    while (slots_[at].id != 0) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

void Graph::Sizes::push_back(std::int64_t bytes) {
  if (bytes >= 0 && bytes < kLarge) {
    small_.push_back(static_cast<std::uint32_t>(bytes));
  } else {
    large_.emplace_back(static_cast<NodeId>(small_.size()), bytes);
    small_.push_back(kLarge);
  }
}

std::int64_t Graph::Sizes::large(NodeId n) const {
  return std::lower_bound(large_.begin(), large_.end(), std::pair(n, INT64_MIN))->second;
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
  assert(node_count() > 1);  // The super-root's edges are roots.
  graph_.kinds_.push_back(kind);
  graph_.edge_names_.push_back(name);
  graph_.targets_.push_back(target);
  highest_target_ = std::max(highest_target_, target);
}

void GraphBuilder::add_root(RootKind kind, NameId name, NodeId target) {
  roots_.push_back(Root{kind, name, target});
}

void GraphBuilder::drop_edges_to_nobody() {
  const NodeId nodes = graph_.node_count();
  std::erase_if(roots_, [nodes](const Root& root) { return root.target >= nodes; });
  if (highest_target_ < nodes) return;
  EdgeId kept = 0;
  for (NodeId n = 0; n < nodes; ++n) {
    const EdgeId begin = std::exchange(graph_.first_edge_[n], kept);
    for (EdgeId e = begin; e < graph_.first_edge_[n + 1]; ++e) {
      if (graph_.targets_[e] >= nodes) continue;
      graph_.targets_[kept] = graph_.targets_[e];
      graph_.edge_names_[kept] = graph_.edge_names_[e];
      graph_.kinds_[kept] = graph_.kinds_[e];
      ++kept;
    }
  }
  graph_.first_edge_[nodes] = kept;
  graph_.targets_.resize(kept);
  graph_.edge_names_.resize(kept);
  graph_.kinds_.resize(kept);
}

Graph GraphBuilder::build() && {
  if (!resumed_) graph_.first_edge_.push_back(graph_.edge_count());
  drop_edges_to_nobody();

  // The super-root's edges go in front of all others, and new ones in front of older ones.
  const auto added = static_cast<EdgeId>(roots_.size());
  graph_.targets_.open_front(added);
  graph_.edge_names_.open_front(added);
  graph_.kinds_.open_front(added);
  for (EdgeId e = 0; e < added; ++e) {
    graph_.targets_[e] = roots_[e].target;
    graph_.edge_names_[e] = roots_[e].name;
    graph_.kinds_[e] = EdgeKind::Root;
  }
  for (NodeId n = 1; n <= graph_.node_count(); ++n) graph_.first_edge_[n] += added;
  std::vector<RootKind> root_kinds;
  root_kinds.reserve(added + graph_.root_kinds_.size());
  for (const Root& root : roots_) root_kinds.push_back(root.kind);
  root_kinds.insert(root_kinds.end(), graph_.root_kinds_.begin(), graph_.root_kinds_.end());
  graph_.root_kinds_ = std::move(root_kinds);

  graph_.types_.shrink();
  graph_.labels_.shrink();
  graph_.shallow_.shrink();
  graph_.native_.shrink();
  graph_.addresses_.shrink();
  graph_.flags_.shrink();
  graph_.first_edge_.shrink();
  graph_.targets_.shrink();
  graph_.edge_names_.shrink();
  graph_.kinds_.shrink();
  Graph built = std::move(graph_);
  *this = GraphBuilder();
  return built;
}

}  // namespace lowtide::heap

// SPDX-License-Identifier: Apache-2.0
#include "heap/census.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "heap/dominators.h"
#include "heap/naming.h"
#include "heap/paths.h"

namespace lowtide::heap {
namespace {

// Addresses kept of each type: 8 KiB for the largest, so that a share of 1 % is seen.
constexpr std::size_t kSampled = 1024;

std::uint64_t address_hash(std::uint64_t address) {
  std::uint64_t x = address + 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

std::string step_text(const Graph& graph, const Shape& shape) {
  switch (shape.edge) {
    case FoldedEdge::Root:
      return root_text(graph, shape.first);
    case FoldedEdge::Element:
      return "[*]";
    case FoldedEdge::Key:
      return "[key]";
    case FoldedEdge::Native:
      return "(native)";
    case FoldedEdge::Local:
      return fold_digits(graph.name(shape.first));
    case FoldedEdge::Closure:
      return fold_digits(graph.name(shape.first)) + " (closure)";
    case FoldedEdge::Member:
    case FoldedEdge::Plumbing:
      break;
  }
  return "." + fold_digits(graph.name(shape.first));
}

}  // namespace

Census::Census(const Graph& graph, const Shapes& shapes)
    : whole(graph.whole), gc_off(graph.gc_off), row_of_type_(graph.names().size()) {
  count_types(graph, shapes);
  count_shapes(graph, shapes);
  sample_addresses(graph, shapes);
  if (garbage_objects != 0) count_garbage(graph, shapes);
  row_of_type_ = {};
}

void Census::count_types(const Graph& graph, const Shapes& shapes) {
  const std::vector<Bytes> retained = retained_by_type(graph, dominators(graph));
  for (NodeId n = 1; n < graph.node_count(); ++n) {
    std::uint32_t& row = row_of_type_[graph.type_id(n)];
    if (row == 0) {
      types_.push_back(Type{.name = names_.intern(graph.type(n))});
      row = static_cast<std::uint32_t>(types_.size());
      types_.back().retained = retained[graph.type_id(n)].count;
    }
    Type& type = types_[row - 1];
    if (shapes.of(n) == kNoShape) {
      ++type.garbage_count;
      type.garbage_bytes += graph.own(n).count;
      ++garbage_objects;
      garbage += graph.own(n).count;
    } else {
      ++type.count;
      type.shallow += graph.shallow(n).count;
      type.native += graph.native(n).count;
      ++objects;
      reachable += graph.own(n).count;
    }
  }
}

void Census::count_shapes(const Graph& graph, const Shapes& shapes) {
  shapes_.resize(shapes.size());
  for (ShapeIndex i = 0; i < shapes.size(); ++i) {
    shapes_[i].id = shapes[i].id;
    shapes_[i].parent = shapes[i].parent;
    if (i == 0) continue;
    shapes_[i].type = types_[row_of_type_[shapes[i].type] - 1].name;
    shapes_[i].edge = names_.intern(step_text(graph, shapes[i]));
  }
  for (const NodeId n : shapes.order()) {
    if (n == kSuperRoot) continue;
    ShapeCount& shape = shapes_[shapes.of(n)];
    ++shape.count;
    shape.bytes += graph.own(n).count;
  }
  by_id_.resize(shapes_.size());
  std::iota(by_id_.begin(), by_id_.end(), ShapeIndex{0});
  std::sort(by_id_.begin(), by_id_.end(),
            [this](ShapeIndex a, ShapeIndex b) { return shapes_[a].id < shapes_[b].id; });
  type_of_name_.resize(names_.size());
  for (std::uint32_t row = 0; row < types_.size(); ++row) type_of_name_[types_[row].name] = row + 1;
}

void Census::sample_addresses(const Graph& graph, const Shapes& shapes) {
  // A bucket for each type; one that is full keeps its lower half and a threshold.
  std::vector<std::vector<std::uint64_t>> buckets(types_.size());
  for (Type& type : types_) type.threshold = ~std::uint64_t{0};
  const auto halve = [](std::vector<std::uint64_t>& bucket, Type& type) {
    std::nth_element(bucket.begin(), bucket.begin() + kSampled, bucket.end());
    type.threshold = bucket[kSampled] - 1;
    bucket.resize(kSampled);
  };
  for (const NodeId n : shapes.order()) {
    if (n == kSuperRoot) continue;
    const std::uint32_t row = row_of_type_[graph.type_id(n)] - 1;
    const std::uint64_t hash = address_hash(graph.address(n));
    if (hash > types_[row].threshold) continue;
    buckets[row].push_back(hash);
    if (buckets[row].size() == 4 * kSampled) halve(buckets[row], types_[row]);
  }
  for (std::uint32_t row = 0; row < types_.size(); ++row) {
    if (buckets[row].size() > kSampled) halve(buckets[row], types_[row]);
    std::sort(buckets[row].begin(), buckets[row].end());
    types_[row].first_hash = static_cast<std::uint32_t>(hashes_.size());
    types_[row].hashes = static_cast<std::uint32_t>(buckets[row].size());
    hashes_.insert(hashes_.end(), buckets[row].begin(), buckets[row].end());
  }
}

void Census::count_garbage(const Graph& graph, const Shapes& shapes) {
  // Garbage has no path. It is explained by the most telling types in it: each takes what it
  // leads to and nobody before it has taken.
  std::vector<NodeId> nodes;
  for (NodeId n = 1; n < graph.node_count(); ++n) {
    if (shapes.of(n) == kNoShape) nodes.push_back(n);
  }
  const auto fame = [&](NodeId n) { return fame_of(graph.type(n), graph.flags(n)); };
  std::stable_sort(nodes.begin(), nodes.end(),
                   [&](NodeId a, NodeId b) { return fame(a) > fame(b); });
  BitSet taken(graph.node_count());
  for (const NodeId n : nodes) {
    Type& type = types_[row_of_type_[graph.type_id(n)] - 1];
    if (!taken.add(n)) continue;
    std::vector<NodeId> stack{n};
    while (!stack.empty()) {
      const NodeId at = stack.back();
      stack.pop_back();
      type.garbage_held += graph.own(at).count;
      for (EdgeId e = graph.edges_begin(at); e < graph.edges_end(at); ++e) {
        const NodeId to = graph.target(e);
        if (!graph.essential(e) || shapes.of(to) != kNoShape || !taken.add(to)) continue;
        stack.push_back(to);
      }
    }
  }
}

const Census::Type* Census::type(std::string_view name) const {
  const NameId id = names_.find(name);
  if (id == 0 || id >= type_of_name_.size() || type_of_name_[id] == 0) return nullptr;
  return &types_[type_of_name_[id] - 1];
}

const Census::ShapeCount* Census::shape(std::uint64_t id) const {
  const auto at =
      std::lower_bound(by_id_.begin(), by_id_.end(), id,
                       [this](ShapeIndex i, std::uint64_t value) { return shapes_[i].id < value; });
  return at != by_id_.end() && shapes_[*at].id == id ? &shapes_[*at] : nullptr;
}

std::optional<bool> Census::had(const Type& type, std::uint64_t address) const {
  const std::uint64_t hash = address_hash(address);
  if (hash > type.threshold) return std::nullopt;
  const auto first = hashes_.begin() + type.first_hash;
  return std::binary_search(first, first + type.hashes, hash);
}

std::shared_ptr<const Census> take_census(const Graph& graph) {
  const HolderTree tree = holder_tree(graph);
  const Shapes shapes(graph, tree);
  return std::make_shared<const Census>(graph, shapes);
}

std::vector<TypeCount> types_of(const Census& census) {
  std::vector<TypeCount> out;
  for (const Census::Type& type : census.types()) {
    if (type.count == 0) continue;
    out.push_back(TypeCount{.type = std::string(census.names().text(type.name)),
                            .count = type.count,
                            .shallow = Bytes{type.shallow},
                            .native = Bytes{type.native},
                            .retained = Bytes{type.retained}});
  }
  std::sort(out.begin(), out.end(), [](const TypeCount& a, const TypeCount& b) {
    return std::tie(b.retained, b.count, a.type) < std::tie(a.retained, a.count, b.type);
  });
  return out;
}

Bytes reachable_bytes(const Census& census) { return Bytes{census.reachable}; }
Bytes garbage_bytes(const Census& census) { return Bytes{census.garbage}; }
std::int64_t garbage_count(const Census& census) { return census.garbage_objects; }

}  // namespace lowtide::heap

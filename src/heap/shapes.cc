// SPDX-License-Identifier: Apache-2.0
#include "heap/shapes.h"

#include <algorithm>
#include <array>
#include <bit>

namespace lowtide::heap {
namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = a ^ (b + 0x9e3779b97f4a7c15ULL + (a << 6) + (a >> 2));
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

// "main in train.py:41" is the same frame at line 42.
std::string_view without_line(std::string_view name) {
  std::size_t end = name.size();
  while (end > 0 && is_digit(name[end - 1])) --end;
  return end > 0 && end < name.size() && name[end - 1] == ':' ? name.substr(0, end - 1) : name;
}

// id -> index, open addressing: the one table every node is looked up in.
class IdTable {
 public:
  IdTable() : slots_(1 << 12) {}
  // The index of id, or kNoShape after a place was made for `fresh`.
  ShapeIndex find_or_put(std::uint64_t id, ShapeIndex fresh) {
    if (used_ * 2 >= slots_.size()) grow();
    for (std::size_t at = id & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at].index == kNoShape) {
        slots_[at] = {id, fresh};
        ++used_;
        return kNoShape;
      }
      if (slots_[at].id == id) return slots_[at].index;
    }
  }
  ShapeIndex find(std::uint64_t id) const {
    for (std::size_t at = id & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at].index == kNoShape || slots_[at].id == id) return slots_[at].index;
    }
  }

 private:
  struct Slot {
    std::uint64_t id = 0;
    ShapeIndex index = kNoShape;
  };
  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.index == kNoShape) continue;
      std::size_t at = slot.id & (slots_.size() - 1);
      while (slots_[at].index != kNoShape) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = slot;
    }
  }
  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

// The shape a chain comes back to, or kNoShape. A named step needs to be seen once before
// (`.next`); elements, which nest in data that is no chain, need it twice.
ShapeIndex fold_of_chain(const std::vector<Shape>& shapes, ShapeIndex parent, std::uint64_t step,
                         bool named) {
  std::array<ShapeIndex, 6> up;
  ShapeIndex at = parent;
  for (ShapeIndex& ancestor : up) {
    ancestor = at;
    at = shapes[at].parent;
  }
  for (std::size_t period = 1; period <= 3; ++period) {
    if (shapes[up[period - 1]].step != step) continue;
    if (named || shapes[up[2 * period - 1]].step == step) return up[period - 1];
  }
  return kNoShape;
}

ShapeIndex root_of(const std::vector<Shape>& shapes, ShapeIndex shape) {
  while (shapes[shape].parent != 0) shape = shapes[shape].parent;
  return shape;
}

}  // namespace

std::string fold_digits(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size();) {
    std::size_t end = i;
    bool digits = false;
    while (end < name.size() && is_hex(name[end])) digits |= is_digit(name[end++]);
    if (end == i) {
      out += name[i++];
    } else {
      if (digits) out += '#';
      if (!digits) out += name.substr(i, end - i);
      i = end;
    }
  }
  return out;
}

std::uint64_t text_hash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

EdgeFolds::EdgeFolds(const Graph& graph)
    : graph_(graph), exact_(graph.names().size()), folded_(graph.names().size()) {}

std::uint64_t EdgeFolds::type_hash(NameId type) {
  std::uint64_t& hash = exact_[type];
  if (hash == 0) hash = text_hash(graph_.names().text(type)) | 1;
  return hash;
}

std::uint64_t EdgeFolds::folded(NameId name) {
  std::uint64_t& hash = folded_[name];
  if (hash == 0) hash = text_hash(fold_digits(graph_.names().text(name))) | 1;
  return hash;
}

std::uint64_t EdgeFolds::root_hash(EdgeId edge) {
  const RootKind kind = graph_.root_kind(edge);
  const std::string_view name = graph_.name(edge);
  // Numbered modules, threads and code objects are one kind of root each.
  return mix(text_hash(fold_digits(without_line(name))), 100 + static_cast<std::uint64_t>(kind));
}

FoldedEdge EdgeFolds::kind(NodeId from, EdgeId edge) const {
  switch (graph_.kind(edge)) {
    case EdgeKind::Attribute:
      return FoldedEdge::Member;
    case EdgeKind::Key:
      return (graph_.flags(from) & kNamespace) != 0 ? FoldedEdge::Member : FoldedEdge::Element;
    case EdgeKind::Item:
      return FoldedEdge::Element;
    case EdgeKind::KeyObject:
      return FoldedEdge::Key;
    case EdgeKind::Local:
      return FoldedEdge::Local;
    case EdgeKind::Closure:
      return FoldedEdge::Closure;
    case EdgeKind::Native:
      return FoldedEdge::Native;
    case EdgeKind::Root:
      return FoldedEdge::Root;
    case EdgeKind::Internal:
    case EdgeKind::Weak:
      break;
  }
  return FoldedEdge::Plumbing;
}

std::uint64_t EdgeFolds::hash(NodeId from, EdgeId edge) {
  const FoldedEdge folded_kind = kind(from, edge);
  const auto salt = static_cast<std::uint64_t>(folded_kind) + 1;
  switch (folded_kind) {
    case FoldedEdge::Element:
    case FoldedEdge::Key:
    case FoldedEdge::Native:
      return mix(salt, salt);
    case FoldedEdge::Root:
      return root_hash(edge);
    default:
      return mix(folded(graph_.name_id(edge)), salt);
  }
}

std::vector<NodeId> tree_order(const HolderTree& tree) {
  const auto nodes = static_cast<NodeId>(tree.parent.size());
  std::uint32_t highest = 0;
  for (NodeId n = 0; n < nodes; ++n) {
    if (tree.reaches(n)) highest = std::max(highest, tree.cost[n]);
  }
  std::vector<std::uint32_t> start(std::size_t{highest} + 2);
  for (NodeId n = 0; n < nodes; ++n) {
    if (tree.reaches(n)) ++start[tree.cost[n] + 1];
  }
  for (std::size_t i = 1; i < start.size(); ++i) start[i] += start[i - 1];
  std::vector<NodeId> order(start.back());
  for (NodeId n = 0; n < nodes; ++n) {
    if (tree.reaches(n)) order[start[tree.cost[n]]++] = n;
  }
  return order;
}

Shapes::Shapes(const Graph& graph, const HolderTree& tree, std::size_t most)
    : of_(graph.node_count(), kNoShape), order_(tree_order(tree)) {
  EdgeFolds folds(graph);
  IdTable table;
  shapes_.push_back(Shape{});
  of_[kSuperRoot] = 0;
  const NameId dict_name = graph.names().find("__dict__");
  const NameId cell_name = graph.names().find("cell_contents");

  for (const NodeId n : order_) {
    if (n == kSuperRoot) continue;
    const NodeId from = tree.parent[n];
    const EdgeId edge = tree.edge[n];
    ShapeIndex parent = of_[from];
    if (shapes_[parent].transparent) parent = shapes_[parent].parent;

    const FoldedEdge kind = folds.kind(from, edge);
    const std::uint64_t step = mix(folds.hash(from, edge), folds.type_hash(graph.type_id(n)));
    const bool named = kind != FoldedEdge::Element && kind != FoldedEdge::Key;
    const ShapeIndex again = fold_of_chain(shapes_, parent, step, named);
    if (again != kNoShape) {
      of_[n] = again;
      continue;
    }
    std::uint64_t id = mix(shapes_[parent].id, step);
    if (shapes_.size() >= most && table.find(id) == kNoShape) {
      parent = root_of(shapes_, parent);
      id = mix(mix(shapes_[parent].id, 0x6465657065720aULL), folds.type_hash(graph.type_id(n)));
    }
    const auto fresh = static_cast<ShapeIndex>(shapes_.size());
    const ShapeIndex known = table.find_or_put(id, fresh);
    of_[n] = known;
    if (known != kNoShape) continue;
    of_[n] = fresh;
    const NameId name = kind == FoldedEdge::Plumbing ? graph.name_id(edge) : 0;
    shapes_.push_back(Shape{.id = id,
                            .step = step,
                            .parent = parent,
                            .type = graph.type_id(n),
                            .first = edge,
                            .edge = kind,
                            .transparent = name != 0 && (name == dict_name || name == cell_name)});
  }
}

}  // namespace lowtide::heap

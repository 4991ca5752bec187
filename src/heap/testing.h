// SPDX-License-Identifier: Apache-2.0
#pragma once

// Heaps for tests, built in code. Included by tests and benchmarks only.
//
//     graph_of({{1}, {2, 3}, {4}, {4}, {}})        nodes of one byte; list 0 is the roots
//
//     Sketch heap;
//     NodeId frame = heap.object("pandas.core.frame.DataFrame", 4096);
//     NodeId result = heap.instance("app.Result", {{"frame", frame}});
//     NodeId history = heap.list({result});
//     heap.module("pipeline", {{"_history", history}});
//     Graph graph = heap.graph();

#include <initializer_list>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heap/graph.h"

namespace lowtide::heap {

// Node i refers to the nodes of list i; every node but the super-root is one byte.
inline Graph graph_of(const std::vector<std::vector<NodeId>>& edges) {
  GraphBuilder builder;
  const NameId type = builder.intern("object");
  for (const NodeId target : edges.empty() ? std::vector<NodeId>{} : edges[0]) {
    builder.add_root(RootKind::Module, builder.intern("m"), target);
  }
  for (std::size_t n = 1; n < edges.size(); ++n) {
    builder.add_node(Node{.type = type, .shallow = 1, .address = 0x1000 + 16 * n});
    for (std::size_t i = 0; i < edges[n].size(); ++i) {
      builder.add_edge(EdgeKind::Item, static_cast<std::uint32_t>(i), edges[n][i]);
    }
  }
  return std::move(builder).build();
}

// A heap drawn by hand. Nodes and edges may be added in any order; graph() may be called again
// after more was added, which is how the next snapshot of a growing heap is drawn.
class Sketch {
 public:
  using Members = std::vector<std::pair<std::string, NodeId>>;

  Sketch() : nodes_(1) {}

  NodeId object(std::string_view type, std::int64_t shallow = 16, std::int64_t native = 0,
                std::string_view label = "", std::uint8_t flags = kCollectable) {
    nodes_.push_back({std::string(type), std::string(label), shallow, native, flags, {}});
    return static_cast<NodeId>(nodes_.size() - 1);
  }
  void edge(NodeId from, EdgeKind kind, std::string_view name, NodeId to) {
    nodes_[from].edges.push_back({kind, std::string(name), 0, to});
  }
  void item(NodeId from, std::uint32_t index, NodeId to) {
    nodes_[from].edges.push_back({EdgeKind::Item, "", index, to});
  }
  void append(NodeId list, NodeId to) {
    item(list, static_cast<std::uint32_t>(nodes_[list].edges.size()), to);
  }
  void root(RootKind kind, std::string_view name, NodeId to) {
    roots_.push_back({kind, std::string(name), to});
  }

  NodeId list(const std::vector<NodeId>& items) {
    const NodeId made = object("list", 56);
    for (const NodeId n : items) append(made, n);
    return made;
  }
  NodeId dict(const Members& members, std::uint8_t flags = kCollectable) {
    const NodeId made = object("dict", 64, 0, "", flags);
    for (const auto& [name, to] : members) edge(made, EdgeKind::Key, name, to);
    return made;
  }
  // With a __dict__, as plain classes have: Internal '__dict__', then Key 'name'.
  NodeId instance(std::string_view type, const Members& members, std::int64_t shallow = 48) {
    const NodeId made = object(type, shallow, 0, "", kCollectable | kUser);
    edge(made, EdgeKind::Internal, "__dict__", dict(members, kCollectable | kNamespace));
    return made;
  }
  NodeId module(std::string_view name, const Members& members) {
    const NodeId made = object("module", 72, 0, name);
    edge(made, EdgeKind::Internal, "__dict__", dict(members, kCollectable | kNamespace));
    root(RootKind::Module, name, made);
    return made;
  }
  NodeId frame(std::string_view name, const Members& locals) {
    const NodeId made = object("frame", 0, 0, name, kSynthetic);
    for (const auto& [local, to] : locals) edge(made, EdgeKind::Local, local, to);
    root(RootKind::Frame, name, made);
    return made;
  }
  // The dict behind an instance or a module.
  NodeId dict_of(NodeId n) const { return nodes_[n].edges.front().to; }

  Graph graph() const {
    GraphBuilder builder;
    for (std::size_t n = 1; n < nodes_.size(); ++n) {
      const Drawn& drawn = nodes_[n];
      builder.add_node(Node{.type = builder.intern(drawn.type),
                            .label = builder.intern(drawn.label),
                            .shallow = drawn.shallow,
                            .native = drawn.native,
                            .address = 0x1000 + 16 * n,
                            .flags = drawn.flags});
      for (const Edge& e : drawn.edges) {
        builder.add_edge(e.kind, e.kind == EdgeKind::Item ? e.index : builder.intern(e.name), e.to);
      }
    }
    for (const Root& r : roots_) builder.add_root(r.kind, builder.intern(r.name), r.to);
    return std::move(builder).build();
  }

 private:
  struct Edge {
    EdgeKind kind;
    std::string name;
    std::uint32_t index;
    NodeId to;
  };
  struct Drawn {
    std::string type, label;
    std::int64_t shallow = 0, native = 0;
    std::uint8_t flags = 0;
    std::vector<Edge> edges;
  };
  struct Root {
    RootKind kind;
    std::string name;
    NodeId to;
  };
  std::vector<Drawn> nodes_;
  std::vector<Root> roots_;
};

// A graph of random shape: nodes of 1 to 8 bytes of two types, `edges` edges anywhere (self loops,
// doubles and dead parts included), one in `weak` of them weak (0: none). The same seed, the same
// graph.
inline Graph random_graph(std::uint32_t seed, NodeId nodes, EdgeId edges, std::uint32_t weak = 0) {
  std::mt19937 random(seed);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  std::vector<std::vector<std::pair<EdgeKind, NodeId>>> out(nodes);
  for (EdgeId e = 0; e < edges; ++e) {
    const auto kind = weak != 0 && below(weak) == 0 ? EdgeKind::Weak : EdgeKind::Item;
    out[below(nodes)].emplace_back(kind, 1 + below(nodes - 1));
  }
  GraphBuilder builder;
  const NameId types[] = {builder.intern("a"), builder.intern("b")};
  for (const auto& [kind, target] : out[0]) {
    builder.add_root(static_cast<RootKind>(below(5)), builder.intern("r"), target);
  }
  for (NodeId n = 1; n < nodes; ++n) {
    builder.add_node(Node{.type = types[below(2)],
                          .shallow = 1 + below(4),
                          .native = below(5),
                          .address = std::uint64_t{16} * n});
    std::uint32_t i = 0;
    for (const auto& [kind, target] : out[n]) {
      builder.add_edge(kind, kind == EdgeKind::Item ? i++ : 0, target);
    }
  }
  return std::move(builder).build();
}

// A graph shaped as heaps are: records of a dict and some strings in long lists, every record with
// its class, strings shared by many, some references across, 2.8 edges a node. For benchmarks.
inline Graph heaplike_graph(NodeId nodes) {
  GraphBuilder builder;
  std::mt19937 random(42);
  const auto below = [&](NodeId n) { return static_cast<NodeId>(random() % n); };
  const NameId list = builder.intern("list");
  const NameId dict = builder.intern("dict");
  const NameId text = builder.intern("str");
  const NameId record = builder.intern("app.Record");
  const NameId klass = builder.intern("type");
  const NameId dict_name = builder.intern("__dict__");
  const NameId class_name = builder.intern("__class__");
  const NameId keys[] = {builder.intern("name"), builder.intern("owner"), builder.intern("next")};
  constexpr NodeId kShared = 1000;  // nodes 1 to 1000: the class, then strings that many use
  constexpr NodeId kRecords = 250;  // of one list
  builder.add_node(Node{.type = klass, .shallow = 1064, .address = 16});
  builder.add_root(RootKind::Module, builder.intern("app"), 1);
  for (NodeId n = 2; n <= kShared; ++n) {
    builder.add_node(Node{.type = text, .shallow = 60, .address = 16 * std::uint64_t{n}});
  }
  // A list, then its records: each is an instance, its dict and its own string.
  NodeId before = 0;
  while (builder.node_count() + 3 * kRecords + 1 <= nodes) {
    const NodeId at = builder.add_node(Node{.type = list, .shallow = 56, .native = 8 * kRecords});
    builder.add_root(RootKind::Module, builder.intern("app"), at);
    for (NodeId i = 0; i < kRecords; ++i) builder.add_edge(EdgeKind::Item, i, at + 1 + 3 * i);
    for (NodeId i = 0; i < kRecords; ++i) {
      const NodeId n = builder.add_node(
          Node{.type = record, .shallow = 48, .address = 16 * std::uint64_t{at + 3 * i + 1}});
      builder.add_edge(EdgeKind::Internal, class_name, 1);
      builder.add_edge(EdgeKind::Internal, dict_name, n + 1);
      builder.add_node(Node{.type = dict, .shallow = 104, .flags = kNamespace});
      builder.add_edge(EdgeKind::Key, keys[0], n + 2);
      builder.add_edge(EdgeKind::Key, keys[1], 2 + below(kShared - 1));
      builder.add_edge(EdgeKind::KeyObject, 0, 2 + below(kShared - 1));
      builder.add_edge(EdgeKind::KeyObject, 0, 2 + below(kShared - 1));
      if (before != 0) {  // something met earlier, anywhere
        builder.add_edge(EdgeKind::Key, keys[2], kShared + 1 + below(at - kShared));
      }
      builder.add_node(Node{.type = text, .shallow = 70});
    }
    before = at;
  }
  return std::move(builder).build();
}

}  // namespace lowtide::heap

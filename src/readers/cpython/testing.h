// SPDX-License-Identifier: Apache-2.0
#pragma once

// Heap streams for tests: written record by record, or from a graph. Included by tests and
// benchmarks only.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heap/graph.h"
#include "wire/heap_stream.h"

namespace lowtide::cpython {

class StreamWriter {
 public:
  struct Edge {
    int kind;
    std::string name;  // of an Item: empty, and `index` is used
    std::uint64_t target;
    std::uint64_t index = 0;
  };
  struct Object {
    std::string type;
    std::uint64_t references = 0;
    std::vector<Edge> edges = {};
    std::uint64_t flags = LOWTIDE_NODE_COLLECTABLE;
    std::string label = "";
    std::uint64_t shallow = 16;
    std::uint64_t native = 0;
  };

  StreamWriter& hello(std::string_view runtime = "CPython 3.11.2") {
    return byte('H').varint(LOWTIDE_HEAP_VERSION).varint(4242).text(runtime).varint(0);
  }
  StreamWriter& object(const Object& o) {
    for (const Edge& e : o.edges) string(e.name);
    const std::uint64_t type = string(o.type);
    const std::uint64_t label = string(o.label);
    const std::uint64_t id = ++nodes_;
    byte('N').varint(type).varint(label).varint(o.shallow).varint(o.native).varint(o.references);
    varint(o.flags).varint(0x7000 + 16 * id).varint(o.edges.size());
    for (const Edge& e : o.edges) {
      varint(static_cast<std::uint64_t>(e.kind));
      varint(e.kind == LOWTIDE_EDGE_ITEM ? e.index : string(e.name));
      svarint(static_cast<std::int64_t>(e.target) - static_cast<std::int64_t>(id));
    }
    edges_ += o.edges.size();
    return *this;
  }
  StreamWriter& root(int kind, std::string_view name, std::uint64_t target) {
    const std::uint64_t id = string(name);
    return byte('R').varint(static_cast<std::uint64_t>(kind)).varint(id).varint(target);
  }
  StreamWriter& note(std::string_view sentence) { return byte('T').text(sentence); }
  StreamWriter& account(std::string_view part, std::uint64_t bytes) {
    const std::uint64_t id = string(part);
    return byte('A').varint(id).varint(bytes);
  }
  StreamWriter& value(std::uint64_t address, std::string_view answer) {
    return byte('V').varint(address).text(answer);
  }
  StreamWriter& end(std::uint64_t flags = 0) {
    return byte('E').varint(nodes_).varint(edges_).varint(1'500'000'000).varint(3).varint(flags);
  }
  StreamWriter& refuse(std::string_view sentence) { return byte('X').text(sentence); }

  // Below all of these: the bytes themselves.
  StreamWriter& byte(char value) {
    bytes_ += value;
    return *this;
  }
  StreamWriter& varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    return byte(static_cast<char>(value));
  }
  StreamWriter& svarint(std::int64_t value) {
    return varint((static_cast<std::uint64_t>(value) << 1) ^
                  static_cast<std::uint64_t>(value >> 63));
  }
  StreamWriter& text(std::string_view value) {
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  // The position of a string, which is written before it is first needed.
  std::uint64_t string(std::string_view value) {
    if (value.empty()) return 0;
    const auto [at, fresh] = strings_.try_emplace(std::string(value), strings_.size() + 1);
    if (fresh) byte('S').text(value);
    return at->second;
  }
  const std::string& bytes() const { return bytes_; }

  // All of a graph, as a target would send it. `references` says each node's refcount.
  static std::string encode(const heap::Graph& graph,
                            const std::function<std::uint64_t(heap::NodeId)>& references) {
    using heap::EdgeId, heap::EdgeKind, heap::NodeId;
    StreamWriter out;
    out.hello(graph.runtime);
    for (heap::NameId id = 1; id < graph.names().size(); ++id) out.string(graph.names().text(id));
    for (EdgeId e = 0; e < graph.edges_end(heap::kSuperRoot); ++e) {
      out.byte('R').varint(static_cast<std::uint64_t>(graph.root_kind(e)));
      out.varint(graph.name_id(e)).varint(graph.target(e));
    }
    for (NodeId n = 1; n < graph.node_count(); ++n) {
      out.byte('N').varint(graph.type_id(n)).varint(graph.label_id(n));
      out.varint(static_cast<std::uint64_t>(graph.shallow(n).count));
      out.varint(static_cast<std::uint64_t>(graph.native(n).count)).varint(references(n));
      out.varint(graph.flags(n)).varint(graph.address(n));
      out.varint(graph.edges_end(n) - graph.edges_begin(n));
      for (EdgeId e = graph.edges_begin(n); e < graph.edges_end(n); ++e) {
        out.varint(static_cast<std::uint64_t>(graph.kind(e))).varint(graph.name_id(e));
        out.svarint(static_cast<std::int64_t>(graph.target(e)) - static_cast<std::int64_t>(n));
      }
    }
    out.nodes_ = graph.node_count() - 1;
    return out.end().bytes();
  }

 private:
  std::string bytes_;
  std::unordered_map<std::string, std::uint64_t> strings_;
  std::uint64_t nodes_ = 0, edges_ = 0;
};

}  // namespace lowtide::cpython

// SPDX-License-Identifier: Apache-2.0
#pragma once

// A heap of any runtime: who is there, how large, and who refers to whom.
//
//     node 0, the super-root --Root 'module pipeline'--> 1 --Key '_history'--> 2 --Item 0--> 3
//
// Dense ids and flat arrays: 29 bytes a node and 9 an edge. After a reader has built one
// nobody can tell, or needs to know, which runtime it came from.
//
// A Graph is built once by GraphBuilder and then only read; any number of threads may read it.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/units.h"
#include "heap/column.h"

namespace lowtide::heap {

using NodeId = std::uint32_t;
using EdgeId = std::uint32_t;
using NameId = std::uint32_t;  // A position in Graph::names().

inline constexpr NodeId kSuperRoot = 0;
inline constexpr NodeId kUnreached = ~NodeId{0};

// How one node holds another. The first nine are wire/heap_stream.h's.
enum class EdgeKind : std::uint8_t {
  Attribute,  // o.name
  Item,       // o[7]; the edge's name is the index itself, not a NameId
  Key,        // o['key']; "" where the key's text was not taken
  KeyObject,  // the key itself
  Local,      // a local variable of a frame
  Closure,    // a free variable of a function
  Internal,   // plumbing a person does not name: __dict__, type, code
  Weak,       // holds nothing alive
  Native,     // to memory outside the runtime
  Root,       // from the super-root; the name is the root's: "module pipeline"
};

enum class RootKind : std::uint8_t { Module, Frame, Thread, Runtime, Type, Native };

// Flags of a node: wire/heap_stream.h's lowtide_node_flags.
enum NodeFlags : std::uint8_t {
  kCollectable = 1,
  kSynthetic = 2,
  kStatic = 4,
  kStorage = 8,
  kScanned = 16,
  kNamespace = 32,
  kUser = 64,
  kFinalizer = 128,
};

// Text kept once, at most 4 GiB of it. Id 0 is "".
class Names {
 public:
  Names();
  NameId intern(std::string_view text);
  std::string_view text(NameId id) const {
    return std::string_view(bytes_).substr(starts_[id], starts_[id + 1] - starts_[id]);
  }
  // The id of a text that is there, or 0.
  NameId find(std::string_view text) const;
  std::size_t size() const { return starts_.size() - 1; }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    NameId id = 0;  // 0: empty
  };
  // The slot where the text is, or where it would go.
  std::size_t slot_of(std::string_view text, std::uint32_t hash) const;
  void grow();

  std::string bytes_;
  std::vector<std::uint32_t> starts_;
  std::vector<Slot> slots_;  // open addressing, a power of two, at most half full
};

struct Node {
  NameId type = 0;            // "pandas.core.frame.DataFrame", "builtins.list"
  NameId label = 0;           // function name, "float64 (2000, 20)", "main in train.py:41"
  std::int64_t shallow = 0;   // bytes of the node itself
  std::int64_t native = 0;    // bytes it owns outside its heap; counted at one node only
  std::uint64_t address = 0;  // names the same object in two snapshots; 0 for the super-root
  std::uint8_t flags = 0;
};

// More references to a node than edges account for: somebody outside the heap has them.
struct NativeReference {
  NodeId node;
  std::uint32_t surplus;
};

class Graph {
 public:
  NodeId node_count() const { return static_cast<NodeId>(types_.size()); }
  EdgeId edge_count() const { return static_cast<EdgeId>(targets_.size()); }

  std::string_view type(NodeId n) const { return names_.text(types_[n]); }
  std::string_view label(NodeId n) const { return names_.text(labels_[n]); }
  NameId type_id(NodeId n) const { return types_[n]; }
  NameId label_id(NodeId n) const { return labels_[n]; }
  Bytes shallow(NodeId n) const { return shallow_.of(n); }
  Bytes native(NodeId n) const { return native_.of(n); }
  Bytes own(NodeId n) const { return shallow(n) + native(n); }
  std::uint64_t address(NodeId n) const { return addresses_[n]; }
  std::uint8_t flags(NodeId n) const { return flags_[n]; }

  // The edges of n are [edges_begin(n), edges_end(n)).
  EdgeId edges_begin(NodeId n) const { return first_edge_[n]; }
  EdgeId edges_end(NodeId n) const { return first_edge_[n + 1]; }
  NodeId target(EdgeId e) const { return targets_[e]; }
  EdgeKind kind(EdgeId e) const { return kinds_[e]; }
  std::uint32_t index(EdgeId e) const { return edge_names_[e]; }  // of an Item edge
  NameId name_id(EdgeId e) const { return edge_names_[e]; }       // of any other
  std::string_view name(EdgeId e) const { return names_.text(edge_names_[e]); }
  // Only of edges of the super-root.
  RootKind root_kind(EdgeId e) const { return root_kinds_[e - first_edge_[kSuperRoot]]; }

  // The one predicate every pass uses: does this edge keep its target alive?
  bool essential(EdgeId e) const { return kinds_[e] != EdgeKind::Weak; }

  const Names& names() const { return names_; }

  // Facts about the whole heap, for people: "CPython 3.11.2", notes, account parts.
  std::string runtime;
  std::int32_t pid = 0;
  std::vector<std::string> notes;
  std::vector<std::pair<std::string, Bytes>> account;
  bool whole = true;    // false: the walk ended early, nothing may be concluded from absence
  bool gc_off = false;  // the program has switched its collector off
  std::vector<NativeReference> native_references;  // by node; where the reader can tell

 private:
  friend class GraphBuilder;

  // Sizes in four bytes each; the few that do not fit are kept apart.
  class Sizes {
   public:
    Bytes of(NodeId n) const { return Bytes{small_[n] != kLarge ? small_[n] : large(n)}; }
    void push_back(std::int64_t bytes);
    void shrink() { small_.shrink(); }

   private:
    static constexpr std::uint32_t kLarge = ~std::uint32_t{0};
    std::int64_t large(NodeId n) const;
    Column<std::uint32_t> small_;
    std::vector<std::pair<NodeId, std::int64_t>> large_;  // by node
  };

  Names names_;
  Column<NameId> types_, labels_;
  Sizes shallow_, native_;
  Column<std::uint64_t> addresses_;
  Column<std::uint8_t> flags_;
  Column<EdgeId> first_edge_;
  Column<NodeId> targets_;
  Column<std::uint32_t> edge_names_;
  Column<EdgeKind> kinds_;
  std::vector<RootKind> root_kinds_;
};

// Builds a Graph. Nodes are added in the order of their ids, each followed by its edges; an edge
// may name a node that comes later. Roots may be added at any time.
class GraphBuilder {
 public:
  GraphBuilder();  // node 0, the super-root, is there already
  NameId intern(std::string_view text) { return graph_.names_.intern(text); }
  NodeId add_node(const Node& node);
  // An edge of the node added last. `name` is a NameId, or the index of an Item.
  void add_edge(EdgeKind kind, std::uint32_t name, NodeId target);
  void add_root(RootKind kind, NameId name, NodeId target);
  NodeId node_count() const { return graph_.node_count(); }
  EdgeId edge_count() const { return graph_.edge_count(); }  // so far, the roots' not included
  Graph& facts() { return graph_; }  // for runtime, pid, notes, account, whole, gc_off

  // The graph; edges to nodes that never came are dropped. The builder is empty afterwards.
  Graph build() &&;

  // Takes a graph up again, to add roots that could only be told from the graph itself.
  explicit GraphBuilder(Graph graph) : graph_(std::move(graph)), resumed_(true) {}

 private:
  struct Root {
    RootKind kind;
    NameId name;
    NodeId target;
  };
  void drop_edges_to_nobody();

  Graph graph_;
  std::vector<Root> roots_;
  NodeId highest_target_ = 0;
  bool resumed_ = false;
};

}  // namespace lowtide::heap

// SPDX-License-Identifier: Apache-2.0
#pragma once

// The way from a root to a node, and how a person writes it.
//
//     Root "pipeline" -> __dict__ -> Key "_history" -> Item 412 -> __dict__ -> Key "frame"
//     module pipeline → _history : list → [*] → Result.frame : DataFrame
//
// Containers read as one hop, repeats fold (`Tensor._parents[*] ×240`), and a path of a million
// hops costs a million steps and a line of text.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "heap/graph.h"
#include "heap/reach.h"

namespace lowtide::heap {

// Edges from the super-root down; the first is a root's. Empty: there is no way.
using Path = std::vector<EdgeId>;

// The way holder_tree found.
Path path_to(const Graph& graph, const HolderTree& tree, NodeId node);

// At most `most` ways to `node`, cheapest first as holder_tree counts, no two of which read the
// same with indexes folded. Looks at so many steps and no more, so very entangled heaps may show
// fewer.
std::vector<Path> retaining_paths(const Graph& graph, const HolderTree& tree,
                                  const Referrers& referrers, NodeId node, std::size_t most);

// Types as a person says them: "list" for "builtins.list", "DataFrame" for
// "pandas.core.frame.DataFrame" unless another type of this graph ends in the same word.
class ShortTypes {
 public:
  explicit ShortTypes(const Graph& graph);
  // Of a name that is no type of the graph: its last word.
  std::string_view of(const Graph& graph, NameId type) const;
  std::string_view of_node(const Graph& graph, NodeId n) const {
    return of(graph, graph.type_id(n));
  }

 private:
  std::vector<bool> ambiguous_;  // by NameId
};

enum class Indexes {
  Exact,   // "[412]"
  Folded,  // "[*]"; the same for every path of this shape
};

// One step as it is read: folded plumbing is part of the step it leads to.
struct Hop {
  std::string name;  // "._history" "['key']" "[*]" "[412]" "local" "x (closure)" ".__class__"
  std::string of;    // what has an attribute: "Result"; "" where the step before says so
  std::string type;  // what it leads to: "DataFrame"; of a module or a class: its name
  NodeId to = kSuperRoot;
  std::size_t times = 1;  // of a folded run: how often; name is then one whole turn of it
};

struct PathText {
  std::string root;       // "module pipeline" "frame main in train.py:41" "native reference"
  std::string type;       // of what the root holds; "" where the root says so: a module, a frame
  std::vector<Hop> hops;  // may be empty: the root holds it itself
  NodeId to = kSuperRoot;

  // {"module pipeline", "._history : list", "[*] : Result", ".frame : DataFrame"}
  std::vector<std::string> pieces() const;
  // "module pipeline → _history : list → [*] → Result.frame : DataFrame"
  std::string text() const;
};

PathText render(const Graph& graph, const ShortTypes& types, const Path& path, Indexes indexes);

// The same for all paths that read the same when indexes are folded and however often they repeat.
std::string shape_text(const Graph& graph, const ShortTypes& types, const Path& path);

// "module pipeline", "thread-locals of MainThread", "native reference": one root edge.
std::string root_text(const Graph& graph, EdgeId root);

}  // namespace lowtide::heap

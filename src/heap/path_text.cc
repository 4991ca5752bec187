// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "base/units.h"
#include "heap/naming.h"
#include "heap/paths.h"

namespace lowtide::heap {

namespace {

constexpr std::size_t kLongestRun = 3;  // hops of one turn: `.next`, `._parents[*]`, `.a.b[*]`
constexpr std::size_t kLeastTurns = 3;  // fewer are written out
constexpr std::size_t kMostHops = 60;   // in one line of text; the middle of longer ones goes

enum class Form : std::uint8_t {
  Attribute,
  Item,
  Element,  // of a set, or behind a key whose text was not taken
  Key,
  KeyObject,
  Local,
  Closure,
  Inside,  // C code holds it, and says no name
};

// A hop as numbers: a path of a million of them is folded before any text is made.
struct Step {
  Form form = Form::Inside;
  std::uint32_t name = 0;  // a NameId, or the index of an Item
  NodeId from = kSuperRoot;
  NodeId to = kSuperRoot;
};

std::string_view last_word(std::string_view type) {
  const std::size_t dot = type.rfind('.');
  return dot == std::string_view::npos ? type : type.substr(dot + 1);
}

// What a person calls by its own name, not by its type's.
bool has_name(const Graph& graph, NodeId n) {
  return graph.label_id(n) != 0 && (graph.type(n) == "module" || is_class(graph.type(n)));
}

// What goes without saying in front of a dot or after a colon.
bool silent(const Graph& graph, NodeId n) {
  const std::string_view type = graph.type(n);
  return n == kSuperRoot || type == "module" || type == "frame" || type == "cell";
}

class Reader {
 public:
  Reader(const Graph& graph, const Path& path, Indexes indexes)
      : graph_(graph),
        path_(path),
        indexes_(indexes),
        dict_(graph.names().find("__dict__")),
        cell_(graph.names().find("cell_contents")),
        closure_(graph.names().find("__closure__")) {}

  std::vector<Step> steps() {
    NodeId from = path_.empty() ? kSuperRoot : graph_.target(path_.front());
    for (at_ = 1; at_ < path_.size();) {
      Step step = next(from);
      // A cell is the variable, not something the variable holds.
      while (at_ < path_.size() && internal(path_[at_], cell_)) {
        step.to = graph_.target(path_[at_++]);
      }
      from = step.to;
      steps_.push_back(step);
    }
    return std::move(steps_);
  }

 private:
  bool internal(EdgeId e, NameId name) const {
    return name != 0 && graph_.kind(e) == EdgeKind::Internal && graph_.name_id(e) == name;
  }
  bool more(std::size_t ahead) const { return at_ + ahead < path_.size(); }

  Step next(NodeId from) {
    EdgeId e = path_[at_++];
    // o.__dict__['x'] is o.x.
    if (internal(e, dict_) && more(0) && graph_.kind(path_[at_]) == EdgeKind::Key &&
        graph_.name_id(path_[at_]) != 0) {
      e = path_[at_++];
      return Step{Form::Attribute, graph_.name_id(e), from, graph_.target(e)};
    }
    // f.__closure__[i].cell_contents is a variable of f, whose name the path does not tell.
    if (internal(e, closure_) && more(1) && graph_.kind(path_[at_]) == EdgeKind::Item &&
        internal(path_[at_ + 1], cell_)) {
      e = path_[at_ + 1];
      at_ += 2;
      return Step{Form::Closure, 0, from, graph_.target(e)};
    }
    return Step{form_of(e, from), name_of(e), from, graph_.target(e)};
  }

  Form form_of(EdgeId e, NodeId from) const {
    const bool named = graph_.kind(e) == EdgeKind::Item || graph_.name_id(e) != 0;
    switch (graph_.kind(e)) {
      case EdgeKind::Item:
        return indexes_ == Indexes::Exact ? Form::Item : Form::Element;
      case EdgeKind::Key:
        if (!named) return Form::Element;
        return (graph_.flags(from) & kNamespace) != 0 ? Form::Attribute : Form::Key;
      case EdgeKind::KeyObject:
        return graph_.type(from).find("dict") != std::string_view::npos ? Form::KeyObject
                                                                        : Form::Element;
      case EdgeKind::Local:
        return Form::Local;
      case EdgeKind::Closure:
        return Form::Closure;
      default:
        return named ? Form::Attribute : Form::Inside;
    }
  }

  std::uint32_t name_of(EdgeId e) const {
    if (graph_.kind(e) == EdgeKind::Item && indexes_ == Indexes::Folded) return 0;
    return graph_.name_id(e);
  }

  const Graph& graph_;
  const Path& path_;
  Indexes indexes_;
  NameId dict_, cell_, closure_;
  std::size_t at_ = 1;
  std::vector<Step> steps_;
};

// Steps [begin, begin + length) come `times` times.
struct Run {
  std::size_t begin, length, times;
};

std::vector<Run> runs_of(const Graph& graph, const std::vector<Step>& steps, std::size_t least) {
  const auto same = [&](const Step& a, const Step& b) {
    return a.form == b.form && a.name == b.name && graph.type_id(a.to) == graph.type_id(b.to) &&
           graph.type_id(a.from) == graph.type_id(b.from) &&
           (!has_name(graph, a.from) || graph.label_id(a.from) == graph.label_id(b.from));
  };
  std::vector<Run> runs;
  for (std::size_t at = 0; at < steps.size();) {
    Run best{at, 1, 1};
    for (std::size_t length = 1; length <= kLongestRun; ++length) {
      std::size_t end = at + length;
      while (end < steps.size() && same(steps[end], steps[end - length])) ++end;
      const std::size_t times = (std::min(end, steps.size()) - at) / length;
      if (times >= least && times * length > best.times * best.length) best = {at, length, times};
    }
    runs.push_back(best);
    at += best.length * best.times;
  }
  return runs;
}

class Speaker {
 public:
  Speaker(const Graph& graph, const ShortTypes& types) : graph_(graph), types_(types) {}

  std::string name(const Step& step) const {
    const auto text = [&] { return std::string(graph_.names().text(step.name)); };
    switch (step.form) {
      case Form::Attribute:
        return "." + text();
      case Form::Item:
        return "[" + std::to_string(step.name) + "]";
      case Form::Element:
        return "[*]";
      case Form::Key:
        return "['" + text() + "']";
      case Form::KeyObject:
        return "(key)";
      case Form::Local:
        return text();
      case Form::Closure:
        return step.name != 0 ? text() + " (closure)" : "(closure)";
      case Form::Inside:
        break;
    }
    return "(inside)";
  }

  std::string of(const Step& step) const {
    const bool said = silent(graph_, step.from) || (graph_.flags(step.from) & kNamespace) != 0;
    return step.form == Form::Attribute && !said ? spoken(step.from) : "";
  }

  // A class by its own name, anything else by its type's.
  std::string spoken(NodeId n) const {
    if (has_name(graph_, n)) return std::string(types_.of(graph_, graph_.label_id(n)));
    return std::string(types_.of_node(graph_, n));
  }

  Hop hop(const std::vector<Step>& steps, const Run& run) const {
    const Step* first = &steps[run.begin];
    const Step& last = first[run.length - 1];
    Hop hop{"", of(*first), spoken(last.to), steps[run.begin + run.length * run.times - 1].to,
            run.times};
    for (std::size_t i = 0; i < run.length; ++i) {
      const std::string name = this->name(first[i]);
      const bool apart = i != 0 && name.front() != '.' && name.front() != '[';
      hop.name += (apart ? " " : "") + name;
    }
    return hop;
  }

 private:
  const Graph& graph_;
  const ShortTypes& types_;
};

std::string times_text(const Hop& hop) {
  return hop.times > 1 ? " ×" + std::to_string(hop.times) : "";
}

}  // namespace

ShortTypes::ShortTypes(const Graph& graph) : ambiguous_(graph.names().size()) {
  std::vector<bool> is_type(graph.names().size());
  for (NodeId n = 1; n < graph.node_count(); ++n) is_type[graph.type_id(n)] = true;
  std::unordered_map<std::string_view, NameId> first_with;
  for (NameId id = 0; id < is_type.size(); ++id) {
    if (!is_type[id]) continue;
    const auto [at, fresh] = first_with.emplace(last_word(graph.names().text(id)), id);
    if (!fresh) ambiguous_[id] = ambiguous_[at->second] = true;
  }
}

std::string_view ShortTypes::of(const Graph& graph, NameId type) const {
  static constexpr std::string_view kMain = "__main__.";
  const std::string_view text = graph.names().text(type);
  if (!ambiguous_[type]) return last_word(text);
  return text.starts_with(kMain) ? text.substr(kMain.size()) : text;
}

std::string root_text(const Graph& graph, EdgeId root) {
  const std::string name(graph.name(root));
  switch (graph.root_kind(root)) {
    case RootKind::Module:
      return "module " + name;
    case RootKind::Frame:
      return "frame " + name;
    case RootKind::Type:
      return "type " + name;
    case RootKind::Thread:
    case RootKind::Runtime:
    case RootKind::Native:
      break;
  }
  if (!name.empty()) return name;
  return graph.root_kind(root) == RootKind::Thread    ? "a thread"
         : graph.root_kind(root) == RootKind::Runtime ? "the runtime"
                                                      : "native reference";
}

PathText render(const Graph& graph, const ShortTypes& types, const Path& path, Indexes indexes) {
  PathText text;
  if (path.empty()) return text;
  text.root = root_text(graph, path.front());
  text.to = graph.target(path.back());
  const Speaker speaker(graph, types);
  const NodeId first = graph.target(path.front());
  if (!silent(graph, first) && graph.root_kind(path.front()) != RootKind::Type) {
    text.type = speaker.spoken(first);
  }
  const std::vector<Step> steps = Reader(graph, path, indexes).steps();
  for (const Run& run : runs_of(graph, steps, kLeastTurns)) {
    text.hops.push_back(speaker.hop(steps, run));
    if (silent(graph, text.hops.back().to)) text.hops.back().type.clear();
  }
  return text;
}

std::string shape_text(const Graph& graph, const ShortTypes& types, const Path& path) {
  if (path.empty()) return "";
  const Speaker speaker(graph, types);
  const std::vector<Step> steps = Reader(graph, path, Indexes::Folded).steps();
  std::string text = root_text(graph, path.front());
  for (const Run& run : runs_of(graph, steps, 2)) {
    const Hop hop = speaker.hop(steps, run);
    text += '\n' + hop.of + hop.name + '\t' + hop.type;
  }
  return text;
}

std::vector<std::string> PathText::pieces() const {
  std::vector<std::string> pieces{root};
  if (hops.empty() && !type.empty()) pieces.front() += " : " + type;
  for (const Hop& hop : hops) {
    pieces.push_back(hop.name + times_text(hop) + (hop.type.empty() ? "" : " : " + hop.type));
  }
  return pieces;
}

std::string PathText::text() const {
  std::string line = root;
  std::string_view before = type;  // the type of what the line has come to
  const auto say_type = [&] {
    if (!before.empty()) line.append(" : ").append(before);
  };
  std::string_view called;  // the name under which the line has come to it
  for (std::size_t i = 0; i < hops.size(); ++i) {
    if (hops.size() > kMostHops && i == kMostHops / 2) {
      const std::size_t left_out = hops.size() - kMostHops;
      line += " → … " + count_text(static_cast<std::int64_t>(left_out)) + " more …";
      i += left_out;
      before = called = {};
    }
    const Hop& hop = hops[i];
    std::string_view name = hop.name;
    if (!hop.of.empty() && hop.of == called && name.starts_with('.') && hop.times == 1) {
      line += name;  // the class Registry, and what is in it: Registry.items
    } else {
      if (hop.of.empty() || hop.of != before) say_type();
      line += " → ";
      if (hop.of.empty()) {
        if (name.starts_with('.')) name.remove_prefix(1);
      } else {
        line += hop.of;
        if (!name.starts_with('.')) line += ' ';
      }
      line += name;
    }
    line += times_text(hop);
    before = hop.type;
    called = hop.times == 1 && hop.name.starts_with('.') ? std::string_view(hop.name).substr(1)
                                                         : std::string_view{};
  }
  say_type();
  return line;
}

}  // namespace lowtide::heap

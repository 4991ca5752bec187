// SPDX-License-Identifier: Apache-2.0
//
// lowtide holders: who keeps an object alive, all objects of a type, or what a run suspected.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/conclusion.h"
#include "cli/console.h"
#include "cli/heap_source.h"
#include "cli/tool.h"
#include "cli/type_match.h"
#include "heap/dominators.h"
#include "heap/paths.h"
#include "heap/reach.h"
#include "report/holders_dot.h"

namespace lowtide::cli {
namespace {

// What is asked about and every way it is held: the same shape as a suspect of a run, so that it
// reads and draws the same.
struct Held {
  bool one = false;  // an object that was asked for, not a suspect
  heap::Suspect suspect;
  std::string where;  // "train.tide, heap 8 of 8, at 41 s"
  std::int64_t garbage = 0;
};

heap::Holder holder_of(const heap::PathText& text, std::int64_t count, Bytes retained) {
  heap::Holder holder;
  holder.path = text.pieces();
  holder.text = text.text();
  holder.root = text.root;
  holder.count = count;
  holder.freed_if_only_this = retained;
  return holder;
}

// All objects of a type, by the folded path that holds them.
Result<Held> holders_of_type(const HeapChoice& choice, const std::string& type, std::size_t most) {
  const heap::Graph& graph = choice.graph;
  const heap::HolderTree tree = heap::holder_tree(graph);
  const heap::Dominators dominators = heap::dominators(graph);
  const heap::ShortTypes types(graph);
  struct Group {
    heap::PathText text;
    std::vector<heap::NodeId> nodes;
  };
  std::map<std::string, Group> groups;
  Held held;
  held.where = choice.name;
  held.suspect.type = type;
  std::vector<heap::NodeId> all;
  for (heap::NodeId n = 1; n < graph.node_count(); ++n) {
    if (!names_type(type, graph.type(n))) continue;
    ++held.suspect.count;
    if (!tree.reaches(n)) {
      ++held.garbage;
      continue;
    }
    all.push_back(n);
    heap::PathText text =
        heap::render(graph, types, heap::path_to(graph, tree, n), heap::Indexes::Folded);
    std::string key = text.text();
    Group& group = groups[key];
    if (group.nodes.empty()) group.text = std::move(text);
    group.nodes.push_back(n);
  }
  if (held.suspect.count == 0) {
    return Error{Code::NotFound, fmt::format("no object of type {} in {}", type, choice.name)};
  }
  held.suspect.retained = heap::retained_of_set(dominators, all);
  for (const auto& [key, group] : groups) {
    held.suspect.holders.push_back(holder_of(group.text,
                                             static_cast<std::int64_t>(group.nodes.size()),
                                             heap::retained_of_set(dominators, group.nodes)));
  }
  auto& holders = held.suspect.holders;
  std::stable_sort(holders.begin(), holders.end(), [](const auto& a, const auto& b) {
    return a.freed_if_only_this > b.freed_if_only_this;
  });
  if (most > 0 && holders.size() > most) holders.resize(most);
  return held;
}

// One object: the ways to it that read differently.
Result<Held> holders_of_object(const HeapChoice& choice, const std::string& object,
                               std::size_t most) {
  const heap::Graph& graph = choice.graph;
  const std::string_view digits =
      std::string_view(object).substr(object.starts_with("0x") || object.starts_with("0X") ? 2 : 0);
  std::uint64_t address = 0;
  const auto [rest, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), address, 16);
  if (error != std::errc{} || rest != digits.data() + digits.size()) {
    return Error{Code::Invalid,
                 fmt::format("{} is no object; take one from 'lowtide heap --type T'", object)};
  }
  for (heap::NodeId n = 1; n < graph.node_count(); ++n) {
    if (graph.address(n) != address) continue;
    const heap::HolderTree tree = heap::holder_tree(graph);
    const heap::ShortTypes types(graph);
    Held held;
    held.where = choice.name;
    held.suspect.type = std::string(graph.type(n));
    held.suspect.content = std::string(graph.label(n));
    held.one = true;
    held.suspect.count = 1;
    held.suspect.retained = heap::dominators(graph).retained[n];
    if (!tree.reaches(n)) held.garbage = 1;
    const heap::Referrers referrers(graph);
    const auto paths = heap::retaining_paths(graph, tree, referrers, n, most == 0 ? 50 : most);
    for (const heap::Path& path : paths) {
      held.suspect.holders.push_back(
          holder_of(heap::render(graph, types, path, heap::Indexes::Exact), 1, Bytes{}));
    }
    return held;
  }
  return Error{Code::NotFound, fmt::format("no object at {} in {}", object, choice.name)};
}

Result<Held> holders_of_suspect(const HoldersOptions& options) {
  std::string path;
  auto reader = open_recording(options.target, path);
  if (!reader) return reader.error();
  const report::Findings findings = conclusion_of(**reader, path);
  if (options.suspect < 1 || static_cast<std::size_t>(options.suspect) > findings.suspects.size()) {
    return Error{
        Code::NotFound,
        fmt::format("{} has {} suspect{}, there is no number {}", path, findings.suspects.size(),
                    findings.suspects.size() == 1 ? "" : "s", options.suspect)};
  }
  Held held;
  held.suspect = findings.suspects[static_cast<std::size_t>(options.suspect) - 1].what;
  held.where = fmt::format("{}, suspect {}", path, options.suspect);
  return held;
}

void print_text(const Held& held) {
  const heap::Suspect& suspect = held.suspect;
  const std::string& content = suspect.content;  // of one object: its label
  std::string text =
      fmt::format("{}\n\n{} {}{}, retaining {}{}\n", held.where, count_text(suspect.count),
                  suspect.type, held.one && !content.empty() ? " " + content : "",
                  to_text(suspect.retained), held.one || content.empty() ? "" : " as " + content);
  if (held.garbage > 0) {
    text += fmt::format("{} of them are garbage: no root reaches them\n", count_text(held.garbage));
  }
  for (const heap::Holder& holder : suspect.holders) {
    text += fmt::format("\n  {}\n", holder.text);
    if (holder.freed_if_only_this.count > 0) {
      text += fmt::format("      holds {}; {} would go with it\n", count_text(holder.count),
                          to_text(holder.freed_if_only_this));
    }
  }
  print(text);
}

void print_json(const Held& held) {
  using Json = nlohmann::ordered_json;
  const heap::Suspect& suspect = held.suspect;
  Json out{{"heap", held.where},         {"type", suspect.type},
           {"content", suspect.content}, {"count", suspect.count},
           {"garbage", held.garbage},    {"retained_bytes", suspect.retained.count}};
  out["holders"] = Json::array();
  for (const heap::Holder& holder : suspect.holders) {
    out["holders"].push_back({{"path", holder.path},
                              {"path_text", holder.text},
                              {"root", holder.root},
                              {"count", holder.count},
                              {"freed_if_only_this", holder.freed_if_only_this.count}});
  }
  print(out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

Status draw(const Held& held, const std::string& file, const char* format) {
  return run_tool({"dot", std::string("-T") + format, "-o", file}, report::to_dot(held.suspect),
                  "graphviz");
}

}  // namespace

int holders_command(const HoldersOptions& options) {
  const bool nothing = options.type.empty() && options.object.empty();
  const auto most = static_cast<std::size_t>(std::max(options.most, 0));
  Result<Held> held = Error{Code::Invalid, ""};
  if (options.suspect > 0 || nothing) {
    HoldersOptions asked = options;
    if (nothing && options.suspect == 0) asked.suspect = 1;
    held = holders_of_suspect(asked);
  } else {
    auto choice = choose_heap(options.target, options.snapshot, false);
    if (!choice) return fail(choice.error().message);
    held = options.type.empty() ? holders_of_object(*choice, options.object, most)
                                : holders_of_type(*choice, options.type, most);
  }
  if (!held) return fail(held.error().message);
  for (const auto& [file, format] :
       {std::pair(options.svg, "svg"), std::pair(options.png, "png")}) {
    if (file.empty()) continue;
    if (const Status drawn = draw(*held, file, format); !drawn) return fail(drawn.error().message);
    say(fmt::format("wrote {}", file));
  }
  if (options.json) {
    print_json(*held);
  } else {
    print_text(*held);
  }
  return kGood;
}

}  // namespace lowtide::cli

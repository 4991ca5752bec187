// SPDX-License-Identifier: Apache-2.0
//
// lowtide heap: what is in a heap, by type or object by object.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "base/units.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/heap_source.h"
#include "cli/heap_store.h"
#include "cli/type_match.h"
#include "heap/dominators.h"
#include "heap/paths.h"
#include "heap/suspects.h"
#include "report/table.h"

namespace lowtide::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Row {
  heap::TypeCount now;
  heap::TypeCount first;  // all 0 where the type was not there, or there is no first heap
};

std::vector<Row> rows_of(const HeapChoice& choice, bool& has_first) {
  std::map<std::string, Row> by_type;
  for (heap::TypeCount& type : heap::types_of(*heap::take_census(choice.graph))) {
    by_type[type.type].now = type;
  }
  has_first = choice.position > 0;
  if (has_first) {
    if (auto graph = load_heap(*choice.reader, choice.heaps.front())) {
      for (heap::TypeCount& type : heap::types_of(*heap::take_census(*graph))) {
        by_type[type.type].first = type;
      }
    } else {
      has_first = false;
    }
  }
  std::vector<Row> rows;
  for (auto& [name, row] : by_type) {
    row.now.type = name;
    rows.push_back(std::move(row));
  }
  return rows;
}

void sort_rows(std::vector<Row>& rows, const std::string& by) {
  std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    if (by == "count") return a.now.count > b.now.count;
    if (by == "growth")
      return a.now.retained - a.first.retained > b.now.retained - b.first.retained;
    return a.now.retained > b.now.retained;
  });
}

int list_types(const HeapChoice& choice, const HeapOptions& options) {
  bool has_first = false;
  std::vector<Row> rows = rows_of(choice, has_first);
  if (options.by == "growth" && !has_first) {
    return fail("growth needs an earlier heap to compare with, and this is the first");
  }
  sort_rows(rows, options.by);
  const std::size_t all = rows.size();
  if (options.most > 0 && rows.size() > static_cast<std::size_t>(options.most)) {
    rows.resize(static_cast<std::size_t>(options.most));
  }
  if (options.json) {
    Json out{
        {"heap", choice.name}, {"runtime", choice.graph.runtime}, {"whole", choice.graph.whole}};
    out["types"] = Json::array();
    for (const Row& row : rows) {
      Json type{{"type", row.now.type},
                {"count", row.now.count},
                {"shallow_bytes", row.now.shallow.count},
                {"native_bytes", row.now.native.count},
                {"retained_bytes", row.now.retained.count}};
      type["count_change"] = has_first ? Json(row.now.count - row.first.count) : Json();
      type["retained_change"] =
          has_first ? Json((row.now.retained - row.first.retained).count) : Json();
      out["types"].push_back(std::move(type));
    }
    print(out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
    return kGood;
  }
  std::vector<std::string> headings{"count", "shallow", "native", "retained"};
  if (has_first) headings.insert(headings.end(), {"count since first", "retained since first"});
  headings.emplace_back("type");
  report::Table table(headings);
  for (const Row& row : rows) {
    std::vector<std::string> cells{count_text(row.now.count), to_text(row.now.shallow),
                                   to_text(row.now.native), to_text(row.now.retained)};
    if (has_first) {
      const std::int64_t change = row.now.count - row.first.count;
      cells.push_back((change > 0 ? "+" : "") + count_text(change));
      cells.push_back(to_signed_text(row.now.retained - row.first.retained));
    }
    cells.push_back(row.now.type);
    table.add(std::move(cells));
  }
  print(fmt::format("{} ({})\n\n", choice.name, choice.graph.runtime));
  print(table.text(style_of(STDOUT_FILENO)));
  if (all > rows.size())
    print(fmt::format("\n{} more types (--most 0 lists all)\n", all - rows.size()));
  for (const std::string& note : choice.graph.notes) print("\n" + note + "\n");
  return kGood;
}

int list_objects(const HeapChoice& choice, const HeapOptions& options) {
  const heap::Graph& graph = choice.graph;
  const heap::Dominators dominators = heap::dominators(graph);
  std::vector<heap::NodeId> found;
  for (heap::NodeId n = 1; n < graph.node_count(); ++n) {
    if (names_type(options.type, graph.type(n))) found.push_back(n);
  }
  if (found.empty())
    return fail(fmt::format("no object of type {} in {}", options.type, choice.name));
  std::stable_sort(found.begin(), found.end(), [&](heap::NodeId a, heap::NodeId b) {
    return dominators.retained[a] > dominators.retained[b];
  });
  const std::size_t all = found.size();
  if (options.most > 0 && all > static_cast<std::size_t>(options.most)) {
    found.resize(static_cast<std::size_t>(options.most));
  }
  Json out{{"heap", choice.name}, {"type", options.type}, {"count", all}};
  out["objects"] = Json::array();
  report::Table table({"shallow", "native", "retained", "object", "type and label"});
  for (heap::NodeId n : found) {
    const bool garbage = dominators.nearest[n] == heap::kUnreached;
    const std::string address = fmt::format("{:#x}", graph.address(n));
    if (options.json) {
      out["objects"].push_back({{"object", address},
                                {"type", graph.type(n)},
                                {"label", graph.label(n)},
                                {"shallow_bytes", graph.shallow(n).count},
                                {"native_bytes", graph.native(n).count},
                                {"retained_bytes", dominators.retained[n].count},
                                {"garbage", garbage}});
    } else {
      table.add({to_text(graph.shallow(n)), to_text(graph.native(n)),
                 to_text(dominators.retained[n]), address,
                 fmt::format("{}{}{}{}", graph.type(n), graph.label(n).empty() ? "" : " ",
                             graph.label(n), garbage ? " (garbage)" : "")});
    }
  }
  if (options.json) {
    print(out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
    return kGood;
  }
  print(choice.name + "\n\n" + table.text(style_of(STDOUT_FILENO)));
  if (all > found.size()) print(fmt::format("\n{} more objects\n", all - found.size()));
  return kGood;
}

// Values are computed in a copy of the program: it cannot be changed by them.
int show_values(const HeapOptions& options) {
  int pid = 0;
  for (char c : options.target) {
    if (c < '0' || c > '9' || pid > 100'000'000) pid = -1;
    if (pid < 0) break;
    pid = pid * 10 + (c - '0');
  }
  if (pid <= 0 || options.type.empty()) {
    say("--show needs the pid of a live program under 'lowtide run' and a --type: "
        "lowtide heap 4242 --type DataFrame --show 'len(o)'");
    return kUsage;
  }
  lowtide_ask question{};
  question.kind = LOWTIDE_ASK_SHOW;
  question.flags = LOWTIDE_ASK_CONTENTS;
  question.walk_limit_ms = static_cast<std::uint32_t>(options.limit * 1000);
  question.lock_limit_ms = 30'000;
  question.object_limit = static_cast<std::uint32_t>(std::max(options.most, 0));
  auto answer = ask_process(pid, question, options.type + '\0' + options.show, options.limit + 35);
  if (!answer) return fail(answer.error().message);
  Json out = Json::array();
  for (const cpython::Value& value : answer->values) {
    if (options.json) {
      out.push_back({{"object", fmt::format("{:#x}", value.address)}, {"value", value.text}});
    } else {
      print(fmt::format("{:#x}  {}\n", value.address, value.text));
    }
  }
  if (options.json) print(out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  if (answer->values.empty()) {
    if (!answer->graph.notes.empty()) return fail(answer->graph.notes.front());
    return fail(fmt::format("no object of type {} in process {}", options.type, pid));
  }
  for (const std::string& note : answer->graph.notes) say(note);
  return kGood;
}

}  // namespace

int heap_command(const HeapOptions& options) {
  if (!options.show.empty()) return show_values(options);
  auto choice = choose_heap(options.target, options.snapshot, options.contents);
  if (!choice) return fail(choice.error().message);
  return options.type.empty() ? list_types(*choice, options) : list_objects(*choice, options);
}

}  // namespace lowtide::cli

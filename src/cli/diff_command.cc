// SPDX-License-Identifier: Apache-2.0
//
// lowtide diff: what grew between two heaps, of one recording or of two.

#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/heap_source.h"
#include "heap/diff.h"
#include "heap/suspects.h"
#include "report/table.h"

namespace lowtide::cli {

int diff_command(const DiffOptions& options) {
  using Json = nlohmann::ordered_json;
  const bool bare = options.after.empty() && options.before.find('@') == std::string::npos;
  auto before = choose_heap(options.before, bare ? 1 : 0, false);
  if (!before) return fail(before.error().message);
  const auto first = heap::take_census(before->graph);
  const std::string first_name = before->name;
  // One graph at a time is enough.
  const std::string file = options.before.substr(0, options.before.rfind('@'));
  *before = HeapChoice{};
  auto after = choose_heap(options.after.empty() ? file : options.after, 0, false);
  if (!after) return fail(after.error().message);
  const auto second = heap::take_census(after->graph);

  const auto first_types = heap::types_of(*first);
  const auto second_types = heap::types_of(*second);
  const auto changes = report::changes_of(first_types, second_types);
  const auto shapes = heap::diff_shapes(*first, *second, static_cast<std::size_t>(options.most));
  if (options.json) {
    Json out{{"before", first_name}, {"after", after->name}};
    out["types"] = Json::array();
    for (const report::TypeChange& change : changes) {
      out["types"].push_back({{"type", change.type},
                              {"count_before", change.before},
                              {"count_after", change.after},
                              {"shallow_change", change.shallow.count},
                              {"native_change", change.native.count},
                              {"retained_change", change.retained.count}});
    }
    out["paths"] = Json::array();
    for (const heap::ShapeChange& shape : shapes) {
      out["paths"].push_back({{"path_text", shape.text},
                              {"count_change", shape.count},
                              {"bytes_change", shape.bytes.count}});
    }
    print(out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
    return kGood;
  }
  const report::Style style = style_of(STDOUT_FILENO);
  print(fmt::format("from {}\nto   {}\n\n", first_name, after->name));
  print(report::diff_table(changes, static_cast<std::size_t>(std::max(options.most, 0)), style));
  report::Table table({"count", "own bytes", "path"});
  for (const heap::ShapeChange& shape : shapes) {
    table.add({(shape.count > 0 ? "+" : "") + count_text(shape.count), to_signed_text(shape.bytes),
               shape.text});
  }
  if (!table.empty()) print("\n" + table.text(style));
  return kGood;
}

}  // namespace lowtide::cli

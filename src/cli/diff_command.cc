// SPDX-License-Identifier: Apache-2.0
//
// lowtide diff: what grew between two heaps, of one recording or of two.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
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

  const heap::Diff found =
      heap::diff(*first, *second, static_cast<std::size_t>(std::max(options.most, 0)));
  if (options.json) {
    Json out{{"before", first_name}, {"after", after->name}};
    const auto rows = [](const std::vector<heap::Difference>& differences) {
      Json list = Json::array();
      for (const heap::Difference& row : differences) {
        list.push_back({{"what", row.what},
                        {"count_before", row.count_before},
                        {"count_after", row.count_after},
                        {"bytes_before", row.before.count},
                        {"bytes_after", row.after.count}});
      }
      return list;
    };
    out["reachable_before"] = found.reachable_before.count;
    out["reachable_after"] = found.reachable_after.count;
    out["types"] = rows(found.types);
    out["paths"] = rows(found.paths);
    print(out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
    return kGood;
  }
  const report::Style style = style_of(STDOUT_FILENO);
  const auto table_of = [&](const std::vector<heap::Difference>& differences, const char* bytes,
                            const char* what) {
    report::Table table({"count", bytes, what});
    for (const heap::Difference& row : differences) {
      table.add({(row.count() > 0 ? "+" : "") + count_text(row.count()),
                 to_signed_text(row.bytes()), row.what});
    }
    return table.empty() ? std::string() : "\n" + table.text(style);
  };
  print(fmt::format("from {}\nto   {}\nlive {} -> {}\n", first_name, after->name,
                    to_text(found.reachable_before), to_text(found.reachable_after)));
  print(table_of(found.types, "retained", "type"));
  print(table_of(found.paths, "own bytes", "path"));
  return kGood;
}

}  // namespace lowtide::cli

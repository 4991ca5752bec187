// SPDX-License-Identifier: Apache-2.0
#include "report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

namespace lowtide::report {
namespace {

constexpr int kGap = 2;
constexpr int kLeastName = 12;  // columns left for names, however narrow the terminal

std::string signed_count(std::int64_t count) {
  return count > 0 ? "+" + count_text(count) : count_text(count);
}

std::string rest_line(std::size_t shown, std::size_t all) {
  if (shown >= all) return "";
  const std::size_t rest = all - shown;
  return fmt::format("and {} more {}\n", count_text(static_cast<std::int64_t>(rest)),
                     rest == 1 ? "type" : "types");
}

}  // namespace

std::string Table::text(const Style& style) const {
  const std::size_t columns = headings_.size();
  if (columns == 0) return "";
  static const std::string kEmpty;
  const auto cell = [](const std::vector<std::string>& row, std::size_t c) -> const std::string& {
    return c < row.size() ? row[c] : kEmpty;
  };
  std::vector<int> widths(columns);
  for (std::size_t c = 0; c < columns; ++c) {
    widths[c] = columns_of(headings_[c]);
    for (const auto& row : rows_) widths[c] = std::max(widths[c], columns_of(cell(row, c)));
  }
  int taken = 0;
  for (std::size_t c = 0; c + 1 < columns; ++c) taken += widths[c] + kGap;

  const auto line = [&](const std::vector<std::string>& row) {
    std::string out;
    for (std::size_t c = 0; c + 1 < columns; ++c) {
      out += padded(cell(row, c), widths[c], /*left=*/true) + std::string(kGap, ' ');
    }
    const std::string& name = cell(row, columns - 1);
    return out +
           (style.width > 0 ? shortened(name, std::max(kLeastName, style.width - taken)) : name);
  };
  std::string out = inked(line(headings_), Ink::Dim, style) + "\n";
  for (const auto& row : rows_) out += line(row) + "\n";
  return out;
}

std::string heap_table(std::span<const heap::TypeCount> types, std::size_t most,
                       const Style& style) {
  std::vector<const heap::TypeCount*> sorted;
  for (const heap::TypeCount& type : types) sorted.push_back(&type);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto* a, const auto* b) { return a->retained > b->retained; });
  const std::size_t all = sorted.size();
  if (most > 0 && all > most) sorted.resize(most);
  Table table({"count", "retained", "shallow", "native", "type"});
  for (const heap::TypeCount* t : sorted) {
    table.add({count_text(t->count), to_text(t->retained), to_text(t->shallow),
               t->native.count == 0 ? "" : to_text(t->native), clean(t->type)});
  }
  return table.text(style) + rest_line(sorted.size(), all);
}

std::vector<TypeChange> changes_of(std::span<const heap::TypeCount> before,
                                   std::span<const heap::TypeCount> after) {
  std::map<std::string_view, TypeChange> by_type;
  for (const heap::TypeCount& t : before) {
    TypeChange& change = by_type[t.type];
    change.before += t.count;
    change.shallow -= t.shallow;
    change.native -= t.native;
    change.retained -= t.retained;
  }
  for (const heap::TypeCount& t : after) {
    TypeChange& change = by_type[t.type];
    change.after += t.count;
    change.shallow += t.shallow;
    change.native += t.native;
    change.retained += t.retained;
  }
  std::vector<TypeChange> changes;
  for (auto& [type, change] : by_type) {
    const bool same = change.before == change.after && change.shallow == Bytes{} &&
                      change.native == Bytes{} && change.retained == Bytes{};
    if (same) continue;
    change.type = type;
    changes.push_back(std::move(change));
  }
  std::stable_sort(changes.begin(), changes.end(), [](const TypeChange& a, const TypeChange& b) {
    return a.retained > b.retained;
  });
  return changes;
}

std::string diff_table(std::span<const TypeChange> changes, std::size_t most, const Style& style) {
  const std::size_t shown = most > 0 ? std::min(most, changes.size()) : changes.size();
  Table table({"change", "before", "after", "retained", "native", "type"});
  for (const TypeChange& c : changes.first(shown)) {
    table.add({signed_count(c.after - c.before), count_text(c.before), count_text(c.after),
               to_signed_text(c.retained), c.native == Bytes{} ? "" : to_signed_text(c.native),
               clean(c.type)});
  }
  return table.text(style) + rest_line(shown, changes.size());
}

}  // namespace lowtide::report

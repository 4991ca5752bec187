// SPDX-License-Identifier: Apache-2.0
#include "report/table.h"

#include <algorithm>

namespace lowtide::report {
namespace {

constexpr int kGap = 2;
constexpr int kLeastName = 12;  // columns left for names, however narrow the terminal

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

}  // namespace lowtide::report

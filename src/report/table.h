// SPDX-License-Identifier: Apache-2.0
#pragma once

// Columns of text that line up: what `heap` and `diff` print.
//
//        count   retained    native  type
//       12,400   318 MiB   312 MiB   pandas.DataFrame
//
// Figures stand on the right of their column, names on the left of the last one, which is cut to
// the width of the terminal.

#include <string>
#include <utility>
#include <vector>

#include "report/text.h"

namespace lowtide::report {

class Table {
 public:
  // All columns hold figures, the last one names.
  explicit Table(std::vector<std::string> headings) : headings_(std::move(headings)) {}

  // As many cells as headings; what lacks is empty.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }
  std::string text(const Style& style) const;

 private:
  std::vector<std::string> headings_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace lowtide::report

// SPDX-License-Identifier: Apache-2.0
#pragma once

// Columns of text that line up, and the two tables the commands print.
//
//        count   retained    native  type
//       12,400   318 MiB   312 MiB   pandas.DataFrame
//
// Figures stand on the right of their column, names on the left of the last one, which is cut to
// the width of the terminal.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "heap/suspects.h"
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

// `heap`: the types of one heap, the one that retains most first, at most `most` of them (0: all).
std::string heap_table(std::span<const heap::TypeCount> types, std::size_t most,
                       const Style& style);

// What changed of one type between two heaps.
struct TypeChange {
  std::string type;
  std::int64_t before = 0, after = 0;  // counts
  Bytes shallow, native, retained;     // after minus before
};

// The types that changed, the one whose retained bytes grew most first. Types are matched by name.
std::vector<TypeChange> changes_of(std::span<const heap::TypeCount> before,
                                   std::span<const heap::TypeCount> after);

// `diff`.
std::string diff_table(std::span<const TypeChange> changes, std::size_t most, const Style& style);

}  // namespace lowtide::report

// SPDX-License-Identifier: Apache-2.0
#pragma once

// Text that can be trusted with a terminal: names come from other people's programs, so they may
// be malformed, hold escape sequences, or be twice as wide on the screen as they are long.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lowtide::report {

// How text is to look. The cli knows the terminal and NO_COLOR; nobody else asks.
struct Style {
  int width = 100;  // columns; 0: never wrap
  bool colours = false;
  bool detail = false;  // everything known, not only what is worth a glance
};

enum class Ink { Plain, Bold, Dim, Red, Green, Yellow, Blue };

// `text` between the escape sequences of `ink`, or as it is where colours are off.
std::string inked(std::string_view text, Ink ink, const Style& style);

// Valid UTF-8 without control characters: malformed bytes become U+FFFD, a tab or newline a
// space, and any other control character its name in "\x1b" form.
std::string clean(std::string_view text);

// Columns on a terminal. Wide (CJK, emoji) characters take two, combining marks none.
int columns_of(std::string_view text);

// At most `columns` wide; what is cut off is shown by "…".
std::string shortened(std::string_view text, int columns);

// `text` filled up with spaces to `columns`, on the right or on the left.
std::string padded(std::string_view text, int columns, bool left = false);

// `text` with its spaces made unbreakable (U+00A0): "1.42 GiB" stays on one line. `wrapped` gives
// them back as spaces.
std::string glued(std::string_view text);

// Broken at spaces so that no line is wider than `width` (0: one line). A word that is wider
// keeps a line to itself, whole, so that it can be copied. The first line has `taken` columns
// less than the others.
std::vector<std::string> wrapped(std::string_view text, int width, int taken = 0);

}  // namespace lowtide::report

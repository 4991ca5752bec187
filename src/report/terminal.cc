// SPDX-License-Identifier: Apache-2.0
#include "report/terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "report/axis.h"

namespace lowtide::report {
namespace {

// Dots of one cell: Unicode counts them down the left column first, the lowest row last.
constexpr std::array<std::array<std::uint8_t, 2>, 4> kDots = {
    {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}};

struct Cell {
  std::uint8_t dots = 0;
  Ink ink = Ink::Plain;
};

class Grid {
 public:
  Grid(int columns, int rows)
      : columns_(columns),
        rows_(rows),
        cells_(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows)) {}

  int dots_across() const { return columns_ * 2; }
  int dots_down() const { return rows_ * 4; }

  void dot(int x, int y, Ink ink) {
    if (x < 0 || y < 0 || x >= dots_across() || y >= dots_down()) return;
    Cell& c = cells_[static_cast<std::size_t>(y / 4 * columns_ + x / 2)];
    c.dots |= kDots[static_cast<std::size_t>(y % 4)][static_cast<std::size_t>(x % 2)];
    c.ink = ink;
  }

  void line(int x0, int y0, int x1, int y1, Ink ink, int dash = 0) {
    const int steps = std::max({std::abs(x1 - x0), std::abs(y1 - y0), 1});
    for (int i = 0; i <= steps; ++i) {
      if (dash > 0 && i / dash % 2 == 1) continue;
      dot(x0 + (x1 - x0) * i / steps, y0 + (y1 - y0) * i / steps, ink);
    }
  }

  std::string row(int r, const Style& style) const {
    std::string out;
    for (int c = 0; c < columns_; ++c) {
      const Cell& cell = cells_[static_cast<std::size_t>(r * columns_ + c)];
      if (cell.dots == 0) {
        out += ' ';
        continue;
      }
      // U+2800 + dots, in UTF-8.
      const char text[] = {static_cast<char>(0xE2), static_cast<char>(0xA0 | cell.dots >> 6),
                           static_cast<char>(0x80 | (cell.dots & 0x3F)), 0};
      out += inked(text, cell.ink, style);
    }
    return out.substr(0, out.find_last_not_of(' ') + 1);
  }

 private:
  int columns_, rows_;
  std::vector<Cell> cells_;
};

}  // namespace

std::string to_terminal(const Chart& chart, int height, const Style& style) {
  const int width = std::max(32, style.width > 0 ? style.width : 80);
  const int rows = std::max(5, height - 4);
  const std::vector<Tick> bytes = byte_ticks(chart.bytes, std::max(2, rows / 3));
  int label = 1;
  for (const Tick& t : bytes) label = std::max(label, columns_of(t.text));
  const int columns = std::max(8, width - label - 3);
  const double seconds = chart.seconds > 0 && std::isfinite(chart.seconds) ? chart.seconds : 1;
  const double top = bytes.back().at;

  Grid grid(columns, rows);
  const auto px = [&](double s) {
    return static_cast<int>(std::clamp(s / seconds, 0.0, 1.0) * (grid.dots_across() - 1));
  };
  const auto py = [&](double b) {
    return static_cast<int>((1 - std::clamp(b / top, 0.0, 1.0)) * (grid.dots_down() - 1));
  };
  const auto draw = [&](const std::vector<ChartPoint>& points, Ink ink) {
    const auto thin = thinned(points, static_cast<std::size_t>(grid.dots_across()));
    for (std::size_t i = 0; i < thin.size(); ++i) {
      const ChartPoint& from = thin[i > 0 ? i - 1 : 0];
      grid.line(px(from.seconds), py(from.bytes), px(thin[i].seconds), py(thin[i].bytes), ink);
    }
  };
  const bool limit_drawn = chart.limit > 0 && chart.limit <= top;
  if (limit_drawn) {
    grid.line(0, py(chart.limit), grid.dots_across() - 1, py(chart.limit), Ink::Red, 2);
  }
  static constexpr std::array kInks = {Ink::Green, Ink::Yellow, Ink::Dim};
  for (std::size_t i = chart.lines.size(); i-- > 1;) {
    draw(chart.lines[i].points, kInks[(i - 1) % kInks.size()]);
  }
  if (!chart.lines.empty()) draw(chart.lines.front().points, Ink::Blue);
  if (chart.floor.size() > 1) draw(chart.floor, Ink::Bold);
  if (chart.forecast) {
    const auto& [from, to] = *chart.forecast;
    grid.line(px(from.seconds), py(from.bytes), px(to.seconds), py(to.bytes), Ink::Red, 2);
  }

  std::string out = inked(shortened(chart.title, width), Ink::Bold, style) + "\n";
  for (int r = 0; r < rows; ++r) {
    std::string text;
    for (const Tick& t : bytes) {
      if (t.at > 0 && py(t.at) / 4 == r) text = t.text;
    }
    out += padded(text, label + 1, true) + (text.empty() ? " │" : " ┤") + grid.row(r, style) + "\n";
  }
  // The last tick's name may reach past the right edge: it is then left out, like any that would
  // touch the one before it.
  std::string axis, names;
  int drawn = 0, written = 0;
  for (const Tick& t : time_ticks(seconds, std::max(2, columns / 12))) {
    const int at = std::min(px(t.at) / 2, columns - 1);
    const int start = std::max(0, at - columns_of(t.text) / 2);
    for (; drawn < at; ++drawn) axis += "─";
    axis += "┬";
    ++drawn;
    if ((written > 0 && start <= written) || start + columns_of(t.text) > columns) continue;
    names += std::string(static_cast<std::size_t>(start - written), ' ') + t.text;
    written = start + columns_of(t.text);
  }
  for (; drawn < columns; ++drawn) axis += "─";
  out += padded("0", label + 1, true) + " └" + axis + "\n";
  out += std::string(static_cast<std::size_t>(label + 3), ' ') + names + "\n";

  std::string key;
  int used = 0;
  const auto say = [&](std::string_view text, Ink ink) {
    const int columns_needed = columns_of(text);
    if (used > 0 && used + 5 + columns_needed > width) {
      key += "\n";
      used = 0;
    }
    key += (used == 0 ? "" : "  ·  ") + inked(text, ink, style);
    used += columns_needed + (used == 0 ? 0 : 5);
  };
  if (!chart.lines.empty()) say(chart.lines.front().name, Ink::Blue);
  if (chart.floor.size() > 1) say("floor", Ink::Bold);
  for (std::size_t i = 1; i < chart.lines.size(); ++i) {
    say(shortened(chart.lines[i].name, 24), kInks[(i - 1) % kInks.size()]);
  }
  if (!chart.rounds.empty()) {
    say(count_text(static_cast<std::int64_t>(chart.rounds.size())) +
            (chart.rounds.size() == 1 ? " round" : " rounds"),
        Ink::Plain);
  }
  if (chart.forecast && !chart.forecast_text.empty()) say(chart.forecast_text, Ink::Red);
  if (!chart.limit_text.empty()) say(chart.limit_text, limit_drawn ? Ink::Red : Ink::Plain);
  return out + key + "\n";
}

}  // namespace lowtide::report

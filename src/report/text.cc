// SPDX-License-Identifier: Apache-2.0
#include "report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace lowtide::report {
namespace {

struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 1;
  bool valid = false;
};

// Decodes the character that begins at `at`. Overlong forms and surrogates are malformed; of a
// malformed sequence one byte is taken, so that decoding finds its feet at the next character.
Character decode(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = byte(at);
  if (first < 0x80) return {first, 1, true};
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || at + length > text.size()) return {};
  std::uint32_t code = first & (0xFFu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return {};
    code = code << 6 | (byte(at + i) & 0x3Fu);
  }
  static constexpr std::array<std::uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < kLeast[length] || code > 0x10FFFF || surrogate) return {};
  return {code, length, true};
}

struct Range {
  std::uint32_t first, last;
};

template <std::size_t N>
bool in(const std::array<Range, N>& ranges, std::uint32_t code) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const Range& r) { return code >= r.first && code <= r.last; });
}

// The blocks a terminal draws two columns wide, and those it draws over the character before.
// Whole blocks rather than the Unicode tables: a column off in a rare script is no harm here.
constexpr std::array kWide = {
    Range{0x1100, 0x115F},   Range{0x2E80, 0x303E},   Range{0x3041, 0xA4CF},  Range{0xAC00, 0xD7A3},
    Range{0xF900, 0xFAFF},   Range{0xFE30, 0xFE6F},   Range{0xFF00, 0xFF60},  Range{0xFFE0, 0xFFE6},
    Range{0x1F300, 0x1F64F}, Range{0x1F900, 0x1F9FF}, Range{0x20000, 0x3FFFD}};
constexpr std::array kCombining = {
    Range{0x0300, 0x036F}, Range{0x0483, 0x0489}, Range{0x0591, 0x05BD}, Range{0x064B, 0x065F},
    Range{0x1AB0, 0x1AFF}, Range{0x1DC0, 0x1DFF}, Range{0x200B, 0x200F}, Range{0x202A, 0x202E},
    Range{0x2060, 0x2064}, Range{0x20D0, 0x20FF}, Range{0xFE00, 0xFE0F}, Range{0xFE20, 0xFE2F}};

int columns_of(std::uint32_t code) {
  if (in(kCombining, code)) return 0;
  return in(kWide, code) ? 2 : 1;
}

// Characters that would turn a line around or hide what follows (bidirectional overrides).
bool hides_text(std::uint32_t code) {
  return (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

std::string inked(std::string_view text, Ink ink, const Style& style) {
  static constexpr std::array kCodes = {"", "1", "2", "1;31", "32", "33", "34"};
  if (!style.colours || ink == Ink::Plain || text.empty()) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", kCodes[static_cast<std::size_t>(ink)], text);
}

std::string clean(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Character c = decode(text, at);
    if (!c.valid) {
      out += "\xEF\xBF\xBD";
    } else if (c.code == '\t' || c.code == '\n' || c.code == '\r') {
      out += ' ';
    } else if (c.code < 0x20 || (c.code >= 0x7F && c.code < 0xA0)) {
      out += fmt::format("\\x{:02x}", c.code);
    } else if (hides_text(c.code)) {
      out += fmt::format("\\u{:04x}", c.code);
    } else {
      out += text.substr(at, c.bytes);
    }
    at += c.bytes;
  }
  return out;
}

int columns_of(std::string_view text) {
  int columns = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Character c = decode(text, at);
    columns += c.valid ? columns_of(c.code) : 1;
    at += c.bytes;
  }
  return columns;
}

std::string shortened(std::string_view text, int columns) {
  if (columns_of(text) <= columns) return std::string(text);
  if (columns < 1) return "";
  int used = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const Character c = decode(text, at);
    const int more = c.valid ? columns_of(c.code) : 1;
    if (used + more > columns - 1) break;
    used += more;
    at += c.bytes;
  }
  return std::string(text.substr(0, at)) + "…";
}

std::string padded(std::string_view text, int columns, bool left) {
  const int missing = std::max(0, columns - columns_of(text));
  const std::string spaces(static_cast<std::size_t>(missing), ' ');
  return left ? spaces + std::string(text) : std::string(text) + spaces;
}

std::string glued(std::string_view text) {
  std::string out;
  for (char c : text) out += c == ' ' ? std::string("\u00a0") : std::string(1, c);
  return out;
}

std::vector<std::string> wrapped(std::string_view text, int width, int taken) {
  std::vector<std::string> lines(1);
  int used = taken;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t word = std::min(text.find_first_not_of(' ', at), text.size());
    const std::size_t end = std::min(text.find(' ', word), text.size());
    if (word == end) break;
    const auto spaces = static_cast<int>(word - at);
    const int columns = columns_of(text.substr(word, end - word));
    if (width > 0 && !lines.back().empty() && used + spaces + columns > width) {
      lines.emplace_back();
      used = 0;
    }
    // The spaces of the text are kept within a line ("a  ·  b") and dropped where it is broken.
    const bool opens_later_line = lines.size() > 1 && lines.back().empty();
    const std::size_t from = opens_later_line ? word : at;
    lines.back() += text.substr(from, end - from);
    used += columns + (opens_later_line ? 0 : spaces);
    at = end;
  }
  for (std::string& line : lines) {
    for (auto found = line.find("\u00a0"); found != std::string::npos;
         found = line.find("\u00a0", found)) {
      line.replace(found, 2, " ");
    }
  }
  return lines;
}

}  // namespace lowtide::report

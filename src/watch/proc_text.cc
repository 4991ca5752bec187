// SPDX-License-Identifier: Apache-2.0
#include "watch/proc_text.h"

#include <fcntl.h>
#include <unistd.h>

#include <limits>

#include "base/file.h"

namespace lowtide::watch {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMostPids = std::int64_t{1} << 30;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// The rest of the line that opens with `name` and a ':' or blank.
std::string_view line_of(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    std::string_view line = next_line(text);
    if (line.size() > name.size() && line.substr(0, name.size()) == name &&
        (line[name.size()] == ':' || is_blank(line[name.size()]))) {
      return line.substr(name.size() + 1);
    }
  }
  return {};
}

std::uint64_t unsigned_number(std::string_view word) {
  std::uint64_t value = 0;
  for (char c : word) {
    if (!is_digit(c)) return 0;
    value = value * 10 + static_cast<std::uint64_t>(c - '0');  // Wraps for nonsense; never traps.
  }
  return value;
}

}  // namespace

std::string_view read_at_start(int fd, std::span<char> buffer) {
  ssize_t n = pread(fd, buffer.data(), buffer.size(), 0);
  return n > 0 ? std::string_view(buffer.data(), static_cast<std::size_t>(n)) : std::string_view{};
}

std::string_view read_once(int folder, const char* path, std::span<char> buffer) {
  Fd fd(openat(folder, path, O_RDONLY | O_CLOEXEC));
  if (!fd) return {};
  // A file of /proc longer than a page comes in pieces.
  std::size_t have = 0;
  while (have < buffer.size()) {
    ssize_t n = read(fd.number(), buffer.data() + have, buffer.size() - have);
    if (n <= 0) break;
    have += static_cast<std::size_t>(n);
  }
  return {buffer.data(), have};
}

std::string_view next_word(std::string_view& text) {
  std::size_t begin = 0;
  while (begin < text.size() && is_blank(text[begin])) ++begin;
  std::size_t end = begin;
  while (end < text.size() && !is_blank(text[end])) ++end;
  std::string_view word = text.substr(begin, end - begin);
  text.remove_prefix(end);
  return word;
}

std::string_view next_line(std::string_view& text) {
  std::size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

std::int64_t parse_number(std::string_view word) {
  if (word.empty()) return -1;
  std::int64_t value = 0;
  for (char c : word) {
    if (!is_digit(c)) return -1;
    std::int64_t digit = c - '0';
    if (value > (kMost - digit) / 10) return kMost;
    value = value * 10 + digit;
  }
  return value;
}

std::int64_t field_number(std::string_view text, std::string_view name) {
  std::string_view rest = line_of(text, name);
  return parse_number(next_word(rest));
}

std::int64_t field_bytes(std::string_view text, std::string_view name) {
  std::int64_t kilobytes = field_number(text, name);
  return kilobytes > kMost / 1024 ? -1 : kilobytes < 0 ? -1 : kilobytes * 1024;
}

std::int64_t keyed_number(std::string_view text, std::string_view key) {
  return field_number(text, key);
}

bool parse_stat(std::string_view text, Stat& stat) {
  // comm may hold blanks, newlines and parentheses, so it ends at the last ')'.
  std::size_t open = text.find('(');
  std::size_t close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    return false;
  }
  std::string_view before = text.substr(0, open);
  std::int64_t pid = parse_number(next_word(before));
  if (pid <= 0 || pid > kMostPids) return false;
  stat = Stat{};
  stat.pid = static_cast<std::int32_t>(pid);
  stat.comm = text.substr(open + 1, close - open - 1);
  std::string_view rest = text.substr(close + 1);
  for (int field = 3; field <= 28; ++field) {
    std::string_view word = next_word(rest);
    if (word.empty()) return field > 24;  // The stack is wanted, the start time is needed.
    switch (field) {
      case 3:
        stat.state = word[0];
        break;
      case 4:
        stat.parent = static_cast<std::int32_t>(parse_number(word));
        break;
      case 11:
        stat.children_faults = parse_number(word);
        break;
      case 14:
      case 15:
        if (std::int64_t n = parse_number(word); n > 0 && n < kMost / 4) stat.ticks += n;
        break;
      case 20:
        stat.threads = parse_number(word);
        break;
      case 22:
        stat.start = unsigned_number(word);
        break;
      case 24:
        stat.pages = parse_number(word);
        break;
      case 28:
        stat.stack = unsigned_number(word);
        break;
      default:
        break;
    }
  }
  return true;
}

bool parse_statm(std::string_view text, Statm& statm) {
  Statm read;
  std::int64_t* fields[] = {&read.size, &read.resident, &read.shared, &read.text};
  for (std::int64_t* field : fields) {
    *field = parse_number(next_word(text));
    if (*field < 0 || *field > kMost / (std::int64_t{1} << 16)) return false;
  }
  statm = read;
  return true;
}

void parse_pids(std::string_view piece, std::int64_t& carry, std::vector<std::int32_t>& pids) {
  for (char c : piece) {
    if (is_digit(c)) {
      carry = carry > kMostPids ? carry : carry * 10 + (c - '0');
      continue;
    }
    if (carry > 0 && carry < kMostPids) pids.push_back(static_cast<std::int32_t>(carry));
    carry = 0;
  }
}

std::string readable(std::string_view text, std::size_t limit) {
  constexpr std::string_view kCut = "…";
  std::string out;
  if (text.size() <= limit) {
    out = text;
  } else {
    std::size_t keep = limit > kCut.size() ? limit - kCut.size() : 0;
    while (keep > 0 && (static_cast<unsigned char>(text[keep]) & 0xc0) == 0x80) --keep;
    out.append(text.substr(0, keep)).append(kCut);
  }
  for (char& c : out) {
    auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) c = '?';
  }
  return out;
}

std::int64_t page_bytes() {
  static const std::int64_t bytes = sysconf(_SC_PAGESIZE);
  return bytes;
}

std::uint64_t ticks_per_second() {
  static const long per_second = sysconf(_SC_CLK_TCK);
  return per_second > 0 && per_second <= 1000 ? static_cast<std::uint64_t>(per_second) : 100;
}

std::int64_t ticks_to_ms(std::int64_t ticks) {
  return ticks * (1000 / static_cast<std::int64_t>(ticks_per_second()));
}

}  // namespace lowtide::watch

// SPDX-License-Identifier: Apache-2.0
#pragma once

// The kernel's text, parsed without trust: comm may hold any byte, a read may stop anywhere, and
// a field may be missing (an older kernel) or new.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lowtide::watch {

// One read from the start of an open file of /proc into `buffer`: what came, "" where the process
// is gone. Such a file is made afresh for each read at offset 0.
std::string_view read_at_start(int fd, std::span<char> buffer);

// The same for a file that is opened for it, below `folder` (AT_FDCWD and an absolute path, too).
std::string_view read_once(int folder, const char* path, std::span<char> buffer);

// Takes the next word (up to a blank) off the front of `text`; "" at the end.
std::string_view next_word(std::string_view& text);
// Takes the next line, without its end.
std::string_view next_line(std::string_view& text);

// A whole non-negative decimal number, or -1. One that does not fit is INT64_MAX.
std::int64_t parse_number(std::string_view word);

// The value of "Name:   123 kB" (in bytes) or "Name: 123" in a file of such lines, or -1.
std::int64_t field_bytes(std::string_view text, std::string_view name);
std::int64_t field_number(std::string_view text, std::string_view name);

// The value of "name 123" in a file of such lines (memory.stat, vmstat), or -1.
std::int64_t keyed_number(std::string_view text, std::string_view key);

// /proc/PID/stat. Numbers as they are there: clock ticks, pages.
struct Stat {
  std::int32_t pid = 0;
  std::string_view comm;  // into the text given
  char state = '?';
  std::int32_t parent = 0;
  std::int64_t children_faults = 0;  // cminflt: of children that were waited for
  std::int64_t ticks = 0;            // utime + stime
  std::int64_t threads = 1;
  std::uint64_t start = 0;
  std::int64_t pages = 0;   // rss
  std::uint64_t stack = 0;  // startstack; changes with each exec. 0: not ours to see
};
bool parse_stat(std::string_view text, Stat& stat);

// /proc/PID/statm in pages. All are 0 for a zombie.
struct Statm {
  std::int64_t size = 0;
  std::int64_t resident = 0;
  std::int64_t shared = 0;
  std::int64_t text = 0;
};
bool parse_statm(std::string_view text, Statm& statm);

// Appends the numbers of a list of pids read in pieces; `carry` holds a number cut by the edge.
void parse_pids(std::string_view piece, std::int64_t& carry, std::vector<std::int32_t>& pids);

// `text` as one line a person can read: control bytes become '?', it is cut at `limit` bytes on
// the edge of a UTF-8 character, and the cut is shown as "…".
std::string readable(std::string_view text, std::size_t limit);

std::int64_t page_bytes();
std::uint64_t ticks_per_second();
// Milliseconds of `ticks` of sysconf(_SC_CLK_TCK).
std::int64_t ticks_to_ms(std::int64_t ticks);

}  // namespace lowtide::watch

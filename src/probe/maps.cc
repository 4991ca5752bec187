// SPDX-License-Identifier: Apache-2.0
#include "probe/maps.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace lowtide::probe {
namespace {

// The whole text and a zero, in pages of their own; null when it cannot be had.
char* read_text(Arena& arena, size_t& length) {
  const int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (file < 0) return nullptr;
  size_t room = 1 << 18;
  auto* text = static_cast<char*>(arena.map(room));
  length = 0;
  while (text != nullptr) {
    const long count = syscall(SYS_read, file, text + length, room - 1 - length);
    if (count <= 0) break;
    length += static_cast<size_t>(count);
    if (room - length > 4096) continue;
    auto* larger = static_cast<char*>(arena.map(room * 2));
    if (larger != nullptr) memcpy(larger, text, length);
    arena.release(text, room);
    text = larger;
    room *= 2;
  }
  close(file);
  if (text != nullptr) text[length] = 0;
  return text;
}

uintptr_t read_hex(const char*& text) {
  uintptr_t value = 0;
  for (;; ++text) {
    unsigned digit;
    if (*text >= '0' && *text <= '9')
      digit = static_cast<unsigned>(*text - '0');
    else if (*text >= 'a' && *text <= 'f')
      digit = static_cast<unsigned>(*text - 'a' + 10);
    else
      return value;
    value = value << 4 | digit;
  }
}

// begin-end rwxp offset device inode   name
void read_line(char* line, Range& range) {
  const char* at = line;
  range.begin = read_hex(at);
  if (*at == '-') ++at;
  range.end = read_hex(at);
  if (*at == ' ') ++at;
  range.readable = at[0] == 'r';
  range.writable = range.readable && at[1] == 'w';
  range.executable = range.readable && at[1] != 0 && at[2] == 'x';
  for (int field = 0; field < 4; ++field) {
    while (*at != 0 && *at != ' ') ++at;
    while (*at == ' ') ++at;
  }
  range.name = at;
}

}  // namespace

void read_ranges(lowtide_copy& copy) {
  copy.ranges = nullptr;
  copy.range_count = 0;
  size_t length;
  char* text = read_text(copy.arena, length);
  if (text == nullptr) return;
  size_t lines = 0;
  for (size_t i = 0; i < length; ++i) lines += text[i] == '\n';
  auto* ranges = static_cast<Range*>(copy.arena.map((lines + 1) * sizeof(Range)));
  if (ranges == nullptr) return;
  size_t count = 0;
  for (char* line = text; count < lines; ++count) {
    char* end = strchr(line, '\n');
    if (end == nullptr) break;
    *end = 0;
    read_line(line, ranges[count]);
    line = end + 1;
  }
  copy.ranges = ranges;
  copy.range_count = count;
}

}  // namespace lowtide::probe

bool lowtide_copy::readable(uintptr_t address, size_t bytes) {
  if (range_count == 0) return true;
  const uintptr_t last = address + bytes;
  if (last < address) return false;
  if (last_range >= range_count || address < ranges[last_range].begin ||
      address >= ranges[last_range].end) {
    size_t low = 0;
    size_t high = range_count;  // The first range that ends beyond address.
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      if (ranges[middle].end <= address)
        low = middle + 1;
      else
        high = middle;
    }
    if (low == range_count || address < ranges[low].begin) return false;
    last_range = low;
  }
  size_t i = last_range;  // Neighbours may share what is asked for.
  while (ranges[i].readable && last > ranges[i].end) {
    if (i + 1 == range_count || ranges[i + 1].begin != ranges[i].end) return false;
    ++i;
  }
  return ranges[i].readable;
}

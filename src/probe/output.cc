// SPDX-License-Identifier: Apache-2.0
// Lines the target writes to descriptors 1 and 2, noted as time, shape and "is a round".
//
// Seen: write and writev through the PLT, which is Python, Node, Go with cgo, C++ streams that are
// not in step with stdio. Not seen: C's stdio, whose flush calls write inside libc, and descriptors
// that are duplicates of 1 and 2. Async-signal-safe; the text is looked at and never kept.

#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

#include "probe/copy_memory.h"
#include "probe/export.h"
#include "probe/line.h"
#include "probe/next.h"
#include "probe/slot.h"

using namespace lowtide::probe;

namespace {

// A program that pours data through its stdout must not pay for it: beyond this many bytes a
// second, lines are no longer looked at until the second is over.
constexpr uint64_t kBytesPerSecond = uint64_t{8} << 20;

struct Stream {
  Line line;
  uint64_t second_began_ns, bytes;
  bool skipping;
};

// Threads that write at once to one descriptor may garble a line here as they do on the screen.
Stream streams[2];

void note(bool matched, uint32_t shape) {
  auto* slot = own_slot();
  if (slot == nullptr) return;
  const uint64_t position = __atomic_fetch_add(&table->lines_written, 1, __ATOMIC_RELAXED);
  auto& entry = table->lines[position % LOWTIDE_LINES];
  __atomic_store_n(&entry.ns, 0, __ATOMIC_RELEASE);
  entry.pid = slot->pid;
  entry.shape = shape;
  entry.matched = matched ? 1 : 0;
  entry.sequence = static_cast<uint32_t>(position);
  __atomic_store_n(&entry.ns, now_ns(), __ATOMIC_RELEASE);
  if (matched) __atomic_fetch_add(&slot->rounds, 1, __ATOMIC_RELAXED);
}

void look_at(Stream& stream, const char* text, size_t count) {
  stream.bytes += count;
  if (stream.bytes > kBytesPerSecond) {
    const uint64_t now = now_ns();
    if (now - stream.second_began_ns < 1000000000u) {
      stream.skipping = true;
      return;
    }
    stream.second_began_ns = now;
    stream.bytes = count < kBytesPerSecond ? count : 0;
  }
  size_t i = 0;
  if (stream.skipping) {  // Go on with a whole line.
    while (i < count && text[i] != '\n') ++i;
    if (i == count) return;
    stream.skipping = false;
    stream.line = Line();
  }
  for (; i < count; ++i) {
    if (text[i] != '\n' && text[i] != '\r') {
      stream.line.add(table->pattern, static_cast<unsigned char>(text[i]));
      continue;
    }
    if (!stream.line.empty()) note(stream.line.matched(), stream.line.shape());
    stream.line = Line();
  }
}

bool watched(int file) {
  return (file == 1 || file == 2) && table != nullptr && !in_copy &&
         __atomic_load_n(&own->slot, __ATOMIC_RELAXED) != &nobody;
}

}  // namespace

LOWTIDE_EXPORT ssize_t write(int file, const void* buffer, size_t count) {
  const ssize_t written = next().write(file, buffer, count);
  if (written > 0 && watched(file)) {
    const int saved_errno = errno;
    look_at(streams[file - 1], static_cast<const char*>(buffer), static_cast<size_t>(written));
    errno = saved_errno;
  }
  return written;
}

LOWTIDE_EXPORT ssize_t writev(int file, const iovec* pieces, int count) {
  const ssize_t written = next().writev(file, pieces, count);
  if (written > 0 && watched(file)) {
    const int saved_errno = errno;
    auto rest = static_cast<size_t>(written);
    for (int i = 0; i < count && rest > 0; ++i) {
      const size_t part = pieces[i].iov_len < rest ? pieces[i].iov_len : rest;
      look_at(streams[file - 1], static_cast<const char*>(pieces[i].iov_base), part);
      rest -= part;
    }
    errno = saved_errno;
  }
  return written;
}

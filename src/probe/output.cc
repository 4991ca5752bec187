// SPDX-License-Identifier: Apache-2.0
// Lines the target writes to descriptors 1 and 2 through the PLT: Python, Node, shells' redirects,
// C++ streams that are not in step with stdio. Duplicates of 1 and 2 are not followed. Results and
// errno are the real call's, and only bytes that were really written count.

#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

#include "probe/export.h"
#include "probe/next.h"
#include "probe/stream.h"

using namespace lowtide::probe;

namespace {

// Threads that write at once to one descriptor may garble a line here as they do on the screen.
Stream streams[2];

bool watched(int file) { return (file == 1 || file == 2) && lines_wanted(); }

}  // namespace

LOWTIDE_EXPORT ssize_t write(int file, const void* buffer, size_t count) {
  const ssize_t written = next().write(file, buffer, count);
  if (written > 0 && watched(file)) {
    const int saved_errno = errno;
    streams[file - 1].see(static_cast<const char*>(buffer), static_cast<size_t>(written));
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
      streams[file - 1].see(static_cast<const char*>(pieces[i].iov_base), part);
      rest -= part;
    }
    errno = saved_errno;
  }
  return written;
}

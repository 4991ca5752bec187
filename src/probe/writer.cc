// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe/copy.h"

namespace lowtide::probe {

// The socket has a send timeout (request.cc): a reader that stalls is treated as gone.
void Writer::flush() {
  size_t sent = 0;
  while (sent < used_ && socket_ >= 0) {
    const ssize_t count = send(socket_, buffer_ + sent, used_ - sent, MSG_NOSIGNAL);
    if (count > 0) {
      sent += static_cast<size_t>(count);
    } else if (count == 0 || errno != EINTR) {
      if (!in_target_) syscall(SYS_exit_group, 1);
      socket_ = -1;
    }
  }
  used_ = 0;
}

void Writer::bytes(const void* data, size_t count) {
  const auto* from = static_cast<const char*>(data);
  while (count > 0) {
    if (used_ == sizeof buffer_) flush();
    size_t part = sizeof buffer_ - used_;
    if (part > count) part = count;
    memcpy(buffer_ + used_, from, part);
    used_ += part;
    from += part;
    count -= part;
  }
}

void Writer::text(const char* data, size_t count) {
  varint(count);
  bytes(data, count);
}

void Writer::sentence(uint8_t record, const char* sentence) {
  byte(record);
  text(sentence, strlen(sentence));
}

}  // namespace lowtide::probe

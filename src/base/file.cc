// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace lowtide {

void Fd::reset(int fd) {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

std::string errno_text(int error) { return std::generic_category().message(error); }

Error io_error(std::string_view doing, std::string_view path, int error) {
  const Code code = error == ENOENT || error == ESRCH   ? Code::NotFound
                    : error == EACCES || error == EPERM ? Code::Permission
                                                        : Code::Io;
  return Error{code, fmt::format("cannot {} {}: {}", doing, path, errno_text(error))};
}

Result<std::string> read_file(const std::string& path, std::size_t limit) {
  Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return io_error("open", path, errno);
  std::string text;
  char block[16384];
  while (text.size() < limit) {
    const ssize_t got = ::read(file.number(), block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return io_error("read", path, errno);
    if (got == 0) break;
    text.append(block, static_cast<std::size_t>(got));
  }
  if (text.size() > limit) text.resize(limit);
  return text;
}

Status write_file(const std::string& path, std::string_view text) {
  Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file) return io_error("create", path, errno);
  while (!text.empty()) {
    const ssize_t put = ::write(file.number(), text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return io_error("write", path, errno);
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return Done{};
}

}  // namespace lowtide

// SPDX-License-Identifier: Apache-2.0
#pragma once

// Descriptors that close themselves, and whole-file reads whose errors are sentences.

#include <string>
#include <string_view>
#include <utility>

#include "lowtide/result.h"

namespace lowtide {

// Owns one file descriptor. -1 is "none".
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) reset(std::exchange(other.fd_, -1));
    return *this;
  }
  ~Fd() { reset(); }

  int number() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset(int fd = -1);

 private:
  int fd_ = -1;
};

// "No such file or directory" for 2. Thread-safe, unlike strerror.
std::string errno_text(int error);

// An Error for a failed system call: "cannot read /proc/4242/smaps: Permission denied".
Error io_error(std::string_view doing, std::string_view path, int error);

// The whole file, at most `limit` bytes of it. /proc files, whose size is 0, included.
Result<std::string> read_file(const std::string& path, std::size_t limit = std::size_t{64} << 20);

// Writes all of `text` to a new or emptied file of mode 0600.
Status write_file(const std::string& path, std::string_view text);

}  // namespace lowtide

// SPDX-License-Identifier: Apache-2.0
#include "cli/console.h"

#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

namespace lowtide::cli {
namespace {

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(fd, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return;
    text.remove_prefix(static_cast<std::size_t>(put));
  }
}

double seconds_now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

}  // namespace

void print(std::string_view text) { write_all(STDOUT_FILENO, text); }
void say(std::string_view line) { tell("lowtide: " + std::string(line) + "\n"); }
void tell(std::string_view text) { write_all(STDERR_FILENO, text); }

int fail(std::string_view sentence) {
  say(sentence);
  return kFailed;
}

Progress::Progress(bool wanted)
    : wanted_(wanted && ::isatty(STDERR_FILENO) != 0), began_(seconds_now()) {}

Progress::~Progress() {
  if (shown_) tell("\r\x1b[K");
}

void Progress::show(std::string_view line) {
  if (!wanted_ || seconds_now() - began_ < 0.5) return;
  shown_ = true;
  tell("\r\x1b[Klowtide: " + report::shortened(line, style_of(STDERR_FILENO).width - 10));
}

report::Style style_of(int fd) {
  report::Style style;
  if (!::isatty(fd)) return style;
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20) style.width = size.ws_col;
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  style.colours = !(no_color && *no_color) && !(term && std::string_view(term) == "dumb");
  return style;
}

}  // namespace lowtide::cli

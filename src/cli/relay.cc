// SPDX-License-Identifier: Apache-2.0
#include "cli/relay.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>

namespace lowtide::cli {
namespace {

std::uint64_t monotonic_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(time.tv_nsec);
}

void copy_window_size(int from, int to) {
  winsize size{};
  if (::ioctl(from, TIOCGWINSZ, &size) == 0) ::ioctl(to, TIOCSWINSZ, &size);
}

struct Ends {
  Fd reading;
  Fd writing;
};

Result<Ends> terminal_ends(int descriptor) {
  Fd master(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  std::array<char, 64> name{};
  if (!master || ::grantpt(master.number()) != 0 || ::unlockpt(master.number()) != 0 ||
      ::ptsname_r(master.number(), name.data(), name.size()) != 0) {
    return io_error("make", "a terminal", errno);
  }
  Fd slave(::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!slave) return io_error("open", name.data(), errno);
  // Bytes pass through as they are: the real terminal does to them what it does.
  termios modes{};
  ::tcgetattr(slave.number(), &modes);
  ::cfmakeraw(&modes);
  ::tcsetattr(slave.number(), TCSANOW, &modes);
  copy_window_size(descriptor, slave.number());
  return Ends{std::move(master), std::move(slave)};
}

Result<Ends> ends_for(int descriptor) {
  if (::isatty(descriptor)) return terminal_ends(descriptor);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return io_error("make", "a pipe", errno);
  return Ends{Fd(ends[0]), Fd(ends[1])};
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

int resized_from = -1;
int resized_to = -1;
extern "C" void on_resize(int) { copy_window_size(resized_from, resized_to); }

// Until the command's last copy of its end is closed, or nobody reads what it writes.
[[noreturn]] void relay(int descriptor, int reading, const LinePattern& pattern,
                        lowtide_table& table) {
  // Outlives Ctrl-C: what the command still says to it has to come through.
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGPIPE}) {
    ::signal(signal, SIG_IGN);
  }
  ::prctl(PR_SET_NAME, "lowtide-relay");
  resized_from = descriptor;
  resized_to = reading;
  struct sigaction action {};
  action.sa_handler = on_resize;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGWINCH, &action, nullptr);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);

  LineFinder finder(pattern, table);
  std::array<char, 65536> block{};
  while (true) {
    const ssize_t got = ::read(reading, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) ::_exit(0);  // a pty whose other side has gone says EIO
    const std::string_view bytes(block.data(), static_cast<std::size_t>(got));
    if (!write_all(descriptor, bytes)) ::_exit(0);
    finder.take(bytes, monotonic_ns());
  }
}

}  // namespace

void LineFinder::take(std::string_view bytes, std::uint64_t now_ns) {
  const auto& states = pattern_.states();
  for (const char c : bytes) {
    const bool ends = c == '\n' || c == '\r';
    state_ = states[state_][static_cast<unsigned char>(ends ? '\n' : c)];
    if (!ends) {
      empty_ = false;
      continue;
    }
    if (!empty_ && state_ == LinePattern::kAccepted) {
      const std::uint64_t at = std::atomic_ref(table_.lines_written).fetch_add(1);
      lowtide_line& entry = table_.lines[at % LOWTIDE_LINES];
      std::atomic_ref(entry.ns).store(0, std::memory_order_release);
      entry.pid = ::getpid();
      entry.shape = 0;
      entry.matched = 1;
      entry.sequence = static_cast<std::uint32_t>(at);
      std::atomic_ref(entry.ns).store(now_ns, std::memory_order_release);
    }
    state_ = LinePattern::kStart;
    empty_ = true;
  }
}

Result<Relay> Relay::start(int descriptor, const LinePattern& pattern, lowtide_table& table) {
  auto ends = ends_for(descriptor);
  if (!ends) return ends.error();
  const pid_t pid = ::fork();
  if (pid < 0) return io_error("start", "a relay of output", errno);
  if (pid == 0) {
    ends->writing.reset();
    relay(descriptor, ends->reading.number(), pattern, table);
  }
  return Relay(pid, std::move(ends->writing));
}

}  // namespace lowtide::cli

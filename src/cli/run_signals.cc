// SPDX-License-Identifier: Apache-2.0
#include "cli/run_signals.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <utility>

namespace lowtide::cli {
namespace {

constexpr int kEnds[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};

// What the handler needs. Written before the handler can run.
int last_status;
std::string last_words;

void leave(int) {
  // Nobody may be reading any more: then there is nobody to tell.
  pollfd listener{STDERR_FILENO, POLLOUT, 0};
  if (::poll(&listener, 1, 0) > 0 && (listener.revents & POLLOUT) != 0) {
    [[maybe_unused]] const ssize_t told =
        ::write(STDERR_FILENO, last_words.data(), last_words.size());
  }
  ::_exit(last_status);
}

// All but those nobody can block and those that tell of a fault of our own. The C library keeps
// the ones between 31 and SIGRTMIN to itself.
sigset_t all_that_may_come() {
  sigset_t set;
  sigemptyset(&set);
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    switch (signal) {
      case SIGKILL:
      case SIGSTOP:
      case SIGSEGV:
      case SIGBUS:
      case SIGFPE:
      case SIGILL:
      case SIGTRAP:
      case SIGSYS:
        continue;
      default:
        if (signal < 32 || signal >= SIGRTMIN) sigaddset(&set, signal);
    }
  }
  return set;
}

}  // namespace

RunSignals::RunSignals() {
  const sigset_t all = all_that_may_come();
  ::sigprocmask(SIG_BLOCK, &all, &before_);
  struct sigaction was {};
  ::sigaction(SIGCHLD, nullptr, &was);
  child_ignored_ = (was.sa_flags & SA_SIGINFO) == 0 && was.sa_handler == SIG_IGN;
  if (child_ignored_) ::signal(SIGCHLD, SIG_DFL);
  fd_.reset(::signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK));
}

void RunSignals::die_of_what_came_early() const {
  sigset_t pending;
  sigemptyset(&pending);
  ::sigpending(&pending);
  for (const int signal : kEnds) {
    if (sigismember(&pending, signal)) ::sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
}

void RunSignals::let_interrupt(int status, std::string words) {
  last_status = status;
  last_words = std::move(words);
  // What has come until now was meant for the command.
  signalfd_siginfo info;
  while (::read(fd_.number(), &info, sizeof info) == sizeof info) {
  }
  sigset_t open;
  sigemptyset(&open);
  for (const int signal : kEnds) {
    struct sigaction was {};
    ::sigaction(signal, nullptr, &was);
    if (was.sa_handler == SIG_IGN) continue;  // nohup, or a job in the background
    struct sigaction action {};
    action.sa_handler = leave;
    ::sigaction(signal, &action, nullptr);
    sigaddset(&open, signal);
  }
  ::sigprocmask(SIG_UNBLOCK, &open, nullptr);
}

}  // namespace lowtide::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/tool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.h"

namespace lowtide::cli {

Status run_tool(const std::vector<std::string>& command, std::string_view input,
                std::string_view package) {
  // Memory files for both ends: no pipe that could fill up while nobody reads.
  Fd in(::memfd_create("input", MFD_CLOEXEC));
  Fd said(::memfd_create("said", MFD_CLOEXEC));
  while (!input.empty()) {
    const ssize_t put = ::write(in.number(), input.data(), input.size());
    if (put <= 0) return io_error("write input for", command[0], errno);
    input.remove_prefix(static_cast<std::size_t>(put));
  }
  ::lseek(in.number(), 0, SEEK_SET);
  const pid_t pid = ::fork();
  if (pid < 0) return io_error("start", command[0], errno);
  if (pid == 0) {
    ::dup2(in.number(), STDIN_FILENO);
    ::dup2(said.number(), STDOUT_FILENO);
    ::dup2(said.number(), STDERR_FILENO);
    std::vector<char*> words;
    for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    ::execvp(words[0], words.data());
    ::_exit(errno == ENOENT ? 127 : 126);
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return Done{};
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
    return Error{Code::NotFound,
                 fmt::format("{} is not installed; install it with: apt-get install {}", command[0],
                             package)};
  }
  std::string text(512, '\0');
  const ssize_t got = ::pread(said.number(), text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return Error{Code::Io, fmt::format("{} failed: {}", command[0],
                                     text.empty() ? "it does not say why" : text)};
}

}  // namespace lowtide::cli

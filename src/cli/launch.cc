// SPDX-License-Identifier: Apache-2.0
#include "cli/launch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/file.h"

namespace lowtide::cli {
namespace {

// 0, or why this file cannot be run.
int runnable(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return errno;
  if (S_ISDIR(facts.st_mode)) return EISDIR;
  if (::access(path.c_str(), X_OK) != 0) return errno;
  return 0;
}

Error cannot_run(const std::string& name, int error) {
  if (error == EISDIR) {
    return Error{Code::Permission, fmt::format("cannot run {}: it is a directory", name)};
  }
  if (error == ENOENT) {
    return Error{Code::NotFound, name.find('/') == std::string::npos
                                     ? fmt::format("cannot run {}: no such command in PATH", name)
                                     : fmt::format("cannot run {}: no such file", name)};
  }
  if (error == EACCES) {
    return Error{Code::Permission,
                 fmt::format("cannot run {}: permission denied; is it executable?", name)};
  }
  Error failed = io_error("run", name, error);
  failed.code = Code::Permission;  // it is there, and still cannot be run
  return failed;
}

}  // namespace

Result<std::string> find_program(const std::string& name) {
  if (name.empty()) return Error{Code::NotFound, "cannot run a command without a name"};
  if (name.find('/') != std::string::npos) {
    if (const int error = runnable(name)) return cannot_run(name, error);
    return name;
  }
  const char* path = std::getenv("PATH");
  std::string_view rest = path ? path : "/usr/local/bin:/usr/bin:/bin";
  int worst = ENOENT;
  while (true) {
    const auto colon = rest.find(':');
    const std::string folder(rest.substr(0, colon));
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    const int error = runnable(candidate);
    if (error == 0) return candidate;
    if (error == EACCES) worst = error;  // execvp goes on looking, and so do we
    if (colon == std::string_view::npos) break;
    rest.remove_prefix(colon + 1);
  }
  return cannot_run(name, worst);
}

Launched launch(const Launch& what, const std::string& program) {
  Launched launched;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    launched.failure = {io_error("make a pipe for", program, errno).message, 126};
    return launched;
  }
  Fd reading(ends[0]);
  Fd writing(ends[1]);
  const pid_t pid = ::fork();
  if (pid < 0) {
    launched.failure = {io_error("start", program, errno).message, 126};
    return launched;
  }
  if (pid == 0) {
    for (const std::string& entry : what.environment) {
      const auto equals = entry.find('=');
      ::setenv(entry.substr(0, equals).c_str(), entry.c_str() + equals + 1, 1);
    }
    std::vector<char*> arguments;
    for (const std::string& word : what.command)
      arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    ::sigprocmask(SIG_SETMASK, &what.signal_mask, nullptr);
    ::execv(program.c_str(), arguments.data());
    int error = errno;
    if (error == ENOEXEC) {
      // A script without "#!": what execvp and every shell do.
      std::vector<char*> shell{const_cast<char*>("/bin/sh"), const_cast<char*>(program.c_str())};
      shell.insert(shell.end(), arguments.begin() + 1, arguments.end());
      ::execv("/bin/sh", shell.data());
      error = errno;
    }
    [[maybe_unused]] const ssize_t told = ::write(writing.number(), &error, sizeof error);
    ::_exit(126);
  }
  writing.reset();
  int error = 0;
  ssize_t got;
  do got = ::read(reading.number(), &error, sizeof error);
  while (got < 0 && errno == EINTR);
  if (got == sizeof error) {
    ::waitpid(pid, nullptr, 0);
    const Error failed = cannot_run(what.command[0], error);
    launched.failure = {failed.message, failed.code == Code::NotFound ? 127 : 126};
    return launched;
  }
  launched.pid = pid;
  return launched;
}

}  // namespace lowtide::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/launch.h"

#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/file.h"
#include "watch/proc_text.h"

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

// The start of a file, "" where it cannot be read.
std::string head_of(const std::string& path) {
  Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 4096> head{};
  const ssize_t got = ::pread(file.number(), head.data(), head.size(), 0);
  return std::string(head.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
}

// The interpreter that the first line of a script names, or the loader an ELF program asks for:
// what is missing where exec finds no file although the file is there. "" where it has none.
std::string interpreter_of(const std::string& path) {
  const std::string head = head_of(path);
  const std::string_view text = head;
  if (text.starts_with("#!")) {
    std::string_view line = text.substr(2, text.find('\n') - 2);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    return watch::readable(line.substr(0, line.find_first_of(" \t")), 200);
  }
  if (!text.starts_with(ELFMAG)) return "";
  // The name lies in the first page or so of every program there is; it is only said, never used.
  const auto at = text.find("/ld-");
  if (at == std::string_view::npos) return "its loader";
  auto begin = text.find_last_of('\0', at);
  begin = begin == std::string_view::npos ? 0 : begin + 1;
  return watch::readable(text.substr(begin, text.find('\0', begin) - begin), 200);
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
    if (what.child_signal_ignored) ::signal(SIGCHLD, SIG_IGN);
    if (what.output >= 0) ::dup2(what.output, STDOUT_FILENO);
    if (what.error >= 0) ::dup2(what.error, STDERR_FILENO);
    ::sigprocmask(SIG_SETMASK, &what.signal_mask, nullptr);
    ::execv(program.c_str(), arguments.data());
    int error = errno;
    if (error == ENOEXEC && !head_of(program).starts_with(ELFMAG)) {
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
    Error failed = cannot_run(what.command[0], error);
    if (const std::string missing = error == ENOENT ? interpreter_of(program) : "";
        !missing.empty()) {
      failed.message = fmt::format("cannot run {}: {}, which it needs to run, is not there",
                                   what.command[0], missing);
    } else if (error == ENOEXEC) {
      failed.message =
          fmt::format("cannot run {}: it is neither a program nor a script", what.command[0]);
    }
    launched.failure = {failed.message, failed.code == Code::NotFound ? 127 : 126};
    return launched;
  }
  launched.pid = pid;
  return launched;
}

void fill_standard_descriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free number is this one: those below it are open by now.
    const int filler = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    if (filler >= 0 && filler != fd) ::close(filler);
  }
}

void release_inherited_descriptors() {
  if (const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC)); null) {
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO}) ::dup3(null.number(), fd, O_CLOEXEC);
  }
  // All that is ours is closed by exec, so whatever is not was handed down to us.
  std::vector<int> inherited;
  if (DIR* directory = ::opendir("/proc/self/fd")) {
    while (const dirent* entry = ::readdir(directory)) {
      const int fd = std::atoi(entry->d_name);
      if (fd <= STDERR_FILENO || fd == ::dirfd(directory)) continue;
      if (const int flags = ::fcntl(fd, F_GETFD); flags >= 0 && (flags & FD_CLOEXEC) == 0) {
        inherited.push_back(fd);
      }
    }
    ::closedir(directory);
  }
  for (const int fd : inherited) ::close(fd);
}

}  // namespace lowtide::cli

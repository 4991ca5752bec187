// SPDX-License-Identifier: Apache-2.0
#include "cli/run_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "cli/console.h"

namespace lowtide::cli {
namespace {

// "python3" of "/usr/bin/python3", with nothing a file name should not have.
std::string file_word(const std::string& program) {
  std::string word;
  for (char c : program.substr(program.rfind('/') + 1)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '_' || c == '+';
    word += plain ? c : '_';
  }
  return word.substr(0, 40);
}

// The process that has this recording open, or 0. SQLite holds a record lock as long as it writes
// one in WAL mode, in bytes that lie beyond any data.
pid_t writer_of(int fd) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = 0x40000000;
  lock.l_len = 512;
  if (::fcntl(fd, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return 0;
  return lock.l_pid;
}

void remove_recording(const std::string& path) {
  for (const char* end : {"", "-journal", "-wal", "-shm"}) ::unlink((path + end).c_str());
}

// Takes an older recording out of the way, and nothing else.
Status clear(const std::string& path) {
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0) {
    return errno == ENOENT ? Status(Done{}) : Status(io_error("write", path, errno));
  }
  const auto refused = [&](std::string_view why) {
    return Error{Code::Invalid, fmt::format("cannot write the recording to {}: {}", path, why)};
  };
  if (S_ISDIR(facts.st_mode)) return refused("it is a directory");
  if (!S_ISREG(facts.st_mode)) return refused("it is not a regular file");
  Fd old(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!old) return refused(errno_text(errno));
  std::array<char, 16> head{};
  const ssize_t got = ::pread(old.number(), head.data(), head.size(), 0);
  constexpr std::string_view kSqlite("SQLite format 3\0", 16);
  if (facts.st_size > 0 &&
      (got != static_cast<ssize_t>(head.size()) || std::string_view(head.data(), 16) != kSqlite)) {
    return refused("that file exists and is no recording; name another, or remove it");
  }
  if (const pid_t writer = writer_of(old.number())) {
    return refused(fmt::format("process {} is writing one there", writer));
  }
  remove_recording(path);
  return Done{};
}

}  // namespace

Result<std::unique_ptr<recording::Writer>> place_recording(const RunOptions& options,
                                                           const recording::Run& run,
                                                           const std::string& stamp) {
  if (!options.out.empty()) {
    if (const Status cleared = clear(options.out); !cleared) return cleared.error();
    return recording::Writer::create(options.out, run);
  }
  const std::string name = fmt::format("lowtide-{}-{}", file_word(options.command[0]), stamp);
  const char* temporary = std::getenv("TMPDIR");
  const std::string elsewhere = temporary && temporary[0] == '/' ? temporary : "/tmp";
  std::string why_not_here;
  Error last{Code::Io, ""};
  for (const std::string& folder : {std::string(), elsewhere + "/"}) {
    for (int again = 1; again < 1000; ++again) {
      std::string path = folder + name;
      if (again > 1) path += fmt::format("-{}", again);
      path += ".tide";
      auto writer = recording::Writer::create(path, run);
      if (writer) {
        if (!folder.empty()) {
          say(fmt::format("{}, so the recording goes to {}", why_not_here, path));
        }
        return writer;
      }
      last = writer.error();
      // Two runs in one second, or at the same time: the next number is free.
      struct stat facts {};
      if (last.code != Code::Invalid || ::lstat(path.c_str(), &facts) != 0) break;
    }
    if (folder.empty()) why_not_here = last.message;
  }
  return Error{Code::Io,
               fmt::format("{}; {}; name another place with --out", why_not_here, last.message)};
}

void discard(std::unique_ptr<recording::Writer> writer) {
  const std::string path = writer->path();
  writer.reset();
  remove_recording(path);
}

Result<JsonFile> JsonFile::open(const std::string& path) {
  JsonFile json;
  json.path_ = path;
  if (path.empty()) return json;
  json.file_.reset(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0666));
  json.made_here_ = static_cast<bool>(json.file_);
  if (!json.file_) json.file_.reset(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  if (!json.file_) return io_error("write", path, errno);
  return json;
}

Status JsonFile::write(std::string_view text) {
  if (!file_) return Done{};
  made_here_ = false;
  struct stat facts {};
  // What was there goes only now that there is something better.
  if (::fstat(file_.number(), &facts) == 0 && S_ISREG(facts.st_mode) &&
      ::ftruncate(file_.number(), 0) != 0) {
    return io_error("write", path_, errno);
  }
  while (!text.empty()) {
    const ssize_t put = ::write(file_.number(), text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return io_error("write", path_, errno);
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return Done{};
}

void JsonFile::forget() {
  if (made_here_) ::unlink(path_.c_str());
  made_here_ = false;
  file_.reset();
}

}  // namespace lowtide::cli

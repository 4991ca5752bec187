// SPDX-License-Identifier: Apache-2.0
#include "recording/opening.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>

#include "base/file.h"
#include "base/units.h"
#include "recording/recording.h"
#include "recording/schema.h"

namespace lowtide::recording {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic{"SQLite format 3\0", 16};
constexpr std::size_t kHeaderBytes = 100;

// Reading does not trust the file: no function of it runs, and a page that lies about its cells
// is an error and not a wild read.
constexpr const char* kReading =
    "pragma trusted_schema = off; pragma cell_size_check = on; pragma mmap_size = 0;"
    "pragma busy_timeout = 2000; pragma cache_size = -2048; pragma temp_store = memory;";

std::int64_t size_of(const std::string& path) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 ? found.st_size : -1;
}

// Tries the file's first pages. SQLITE_OK or what stands in the way.
int probe(const Database& database) {
  database.execute(kReading);
  sqlite3_limit(database.handle(), SQLITE_LIMIT_LENGTH, 1 << 28);
  return database.execute("select count(*) from sqlite_schema");
}

void keep_wal(const Database& database, bool keep) {
  sqlite3_db_config(database.handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keep ? 1 : 0, nullptr);
}

// What the file itself says and is, read through SQLite's own descriptor: closing another one
// would drop the locks of a recorder in this process.
struct Shape {
  std::int64_t size = 0;
  std::int64_t page = 0;
  std::int64_t pages = 0;
  bool cut_off() const { return page * pages > size || (page > 0 && size % page != 0); }
};

Shape shape_in(std::string_view header, std::int64_t size) {
  const auto byte = [&](std::size_t i) {
    return std::int64_t{static_cast<unsigned char>(header[i])};
  };
  Shape shape;
  shape.size = size;
  shape.page = byte(16) << 8 | byte(17);
  if (shape.page == 1) shape.page = 65536;
  for (std::size_t i = 28; i < 32; ++i) shape.pages = shape.pages << 8 | byte(i);
  return shape;
}

Shape shape_of(const Database& database) {
  sqlite3_file* file = nullptr;
  sqlite3_file_control(database.handle(), "main", SQLITE_FCNTL_FILE_POINTER, &file);
  char header[kHeaderBytes];
  sqlite3_int64 size = 0;
  if (file == nullptr || file->pMethods == nullptr ||
      file->pMethods->xFileSize(file, &size) != SQLITE_OK ||
      file->pMethods->xRead(file, header, sizeof header, 0) != SQLITE_OK) {
    return {};
  }
  return shape_in({header, sizeof header}, size);
}

// A recorder killed while it moved its WAL into the file leaves one that is shorter than it says,
// and yet nothing is lost. Only a walk through the pages tells that from a file cut off.
bool sound(const Database& database, bool journals) {
  if (!shape_of(database).cut_off()) return true;
  return journals && database.ask("pragma quick_check(1)") == "ok";
}

// A connection that has read the schema, or the code of what kept it from that.
struct Attempt {
  Database database;
  int code = SQLITE_ERROR;
};

Attempt attempt(const std::string& path, int flags, std::string_view options = "",
                bool damaged = false) {
  Attempt result;
  auto opened = Database::open(path, flags, options);
  if (!opened) return result;
  result.database = std::move(*opened);
  // Closing must not move a WAL into a file that has not proved to be sound.
  keep_wal(result.database, true);
  // SQLite refuses a file that is shorter than its header says unless this is on.
  if (damaged) result.database.execute("pragma writable_schema = on");
  result.code = probe(result.database);
  return result;
}

bool is_damage(int code) {
  const int kind = code & 0xff;
  return kind == SQLITE_CORRUPT || kind == SQLITE_NOTADB || code == SQLITE_IOERR_SHORT_READ;
}

Result<std::unique_ptr<ScratchFolder>> copy_with_journals(const std::string& path) {
  auto scratch = ScratchFolder::make();
  if (!scratch) return scratch;
  for (const char* end : {"", "-wal", "-journal"}) {
    if (size_of(path + end) < 0) continue;
    std::error_code error;
    const std::string copy = (*scratch)->path() + "/copy.tide" + end;
    fs::copy_file(path + end, copy, error);
    if (!error) fs::permissions(copy, fs::perms::owner_read | fs::perms::owner_write, error);
    if (error) {
      return Error{Code::Io, fmt::format("cannot copy {} to {} to recover it: {}", path,
                                         (*scratch)->path(), error.message())};
    }
  }
  return scratch;
}

Result<Opened> open_damaged(const std::string& path, bool journals) {
  // Safe to read directly only now: SQLite cannot use the file, so no recorder of this process
  // can hold locks on it, which closing a descriptor would drop.
  const auto head = read_file(path, kHeaderBytes);
  if (!head) return head.error();
  const std::int64_t size = size_of(path);
  if (std::string_view(*head).substr(0, kMagic.size()) !=
      kMagic.substr(0, std::min(head->size(), kMagic.size()))) {
    return Error{Code::Invalid, fmt::format("{} is not a recording of lowtide", path)};
  }
  const Error nothing{Code::Corrupt,
                      fmt::format("{} is damaged or cut off after {}, too early for anything to be "
                                  "read from it",
                                  path, to_text(Bytes{size}))};
  if (head->size() < kHeaderBytes) return nothing;
  const Shape shape = shape_in(*head, size);

  Opened opened;
  opened.damaged = true;
  Attempt found;
  if (journals) {
    auto scratch = copy_with_journals(path);
    if (scratch) {
      opened.scratch = std::move(*scratch);
      found = attempt(opened.scratch->path() + "/copy.tide", SQLITE_OPEN_READWRITE, "", true);
    }
  }
  if (found.code != SQLITE_OK) {
    found = attempt(path, SQLITE_OPEN_READONLY, "immutable=1", true);
    if (journals) opened.missing.push_back("What the recorder had not yet moved into the file.");
  }
  if (found.code != SQLITE_OK) return nothing;
  opened.database = std::move(found.database);
  if (shape.cut_off()) {
    opened.missing.push_back(fmt::format("The file is cut off: {} of {} are there.",
                                         to_text(Bytes{size}),
                                         to_text(Bytes{shape.pages * shape.page})));
  } else {
    opened.missing.emplace_back("The file is damaged; what its pages still say was read.");
  }
  return opened;
}

// Is it ours, and of a version we know?
std::optional<Error> stranger(const Database& database, const std::string& path) {
  const std::string id = database.ask("pragma application_id");
  const std::string version = database.ask("pragma user_version");
  if (id != std::to_string(kApplicationId)) {
    return Error{Code::Invalid,
                 fmt::format("{} is an SQLite database but not a recording of lowtide", path)};
  }
  if (std::atoll(version.c_str()) > kSchemaVersion) {
    const std::string writer = database.ask("select lowtide_version from run");
    return Error{
        Code::Unsupported,
        fmt::format("{} is a recording of format {}{}{}, and this lowtide reads formats up "
                    "to {}; read it with a newer lowtide",
                    path, version, writer.empty() ? "" : ", written by lowtide ", writer,
                    kSchemaVersion)};
  }
  return std::nullopt;
}

}  // namespace

Result<std::unique_ptr<ScratchFolder>> ScratchFolder::make() {
  const char* base = std::getenv("TMPDIR");
  std::string path = fmt::format("{}/lowtide-XXXXXX", base != nullptr && *base ? base : "/tmp");
  if (::mkdtemp(path.data()) == nullptr) return io_error("make a folder like", path, errno);
  return std::make_unique<ScratchFolder>(path);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

Result<Opened> open_recording(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return io_error("open", path, errno);
  if (S_ISDIR(found.st_mode)) {
    return Error{Code::Invalid, fmt::format("{} is a folder, not a recording", path)};
  }
  if (!S_ISREG(found.st_mode)) {
    return Error{Code::Invalid, fmt::format("{} is not a file, so not a recording", path)};
  }
  if (::access(path.c_str(), R_OK) != 0) return io_error("open", path, errno);
  const bool journals = size_of(path + "-wal") > 0 || size_of(path + "-journal") > 0;
  if (found.st_size == 0) {
    return Error{Code::Corrupt, fmt::format("{} is empty: its run ended before it began", path)};
  }

  Opened opened;
  // For writing even where there is nothing to recover: a read-only connection to a file in WAL
  // mode makes a -wal and a -shm and leaves them. SQLite itself falls back to reading.
  Attempt tried = attempt(path, SQLITE_OPEN_READWRITE);
  if (tried.code != SQLITE_OK && !is_damage(tried.code)) {
    // It cannot be locked or recovered where it lies.
    if (journals) {
      auto scratch = copy_with_journals(path);
      if (!scratch) return scratch.error();
      opened.scratch = std::move(*scratch);
      tried = attempt(opened.scratch->path() + "/copy.tide", SQLITE_OPEN_READWRITE);
    } else {
      tried = attempt(path, SQLITE_OPEN_READONLY, "immutable=1");
    }
  }
  if (is_damage(tried.code) || (tried.code == SQLITE_OK && !sound(tried.database, journals))) {
    tried.database.close();
    auto rest = open_damaged(path, journals);
    if (!rest) return rest;
    opened = std::move(*rest);
  } else if (tried.code != SQLITE_OK) {
    return Error{Code::Io, fmt::format("cannot read {}: {}", path, meaning_of(tried.code))};
  } else {
    opened.database = std::move(tried.database);
    keep_wal(opened.database, false);
  }
  if (const auto error = stranger(opened.database, path)) return *error;
  return opened;
}

}  // namespace lowtide::recording

// SPDX-License-Identifier: Apache-2.0
#include "recording/database.h"

#include <fmt/format.h>

#include <cerrno>

#include "base/file.h"

namespace lowtide::recording {
namespace {

// Every path goes through a URI: a plain name that begins with "file:" or holds a "?" would
// otherwise be read as one where SQLite was built that way.
std::string uri_of(const std::string& path, std::string_view options) {
  std::string uri = path.starts_with('/') ? "file://" : "file:";
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '/' || c == '.' || c == '_' || c == '-';
    if (plain) {
      uri += c;
    } else {
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  if (!options.empty()) uri.append("?").append(options);
  return uri;
}

// The length of the UTF-8 character that `text` begins with, 0 where it begins with none.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xc2 && first <= 0xdf   ? 2
                             : first >= 0xe0 && first <= 0xef ? 3
                             : first >= 0xf0 && first <= 0xf4 ? 4
                                                              : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const unsigned second = byte(1);
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool beyond = (first == 0xed && second > 0x9f) || (first == 0xf4 && second > 0x8f);
  return overlong || beyond ? 0 : length;
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    // A NUL would end the text for every reader written in C.
    if (length == 0 || text[0] == '\0') {
      valid += "\xef\xbf\xbd";
      text.remove_prefix(1);
    } else {
      valid += text.substr(0, length);
      text.remove_prefix(length);
    }
  }
  return valid;
}

std::string meaning_of(int code, int system_error) {
  switch (code & 0xff) {
    case SQLITE_FULL:
      return "the disk is full";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "another program keeps it locked";
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return "it may not be written";
    case SQLITE_CORRUPT:
      return "the file is damaged";
    case SQLITE_NOTADB:
      return "it is not a recording";
    case SQLITE_NOMEM:
      return "there is no memory for it";
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR:
      if (system_error == ENOSPC || system_error == EDQUOT) return "the disk is full";
      return system_error != 0 ? errno_text(system_error) : "input/output error";
    default:
      return sqlite3_errstr(code);
  }
}

Result<Database> Database::open(const std::string& path, int flags, std::string_view options) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(uri_of(path, options).c_str(), &handle,
                                   flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
  Database database;
  database.handle_.reset(handle);
  if (code != SQLITE_OK) {
    return Error{Code::Io, fmt::format("cannot open {}: {}", path, database.why())};
  }
  sqlite3_extended_result_codes(handle, 1);
  return database;
}

int Database::execute(const char* sql) const {
  return handle_ ? sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr) : SQLITE_ERROR;
}

std::string Database::ask(const char* sql) const {
  Statement statement(*this, sql);
  return statement.step() == SQLITE_ROW ? statement.text(0) : std::string();
}

std::string Database::why() const {
  if (!handle_) return "it is not open";
  return meaning_of(sqlite3_errcode(handle_.get()), sqlite3_system_errno(handle_.get()));
}

Statement::Statement(const Database& database, const std::string& sql) {
  if (!database) return;
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v3(database.handle(), sql.c_str(), static_cast<int>(sql.size()),
                     SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  statement_.reset(statement);
}

void Statement::bind(int place, const std::string& text) {
  const std::string valid = valid_utf8(text);
  sqlite3_bind_text(statement_.get(), place, valid.data(), static_cast<int>(valid.size()),
                    SQLITE_TRANSIENT);
}

void Statement::bind(int place, std::string_view blob) {
  sqlite3_bind_blob64(statement_.get(), place, blob.data(), blob.size(), SQLITE_STATIC);
}

int Statement::finish() {
  int code = step();
  while (code == SQLITE_ROW) code = step();
  if (statement_) sqlite3_reset(statement_.get());
  return code == SQLITE_DONE ? SQLITE_OK : code;
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

std::int64_t Statement::integer(int column, std::int64_t otherwise) const {
  return is_null(column) ? otherwise : sqlite3_column_int64(statement_.get(), column);
}

double Statement::real(int column) const { return sqlite3_column_double(statement_.get(), column); }

std::string Statement::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  if (text == nullptr) return {};
  return {text, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

std::string_view Statement::blob(int column) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
  if (bytes == nullptr) return {};
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

}  // namespace lowtide::recording

// SPDX-License-Identifier: Apache-2.0
#pragma once

// SQLite with owners: a connection and a prepared statement that close themselves.
//
// Nothing here throws. Every call gives SQLite's result code, and `why` turns the last failure
// into the end of a sentence ("the disk is full"). A Statement on a failed connection is
// harmless: each step of it fails.

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "lowtide/result.h"

namespace lowtide::recording {

class Database {
 public:
  Database() = default;
  // `flags` are SQLITE_OPEN_*, `options` the query part of a URI ("immutable=1") or "".
  static Result<Database> open(const std::string& path, int flags, std::string_view options = "");

  // Runs statements that give no rows. SQLITE_OK or what went wrong.
  int execute(const char* sql) const;
  // The first column of the first row, "" where there is none.
  std::string ask(const char* sql) const;
  // "the disk is full": of the last call that failed.
  std::string why() const;
  void close() { handle_.reset(); }

  sqlite3* handle() const { return handle_.get(); }
  explicit operator bool() const { return handle_ != nullptr; }

 private:
  struct Closer {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };
  std::unique_ptr<sqlite3, Closer> handle_;
};

class Statement {
 public:
  Statement() = default;
  Statement(const Database& database, const std::string& sql);

  // Binds the values in their order, runs to the end and resets. SQLITE_OK or what went wrong.
  template <typename... Values>
  int run(const Values&... values) {
    bind_all(values...);
    return finish();
  }
  // Binds the values; step() then gives the rows.
  template <typename... Values>
  void begin(const Values&... values) {
    bind_all(values...);
  }
  int step() { return statement_ ? sqlite3_step(statement_.get()) : SQLITE_ERROR; }
  void reset() { sqlite3_reset(statement_.get()); }

  bool is_null(int column) const;
  std::int64_t integer(int column, std::int64_t otherwise = 0) const;
  double real(int column) const;
  std::string text(int column) const;
  std::string_view blob(int column) const;  // valid until the next step or reset

 private:
  template <typename... Values>
  void bind_all(const Values&... values) {
    if (!statement_) return;
    sqlite3_reset(statement_.get());
    int place = 0;
    (bind(++place, values), ...);
  }
  void bind(int place, std::int64_t value) { sqlite3_bind_int64(statement_.get(), place, value); }
  void bind(int place, int value) { sqlite3_bind_int(statement_.get(), place, value); }
  void bind(int place, bool value) { sqlite3_bind_int(statement_.get(), place, value); }
  void bind(int place, double value) { sqlite3_bind_double(statement_.get(), place, value); }
  template <typename Value>
  void bind(int place, const std::optional<Value>& value) {
    if (value) return bind(place, *value);
    sqlite3_bind_null(statement_.get(), place);
  }
  void bind(int place, const std::string& text);  // bytes that are not UTF-8 become U+FFFD
  void bind(int place, std::string_view blob);    // not copied: must live until the next reset
  int finish();

  struct Closer {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  std::unique_ptr<sqlite3_stmt, Closer> statement_;
};

// What SQLite's result code means to a person: the end of a sentence.
std::string meaning_of(int code, int system_error = 0);

// Other people's programs read the text, and Python's sqlite3 refuses a table with one bad byte.
std::string valid_utf8(std::string_view text);

}  // namespace lowtide::recording

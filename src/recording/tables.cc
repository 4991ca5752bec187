// SPDX-License-Identifier: Apache-2.0
#include "recording/tables.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string>

#include "recording/thin.h"

namespace lowtide::recording {
namespace {

constexpr std::int64_t kThinRows = 8192;      // at most, moved to the next level at a time
constexpr std::int64_t kRoundRows = 16384;    // above this, neighbouring rounds share a row
constexpr std::int64_t kAccountRows = 32768;  // above this, every other moment goes
constexpr std::int64_t kEventRows = 16384;    // kept from the beginning, and as many from the end
constexpr int kPiecesAtOnce = 16;             // of dropped heaps
constexpr int kAllPieces = -1;

std::optional<std::int64_t> known(std::int64_t figure) {
  if (figure < 0) return std::nullopt;
  return figure;
}

// Microseconds are finer than anything measured here, and longer fractions only look exact.
double tidy_seconds(double seconds) { return std::round(seconds * 1e6) / 1e6; }

Sample sample_of(const Statement& row, int first) {
  Sample sample;
  sample.seconds = row.real(first);
  sample.process = row.integer(first + 1);
  sample.resident = row.integer(first + 2, -1);
  sample.anonymous = row.integer(first + 3, -1);
  sample.file = row.integer(first + 4, -1);
  sample.shared = row.integer(first + 5, -1);
  sample.swap = row.integer(first + 6, -1);
  sample.allocator_in_use = row.integer(first + 7, -1);
  sample.allocator_free = row.integer(first + 8, -1);
  sample.cpu_ms = row.integer(first + 9, -1);
  sample.container = row.integer(first + 10, -1);
  return sample;
}

}  // namespace

int insert_run(const Database& database, const Run& run) {
  // SQLite writes the JSON, so that nobody needs to ask how a quote in an argument looks.
  Statement quote(database, "select json_quote(?)");
  std::string command = "[";
  for (const std::string& word : run.command) {
    quote.begin(word);
    if (quote.step() != SQLITE_ROW) return SQLITE_ERROR;
    command += (command.size() > 1 ? "," : "") + quote.text(0);
  }
  command += "]";
  return Statement(database, "insert into run values (?,?,?,?,?,?,?,?,?)")
      .run(kSchemaVersion, command, run.started, run.interval, run.round_pattern, run.host,
           run.lowtide, run.limit, run.limit_source);
}

Tables::Tables(const Database& database)
    : database_(database),
      begin_(database, "begin immediate"),
      commit_(database, "commit"),
      rollback_(database, "rollback"),
      put_process_(database, "insert or replace into processes values (?,?,?,?,?,?,?,?,?)"),
      put_round_(database, "insert into rounds values (null,?,?,?,?)"),
      put_event_(database, "insert into events values (null,?,?,?,?)"),
      cut_event_(database, fmt::format("delete from events where id > {0} and id <= "
                                       "(select max(id) from events) - {0}",
                                       kEventRows)),
      put_account_(database, "insert into account values (null,?,?,?,?)"),
      put_conclusion_(database, "insert or replace into conclusion values (1,?)"),
      put_end_(database, "insert into run_end values (?,?,?,?,?,?,?)"),
      put_heap_(database, "insert or replace into heaps values (?,?,?,?,?,?,?,?,?,?,?,?)"),
      put_piece_(database, "insert into heap_pieces values (null,?,?,?)"),
      cut_heap_(database, "delete from heaps where id = ?"),
      piece_ids_(database, "select id from heap_pieces where heap = ? limit ?"),
      cut_piece_(database, "delete from heap_pieces where id = ?") {
  const auto inserting = [&](const char* verb, const char* table) {
    return Statement(database, fmt::format("{} into {} ({}) values (?,?,?,?,?,?,?,?,?,?,?)", verb,
                                           table, kSampleColumns));
  };
  for (std::size_t i = 0; i < kLevels.size(); ++i) {
    const char* table = kLevels[i].table;
    put_sample_[i] = inserting("insert", table);
    oldest_[i] = Statement(database, fmt::format("select id, {} from {} order by id limit {}",
                                                 kSampleColumns, table, kThinRows));
    cut_sample_[i] = Statement(database, fmt::format("delete from {} where id <= ?", table));
  }
  put_tail_ = inserting("insert or replace", kTailTable);
  cut_tail_ = Statement(database, fmt::format("delete from {} where process = ?", kTailTable));
}

template <typename Work>
int Tables::transaction(Work&& work) {
  int code = begin_.run();
  if (code != SQLITE_OK) return code;
  code = work();
  if (code == SQLITE_OK) code = commit_.run();
  // A full disk may have ended the transaction already; then this fails, which is as good.
  if (code != SQLITE_OK) rollback_.run();
  return code;
}

int Tables::put(Statement& statement, const Sample& s) {
  return statement.run(tidy_seconds(s.seconds), s.process, known(s.resident), known(s.anonymous),
                       known(s.file), known(s.shared), known(s.swap), known(s.allocator_in_use),
                       known(s.allocator_free), known(s.cpu_ms), known(s.container));
}

int Tables::store(const Batch& batch, const std::vector<Sample>& tails) {
  const int code = transaction([&] { return insert_rows(batch, tails); });
  if (code != SQLITE_OK) return code;
  sample_rows_[0] += static_cast<std::int64_t>(batch.samples.size());
  round_rows_ += static_cast<std::int64_t>(batch.rounds.size());
  account_rows_ += static_cast<std::int64_t>(batch.account.size());
  return code;
}

int Tables::insert_rows(const Batch& batch, const std::vector<Sample>& tails) {
  int code = SQLITE_OK;
  const auto all = [&](const auto& rows, auto&& put_one) {
    for (const auto& row : rows) {
      if (code != SQLITE_OK) return;
      code = put_one(row);
    }
  };
  all(batch.processes, [&](const Process& p) {
    const auto ended = p.ended ? std::optional(tidy_seconds(*p.ended)) : std::nullopt;
    return put_process_.run(p.id, p.pid, p.parent, p.name, p.runtime, tidy_seconds(p.started),
                            ended, p.peak, p.note);
  });
  all(batch.samples, [&](const Sample& s) { return put(put_sample_[0], s); });
  all(batch.tails_gone, [&](std::int64_t process) { return cut_tail_.run(process); });
  all(tails, [&](const Sample& s) { return put(put_tail_, s); });
  all(batch.rounds, [&](const Round& r) {
    return put_round_.run(tidy_seconds(r.seconds), tidy_seconds(r.duration), r.source, 1);
  });
  all(batch.events, [&](const Event& e) {
    return put_event_.run(tidy_seconds(e.seconds), e.process, e.kind, e.text);
  });
  if (code == SQLITE_OK && !batch.events.empty()) code = cut_event_.run();
  all(batch.account, [&](const AccountPart& a) {
    return put_account_.run(tidy_seconds(a.seconds), a.process, a.part, a.bytes);
  });
  if (code == SQLITE_OK && batch.conclusion) code = put_conclusion_.run(batch.conclusion->json);
  if (code == SQLITE_OK && batch.end) {
    const End& e = *batch.end;
    code = put_end_.run(tidy_seconds(e.seconds), e.status, e.signal, e.oom, e.oom_text, e.processes,
                        e.peak);
  }
  return code;
}

int Tables::store_heap(const HeapInfo& h) {
  return put_heap_.run(h.id, h.process, tidy_seconds(h.seconds), h.rounds, h.runtime, h.lock_wait,
                       h.pause, h.walk, h.nodes, h.edges, h.stored_bytes, h.whole);
}

int Tables::store_piece(std::int64_t heap, std::int64_t number, std::string_view zstd) {
  return put_piece_.run(heap, number, zstd);
}

int Tables::drop_heap(std::int64_t heap) {
  dropped_.push_back(heap);
  return cut_heap_.run(heap);
}

void Tables::tidy() {
  // Behind at a high rate, the first level may need several steps to catch up.
  for (int step = 0; step < 8 && sample_rows_[0] > kLevels[0].rows; ++step) {
    if (thin_level(0) != SQLITE_OK) break;
  }
  for (std::size_t i = 1; i + 1 < kLevels.size(); ++i) {
    if (sample_rows_[i] > kLevels[i].rows) thin_level(i);
  }
  if (round_rows_ > kRoundRows) merge_rounds();
  if (account_rows_ > kAccountRows) thin_account();
  delete_pieces(kPiecesAtOnce);
}

void Tables::tidy_up() {
  tidy();
  delete_pieces(kAllPieces);
  database_.execute("pragma incremental_vacuum");
}

// Moves the oldest rows of a level to the next one, thinned. They end where one of the next
// level's buckets does, if one ends among them.
int Tables::thin_level(std::size_t level) {
  std::vector<Sample> rows;
  std::vector<std::int64_t> ids;
  Statement& oldest = oldest_[level];
  oldest.begin();
  while (oldest.step() == SQLITE_ROW) {
    ids.push_back(oldest.integer(0));
    rows.push_back(sample_of(oldest, 1));
  }
  oldest.reset();
  if (rows.empty()) return SQLITE_ERROR;

  const double width = kLevels[level + 1].width;
  const double cut = std::floor(rows.back().seconds / width) * width;
  std::size_t count = 0;
  while (count < rows.size() && rows[count].seconds < cut) ++count;
  if (count == 0) count = rows.size();
  rows.resize(count);
  const std::vector<Sample> kept = thin(std::move(rows), width);

  const int code = transaction([&] {
    int result = cut_sample_[level].run(ids[count - 1]);
    for (const Sample& sample : kept) {
      if (result == SQLITE_OK) result = put(put_sample_[level + 1], sample);
    }
    return result;
  });
  if (code != SQLITE_OK) return code;
  sample_rows_[level] -= static_cast<std::int64_t>(count);
  sample_rows_[level + 1] += static_cast<std::int64_t>(kept.size());
  return code;
}

// Lets neighbouring rounds share a row: the time of the last one, the sum of their durations and
// their count. Rows stand for about equally many rounds however long the run gets.
int Tables::merge_rounds() {
  struct Row {
    Round round;
    std::int64_t count;
  };
  std::vector<Row> rows;
  const std::int64_t most = rounds_a_row_ * 2;
  Statement select(database_,
                   "select seconds, duration_seconds, source, count from rounds order by id");
  while (select.step() == SQLITE_ROW) {
    const Row row{{select.real(0), select.real(1), select.text(2)}, select.integer(3)};
    if (!rows.empty() && rows.back().count + row.count <= most &&
        rows.back().round.source == row.round.source) {
      rows.back().round.seconds = row.round.seconds;
      rows.back().round.duration += row.round.duration;
      rows.back().count += row.count;
    } else {
      rows.push_back(row);
    }
  }
  select.reset();
  const int code = transaction([&] {
    int result = database_.execute("delete from rounds");
    for (const Row& row : rows) {
      if (result != SQLITE_OK) break;
      result = put_round_.run(row.round.seconds, tidy_seconds(row.round.duration), row.round.source,
                              row.count);
    }
    return result;
  });
  if (code != SQLITE_OK) return code;
  rounds_a_row_ = most;
  round_rows_ = static_cast<std::int64_t>(rows.size());
  return code;
}

// Each process keeps the latest moment and every other one before it.
int Tables::thin_account() {
  const int code = database_.execute(
      "delete from account where id in (select id from (select id, dense_rank() over "
      "(partition by process order by seconds desc) as age from account) where age % 2 = 0)");
  if (code == SQLITE_OK) account_rows_ -= sqlite3_changes64(database_.handle());
  return code;
}

void Tables::delete_pieces(int count) {
  while (!dropped_.empty()) {
    std::vector<std::int64_t> ids;
    piece_ids_.begin(dropped_.back(), count);
    while (piece_ids_.step() == SQLITE_ROW) ids.push_back(piece_ids_.integer(0));
    piece_ids_.reset();
    const int code = transaction([&] {
      int result = cut_heap_.run(dropped_.back());  // once more, if a full disk kept it
      for (const std::int64_t id : ids) {
        if (result == SQLITE_OK) result = cut_piece_.run(id);
      }
      return result;
    });
    if (code != SQLITE_OK) return;
    const bool more = count != kAllPieces && static_cast<int>(ids.size()) == count;
    if (!more) dropped_.pop_back();
    if (count != kAllPieces) return;
  }
}

}  // namespace lowtide::recording

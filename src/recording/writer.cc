// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/file.h"
#include "recording/batch.h"
#include "recording/database.h"
#include "recording/recording.h"
#include "recording/schema.h"
#include "recording/tables.h"

namespace lowtide::recording {
namespace {

constexpr std::size_t kBatchSamples = 8192;  // then a put() commits by itself
constexpr std::size_t kBatchRecords = 8192;
constexpr int kMaxPatience = 15;
constexpr std::size_t kPieceBytes = std::size_t{256} << 10;

// While the run goes on nothing is synced to the disk: a kill loses nothing that was committed,
// and a recorder that waits for a slow disk takes no readings. Only a machine that loses power
// can leave a damaged file. Locks are not waited for either; settle() comes again.
constexpr const char* kSettings =
    "pragma page_size = 4096; pragma auto_vacuum = incremental; pragma synchronous = off;"
    "pragma cache_size = -512; pragma mmap_size = 0; pragma busy_timeout = 0;"
    "pragma wal_autocheckpoint = 512; pragma journal_size_limit = 2097152;";

// What makes two readings different: all but the time, and the processor time, which moves of
// itself and would make every reading of a busy process a change.
constexpr std::array kFigures = {
    &Sample::resident, &Sample::anonymous,        &Sample::file,           &Sample::shared,
    &Sample::swap,     &Sample::allocator_in_use, &Sample::allocator_free, &Sample::container};

bool same_figures(const Sample& a, const Sample& b) {
  return std::all_of(kFigures.begin(), kFigures.end(),
                     [&](auto figure) { return a.*figure == b.*figure; });
}

// Readings whose figures are unknown take over what was known before.
Sample filled(Sample now, const Sample& before) {
  for (const auto figure : kFigures) {
    if (now.*figure < 0) now.*figure = before.*figure;
  }
  if (now.cpu_ms < 0) now.cpu_ms = before.cpu_ms;
  return now;
}

class SqliteWriter final : public Writer {
 public:
  SqliteWriter(std::string path, ino_t inode, Database database)
      : path_(std::move(path)), inode_(inode), database_(std::move(database)) {
    tables_ = std::make_unique<Tables>(database_);
  }
  ~SqliteWriter() override {
    if (!finished_) store();
  }

  void put(const Process& process) override;
  void put(const Sample& sample) override;
  void put(const Round& round) override { batch_.rounds.push_back(round), bound(); }
  void put(const Event& event) override { batch_.events.push_back(event), bound(); }
  void put(const AccountPart& part) override { batch_.account.push_back(part), bound(); }
  void put(const Conclusion& conclusion) override { batch_.conclusion = conclusion; }
  std::int64_t begin_heap(const HeapInfo& info) override;
  void put_heap(std::int64_t heap, std::string_view compressed) override;
  void end_heap(const HeapInfo& info) override;
  void drop_heap(std::int64_t heap) override;
  void settle(double now_seconds) override;
  void finish(const End& end) override;
  std::string trouble() const override;
  std::string path() const override { return path_; }

 private:
  // The latest figures of a process. `held`: they equal the last stored reading's, so they are
  // not stored but in the tail table, as of the last commit.
  struct Latest {
    Sample sample;
    bool held = false;
    bool in_tail = false;
  };
  // A heap that is coming in. `broken`: a piece of it was lost, and what follows is useless.
  struct OpenHeap {
    HeapInfo info;
    std::string waiting;
    std::int64_t pieces = 0;
    bool broken = false;
  };

  void end_run(std::int64_t process, Latest& latest);
  void bound();
  bool store();
  void shed();
  bool in_place();
  bool worked(int code);
  void lose(std::int64_t Loss::*what, std::size_t count);
  void store_pieces(std::int64_t id, OpenHeap& heap, std::size_t at_least);

  std::string path_;
  ino_t inode_;
  Database database_;
  std::unique_ptr<Tables> tables_;

  Batch batch_;
  std::unordered_map<std::int64_t, Latest> latest_;
  std::map<std::int64_t, OpenHeap> open_heaps_;
  std::int64_t heaps_ = 0;

  Loss loss_;
  std::string reason_;    // of the first loss
  std::string obstacle_;  // why the last write failed; "" when it did not
  int failures_ = 0;      // the patience after the last failure
  int patience_ = 0;      // commits not to try before the next
  bool finished_ = false;
};

void SqliteWriter::put(const Process& process) {
  const auto before = std::find_if(batch_.processes.begin(), batch_.processes.end(),
                                   [&](const Process& p) { return p.id == process.id; });
  if (before != batch_.processes.end()) {
    *before = process;
  } else {
    batch_.processes.push_back(process);
  }
  if (process.ended) {
    const auto known = latest_.find(process.id);
    if (known != latest_.end()) {
      end_run(process.id, known->second);
      latest_.erase(known);
    }
  }
  bound();
}

void SqliteWriter::put(const Sample& sample) {
  const auto [place, first] = latest_.try_emplace(sample.process);
  Latest& latest = place->second;
  const Sample now = filled(sample, latest.sample);
  if (!first && same_figures(now, latest.sample)) {
    latest.held = true;
    latest.sample = now;
    return;
  }
  end_run(sample.process, latest);
  latest.sample = now;
  batch_.samples.push_back(now);
  bound();
}

// The reading held back becomes the last one of its run of equals.
void SqliteWriter::end_run(std::int64_t process, Latest& latest) {
  if (latest.held) batch_.samples.push_back(latest.sample);
  if (latest.in_tail) batch_.tails_gone.push_back(process);
  latest.held = latest.in_tail = false;
}

void SqliteWriter::bound() {
  if (batch_.samples.size() >= kBatchSamples || batch_.records() >= kBatchRecords) store();
}

// False once the file is no longer where it was made: SQLite would go on writing to a file that
// has no name any more, and nobody would ever see it.
bool SqliteWriter::in_place() {
  struct stat now {};
  if (::stat(path_.c_str(), &now) == 0 && now.st_ino == inode_) return true;
  obstacle_ = "it was deleted or moved while the run went on";
  return false;
}

bool SqliteWriter::worked(int code) {
  // Not database_.why(): undoing a transaction has overwritten what that would say.
  obstacle_ = code == SQLITE_OK ? "" : meaning_of(code, sqlite3_system_errno(database_.handle()));
  return code == SQLITE_OK;
}

void SqliteWriter::lose(std::int64_t Loss::*what, std::size_t count) {
  if (count == 0) return;
  if (reason_.empty()) reason_ = obstacle_;
  loss_.*what += static_cast<std::int64_t>(count);
}

// After a failure ever fewer tries are made, 1 in 16 at last: each one costs as much as a commit
// of the whole batch does.
bool SqliteWriter::store() {
  if (patience_ > 0) {
    --patience_;
    shed();
    return false;
  }
  std::vector<Sample> tails;
  for (const auto& [process, latest] : latest_) {
    if (latest.held) tails.push_back(latest.sample);
  }
  if (!in_place() || !worked(tables_->store(batch_, tails))) {
    patience_ = failures_ = std::min(failures_ * 2 + 1, kMaxPatience);
    shed();
    return false;
  }
  failures_ = 0;
  batch_ = Batch();
  for (auto& [process, latest] : latest_) latest.in_tail = latest.held;
  return true;
}

// The batch waits for the disk to take it, but not for ever longer.
void SqliteWriter::shed() {
  const auto halve = [&](auto& rows, std::size_t most, std::int64_t Loss::*what) {
    if (rows.size() < most) return;
    const std::size_t gone = rows.size() - most / 2;
    rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(gone));
    lose(what, gone);
  };
  halve(batch_.samples, kBatchSamples, &Loss::samples);
  halve(batch_.processes, kBatchRecords / 4, &Loss::records);
  halve(batch_.rounds, kBatchRecords / 4, &Loss::records);
  halve(batch_.events, kBatchRecords / 4, &Loss::records);
  halve(batch_.account, kBatchRecords / 4, &Loss::records);
}

void SqliteWriter::settle(double /*now_seconds*/) {
  if (finished_) return;
  if (store()) tables_->tidy();
}

std::int64_t SqliteWriter::begin_heap(const HeapInfo& info) {
  const std::int64_t id = ++heaps_;
  OpenHeap& heap = open_heaps_[id];
  heap.info = info;
  heap.info.id = id;
  heap.info.whole = false;
  heap.info.stored_bytes = 0;
  heap.broken = finished_ || !in_place() || !worked(tables_->store_heap(heap.info));
  return id;
}

void SqliteWriter::put_heap(std::int64_t id, std::string_view compressed) {
  const auto place = open_heaps_.find(id);
  if (place == open_heaps_.end()) return;
  OpenHeap& heap = place->second;
  while (!compressed.empty() && !heap.broken) {
    const std::string_view part = compressed.substr(0, kPieceBytes - heap.waiting.size());
    heap.waiting += part;
    compressed.remove_prefix(part.size());
    store_pieces(id, heap, kPieceBytes);
  }
  lose(&Loss::heap_bytes, compressed.size());
}

void SqliteWriter::store_pieces(std::int64_t id, OpenHeap& heap, std::size_t at_least) {
  if (heap.waiting.empty() || heap.waiting.size() < at_least) return;
  if (in_place() && worked(tables_->store_piece(id, heap.pieces, heap.waiting))) {
    ++heap.pieces;
    heap.info.stored_bytes += static_cast<std::int64_t>(heap.waiting.size());
  } else {
    heap.broken = true;
    lose(&Loss::heap_bytes, heap.waiting.size());
  }
  heap.waiting.clear();
}

void SqliteWriter::end_heap(const HeapInfo& info) {
  const auto place = open_heaps_.find(info.id);
  if (place == open_heaps_.end()) return;
  OpenHeap& heap = place->second;
  store_pieces(info.id, heap, 1);
  HeapInfo whole = info;
  whole.stored_bytes = heap.info.stored_bytes;
  whole.whole = info.whole && !heap.broken;
  open_heaps_.erase(place);
  if (!finished_ && in_place()) worked(tables_->store_heap(whole));
}

void SqliteWriter::drop_heap(std::int64_t heap) {
  open_heaps_.erase(heap);
  if (!finished_) worked(tables_->drop_heap(heap));
}

void SqliteWriter::finish(const End& end) {
  if (finished_) return;
  for (auto& [process, latest] : latest_) end_run(process, latest);
  if (!trouble().empty()) batch_.events.push_back({end.seconds, 0, "lost", trouble()});
  batch_.end = end;
  patience_ = 0;
  const bool stored = store();
  finished_ = true;
  if (stored) {
    tables_->tidy_up();
  } else {
    lose(&Loss::samples, batch_.samples.size());
    lose(&Loss::records, batch_.records());
  }
  tables_.reset();  // no statement may be open when the journal changes
  if (database_.ask("pragma journal_mode = delete") != "delete" && obstacle_.empty()) {
    obstacle_ = fmt::format("{}; keep {}-wal beside it", database_.why(), path_);
  }
  database_.close();
}

std::string SqliteWriter::trouble() const {
  if (!loss_.any()) {
    return obstacle_.empty() ? "" : fmt::format("cannot write {}: {}", path_, obstacle_);
  }
  std::vector<std::string> lost;
  const auto add = [&](std::int64_t count, const char* one, const char* many) {
    if (count > 0) lost.push_back(fmt::format("{} {}", count_text(count), count == 1 ? one : many));
  };
  add(loss_.samples, "reading", "readings");
  add(loss_.records, "note", "notes");
  if (loss_.heap_bytes > 0) lost.push_back(to_text(Bytes{loss_.heap_bytes}) + " of heaps");
  std::string list = lost[0];
  for (std::size_t i = 1; i < lost.size(); ++i) {
    list += (i + 1 == lost.size() ? " and " : ", ") + lost[i];
  }
  return fmt::format("{} lacks {}: {}", path_, list, reason_);
}

// A WAL needs shared memory, which some file systems lack; SQLite finds that out only when it
// uses the WAL. There every commit costs a journal instead.
void begin_wal(Database& database, const std::string& path) {
  database.ask("pragma journal_mode = wal");
  if (database.execute("begin immediate; rollback") == SQLITE_OK) return;
  // Leaving the WAL needs shared memory too, unless nobody else has the file from the beginning.
  database.close();
  auto again = Database::open(path, SQLITE_OPEN_READWRITE);
  if (!again) return;
  database = std::move(*again);
  database.execute("pragma locking_mode = exclusive");
  database.execute(kSettings);
  database.ask("pragma journal_mode = truncate");
  database.execute("pragma locking_mode = normal");
  database.execute("begin immediate; rollback");  // which lets the lock go
}

}  // namespace

Result<std::unique_ptr<Writer>> Writer::create(const std::string& name, const Run& run) {
  std::error_code ignored;
  std::string path = std::filesystem::absolute(name, ignored).string();
  if (path.empty()) path = name;
  struct stat made {};
  {
    Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file && errno == EEXIST) {
      return Error{Code::Invalid,
                   fmt::format("{} exists already; name another file or remove it", name)};
    }
    if (!file) return io_error("create", name, errno);
    ::fstat(file.number(), &made);
  }
  const auto failed = [&](const std::string& why) {
    for (const char* end : {"", "-journal", "-wal", "-shm"}) ::unlink((path + end).c_str());
    return Error{Code::Io, fmt::format("cannot create {}: {}", name, why)};
  };
  auto database = Database::open(path, SQLITE_OPEN_READWRITE);
  if (!database) return failed(database.error().message);
  // All this goes in at once and before the journal becomes a WAL: whoever finds a WAL finds a
  // recording.
  database->execute(kSettings);
  int code = database->execute("begin");
  if (code == SQLITE_OK) code = database->execute(schema_sql());
  if (code == SQLITE_OK) code = insert_run(*database, run);
  if (code == SQLITE_OK) code = database->execute("commit");
  if (code != SQLITE_OK) return failed(database->why());
  begin_wal(*database, path);
  return std::unique_ptr<Writer>(
      std::make_unique<SqliteWriter>(path, made.st_ino, std::move(*database)));
}

}  // namespace lowtide::recording

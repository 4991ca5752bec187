// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "recording/database.h"
#include "recording/heap_codec.h"
#include "recording/opening.h"
#include "recording/recording.h"
#include "recording/schema.h"

namespace lowtide::recording {
namespace {

constexpr double kMaxSeconds = 1e10;                // 300 years; beyond is damage
constexpr int kMaxRestarts = 20'000;                // of one table's scan
constexpr std::int64_t kMaxRoundsARow = 1'000'000;  // ditto
constexpr std::size_t kMaxRounds = 20'000'000;

// Everything but the heaps' pieces is read at once, in one transaction: a recording that is being
// written gives one moment of it, and what is missing is known before anybody asks.
class SqliteReader final : public Reader {
 public:
  SqliteReader(std::string path, Opened opened)
      : path_(std::move(path)), opened_(std::move(opened)), missing_(opened_.missing) {}

  // False where not even the command can be told.
  bool load();

  Run run() const override { return run_; }
  std::optional<End> end() const override { return end_; }
  std::vector<Process> processes() const override { return processes_; }
  std::vector<Sample> samples(std::int64_t process) const override;
  std::vector<Round> rounds() const override { return rounds_; }
  std::vector<Event> events() const override { return events_; }
  std::vector<AccountPart> account() const override { return account_; }
  std::vector<HeapInfo> heaps() const override { return heaps_; }
  Status read_heap(std::int64_t heap,
                   const std::function<bool(std::string_view)>& sink) const override;
  std::optional<Conclusion> conclusion() const override { return conclusion_; }
  std::vector<std::string> missing() const override { return missing_; }

 private:
  template <typename Row>
  void scan(const char* table, const char* what, const std::string& columns, Row&& row,
            const char* key = "id");
  bool load_run();
  void load_samples();
  void load_rounds();
  void load_events();
  void load_account();
  void load_heaps();

  std::string path_;
  Opened opened_;
  std::vector<std::string> missing_;
  Run run_;
  std::optional<End> end_;
  std::vector<Process> processes_;
  std::unordered_map<std::int64_t, std::vector<Sample>> samples_;
  std::vector<Round> rounds_;
  std::vector<Event> events_;
  std::vector<AccountPart> account_;
  std::vector<HeapInfo> heaps_;
  std::optional<Conclusion> conclusion_;
};

bool sane(double seconds) { return std::isfinite(seconds) && std::fabs(seconds) < kMaxSeconds; }

// Every row of a table in the order of its key, column 0 being the key. Where a page is missing
// the scan starts again behind it, in growing steps, since other pages may still be there.
template <typename Row>
void SqliteReader::scan(const char* table, const char* what, const std::string& columns, Row&& row,
                        const char* key) {
  Statement select(
      opened_.database,
      fmt::format("select {0}, {1} from {2} where {0} >= ? order by {0}", key, columns, table));
  std::int64_t from = INT64_MIN;
  std::int64_t skip = 1;
  bool whole = true;
  for (int restarts = 0; restarts < kMaxRestarts; ++restarts) {
    select.begin(from);
    int code = select.step();
    for (; code == SQLITE_ROW; code = select.step()) {
      const std::int64_t id = select.integer(0);
      if (id < from) break;  // a damaged tree may come round in circles
      from = id == INT64_MAX ? id : id + 1;
      skip = 1;
      row(select);
    }
    if (code == SQLITE_DONE) break;
    whole = false;
    if (skip > (std::int64_t{1} << 40) || from > INT64_MAX - skip || code == SQLITE_ERROR) break;
    from = (from == INT64_MIN ? 0 : from) + skip;
    skip *= 2;
  }
  if (!whole)
    missing_.push_back(fmt::format("Some or all {}: their part of the file is damaged.", what));
}

bool SqliteReader::load_run() {
  Statement select(opened_.database,
                   "select command, started, interval_seconds, round_pattern, host, "
                   "lowtide_version, limit_bytes, limit_source from run");
  if (select.step() != SQLITE_ROW) return false;
  run_.started = select.text(1);
  run_.interval = select.real(2);
  run_.round_pattern = select.text(3);
  run_.host = select.text(4);
  run_.lowtide = select.text(5);
  run_.limit = select.integer(6);
  run_.limit_source = select.text(7);
  Statement words(opened_.database, "select value from json_each(?)");
  words.begin(select.text(0));
  while (words.step() == SQLITE_ROW) run_.command.push_back(words.text(0));
  return true;
}

bool SqliteReader::load() {
  opened_.database.execute("begin");
  const bool known = load_run();
  if (!known) missing_.emplace_back("The command and the circumstances of the run.");

  Statement end(
      opened_.database,
      "select seconds, status, signal, oom, oom_text, processes, peak_bytes from run_end");
  if (end.step() == SQLITE_ROW) {
    end_ = End{end.real(0),
               static_cast<int>(end.integer(1)),
               static_cast<int>(end.integer(2)),
               end.integer(3) != 0,
               end.text(4),
               end.integer(5),
               end.integer(6)};
  } else {
    missing_.emplace_back("The end of the run: it is still going on, or its recorder was killed.");
  }
  scan("processes", "processes",
       "pid, parent, name, runtime, started_seconds, ended_seconds, peak_bytes, note",
       [&](const Statement& row) {
         Process process{row.integer(0), static_cast<std::int32_t>(row.integer(1)),
                         row.integer(2), row.text(3),
                         row.text(4),    row.real(5),
                         std::nullopt,   row.integer(7),
                         row.text(8)};
         if (!row.is_null(6)) process.ended = row.real(6);
         processes_.push_back(std::move(process));
       });
  load_samples();
  load_rounds();
  load_events();
  load_account();
  load_heaps();
  Statement conclusion(opened_.database, "select json from conclusion");
  if (conclusion.step() == SQLITE_ROW) conclusion_ = Conclusion{conclusion.text(0)};
  conclusion.reset();
  end.reset();
  opened_.database.execute("commit");
  return known || !processes_.empty() || !samples_.empty();
}

void SqliteReader::load_samples() {
  const auto take = [&](const Statement& row) {
    Sample sample;
    sample.seconds = row.real(1);
    if (!sane(sample.seconds)) return;
    sample.process = row.integer(2);
    sample.resident = row.integer(3, -1);
    sample.anonymous = row.integer(4, -1);
    sample.file = row.integer(5, -1);
    sample.shared = row.integer(6, -1);
    sample.swap = row.integer(7, -1);
    sample.allocator_in_use = row.integer(8, -1);
    sample.allocator_free = row.integer(9, -1);
    sample.cpu_ms = row.integer(10, -1);
    sample.container = row.integer(11, -1);
    samples_[sample.process].push_back(sample);
  };
  for (auto level = kLevels.rbegin(); level != kLevels.rend(); ++level) {
    scan(level->table, level->width > 0 ? "older readings" : "readings", kSampleColumns, take);
  }
  scan(kTailTable, "latest readings", kSampleColumns, take, "process");
  for (auto& [process, samples] : samples_) {
    std::stable_sort(samples.begin(), samples.end(),
                     [](const Sample& a, const Sample& b) { return a.seconds < b.seconds; });
  }
}

std::vector<Sample> SqliteReader::samples(std::int64_t process) const {
  const auto found = samples_.find(process);
  return found == samples_.end() ? std::vector<Sample>() : found->second;
}

// Rounds that share a row are given back one by one, evenly spaced.
void SqliteReader::load_rounds() {
  scan("rounds", "rounds", "seconds, duration_seconds, source, count", [&](const Statement& row) {
    const double seconds = row.real(1);
    const double duration = row.real(2);
    if (!sane(seconds) || !sane(duration)) return;
    const std::int64_t count = std::clamp<std::int64_t>(row.integer(4), 1, kMaxRoundsARow);
    const double each = duration / static_cast<double>(count);
    for (std::int64_t i = count; i-- > 0 && rounds_.size() < kMaxRounds;) {
      rounds_.push_back({seconds - each * static_cast<double>(i), each, row.text(3)});
    }
  });
}

void SqliteReader::load_events() {
  std::int64_t newest = 0;
  scan("events", "events", "seconds, process, kind, text", [&](const Statement& row) {
    newest = row.integer(0);
    events_.push_back({row.real(1), row.integer(2), row.text(3), row.text(4)});
  });
  const std::int64_t gone = newest - static_cast<std::int64_t>(events_.size());
  if (gone > 0 && !opened_.damaged) {
    missing_.push_back(
        fmt::format("{} events from the middle of the run: there were too many.", gone));
  }
}

void SqliteReader::load_account() {
  std::vector<AccountPart> parts;
  std::unordered_map<std::string, std::size_t> latest;
  scan("account", "the account of memory", "seconds, process, part, bytes",
       [&](const Statement& row) {
         AccountPart part{row.real(1), row.integer(2), row.text(3), row.integer(4)};
         const auto [place, first] =
             latest.try_emplace(fmt::format("{} {}", part.process, part.part), parts.size());
         if (first) {
           parts.push_back(std::move(part));
         } else {
           parts[place->second] = std::move(part);
         }
       });
  account_ = std::move(parts);
}

void SqliteReader::load_heaps() {
  scan("heaps", "heaps",
       "process, seconds, rounds, runtime, lock_wait_seconds, pause_seconds, walk_seconds, nodes, "
       "edges, stored_bytes, whole",
       [&](const Statement& row) {
         heaps_.push_back({row.integer(0), row.integer(1), row.real(2), row.real(3), row.text(4),
                           row.real(5), row.real(6), row.real(7), row.integer(8), row.integer(9),
                           row.integer(10), row.integer(11) != 0});
       });
}

Status SqliteReader::read_heap(std::int64_t heap,
                               const std::function<bool(std::string_view)>& sink) const {
  const auto broken = [&](const std::string& why) {
    return Error{Code::Corrupt, fmt::format("heap {} of {} breaks off: {}", heap, path_, why)};
  };
  const bool listed = std::any_of(heaps_.begin(), heaps_.end(),
                                  [&](const HeapInfo& info) { return info.id == heap; });
  if (!listed) return Error{Code::NotFound, fmt::format("{} has no heap {}", path_, heap)};
  Statement select(opened_.database,
                   "select piece, zstd from heap_pieces where heap = ? order by id");
  select.begin(heap);
  HeapUnsqueezer unsqueezer;
  std::int64_t expected = 0;
  int code = select.step();
  for (; code == SQLITE_ROW; code = select.step()) {
    if (select.integer(0) != expected++) return broken("a piece of it is missing");
    const Status status = unsqueezer.add(select.blob(1), sink);
    if (!status) return broken(status.error().message);
    if (unsqueezer.stopped()) return Done{};
  }
  if (code != SQLITE_DONE) return broken(meaning_of(code));
  if (!unsqueezer.complete()) {
    return broken(
        fmt::format("only its first {} were stored", to_text(Bytes{unsqueezer.plain_bytes()})));
  }
  return Done{};
}

}  // namespace

Result<std::unique_ptr<Reader>> Reader::open(const std::string& path) {
  auto opened = open_recording(path);
  if (!opened) return opened.error();
  auto reader = std::make_unique<SqliteReader>(path, std::move(*opened));
  if (!reader->load()) {
    return Error{
        Code::Corrupt,
        fmt::format("{} is damaged or cut off so early that nothing can be read from it", path)};
  }
  return std::unique_ptr<Reader>(std::move(reader));
}

}  // namespace lowtide::recording

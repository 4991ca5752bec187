// SPDX-License-Identifier: Apache-2.0
#pragma once

// The file a run leaves: one SQLite database, WAL while the run goes on, one file after it.
//
// Writer is used by one thread, commits about once a second, and never fails its caller: a full
// disk turns it into a counter of what was lost, and `trouble()` says so in one sentence. Reader
// opens what is there, however the run ended, and says what is missing. The schema and its version
// are described in docs/formats/recording.md.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "lowtide/result.h"

namespace lowtide::recording {

inline constexpr int kSchemaVersion = 1;

struct Run {
  std::vector<std::string> command;
  std::string started;        // ISO 8601 with zone, local time
  double interval = 0.1;      // seconds between samples
  std::string round_pattern;  // "" where none was given
  std::string host;           // kernel, cpu count, memory: one line
  std::string lowtide;        // version of the program that wrote it
  std::int64_t limit = 0;     // bytes; 0: none known
  std::string limit_source;   // "container limit", "memory of this machine", "ulimit -v"
};

// How the run ended. Absent from a recording whose recorder was killed.
struct End {
  double seconds = 0;
  int status = 0;              // what `lowtide run` exits with
  int signal = 0;              // that killed the command; 0: none
  bool oom = false;            // and it was the kernel's OOM killer
  std::string oom_text;        // one sentence: who was killed and what it held
  std::int64_t processes = 0;  // all there ever were
  std::int64_t peak = 0;       // bytes of the tree
};

struct Process {
  std::int64_t id = 0;  // within the recording; pids come again
  std::int32_t pid = 0;
  std::int64_t parent = 0;  // id, 0 for the command itself
  std::string name;         // "python3 train.py", shortened
  std::string runtime;      // "CPython 3.11.2" where known
  double started = 0;       // seconds since the run started
  std::optional<double> ended;
  std::int64_t peak = 0;  // bytes: VmHWM or rusage, whichever knows more
  std::string note;       // "exited with 1", "killed by the OOM killer" …
};

// One reading of one process; process 0 is the tree, summed, shared pages counted once.
// A figure that was not read this time is -1.
struct Sample {
  double seconds = 0;
  std::int64_t process = 0;
  std::int64_t resident = -1;
  std::int64_t anonymous = -1;
  std::int64_t file = -1;
  std::int64_t shared = -1;
  std::int64_t swap = -1;
  std::int64_t allocator_in_use = -1;
  std::int64_t allocator_free = -1;
  std::int64_t cpu_ms = -1;     // user and system time so far
  std::int64_t container = -1;  // memory.current; only of process 0
};

struct Round {
  double seconds = 0;   // when it ended
  double duration = 0;  // since the one before
  std::string source;   // "pattern", "lines", "period"
};

struct Event {
  double seconds = 0;
  std::int64_t process = 0;
  std::string kind;  // "limit", "oom", "heap", "heap-refused", "exec", "lost", "note", …
  std::string text;  // a sentence
};

// The closed sum of resident memory at one moment (design.md section 6).
struct AccountPart {
  double seconds = 0;
  std::int64_t process = 0;
  std::string part;  // "live Python", "allocator free", "stacks", "mapped files", "unexplained" …
  std::int64_t bytes = 0;
};

// A heap stream (wire/heap_stream.h) as it came from the copy, compressed with zstd.
struct HeapInfo {
  std::int64_t id = 0;
  std::int64_t process = 0;
  double seconds = 0;
  double rounds = 0;     // rounds done by then
  std::string runtime;   // "CPython 3.11.2"
  double lock_wait = 0;  // seconds
  double pause = 0;      // seconds the program was stopped
  double walk = 0;       // seconds of another core
  std::int64_t nodes = 0;
  std::int64_t edges = 0;
  std::int64_t stored_bytes = 0;  // compressed
  bool whole = false;
};

// The verdict and the suspects as `run` said them, so that `report` says the same: JSON text.
struct Conclusion {
  std::string json;
};

class Writer {
 public:
  // Makes the file (0600). Refuses one that exists.
  static Result<std::unique_ptr<Writer>> create(const std::string& path, const Run& run);
  virtual ~Writer() = default;

  virtual void put(const Process& process) = 0;  // by id; again to change it
  virtual void put(const Sample& sample) = 0;    // stored on change only
  virtual void put(const Round& round) = 0;
  virtual void put(const Event& event) = 0;
  virtual void put(const AccountPart& part) = 0;
  virtual std::int64_t begin_heap(const HeapInfo& info) = 0;
  virtual void put_heap(std::int64_t heap, std::string_view compressed) = 0;
  virtual void end_heap(const HeapInfo& info) = 0;  // id set; fills what was unknown at the start
  virtual void drop_heap(std::int64_t heap) = 0;
  virtual void put(const Conclusion& conclusion) = 0;
  // Once a second or so: commits, and thins out what has grown old (extremes are kept).
  virtual void settle(double now_seconds) = 0;
  virtual void finish(const End& end) = 0;  // one file afterwards: no -wal, no -shm
  virtual std::string trouble() const = 0;  // "" or one sentence: what could not be stored, and why
  virtual std::string path() const = 0;
};

class Reader {
 public:
  static Result<std::unique_ptr<Reader>> open(const std::string& path);
  virtual ~Reader() = default;

  virtual Run run() const = 0;
  virtual std::optional<End> end() const = 0;
  virtual std::vector<Process> processes() const = 0;
  virtual std::vector<Sample> samples(
      std::int64_t process) const = 0;  // oldest first; gaps filled forward
  virtual std::vector<Round> rounds() const = 0;
  virtual std::vector<Event> events() const = 0;
  virtual std::vector<AccountPart> account() const = 0;  // of the last moment each part was known
  virtual std::vector<HeapInfo> heaps() const = 0;       // whole and partial, oldest first
  // Feeds the decompressed stream of a heap to `sink`, piece by piece.
  virtual Status read_heap(std::int64_t heap,
                           const std::function<bool(std::string_view)>& sink) const = 0;
  virtual std::optional<Conclusion> conclusion() const = 0;
  virtual std::vector<std::string> missing()
      const = 0;  // sentences: what this recording lacks, and why
};

}  // namespace lowtide::recording

// SPDX-License-Identifier: Apache-2.0
#pragma once

// The command and all it started, found from outside and kept until each has ended.
//
//     root ── child ── grandchild          /proc/PID/task/TID/children of every thread
//       └──── child ··· daemon             orphans come to us, the subreaper
//     probe slot ──────── pid              whoever greeted: adopt()
//     wait4 ───────────── pid              whoever we reaped: note_exit()
//
// Cheap where nothing happens: each process keeps its statm open, and the lists of children are
// read only when the machine has handed out a pid since (/proc/loadavg), and once a second.
// A process may vanish at any byte; that is an end, never an error. One thread.

#include <sys/resource.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "watch/roots.h"

namespace lowtide::watch {

// What the probe names a copy it makes of its process.
inline constexpr std::string_view kCopyName = "lowtide-copy";

// A process of the tree. Sizes are bytes; what is not known is -1.
struct Member {
  std::int64_t id = 0;  // 1, 2, … in the order they were seen; unlike a pid it never comes again
  std::int32_t pid = 0;
  std::int64_t parent = 0;        // id of the member that started it; 0: a root, or nobody knows
  std::string name;               // "python3 train.py", shortened, one line; "[comm]" without one
  std::string exe;                // "/usr/bin/python3.11"; "" where it may not be read
  std::uint64_t start_ticks = 0;  // field 22 of stat: with the pid it names a process for good
  int threads = 1;
  int execs = 0;           // how often it became another program while we looked
  bool forked = false;     // runs its parent's image: its memory began as a copy of that
  double seen = 0;         // seconds, of the update that found it
  double ended = -1;       // seconds; -1 while it runs
  bool sampled = false;    // false: it ended before anybody could look
  int wait_status = -1;    // as wait4 gave it, where we reaped it
  std::int64_t peak = -1;  // VmHWM or rusage, whichever knows more

  // The last statm, read by update().
  std::int64_t size = -1;
  std::int64_t resident = -1;
  std::int64_t shared = -1;  // file and shmem together
  std::int64_t cpu_ms = -1;  // of the last stat: user and system, threads included

  bool running() const { return ended < 0; }
};

struct Change {
  enum class Kind { Started, Exec, Ended };
  Kind kind;
  std::int64_t id;
};

// Processes of the tree that ended without anybody having seen them.
struct Unseen {
  // Gone when we looked, reaped by us, reported by a probe, or counted in their parent's usage.
  std::int64_t at_least = 0;
  // Pids (threads' too) that the whole machine handed out and we never met; -1: not known.
  std::int64_t at_most = -1;
};

class ProcessTree {
 public:
  struct Options {
    std::int32_t subreaper = 0;     // our own pid if orphans are to be adopted from it; 0: no
    std::size_t descriptors = 512;  // kept open at most; past it files are opened each time
  };

  ProcessTree(Roots roots, std::vector<std::int32_t> root_pids, Options options);
  ProcessTree(Roots roots, std::int32_t root_pid)
      : ProcessTree(std::move(roots), {root_pid}, Options{}) {}
  ~ProcessTree();
  ProcessTree(ProcessTree&&) noexcept;
  ProcessTree& operator=(ProcessTree&&) noexcept;

  // Looks again. `now`: seconds since the run started, never falling. What changed, in order; the
  // reference is good until the next call.
  const std::vector<Change>& update(double now);

  // A pid somebody else knows of (a probe's slot). Found gone, it is kept as ended and unsampled.
  // True where it was not known before. Reported by the next update().
  bool adopt(std::int32_t pid, double now);

  // wait4 gave us this. Unknown pids become members that ended unseen. ru_maxrss is trusted only
  // where it is above what the process may have inherited by fork, or from its own children.
  void note_exit(std::int32_t pid, int wait_status, const rusage& usage, double now);

  // What a probe's slot says of a peak: an ru_maxrss, to be doubted as above.
  void note_peak(std::int32_t pid, std::int64_t bytes);
  // What VmHWM says, which is the process' own.
  void note_high_water(std::int64_t id, std::int64_t bytes);

  // A child of the subreaper that is not the target's: never adopted.
  void ignore(std::int32_t pid);
  // This process is about to be copied by its probe: one child of its, named kCopyName, will come
  // and go that is not its own.
  void expect_copy(std::int32_t pid);
  // Whether one of those that are ignored is there now. It shares its maker's pages, and as long as
  // it does what is counted by share (Pss) shows half of them.
  bool copied() const;

  // Everyone who runs, and those who ended until kEndedKept others have: a week of short processes
  // must not fill the recorder. nullptr: forgotten, or never was. A pointer is good until then.
  static constexpr std::size_t kEndedKept = 4096;
  const Member* find(std::int64_t id) const;
  const Member* running(std::int32_t pid) const;         // the member that has this pid now
  const std::vector<std::int64_t>& running_ids() const;  // ascending
  std::int64_t count() const;                            // all there ever were
  Unseen unseen() const;
  const Roots& roots() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Raises this process's soft limit of descriptors to its hard one and returns what it is then.
// Call it after the command was started: the target must not inherit it.
std::size_t raise_descriptor_limit();

// "python3 train.py" of a cmdline with its NULs: folder dropped from the first word, control bytes
// shown as '?', cut at `limit` bytes on a character's edge. "[comm]" where cmdline is empty.
std::string short_name(std::string_view cmdline, std::string_view comm, std::size_t limit = 80);

}  // namespace lowtide::watch

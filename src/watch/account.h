// SPDX-License-Identifier: Apache-2.0
#pragma once

// The closed account: where resident memory lives, in parts that sum exactly to the kernel's total.
//
//     smaps ──> heap and other anonymous ─┬ live Python, garbage, native   what a heap graph found
//               stacks                    ├ allocator free, runtime free   kept for later
//               mapped files              └ unexplained                    never hidden
//               shared memory
//     memory.stat ──> page cache, kernel     only of the container, beside the account
//
// Without a heap graph what is not free is called "malloc in use" as far as malloc says so, and
// "other anonymous".
//
// One process closes on its Rss; the tree on the sum of Pss, so that shared pages count once.

#include <cstdint>
#include <string>
#include <vector>

#include "lowtide/result.h"
#include "recording/recording.h"
#include "watch/cgroup.h"

namespace lowtide::watch {

// Rss and Pss of one class of mappings. Bytes.
struct Resident {
  std::int64_t rss = 0;
  std::int64_t pss = 0;
};

// smaps of one process, by class. The classes sum to the total.
struct Mappings {
  Resident heap;       // [heap], brk
  Resident stacks;     // [stack], and mappings that look like thread stacks (account.cc says how)
  Resident anonymous;  // every other anonymous mapping, and private pages of files written to
  Resident files;      // pages of files as they are on disk
  Resident shared;     // shmem: memfd, /dev/shm, SysV, MAP_SHARED|MAP_ANONYMOUS
  Resident other;      // [vdso], devices, and what no rule names
  std::int64_t swap = 0;
  std::int64_t page_tables = -1;   // VmPTE; the kernel's, not part of Rss
  std::int64_t thread_stacks = 0;  // how many mappings were taken for one
  std::int64_t huge = 0;           // AnonHugePages
  bool whole = true;               // false: the process went away, or had too many mappings

  Resident total() const;
};

// Streams /proc/PID/smaps: a constant buffer, whatever its length. Slow (as smaps_rollup), so
// call it for the account only. NotFound where the process has gone.
Result<Mappings> read_mappings(const Roots& roots, std::int32_t pid);

// What others know of a process. Bytes, -1: not known.
struct Known {
  std::int64_t allocator_in_use = -1;  // lowtide_slot.allocator
  std::int64_t allocator_free = -1;
  std::int64_t live = -1;          // objects of the runtime (shallow), from the heap's account
  std::int64_t live_native = -1;   // what they own outside its heap
  std::int64_t garbage = -1;       // of the runtime, not reached and not yet collected
  std::int64_t runtime_free = -1;  // kept free by the runtime's own allocator (pymalloc)
  std::string runtime;             // "Python", "JS": the word in "live Python"
};

struct Account {
  std::vector<recording::AccountPart> parts;  // largest first, "unexplained" last; none is 0
  std::int64_t total = 0;                     // the sum of the parts: Rss, or Pss for the tree
  std::int64_t not_resident = 0;  // allocated but never touched or swapped out: np.zeros
};

enum class Basis { Rss, Pss };
Account make_account(const Mappings& mappings, const Known& known, double seconds,
                     std::int64_t process, Basis basis = Basis::Rss);

// Sums accounts made on Pss into one of process 0.
Account tree_account(const std::vector<Account>& processes, double seconds);

// What is charged to the container and is in no process: page cache not mapped, kernel stacks,
// page tables, slab, sockets. Parts named "container: …", of process 0; they are beside the
// account's sum, never in it.
std::vector<recording::AccountPart> container_parts(const MemoryStat& stat, double seconds);

}  // namespace lowtide::watch

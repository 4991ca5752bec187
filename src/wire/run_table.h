/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LOWTIDE_WIRE_RUN_TABLE_H
#define LOWTIDE_WIRE_RUN_TABLE_H

/* The table a run shares with every process it watches. Plain C: the probe and the recorder
 * are built by different rules and must agree on each byte. kVersion moves with any change.
 *
 * A run has a folder of mode 0700 whose absolute path stands in $LOWTIDE_RUN:
 *
 *     table            this file, 0600, mapped MAP_SHARED by the recorder and by each probe
 *     heap-<id>.sock   a listening Unix socket, made by whoever asked request <id>
 *
 * The probe keeps no descriptor open: it maps the table, closes the file and from then on only
 * reads and writes memory. Nobody ever waits for the other side: a probe whose recorder is dead
 * writes into pages nobody reads.
 *
 *     +--------+---------------+-----------------------+--------------------------+
 *     | header | round pattern | ring of output lines  | slots, one per process   |
 *     +--------+---------------+-----------------------+--------------------------+
 *
 * A process claims a slot (free -> claimed -> live), sets exited at its end, and the recorder
 * frees it when it has read it. After fork the child finds its pointer to the slot wiped
 * (MADV_WIPEONFORK) and claims one of its own.
 *
 * Asking for something: whoever asks makes heap-<id>.sock and moves slot.request from 0 to <id>
 * by compare and swap; that is the lock. The next hooked call in the process (malloc, mmap ...)
 * sees it and answers with a thread that lives only for the request. The asker sets request
 * back to 0 when it is done or gives up, and a thread that is still waiting for the
 * interpreter's lock then leaves without having done anything. The asker, holding the lock, sets
 * answer back to NONE just before that; ids are never used twice, and a probe takes each id once.
 *
 * The file must be allocated, not sparse (posix_fallocate): a full disk would otherwise be a
 * SIGBUS in the target.
 */

#include <stdint.h>

#define LOWTIDE_ENVIRONMENT "LOWTIDE_RUN"

enum {
  LOWTIDE_TABLE_MAGIC = 0x4c545442, /* "LTTB" */
  LOWTIDE_TABLE_VERSION = 1,
  LOWTIDE_SLOTS = 2048,
  LOWTIDE_LINES = 16384,         /* a power of two */
  LOWTIDE_PATTERN_STATES = 1024, /* of the round pattern's automaton */
};

enum lowtide_slot_state {
  LOWTIDE_SLOT_FREE = 0,
  LOWTIDE_SLOT_CLAIMED = 1,
  LOWTIDE_SLOT_LIVE = 2,
  LOWTIDE_SLOT_EXITED = 3,
};

/* How far the request in slot.request has come. Written by the probe. */
enum lowtide_answer {
  LOWTIDE_ANSWER_NONE = 0,
  LOWTIDE_ANSWER_TAKEN = 1,   /* a thread has been made for it */
  LOWTIDE_ANSWER_COPIED = 2,  /* the copy exists and is writing to the socket */
  LOWTIDE_ANSWER_REFUSED = 3, /* the reason, one sentence, is on the socket if that opened */
};

struct lowtide_allocator {
  uint64_t updated_ns; /* CLOCK_MONOTONIC; 0: never */
  uint64_t in_use;     /* bytes handed out by glibc's malloc, mmapped chunks included */
  uint64_t free;       /* bytes malloc keeps: free chunks of every arena, top included */
  uint64_t mapped;     /* of in_use, chunks that have a mapping of their own */
  uint64_t releasable; /* of free, what malloc_trim would give back from the top */
};

struct lowtide_slot {
  uint32_t state; /* enum lowtide_slot_state, atomic */
  int32_t pid;
  uint64_t started_ns; /* CLOCK_MONOTONIC when the slot was claimed (exec claims anew) */

  uint32_t request;      /* 0 or the id of what is asked for, atomic */
  uint32_t answer;       /* enum lowtide_answer, atomic */
  uint64_t lock_wait_ns; /* of the last request: waiting for the interpreter's lock */
  uint64_t pause_ns;     /* of the last request: the lock held, so the program stopped */

  uint32_t want_allocator; /* set by the recorder: fill `allocator` at the next malloc, atomic */
  uint32_t troubles;       /* counted, never said: what the probe could not do */
  struct lowtide_allocator allocator;

  uint64_t peak_rss; /* bytes, ru_maxrss; written as the process exits, 0 before */
  uint64_t rounds;   /* lines of this process that matched the round pattern */

  uint64_t pid_namespace; /* inode of its pid namespace: what `pid` counts in; 0 unknown */
  int32_t copy_pid;       /* of the last request: the copy (same namespace), 0 when there is none */
  uint8_t reserved[140];
};

/* One line the target wrote to its stdout or stderr. `shape` is a hash of the line with every
 * run of digits folded, so "step 7 loss 0.12" and "step 8 loss 0.09" have the same one; the
 * text itself never leaves the target. */
struct lowtide_line {
  uint64_t ns; /* CLOCK_MONOTONIC; written last, 0 while the entry is being written */
  int32_t pid;
  uint32_t shape;
  uint32_t matched;  /* the round pattern was found in it */
  uint32_t sequence; /* low 32 bits of the entry's position in lines_written, to see overruns */
};

/* Deterministic automaton over bytes, started afresh at each line. State 0 is dead (no match can
 * follow on this line), state 1 the start, state 2 accepting: the line is a round and the rest
 * of it does not matter. The end of the line is fed as '\n' (also where it was '\r') before the
 * next line starts at state 1, so that '$' can match. */
struct lowtide_pattern {
  uint32_t states; /* 0: no pattern */
  uint16_t next[LOWTIDE_PATTERN_STATES][256];
};

struct lowtide_table {
  uint32_t magic;
  uint32_t version;
  int32_t recorder_pid;
  uint32_t flags; /* none yet */
  uint64_t started_ns;
  uint64_t lines_written; /* atomic; entry i lives at lines[i % LOWTIDE_LINES] */
  uint32_t slots_refused; /* atomic; processes that found no free slot */
  uint32_t next_request;  /* atomic; askers take ids from here, starting at 1 */
  char probe_path[1024];  /* what LD_PRELOAD must name in children */
  uint8_t reserved[3024];
  struct lowtide_pattern pattern;
  struct lowtide_line lines[LOWTIDE_LINES];
  struct lowtide_slot slots[LOWTIDE_SLOTS];
};

#ifdef __cplusplus
static_assert(sizeof(struct lowtide_slot) == 256, "a slot is four cache lines");
static_assert(sizeof(struct lowtide_line) == 24, "a line event is 24 bytes");
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LOWTIDE_WIRE_HEAP_STREAM_H
#define LOWTIDE_WIRE_HEAP_STREAM_H

/* What the copy of a target writes about its heap, in the order it meets things.
 *
 * The conversation on heap-<id>.sock:
 *   asker -> probe   one struct lowtide_ask, then ask.text_bytes bytes of text
 *   probe -> asker   a stream of records (below), ended by END or REFUSED, or cut
 *
 * Why a stream and not a finished file: the copy lives in a container that may be nearly full.
 * It keeps one table of addresses (12 to 16 bytes an object) and a buffer, no edge. The stream
 * is stored compressed as it is and becomes a graph when somebody asks.
 *
 * All numbers are LEB128 varints ("varint"), signed ones zigzag ("svarint"). A string is given
 * once by STRING and named by its position afterwards; string 0 is "" and never sent. Node ids
 * count NODE records from 1 (0 is the super-root). A node's references follow it at once, and may
 * name nodes whose NODE record comes later: ids are given out when an object is first met and
 * NODE records come in the order of the ids.
 *
 *   HELLO    'H' version pid runtime:string-bytes(varint length + bytes) flags
 *   STRING   'S' length bytes
 *   NODE     'N' type:string label:string shallow native refcount flags address
 *            edge_count { kind name target:svarint(target - this id) }...
 *   ROOT     'R' kind name:string target          a named reason for `target` to live
 *   NOTE     'T' length bytes                     a sentence for the reader of the report
 *   ACCOUNT  'A' part:string bytes                e.g. "pymalloc arenas", "pymalloc in use"
 *   VALUE    'V' node-address length bytes        an answer of --show (text, or an exception)
 *   END      'E' nodes edges walk_ns unreadable flags
 *   REFUSED  'X' length bytes                     one sentence: why there is no heap
 *
 * `name` of an edge is a string for every kind but Item, whose name is the index itself.
 * `refcount` is 0 where it means nothing (immortal objects, native storages).
 */

#include <stdint.h>

enum { LOWTIDE_HEAP_MAGIC = 0x4c544850, LOWTIDE_HEAP_VERSION = 1 };

enum lowtide_ask_kind {
  LOWTIDE_ASK_HEAP = 1,
  LOWTIDE_ASK_SHOW = 2, /* text: type '\0' expression */
};

enum lowtide_ask_flags {
  LOWTIDE_ASK_CONTENTS = 1, /* short excerpts of strings may be used as labels */
};

struct lowtide_ask {
  uint32_t magic; /* LOWTIDE_HEAP_MAGIC */
  uint32_t kind;
  uint32_t flags;
  uint32_t walk_limit_ms; /* the copy ends itself after this long, END says so */
  uint32_t lock_limit_ms; /* how long to wait for the interpreter's lock */
  uint32_t object_limit;  /* 0: none. SHOW: objects shown at most */
  uint64_t memory_limit;  /* bytes the copy may allocate for itself; 0: none */
  uint32_t text_bytes;
  uint32_t reserved;
};

/* How one object holds another. heap::EdgeKind has the same values. */
enum lowtide_edge_kind {
  LOWTIDE_EDGE_ATTRIBUTE = 0,  /* o.name: __slots__, tp_members, inline instance values */
  LOWTIDE_EDGE_ITEM = 1,       /* o[7]: list, tuple, deque; the name is the index */
  LOWTIDE_EDGE_KEY = 2,        /* the value at a dict key; name: the key's text, see below */
  LOWTIDE_EDGE_KEY_OBJECT = 3, /* the key object itself */
  LOWTIDE_EDGE_LOCAL = 4,      /* a frame's local variable */
  LOWTIDE_EDGE_CLOSURE = 5,    /* a free variable of a function: function -> value, one hop */
  LOWTIDE_EDGE_INTERNAL = 6,   /* plumbing a person does not name: __dict__, type, code ... */
  LOWTIDE_EDGE_WEAK = 7,       /* holds nothing alive */
  LOWTIDE_EDGE_NATIVE = 8,     /* to memory outside the runtime: a storage */
};

/* The name of a KEY edge is the key's own text where the dict is a namespace (a module's, a
 * class's or an instance's __dict__) or the key is an identifier-like str of at most 40
 * characters; otherwise "" unless the ask allows contents. */

enum lowtide_root_kind {
  LOWTIDE_ROOT_MODULE = 0,  /* name: the module's name */
  LOWTIDE_ROOT_FRAME = 1,   /* name: "main in train.py:41", target: a synthetic frame node */
  LOWTIDE_ROOT_THREAD = 2,  /* thread-locals, context, exception state; name says which */
  LOWTIDE_ROOT_RUNTIME = 3, /* interned strings, atexit, builtins, codecs ...; name says which */
  LOWTIDE_ROOT_TYPE = 4,    /* a static type; name: the type's name */
  LOWTIDE_ROOT_NATIVE = 5,  /* never sent: readers add it for references nobody accounts for */
};

enum lowtide_node_flags {
  LOWTIDE_NODE_COLLECTABLE = 1, /* takes part in garbage collection */
  LOWTIDE_NODE_SYNTHETIC = 2,   /* not an object: a frame, a native storage */
  LOWTIDE_NODE_STATIC = 4,      /* not allocated: static types, singletons, immortals */
  LOWTIDE_NODE_STORAGE = 8,     /* native memory, counted once for all that share it */
  LOWTIDE_NODE_SCANNED = 16,    /* found only by scanning memory: nothing known refers to it */
  LOWTIDE_NODE_NAMESPACE = 32,  /* a dict that is some object's __dict__ */
  LOWTIDE_NODE_USER = 64,       /* its type is defined outside the standard library */
  LOWTIDE_NODE_FINALIZER = 128, /* has __del__ */
};

enum lowtide_end_flags {
  LOWTIDE_END_TIME = 1,   /* stopped at walk_limit_ms: the heap is not whole */
  LOWTIDE_END_MEMORY = 2, /* stopped at memory_limit: the heap is not whole */
  LOWTIDE_END_GC_OFF = 4, /* the program has switched its garbage collector off */
};

#endif

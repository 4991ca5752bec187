// SPDX-License-Identifier: Apache-2.0
#pragma once

// The copy of a target, as the code that walks its heap sees it.
//
//     target:  any thread -> request thread (holds the interpreter's lock) -> goes on, untouched
//                                   | raw clone, milliseconds
//     copy:                         +-> lowtide_walk_cpython(copy) -> stream -> the asker
//
// The copy has one thread, which owns the interpreter's lock. Other threads were stopped anywhere,
// perhaps inside malloc or the loader: take no lock, call no dlsym, no stdio, nothing of the
// user's. malloc is rerouted to `arena` where the program uses the one we hook.

#include <stddef.h>
#include <stdint.h>

#include "wire/heap_stream.h"

namespace lowtide::probe {

// Buffers and sends. When the asker has gone or does not read for 10 s the process ends here, so
// a walk checks nothing; flushing at the end is done for it.
class Writer {
 public:
  void byte(uint8_t value) {
    if (used_ == sizeof buffer_) flush();
    buffer_[used_++] = value;
  }
  void varint(uint64_t value) {
    if (used_ + 10 > sizeof buffer_) flush();
    while (value >= 0x80) {
      buffer_[used_++] = static_cast<uint8_t>(value | 0x80);
      value >>= 7;
    }
    buffer_[used_++] = static_cast<uint8_t>(value);
  }
  void svarint(int64_t value) {
    varint((static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63));
  }
  void bytes(const void* data, size_t count);           // as they are
  void text(const char* data, size_t count);            // varint length, then the bytes
  void sentence(uint8_t record, const char* sentence);  // NOTE and REFUSED
  void flush();

  // What the probe itself calls. In the target a broken socket must end nothing but the answer.
  void open(int socket, bool in_target) {
    socket_ = socket;
    in_target_ = in_target;
    used_ = 0;
  }

 private:
  int socket_;
  bool in_target_;
  size_t used_;
  uint8_t buffer_[1 << 16];
};

// Memory of the copy's own, by pages from the kernel, never given back except by `release`.
class Arena {
 public:
  // Zeroed, 16-byte aligned. Null when memory_limit is reached: end the walk, say
  // LOWTIDE_END_MEMORY.
  void* take(size_t bytes);
  // Whole pages for a table that grows: map the larger one, move, release the smaller one.
  void* map(size_t bytes);
  void release(void* pages, size_t bytes);
  uint64_t used() const { return used_; }  // bytes mapped and not released

  uint64_t limit;  // 0: none

 private:
  uint64_t used_;
  char* next_;
  char* end_;
};

// One line of /proc/self/maps. Neighbours are not joined; sorted by address.
struct Range {
  uintptr_t begin, end;
  const char* name;  // "", a path, "[heap]", "[stack]" ...
  bool readable, writable, executable;
};

// A loaded object (the program or a library). Its symbols are looked up in its own tables, with no
// lock of the loader: the one way that is safe in the copy.
struct Module {
  const char* path;  // "" for the program itself
  uintptr_t base;
  const void* dynamic;  // its PT_DYNAMIC, in memory
};
// Exported symbols only, of any version; null when there is none.
void* find_symbol(const Module& module, const char* name);

}  // namespace lowtide::probe

struct lowtide_copy {
  lowtide_ask ask;
  const char* text;  // ask.text_bytes bytes and a zero
  lowtide::probe::Writer out;
  lowtide::probe::Arena arena;

  lowtide::probe::Module python;  // what holds the interpreter: the program or libpython
  int python_major, python_minor;
  const char* python_version;  // Py_GetVersion()

  const lowtide::probe::Module* modules;  // all loaded objects, in the loader's order
  size_t module_count;
  const lowtide::probe::Range* ranges;  // empty where /proc is not mounted
  size_t range_count;

  int32_t target_pid;    // the target's, not the copy's
  uint64_t started_ns;   // CLOCK_MONOTONIC at the copy's first instruction
  uint64_t deadline_ns;  // started_ns + walk_limit_ms; 2 s later a signal ends the copy
  uint32_t late_countdown;
  size_t last_range;

  // A symbol of the interpreter.
  template <typename T>
  T* find(const char* name) const {
    return reinterpret_cast<T*>(lowtide::probe::find_symbol(python, name));
  }

  // Time is up: end the walk, say LOWTIDE_END_TIME. Reads the clock every 256th call.
  bool late();
  uint64_t now_ns() const;

  // All of [address, address + bytes) was readable by the map when the copy was made. A filter for
  // wild pointers: the guard below still has the last word (a file may have been truncated). True
  // for everything where /proc is not mounted.
  bool readable(uintptr_t address, size_t bytes);

  // Runs body(argument); false if it faulted (SIGSEGV, SIGBUS), wherever it was: what it wrote
  // until then stands, so keep half-written records out of `out` by checking first. Nests. Costs
  // about as much as a function call that saves its registers.
  bool guarded(void (*body)(void*), void* argument);
};

// Runs in the copy; returning ends the copy. Sends HELLO to END, or REFUSED.
extern "C" void lowtide_walk_cpython(lowtide_copy* copy);

// Runs in the target just before the copy is made, in the request's thread with the interpreter's
// lock held, so for microseconds and only to read. `ask`, `python*` and `modules` are set. Null to
// go on, or the sentence to refuse with.
extern "C" const char* lowtide_objection_cpython(lowtide_copy* copy);

// SPDX-License-Identifier: Apache-2.0
// Walks the heap of the program that loads it, without recorder or request: what a test calls
// through ctypes.PyDLL (so with the interpreter's lock held) to get a stream on a socket.

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe/copy.h"
#include "probe/modules.h"
#include "probe/python.h"
#include "probe/run_copy.h"

namespace lowtide::probe {
namespace {

struct Answer {
  lowtide_copy copy;
  Module modules[4096];
  char text[4096];
};

}  // namespace
}  // namespace lowtide::probe

// The pid of the copy, an ordinary child here, or a negative number.
extern "C" __attribute__((visibility("default"))) int lowtide_walk_debug(int socket, uint32_t kind,
                                                                         uint32_t flags,
                                                                         uint64_t memory_limit,
                                                                         const char* text,
                                                                         uint32_t text_bytes) {
  using namespace lowtide::probe;
  void* pages =
      mmap(nullptr, sizeof(Answer), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return -1;
  auto& answer = *static_cast<Answer*>(pages);
  lowtide_copy& copy = answer.copy;
  copy.ask.magic = LOWTIDE_HEAP_MAGIC;
  copy.ask.kind = kind;
  copy.ask.flags = flags;
  copy.ask.walk_limit_ms = 120000;
  copy.ask.memory_limit = memory_limit;
  copy.arena.limit = memory_limit;
  if (text_bytes < sizeof answer.text) memcpy(answer.text, text, text_bytes);
  copy.ask.text_bytes = text_bytes;
  copy.text = answer.text;
  copy.modules = answer.modules;
  copy.module_count = list_modules(answer.modules, 4096);
  copy.target_pid = getpid();
  Python python{};
  if (find_python(copy.modules, copy.module_count, python)) return -2;
  copy.python = python.module;
  copy.python_major = python.major;
  copy.python_minor = python.minor;
  copy.python_version = python.version;
  long pid = syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (pid == 0) run_copy(copy, socket);
  munmap(pages, sizeof(Answer));
  return static_cast<int>(pid);
}

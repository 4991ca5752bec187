// SPDX-License-Identifier: Apache-2.0
#include "probe/slot.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

extern "C" int __register_atfork(void (*)(), void (*)(), void (*)(), void*);
extern "C" void* __dso_handle;

namespace lowtide::probe {

lowtide_slot nobody;
lowtide_table* table;
char run_folder[4096];

namespace {

Own asleep{&nobody, 0, 0, 0};
bool asleep_for_good;

// fstat is an inline of an old glibc's and a symbol of a new one's; the system call is neither.
bool status_of(int directory, const char* path, int flags, struct stat* status) {
  return syscall(SYS_newfstatat, directory, path, status, flags) == 0;
}

uint64_t pid_namespace() {
  struct stat status;
  if (!status_of(AT_FDCWD, "/proc/self/ns/pid", 0, &status)) return 0;
  return status.st_ino;
}

void wipe_own() { *own = Own{}; }

// Kernels before 4.14 cannot wipe: an atfork handler does, which raw clones escape.
Own* make_own() {
  void* page =
      mmap(nullptr, sizeof(Own), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return nullptr;
  if (madvise(page, sizeof(Own), MADV_WIPEONFORK) != 0 &&
      __register_atfork(nullptr, nullptr, wipe_own, &__dso_handle) != 0)
    return nullptr;
  return static_cast<Own*>(page);
}

lowtide_table* map_table(const char* path) {
  const int file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return nullptr;
  struct stat status;
  void* mapped = MAP_FAILED;
  if (status_of(file, "", AT_EMPTY_PATH, &status) && S_ISREG(status.st_mode) &&
      status.st_size >= static_cast<off_t>(sizeof(lowtide_table)))
    mapped = mmap(nullptr, sizeof(lowtide_table), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (mapped == MAP_FAILED) return nullptr;
  auto* found = static_cast<lowtide_table*>(mapped);
  if (found->magic == LOWTIDE_TABLE_MAGIC && found->version == LOWTIDE_TABLE_VERSION &&
      memchr(found->probe_path, 0, sizeof found->probe_path) != nullptr) {
    madvise(mapped, sizeof(lowtide_table), MADV_DONTDUMP);
    return found;
  }
  munmap(mapped, sizeof(lowtide_table));
  return nullptr;
}

bool move_state(lowtide_slot* slot, uint32_t from, uint32_t to) {
  return __atomic_compare_exchange_n(&slot->state, &from, to, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED);
}

// A slot lies near position pid, so that an exec'd program finds the one it had before exec.
lowtide_slot* take_slot(int32_t pid, uint64_t space) {
  constexpr uint32_t kNear = 16;
  const auto start = static_cast<uint32_t>(pid);
  for (uint32_t i = 0; i < kNear; ++i) {
    auto* slot = &table->slots[(start + i) % LOWTIDE_SLOTS];
    if (slot->pid == pid && slot->pid_namespace == space &&
        (move_state(slot, LOWTIDE_SLOT_LIVE, LOWTIDE_SLOT_CLAIMED) ||
         move_state(slot, LOWTIDE_SLOT_EXITED, LOWTIDE_SLOT_CLAIMED)))
      return slot;
  }
  for (uint32_t i = 0; i < LOWTIDE_SLOTS; ++i) {
    auto* slot = &table->slots[(start + i) % LOWTIDE_SLOTS];
    if (move_state(slot, LOWTIDE_SLOT_FREE, LOWTIDE_SLOT_CLAIMED)) return slot;
  }
  return nullptr;
}

}  // namespace

Own* own = &asleep;

uint64_t now_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

void claim_slot() {
  lowtide_slot* expected = nullptr;
  if (!__atomic_compare_exchange_n(&own->slot, &expected, &nobody, false, __ATOMIC_ACQ_REL,
                                   __ATOMIC_RELAXED))
    return;  // Another thread is at it, or has done it.
  if (table == nullptr || __atomic_load_n(&asleep_for_good, __ATOMIC_ACQUIRE)) return;
  const int saved_errno = errno;
  const auto pid = static_cast<int32_t>(getpid());
  const uint64_t space = pid_namespace();
  auto* slot = take_slot(pid, space);
  if (slot == nullptr) {
    __atomic_fetch_add(&table->slots_refused, 1, __ATOMIC_RELAXED);
  } else {
    const auto after_state = offsetof(lowtide_slot, pid);
    memset(reinterpret_cast<char*>(slot) + after_state, 0, sizeof *slot - after_state);
    slot->pid = pid;
    slot->pid_namespace = space;
    slot->started_ns = now_ns();
    __atomic_store_n(&slot->state, LOWTIDE_SLOT_LIVE, __ATOMIC_RELEASE);
    __atomic_store_n(&own->slot, slot, __ATOMIC_RELEASE);
  }
  errno = saved_errno;
}

void fall_asleep() {
  __atomic_store_n(&asleep_for_good, true, __ATOMIC_RELEASE);
  __atomic_store_n(&own->slot, &nobody, __ATOMIC_RELEASE);
}

lowtide_slot* own_slot() {
  auto* slot = __atomic_load_n(&own->slot, __ATOMIC_ACQUIRE);
  if (slot == nullptr) {
    claim_slot();
    slot = __atomic_load_n(&own->slot, __ATOMIC_ACQUIRE);
  }
  if (slot == nullptr || slot == &nobody || slot->pid != static_cast<int32_t>(getpid()))
    return nullptr;
  return slot;
}

void join_run(const char* folder) {
  constexpr char kTable[] = "/table";
  const size_t length = strlen(folder);
  if (folder[0] != '/' || length + sizeof kTable > sizeof run_folder) return;
  char path[sizeof run_folder];
  stpcpy(stpcpy(path, folder), kTable);
  table = map_table(path);
  if (table == nullptr) return;
  Own* page = make_own();
  if (page == nullptr) {
    table = nullptr;
    return;
  }
  memcpy(run_folder, folder, length + 1);
  own = page;
  claim_slot();
}

}  // namespace lowtide::probe

// SPDX-License-Identifier: Apache-2.0
#pragma once

// The definitions our hooks stand before: for each name, the first one in the objects loaded after
// the probe (jemalloc's malloc where there is one, otherwise libc's). All are found in one pass on
// the first call of any hook, which is earlier than our constructor: programs allocate before it.

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

// clang-format off
#define LOWTIDE_SPAWN                                                                         \
  (pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*,          \
   char* const*, char* const*)

// libc's macros of these names would change the table.
#undef putc
#undef putchar

#define LOWTIDE_NEXT(define)                                                                  \
  define(void*, malloc, (size_t))                                                             \
  define(void*, calloc, (size_t, size_t))                                                     \
  define(void*, realloc, (void*, size_t))                                                     \
  define(void, free, (void*))                                                                 \
  define(void*, memalign, (size_t, size_t))                                                   \
  define(void*, aligned_alloc, (size_t, size_t))                                              \
  define(int, posix_memalign, (void**, size_t, size_t))                                       \
  define(size_t, malloc_usable_size, (void*))                                                 \
  define(ssize_t, write, (int, const void*, size_t))                                          \
  define(ssize_t, writev, (int, const iovec*, int))                                           \
  define(int, puts, (const char*))                                                            \
  define(int, fputs, (const char*, FILE*))                                                    \
  define(size_t, fwrite, (const void*, size_t, size_t, FILE*))                                \
  define(int, fputc, (int, FILE*))                                                            \
  define(int, putc, (int, FILE*))                                                             \
  define(int, putchar, (int))                                                                 \
  define(int, vfprintf, (FILE*, const char*, va_list))                                        \
  define(int, __vfprintf_chk, (FILE*, int, const char*, va_list))                             \
  define(ssize_t, read, (int, void*, size_t))                                                 \
  define(ssize_t, recv, (int, void*, size_t, int))                                            \
  define(int, poll, (pollfd*, nfds_t, int))                                                   \
  define(int, select, (int, fd_set*, fd_set*, fd_set*, timeval*))                             \
  define(int, epoll_wait, (int, epoll_event*, int, int))                                      \
  define(int, nanosleep, (const timespec*, timespec*))                                        \
  define(int, clock_nanosleep, (clockid_t, int, const timespec*, timespec*))                  \
  define(int, execve, (const char*, char* const*, char* const*))                              \
  define(int, execvpe, (const char*, char* const*, char* const*))                             \
  define(int, fexecve, (int, char* const*, char* const*))                                     \
  define(int, posix_spawn, LOWTIDE_SPAWN)                                                     \
  define(int, posix_spawnp, LOWTIDE_SPAWN)                                                    \
  define(int, system, (const char*))                                                          \
  define(FILE*, popen, (const char*, const char*))
// clang-format on

namespace lowtide::probe {

struct Next {
#define LOWTIDE_MEMBER(result, name, arguments) result(*name) arguments;
  LOWTIDE_NEXT(LOWTIDE_MEMBER)
#undef LOWTIDE_MEMBER
  bool malloc_is_libc;  // the malloc in use is the one mallinfo tells of
  bool ready;           // written last
};

extern Next found_next;
void find_next();

// Every name is in glibc 2.17, so no pointer is null.
inline const Next& next() {
  if (__builtin_expect(!__atomic_load_n(&found_next.ready, __ATOMIC_ACQUIRE), 0)) find_next();
  return found_next;
}

}  // namespace lowtide::probe

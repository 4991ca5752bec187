// SPDX-License-Identifier: Apache-2.0
// The ways one program starts another: each passes on its environment with ours added, if what
// starts can load the probe. Arguments, results and errno are those of the real call.

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe/environment.h"
#include "probe/export.h"
#include "probe/next.h"

using namespace lowtide::probe;

namespace {

int execute(const char* path, char* const* arguments, char* const* environment) {
  return with_addition(environment, can_join(AT_FDCWD, path, 0),
                       [=](char* const* with) { return next().execve(path, arguments, with); });
}

int execute_searched(const char* file, char* const* arguments, char* const* environment) {
  return with_addition(environment, can_join_searched(file),
                       [=](char* const* with) { return next().execvpe(file, arguments, with); });
}

}  // namespace

LOWTIDE_EXPORT int execve(const char* path, char* const arguments[], char* const environment[]) {
  return execute(path, arguments, environment);
}

LOWTIDE_EXPORT int execv(const char* path, char* const arguments[]) {
  return execute(path, arguments, environ);
}

LOWTIDE_EXPORT int execvp(const char* file, char* const arguments[]) {
  return execute_searched(file, arguments, environ);
}

LOWTIDE_EXPORT int execvpe(const char* file, char* const arguments[], char* const environment[]) {
  return execute_searched(file, arguments, environment);
}

LOWTIDE_EXPORT int fexecve(int file, char* const arguments[], char* const environment[]) {
  return with_addition(environment, can_join(file, "", AT_EMPTY_PATH),
                       [=](char* const* with) { return next().fexecve(file, arguments, with); });
}

// glibc has it since 2.34; before that only programs that bring their own declaration call it.
LOWTIDE_EXPORT int execveat(int directory, const char* path, char* const arguments[],
                            char* const environment[], int flags) {
  return with_addition(environment, can_join(directory, path, flags), [=](char* const* with) {
    return static_cast<int>(syscall(SYS_execveat, directory, path, arguments, with, flags));
  });
}

// The arguments of execl and its kin as an array on the stack: `first`, then up to the null. libc's
// header promises that `first` is not null, which callers need not know: the asm forgets it.
#define LOWTIDE_COLLECT(array, list, first)                                \
  asm("" : "+r"(first));                                                   \
  size_t count = 1;                                                        \
  {                                                                        \
    va_list counting;                                                      \
    va_copy(counting, list);                                               \
    if ((first) != nullptr)                                                \
      while (va_arg(counting, char*) != nullptr) ++count;                  \
    va_end(counting);                                                      \
  }                                                                        \
  auto** array = static_cast<char**>(alloca((count + 1) * sizeof(char*))); \
  array[0] = const_cast<char*>(first);                                     \
  for (size_t i = 1; i < count; ++i) array[i] = va_arg(list, char*);       \
  if ((first) != nullptr) va_arg(list, char*);                             \
  array[count] = nullptr

LOWTIDE_EXPORT int execl(const char* path, const char* first, ...) {
  va_list list;
  va_start(list, first);
  LOWTIDE_COLLECT(arguments, list, first);
  va_end(list);
  return execute(path, arguments, environ);
}

LOWTIDE_EXPORT int execle(const char* path, const char* first, ...) {
  va_list list;
  va_start(list, first);
  LOWTIDE_COLLECT(arguments, list, first);
  auto* environment = va_arg(list, char**);
  va_end(list);
  return execute(path, arguments, environment);
}

LOWTIDE_EXPORT int execlp(const char* file, const char* first, ...) {
  va_list list;
  va_start(list, first);
  LOWTIDE_COLLECT(arguments, list, first);
  va_end(list);
  return execute_searched(file, arguments, environ);
}

LOWTIDE_EXPORT int posix_spawn(pid_t* pid, const char* path,
                               const posix_spawn_file_actions_t* actions,
                               const posix_spawnattr_t* attributes, char* const arguments[],
                               char* const environment[]) {
  return with_addition(environment, can_join(AT_FDCWD, path, 0), [=](char* const* with) {
    return next().posix_spawn(pid, path, actions, attributes, arguments, with);
  });
}

LOWTIDE_EXPORT int posix_spawnp(pid_t* pid, const char* file,
                                const posix_spawn_file_actions_t* actions,
                                const posix_spawnattr_t* attributes, char* const arguments[],
                                char* const environment[]) {
  return with_addition(environment, can_join_searched(file), [=](char* const* with) {
    return next().posix_spawnp(pid, file, actions, attributes, arguments, with);
  });
}

// SPDX-License-Identifier: Apache-2.0
#include "probe/environment.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/modules.h"
#include "probe/slot.h"
#include "wire/loadable.h"

namespace lowtide::probe {
namespace {

constexpr char kPreload[] = "LD_PRELOAD=";
constexpr size_t kPreloadLength = sizeof kPreload - 1;
constexpr char kRun[] = LOWTIDE_ENVIRONMENT "=";
constexpr size_t kRunLength = sizeof kRun - 1;

char run_entry[kRunLength + sizeof run_folder];           // LOWTIDE_RUN=folder
char preload_entry[kPreloadLength + 1024];                // LD_PRELOAD=probe
const char* probe_path = preload_entry + kPreloadLength;  // within it

const char* preload_value(const char* entry) {
  return strncmp(entry, kPreload, kPreloadLength) == 0 ? entry + kPreloadLength : nullptr;
}

// The place of `path` as a whole entry of a list, or null.
char* find_in_list(const char* list, const char* path) {
  const size_t length = strlen(path);
  if (length == 0) return nullptr;
  for (const char* at = list; (at = strstr(at, path)) != nullptr; ++at) {
    const bool starts = at == list || at[-1] == ':' || at[-1] == ' ';
    if (starts && (at[length] == 0 || at[length] == ':' || at[length] == ' '))
      return const_cast<char*>(at);
  }
  return nullptr;
}

// "probe:a:b" -> "a:b". True when nothing but the probe was in it: the entry goes as a whole.
bool take_out(char* list, const char* path) {
  char* at = find_in_list(list, path);
  if (at == nullptr) return false;
  char* rest = at + strlen(path);
  if (at == list && *rest == 0) return true;
  if (*rest != 0)
    ++rest;  // The separator after it goes,
  else
    --at;  // or the one before it.
  memmove(at, rest, strlen(rest) + 1);
  return false;
}

// The name under which the loader knows us is the one LD_PRELOAD had.
const char* own_path() {
  const char* path = "";
  visit_modules(
      [](const Module& module, bool is_probe, void* argument) {
        if (is_probe) *static_cast<const char**>(argument) = module.path;
        return is_probe;
      },
      &path);
  return path;
}

void clean(char** environment, const char* own_name) {
  char** kept = environment;
  for (char** entry = environment; *entry != nullptr; ++entry) {
    if (strncmp(*entry, kRun, kRunLength) == 0) continue;
    if (strncmp(*entry, kPreload, kPreloadLength) == 0 &&
        take_out(*entry + kPreloadLength, own_name))
      continue;
    *kept++ = *entry;
  }
  *kept = nullptr;
}

}  // namespace

void enter_run() {
  const char* folder = getenv(LOWTIDE_ENVIRONMENT);
  if (folder == nullptr) return;
  join_run(folder);
  if (table != nullptr) {
    memcpy(run_entry, kRun, kRunLength);
    memcpy(run_entry + kRunLength, run_folder, strlen(run_folder) + 1);
    memcpy(preload_entry, kPreload, kPreloadLength);
    memcpy(preload_entry + kPreloadLength, table->probe_path, sizeof table->probe_path - 1);
  }
  clean(environ, own_path());
}

Addition plan_addition(char* const* environment) {
  Addition plan{0, 1, nullptr};
  if (run_entry[0] == 0) return plan;
  size_t count = 0;
  if (environment != nullptr) {
    for (; environment[count] != nullptr; ++count) {
      const char* entry = environment[count];
      if (strncmp(entry, kRun, kRunLength) == 0) return plan;  // A run inside this one.
      if (preload_value(entry) != nullptr) plan.old_preload = environment + count;
    }
  }
  if (plan.old_preload != nullptr) {
    const char* old = preload_value(*plan.old_preload);
    if (find_in_list(old, probe_path) != nullptr || lowtide_preload_names_sanitizer(old))
      return plan;
    plan.text = strlen(preload_entry) + 1 + strlen(old) + 1;
  }
  plan.entries = count + 3;  // Ours, and the end.
  return plan;
}

void write_addition(const Addition& plan, char* const* environment, char** entries, char* text) {
  size_t count = 0;
  for (; environment != nullptr && environment[count] != nullptr; ++count)
    entries[count] = environment[count];
  if (plan.old_preload == nullptr) {
    entries[count++] = preload_entry;
  } else {
    char* end = stpcpy(text, preload_entry);
    *end++ = ':';
    stpcpy(end, preload_value(*plan.old_preload));
    entries[plan.old_preload - environment] = text;
  }
  entries[count++] = run_entry;
  entries[count] = nullptr;
}

bool can_join(int directory, const char* program, int flags) {
  if (run_entry[0] == 0 || program == nullptr) return false;
  const int saved_errno = errno;
  const bool joins = lowtide_can_load_at(directory, program, flags, getenv("PATH"), probe_path) ==
                     LOWTIDE_LOADABLE;
  errno = saved_errno;
  return joins;
}

bool can_join_searched(const char* name) {
  if (run_entry[0] == 0 || name == nullptr) return false;
  const int saved_errno = errno;
  char path[4096];
  const bool found = lowtide_search(name, getenv("PATH"), path, sizeof path) != 0;
  auto why =
      found ? lowtide_can_load(path, getenv("PATH"), probe_path) : LOWTIDE_LOADABLE_UNREADABLE;
  // execvp gives what the kernel does not know to the shell.
  if (why == LOWTIDE_LOADABLE_NOT_A_PROGRAM) why = lowtide_can_load("/bin/sh", nullptr, probe_path);
  errno = saved_errno;
  return why == LOWTIDE_LOADABLE;
}

}  // namespace lowtide::probe

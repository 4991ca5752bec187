// SPDX-License-Identifier: Apache-2.0
#pragma once

// The target sees exactly its own environment; what it executes gets ours added.
//
//     recorder --LOWTIDE_RUN, LD_PRELOAD=probe[:own]--> target   constructor takes both out again
//     target   --exec hook adds both on its stack-----> child    the same, if it can load the probe
//
// Everything here runs between vfork and exec too: no allocation, no lock, nothing kept.

#include <alloca.h>
#include <errno.h>
#include <stddef.h>

namespace lowtide::probe {

// Takes LOWTIDE_RUN and our entry of LD_PRELOAD out of `environ`, in place, order kept. Calls
// join_run with the folder if there is one.
void enter_run();

struct Addition {
  size_t entries;  // 0: the environment goes on as it is
  size_t text;
  char* const* old_preload;  // the entry that is extended, or null
};

// What must be added to `environment` (null: an empty one) so that the child joins the run.
Addition plan_addition(char* const* environment);
void write_addition(const Addition& plan, char* const* environment, char** entries, char* text);

// Can what execveat(directory, program, flags) would start load the probe?
bool can_join(int directory, const char* program, int flags);
// The same for a name looked up in $PATH, as execvp does.
bool can_join_searched(const char* name);

// The stack's share of a very large environment; beyond it the child is not watched.
inline constexpr size_t kMostEntries = 8192;

// call(environment) with what `joins` asks for added. Where our few bytes are what makes the
// arguments too long, once more without them.
template <typename Call>
inline int with_addition(char* const* environment, bool joins, Call call) {
  if (!joins) return call(environment);
  const Addition plan = plan_addition(environment);
  if (plan.entries == 0 || plan.entries > kMostEntries) return call(environment);
  auto** entries = static_cast<char**>(alloca(plan.entries * sizeof(char*)));
  auto* text = static_cast<char*>(alloca(plan.text));
  write_addition(plan, environment, entries, text);
  const int result = call(entries);
  const bool too_long = result == E2BIG || (result == -1 && errno == E2BIG);
  return too_long ? call(environment) : result;
}

}  // namespace lowtide::probe

// SPDX-License-Identifier: Apache-2.0
#include "probe/next.h"

#include "probe/modules.h"

namespace lowtide::probe {

Next found_next;

namespace {

struct Search {
  bool past_probe;
  const void *malloc_owner, *libc;  // by their PT_DYNAMIC: a program's base may be 0
};

bool search(const Module& module, bool is_probe, void* argument) {
  auto* state = static_cast<Search*>(argument);
  if (!is_probe) {
    // Objects before the probe count here: a program's own malloc is the one in use.
    if (state->malloc_owner == nullptr && find_symbol(module, "malloc") != nullptr)
      state->malloc_owner = module.dynamic;
    if (state->libc == nullptr && find_symbol(module, "__libc_malloc") != nullptr)
      state->libc = module.dynamic;
  } else {
    state->past_probe = true;
    return false;
  }
  if (!state->past_probe) return false;
#define LOWTIDE_FIND(result, name, arguments) \
  if (found_next.name == nullptr)             \
    found_next.name = reinterpret_cast<result(*) arguments>(find_symbol(module, #name));
  LOWTIDE_NEXT(LOWTIDE_FIND)
#undef LOWTIDE_FIND
  return false;
}

}  // namespace

// Two threads may both come here: they write the same values.
void find_next() {
  Search state{};
  visit_modules(search, &state);
  found_next.malloc_is_libc = state.libc != nullptr && state.malloc_owner == state.libc;
  __atomic_store_n(&found_next.ready, true, __ATOMIC_RELEASE);
}

}  // namespace lowtide::probe

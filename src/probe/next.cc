// SPDX-License-Identifier: Apache-2.0
#include "probe/next.h"

#include "probe/modules.h"

namespace lowtide::probe {

Next found_next;

namespace {

struct Search {
  bool past_probe;
  uintptr_t malloc_base, mallinfo_base;
};

bool search(const Module& module, bool is_probe, void* argument) {
  auto* state = static_cast<Search*>(argument);
  if (is_probe) {
    state->past_probe = true;
    return false;
  }
  if (!state->past_probe) return false;
  const bool had_malloc = found_next.malloc != nullptr;
#define LOWTIDE_FIND(result, name, arguments) \
  if (found_next.name == nullptr)             \
    found_next.name = reinterpret_cast<result(*) arguments>(find_symbol(module, #name));
  LOWTIDE_NEXT(LOWTIDE_FIND)
#undef LOWTIDE_FIND
  if (!had_malloc && found_next.malloc != nullptr) state->malloc_base = module.base;
  if (state->mallinfo_base == 0 && find_symbol(module, "__libc_malloc") != nullptr)
    state->mallinfo_base = module.base;
  return false;
}

}  // namespace

// Two threads may both come here: they write the same values.
void find_next() {
  Search state{};
  visit_modules(search, &state);
  found_next.malloc_is_libc = state.malloc_base != 0 && state.malloc_base == state.mallinfo_base;
  __atomic_store_n(&found_next.ready, true, __ATOMIC_RELEASE);
}

}  // namespace lowtide::probe

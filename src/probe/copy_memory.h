// SPDX-License-Identifier: Apache-2.0
#pragma once

// malloc inside the copy of a target: a bump allocator that never frees. For what the interpreter's
// own functions allocate while they are asked something; the walk itself uses copy->arena.

#include <stddef.h>

namespace lowtide::probe {

extern bool in_copy;  // false in every target, for ever

void* copy_take(size_t size, size_t alignment);  // zeroed; null beyond 256 MiB in all
void* copy_resize(void* old, size_t size);       // `old` may be the target's

}  // namespace lowtide::probe

// SPDX-License-Identifier: Apache-2.0
#pragma once

// The objects loaded into this process, and symbols found in their own tables.
//
// Why not dlsym: it may allocate (we are malloc), its symbol version moved with glibc 2.34, and
// in the copy it waits for a lock whose owner does not exist. dl_iterate_phdr only reads a list;
// a look-up only reads DT_GNU_HASH.

#include <stddef.h>

#include "probe/copy.h"

namespace lowtide::probe {

// Fills up to `room` modules in the loader's order and returns how many there are. Takes the
// loader's read lock, so never in the copy.
size_t list_modules(Module* modules, size_t room);

// Calls visit for each module in the loader's order until it returns true.
using VisitModule = bool (*)(const Module& module, bool is_probe, void* argument);
void visit_modules(VisitModule visit, void* argument);

// First definition in the loader's order, of any module.
void* find_anywhere(const char* name);

// True where `address` lies in the dynamic loader: its own calls to malloc come with its locks
// held, so nothing rare may be started from them.
bool in_loader(const void* address);

}  // namespace lowtide::probe

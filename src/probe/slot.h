// SPDX-License-Identifier: Apache-2.0
#pragma once

// This process's place in the run's table (wire/run_table.h).
//
//     own -> [ one page, wiped by the kernel in every fork child ]
//              slot     -> the table's slot, or `nobody` (asleep for ever), or null: just forked
//              handled     the last request answered or being answered
//
// The page makes fork safe without an atfork handler: a child finds null and claims a slot of its
// own at its next hooked call. A vfork child shares the page and the slot; everything rare
// therefore compares slot->pid with getpid() first.

#include <stdint.h>

#include "wire/run_table.h"

namespace lowtide::probe {

struct Own {
  lowtide_slot* slot;
  uint32_t handled;
  uint32_t shell_lock, shells;  // of system and popen (shell.cc)
};

extern Own* own;               // never null
extern lowtide_slot nobody;    // what a sleeping probe looks at: it asks for nothing
extern lowtide_table* table;   // null while asleep
extern char run_folder[4096];  // "" while asleep

// Maps the table of `folder` and claims a slot; on any trouble the probe sleeps.
void join_run(const char* folder);
void claim_slot();

// The slot if it is ours and live, else null. Claims after a fork. Async-signal-safe.
lowtide_slot* own_slot();

// For good, children included; the slot stays live for the recorder to watch from outside.
void fall_asleep();

uint64_t now_ns();

}  // namespace lowtide::probe

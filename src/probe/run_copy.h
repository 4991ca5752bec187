// SPDX-License-Identifier: Apache-2.0
#pragma once

// The life of a copy, from its first instruction to its last.

#include "probe/copy.h"

namespace lowtide::probe {

// Lets go of everything the target shares with it (session, descriptors, handlers), becomes the
// first to be killed when memory is short, walks, and ends the process.
[[noreturn]] void run_copy(lowtide_copy& copy, int socket);

}  // namespace lowtide::probe

// SPDX-License-Identifier: Apache-2.0
#pragma once

// A copy of this process that is nobody's child here.
//
//     thread --clone(VM|VFORK, no signal)--> helper --clone(no signal)--> copy
//        |  <------- exits at once ----------+                             |
//        reaps the helper with __WALL                  adopted by the subreaper (the recorder)
//
// No fork(): atfork handlers belong to the target (OpenBLAS shuts its threads down in one), and a
// child with an exit signal would be seen by the target's wait(). The helper shares our memory and
// our stack, and is therefore a few instructions that touch neither.

#include <stdint.h>

namespace lowtide::probe {

enum class Side { Target, Copy };

struct Cloned {
  Side side;
  int error;     // 0, or why there is no copy
  int32_t copy;  // its pid, in the target
};

// All signals must be blocked in the calling thread. In the copy only this thread exists.
Cloned clone_self();

}  // namespace lowtide::probe

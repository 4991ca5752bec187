// SPDX-License-Identifier: Apache-2.0
#pragma once

// A copy of this process that is nobody's child here.
//
//     thread --clone--> first copy --clone--> second copy: the one that walks
//        |  goes on at once  |                     |
//        reaps it later   exits          adopted by the subreaper (the recorder)
//
// No fork(): atfork handlers belong to the target (OpenBLAS shuts its threads down in one), and a
// child with an exit signal would be seen by the target's wait(). The second clone happens off the
// target's clock. A helper that shares our memory (CLONE_VM and CLONE_VFORK) would save copying the
// page tables twice, but the target waited for it: on a machine without an idle core the pause was
// 20 ms and more for a heap whose copy takes one.

#include <stdint.h>

namespace lowtide::probe {

struct Cloned {
  bool in_copy;
  int error;      // 0, or why there is no copy
  int32_t first;  // in the target: to be given to reap_first
};

// Writes the copy's pid to `copy_pid`, which lies in shared memory. All signals must be blocked in
// the calling thread. In the copy only this thread exists.
Cloned clone_self(int32_t* copy_pid);

// Waits for the first copy to be gone; 0, or the error of the second clone.
int reap_first(int32_t first);

}  // namespace lowtide::probe

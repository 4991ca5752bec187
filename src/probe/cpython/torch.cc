// SPDX-License-Identifier: Apache-2.0
#include "probe/cpython/walk.h"

namespace lowtide::probe::cpython {
void read_tensor(Walk&, Address) {}
void read_storage(Walk&, Address) {}
void read_native_node(Walk&, Address) {}
}  // namespace lowtide::probe::cpython

// SPDX-License-Identifier: Apache-2.0
// Stands in where the probe is built without a reader of CPython's heap.

#include "probe/copy.h"

extern "C" __attribute__((weak)) void lowtide_walk_cpython(lowtide_copy* copy) {
  copy->out.sentence('X', "this build of lowtide has no CPython reader");
}

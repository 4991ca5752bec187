// SPDX-License-Identifier: Apache-2.0
// Where the probe wakes: before the program's main and its libraries' constructors that come later.

#include <stdlib.h>

#include "probe/next.h"
#include "probe/slot.h"

namespace lowtide::probe {
namespace {

__attribute__((constructor)) void start() {
  next();
  if (const char* folder = getenv(LOWTIDE_ENVIRONMENT)) join_run(folder);
}

}  // namespace
}  // namespace lowtide::probe

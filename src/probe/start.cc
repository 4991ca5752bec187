// SPDX-License-Identifier: Apache-2.0
// Where the probe wakes: before the program's main and its libraries' constructors that come later.

#include "probe/environment.h"
#include "probe/next.h"

namespace lowtide::probe {
namespace {

__attribute__((constructor)) void start() {
  next();
  enter_run();
}

}  // namespace
}  // namespace lowtide::probe

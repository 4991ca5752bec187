// SPDX-License-Identifier: Apache-2.0
#pragma once

// What passes through one output stream of the target, cut into lines that are noted in the table.

#include <stddef.h>
#include <stdint.h>

#include "probe/line.h"

namespace lowtide::probe {

class Stream {
 public:
  // Async-signal-safe; the text is looked at and never kept. errno may change.
  void see(const char* text, size_t count);

 private:
  bool over_budget(size_t count);

  Line line_;
  uint64_t second_began_ns_ = 0, bytes_ = 0;
  bool skipping_ = false;
};

// Is anybody interested in this process's lines?
bool lines_wanted();

}  // namespace lowtide::probe

// SPDX-License-Identifier: Apache-2.0
#pragma once

// The CPython interpreter of this process, if it has one, through its stable API only.

#include "probe/copy.h"

namespace lowtide::probe {

struct Python {
  Module module;
  const char* version;
  int major, minor;
  int (*is_initialized)();
  int (*is_finalizing)();  // null before 3.7
  int (*ensure)();         // PyGILState_STATE is an enum
  void (*release)(int);
};

// Null when `python` was filled, otherwise the sentence to refuse with.
const char* find_python(const Module* modules, size_t count, Python& python);

}  // namespace lowtide::probe

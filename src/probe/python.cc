// SPDX-License-Identifier: Apache-2.0
#include "probe/python.h"

#include <string.h>

namespace lowtide::probe {
namespace {

template <typename Function>
void load(const Module& module, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(find_symbol(module, name));
}

bool read_number(const char*& text, int& number) {
  if (*text < '0' || *text > '9') return false;
  for (number = 0; *text >= '0' && *text <= '9' && number < 1000; ++text)
    number = number * 10 + (*text - '0');
  return true;
}

}  // namespace

const char* find_python(const Module* modules, size_t count, Python& python) {
  bool seen = false;
  for (size_t i = 0; i < count; ++i) {
    python = {};
    const char* (*get_version)() = nullptr;
    load(modules[i], "Py_IsInitialized", python.is_initialized);
    load(modules[i], "Py_GetVersion", get_version);
    load(modules[i], "PyGILState_Ensure", python.ensure);
    load(modules[i], "PyGILState_Release", python.release);
    load(modules[i], "Py_IsFinalizing", python.is_finalizing);
    if (python.is_finalizing == nullptr) load(modules[i], "_Py_IsFinalizing", python.is_finalizing);
    if (python.is_initialized == nullptr || get_version == nullptr || python.ensure == nullptr ||
        python.release == nullptr)
      continue;
    seen = true;
    if (python.is_initialized() == 0) continue;

    python.module = modules[i];
    python.version = get_version();
    const char* text = python.version;
    if (!read_number(text, python.major) || *text++ != '.' || !read_number(text, python.minor))
      return "the version of this Python interpreter cannot be read";
    if (python.major != 3 || python.minor < 8 || python.minor > 14)
      return "this Python interpreter's version is not one of 3.8 to 3.14";
    if (strstr(python.version, "free-threading") != nullptr)
      return "this is a free-threaded Python, which has no lock that stops it";
    if (python.is_finalizing != nullptr && python.is_finalizing() != 0)
      return "the Python interpreter is finishing";
    return nullptr;
  }
  return seen ? "the Python interpreter in this process is not initialised"
              : "there is no Python interpreter in this process";
}

}  // namespace lowtide::probe

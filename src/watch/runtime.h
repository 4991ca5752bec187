// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which runtime a process holds, by what its program and libraries export.
//
// The .dynsym of the executable and of mapped libpython*, libnode* is read with every offset
// checked. Files are remembered by device and inode: a hundred workers cost one look.

#include <cstdint>
#include <memory>
#include <string>

#include "watch/roots.h"

namespace lowtide::watch {

class RuntimeFinder {
 public:
  explicit RuntimeFinder(Roots roots);
  ~RuntimeFinder();
  RuntimeFinder(RuntimeFinder&&) noexcept;
  RuntimeFinder& operator=(RuntimeFinder&&) noexcept;

  // "CPython 3.11.2", "CPython" where the version is not cheap to tell, "Node"; "" for neither,
  // or a process that may not be looked at. Look again after an exec, and once a second or so
  // while a process is young: libpython may be mapped late.
  std::string runtime_of(std::int32_t pid);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lowtide::watch

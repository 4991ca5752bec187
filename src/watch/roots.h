// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where the kernel's text is found. Tests put folders of text in its place.

#include <string>

namespace lowtide::watch {

struct Roots {
  std::string proc = "/proc";
  std::string cgroup = "/sys/fs/cgroup";
};

}  // namespace lowtide::watch

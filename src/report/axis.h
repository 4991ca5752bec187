// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where an axis has its ticks and what they say.

#include <string>
#include <vector>

namespace lowtide::report {

struct Tick {
  double at = 0;
  std::string text;
};

// 0 to at least `top` bytes in about `most` round steps of one unit: "0", "512 MiB", "1.5 GiB".
std::vector<Tick> byte_ticks(double top, int most);

// 0 to `end` seconds: "30 s", "2 min", "1:30 h", "3 days".
std::vector<Tick> time_ticks(double end, int most);

}  // namespace lowtide::report

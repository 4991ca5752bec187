// SPDX-License-Identifier: Apache-2.0
#pragma once

// A Chart in characters: every cell of braille is two dots wide and four high.
//
//     1.5 GiB ┤                    ⢀⡀
//       1 GiB ┤           ⢀⣀⠤⠒⠉⠉⠉⠁⠈⠉
//     512 MiB ┤⢀⣀⠤⠒⠉⠉⠉⠉⠉⠉⠉⠁
//           0 ┼────┬────┬────┬────┬────
//             0   20 s      40 s     60 s

#include <string>

#include "report/chart.h"
#include "report/text.h"

namespace lowtide::report {

// Fits in style.width (80 where that is 0) by `height` lines, both with a floor under them.
std::string to_terminal(const Chart& chart, int height, const Style& style);

}  // namespace lowtide::report

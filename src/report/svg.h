// SPDX-License-Identifier: Apache-2.0
#pragma once

// A Chart as SVG: no script, no font of its own, no element that librsvg or a printer cannot draw.
// The colours are Okabe and Ito's, which survive colour blindness and a grey print; lines are
// named where they end instead of in a legend.

#include <string>

#include "report/chart.h"

namespace lowtide::report {

enum class Theme {
  Light,
  Dark,
  Auto,  // light, and dark where the reader's prefers-color-scheme says so; for the web
};

struct SvgOptions {
  int width = 960;
  int height = 520;
  Theme theme = Theme::Light;
};

std::string to_svg(const Chart& chart, const SvgOptions& options);

}  // namespace lowtide::report

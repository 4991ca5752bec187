// SPDX-License-Identifier: Apache-2.0
#pragma once

// Running one of the programs that draw for us: rsvg-convert, dot.

#include <string>
#include <string_view>
#include <vector>

#include "lowtide/result.h"

namespace lowtide::cli {

// Runs it with `input` on its stdin. What it says on stderr is part of the error; where it is not
// installed, the error names the Debian package that has it.
Status run_tool(const std::vector<std::string>& command, std::string_view input,
                std::string_view package);

}  // namespace lowtide::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace lowtide::cli {

// Is `wanted` a way to name `type`? All of "pandas.core.frame.DataFrame", "DataFrame" and
// "pandas.DataFrame" name the first.
bool names_type(std::string_view wanted, std::string_view type);

}  // namespace lowtide::cli

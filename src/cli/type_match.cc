// SPDX-License-Identifier: Apache-2.0
#include "cli/type_match.h"

namespace lowtide::cli {

bool names_type(std::string_view wanted, std::string_view type) {
  if (wanted == type) return true;
  const auto dot = type.rfind('.');
  if (dot == std::string_view::npos) return false;
  const std::string_view last = type.substr(dot + 1);
  if (wanted == last) return true;
  const std::string_view package = type.substr(0, type.find('.'));
  return wanted.size() == package.size() + 1 + last.size() && wanted.starts_with(package) &&
         wanted[package.size()] == '.' && wanted.ends_with(last);
}

}  // namespace lowtide::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once

// Types as the people who wrote the program know them.

#include <cstdint>
#include <string>
#include <string_view>

namespace lowtide::heap {

// How much the name of a type says about a leak: "412 Result" says more than "412 dict".
enum class Fame : std::uint8_t {
  Plumbing,  // cells, frames, bound methods: nobody made these on purpose
  Builtin,   // list, dict, str, bytes, deque, weak references
  Function,  // functions, coroutines, generators: their label says which
  Buffer,    // arrays: what bytes are, seldom why they are kept
  Class,     // classes and modules
  Library,   // classes of the standard library, exceptions
  User,      // classes of the program and of its packages
};

Fame fame_of(std::string_view type, std::uint8_t node_flags);

bool is_function(std::string_view type);
bool is_class(std::string_view type);
// Kept by a traceback or a context, a class is not what its owner thinks it keeps.
bool is_stowaway_carrier(std::string_view type);

// "list" for "builtins.list".
std::string_view bare_type(std::string_view type);

// "pandas" for "pandas.core.frame.DataFrame", "" for a builtin.
std::string_view package_of(std::string_view type);

// "pandas.DataFrame", "app.models.Model", "Model" for "__main__.Model" and "asyncio.Task" for
// "_asyncio.Task".
std::string public_name(std::string_view type);

// One label for many: the longest common beginning and end with "*" between ("Model_*"), or "".
std::string common_label(std::string_view a, std::string_view b);

}  // namespace lowtide::heap

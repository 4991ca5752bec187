// SPDX-License-Identifier: Apache-2.0
#pragma once

// One reading of smaps_rollup: exact, and dear (19 ms per GiB of small pages).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lowtide::watch {

// Bytes. The kernel since 5.3 splits Pss by kind; before, the kinds are -1.
struct Rollup {
  std::int64_t rss = -1;
  std::int64_t pss = -1;
  std::int64_t anonymous = -1;  // of rss
  std::int64_t pss_anonymous = -1;
  std::int64_t pss_file = -1;
  std::int64_t pss_shmem = -1;
  std::int64_t swap_pss = -1;
};

// Nothing where the text is not a whole rollup: gone, not permitted, cut off.
std::optional<Rollup> parse_rollup(std::string_view text);
std::optional<Rollup> read_rollup(const std::string& proc_root, std::int32_t pid);

}  // namespace lowtide::watch

// SPDX-License-Identifier: Apache-2.0
#include "watch/rollup.h"

#include <fcntl.h>

#include <array>

#include "watch/proc_text.h"

namespace lowtide::watch {

std::optional<Rollup> parse_rollup(std::string_view text) {
  Rollup rollup;
  rollup.rss = field_bytes(text, "Rss");
  rollup.pss = field_bytes(text, "Pss");
  rollup.anonymous = field_bytes(text, "Anonymous");
  if (rollup.rss < 0 || rollup.pss < 0 || rollup.anonymous < 0) return {};
  rollup.pss_anonymous = field_bytes(text, "Pss_Anon");
  rollup.pss_file = field_bytes(text, "Pss_File");
  rollup.pss_shmem = field_bytes(text, "Pss_Shmem");
  rollup.swap_pss = field_bytes(text, "SwapPss");
  return rollup;
}

std::optional<Rollup> read_rollup(const std::string& proc_root, std::int32_t pid) {
  std::array<char, 4096> buffer;
  std::string path = proc_root + "/" + std::to_string(pid) + "/smaps_rollup";
  return parse_rollup(read_once(AT_FDCWD, path.c_str(), buffer));
}

}  // namespace lowtide::watch

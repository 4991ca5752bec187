// SPDX-License-Identifier: Apache-2.0
#include "cli/headroom.h"

#include <algorithm>
#include <limits>

namespace lowtide::cli {

std::int64_t Headroom::left(std::int64_t resident) const {
  if (limit_.bytes <= 0) return std::numeric_limits<std::int64_t>::max();
  std::int64_t used = container_.known() ? container_.usage() : -1;
  if (used < 0) used = resident;
  if (limit_.source == "memory of this machine") {
    const watch::HostMemory host = watch::host_memory(watch::Roots{});
    return host.available >= 0 ? host.available : limit_.bytes - used;
  }
  // Page cache that can be dropped does not count against us.
  if (const watch::MemoryStat stat = container_.stat(); stat.file > 0) {
    used -= stat.file - std::max<std::int64_t>(stat.shmem, 0);
  }
  return limit_.bytes - used;
}

}  // namespace lowtide::cli

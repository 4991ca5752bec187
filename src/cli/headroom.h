// SPDX-License-Identifier: Apache-2.0
#pragma once

// How much memory is left below the limit: what decides whether a process may be copied.

#include <cstdint>

#include "watch/cgroup.h"

namespace lowtide::cli {

class Headroom {
 public:
  explicit Headroom(watch::Container container)
      : container_(std::move(container)), limit_(container_.limit()) {}

  const watch::Limit& limit() const { return limit_; }
  const watch::Container& container() const { return container_; }

  // Bytes. `resident`: of the tree, for where no container counts. The largest number there is
  // where no limit is known.
  std::int64_t left(std::int64_t resident) const;

 private:
  watch::Container container_;
  watch::Limit limit_;
};

}  // namespace lowtide::cli

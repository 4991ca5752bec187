// SPDX-License-Identifier: Apache-2.0
#include "cli/line_log.h"

#include <algorithm>
#include <atomic>

namespace lowtide::cli {

bool TimeList::add(double seconds) {
  if (count_++ % stride_ != 0) return false;
  if (times_.size() == kMost) {
    for (std::size_t i = 0; i < kMost / 2; ++i) times_[i] = times_[2 * i];
    times_.resize(kMost / 2);
    stride_ *= 2;
  }
  times_.push_back(seconds);
  return true;
}

void LineLog::drain(lowtide_table& table) {
  const std::uint64_t end = std::atomic_ref(table.lines_written).load(std::memory_order_acquire);
  if (end - next_ > LOWTIDE_LINES) {
    lost_ += end - next_ - LOWTIDE_LINES;
    next_ = end - LOWTIDE_LINES;
  }
  for (; next_ < end; ++next_) {
    lowtide_line& entry = table.lines[next_ % LOWTIDE_LINES];
    const std::uint64_t ns = std::atomic_ref(entry.ns).load(std::memory_order_acquire);
    if (ns == 0) {
      // Still being written; if its writer died in the middle it is overtaken by the ring.
      if (end - next_ < LOWTIDE_LINES / 2) return;
      ++lost_;
      continue;
    }
    if (entry.sequence != static_cast<std::uint32_t>(next_)) {
      // Overrun (newer), or not yet overwritten since the last turn of the ring (older).
      if (end - next_ < LOWTIDE_LINES / 2 &&
          static_cast<std::int32_t>(entry.sequence - static_cast<std::uint32_t>(next_)) < 0) {
        return;
      }
      ++lost_;
      continue;
    }
    const double seconds = ns > started_ns_ ? static_cast<double>(ns - started_ns_) / 1e9 : 0;
    if (entry.matched) {
      ++round_count_;
      new_rounds_.push_back(seconds);
    }
    if (kinds_.contains(entry.shape) || kinds_.size() < kMostKinds) {
      kinds_[entry.shape].add(seconds);
    }
  }
}

std::vector<verdict::LineTimes> LineLog::kinds() const {
  std::vector<verdict::LineTimes> all;
  for (const auto& [shape, list] : kinds_) {
    // A kind with a stride came tens of thousands of times: no round of a program is that short.
    if (list.stride() == 1) all.push_back({shape, list.times()});
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.shape < b.shape; });
  return all;
}

}  // namespace lowtide::cli

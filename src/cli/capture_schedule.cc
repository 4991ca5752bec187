// SPDX-License-Identifier: Apache-2.0
#include "cli/capture_schedule.h"

#include <algorithm>

namespace lowtide::cli {

std::vector<std::int64_t> CaptureSchedule::stored(std::int64_t id, double asked, double pause,
                                                  double walk) {
  retry_ = 0.2;
  kept_.push_back(id);
  std::vector<std::int64_t> dropped;
  if (kept_.size() > kMost) {
    std::vector<std::int64_t> left;
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      (i % 2 == 0 ? left : dropped).push_back(kept_[i]);
    }
    kept_ = std::move(left);
    distance_ *= 2;
  }
  const bool young = asked - started_ < kYoung;
  const double factor = ++taken_ < kEarly ? kEarlyFactor : young ? kYoungFactor : 1;
  // Numerical Recipes' generator: any will do, and the same run shall be asked at the same times.
  random_ = random_ * 1664525u + 1013904223u;
  const double swing = static_cast<double>(random_ >> 8) / (1u << 24) * 2 - 1;
  next_ = asked + std::max({distance_ * (1 + kSwing * swing), pause / (kPauseShare * factor),
                            walk / (kWalkShare * factor)});
  return dropped;
}

void CaptureSchedule::refused(double now) {
  next_ = now + retry_;
  retry_ = std::min(retry_ * 2, std::max(30.0, distance_));
}

}  // namespace lowtide::cli

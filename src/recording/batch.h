// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the recorder has said since the last commit. It waits here, so that a put() touches no
// disk, a transaction lasts milliseconds, and what a full disk refuses can be offered again.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "recording/recording.h"

namespace lowtide::recording {

struct Batch {
  std::vector<Process> processes;
  std::vector<Sample> samples;
  std::vector<std::int64_t> tails_gone;  // processes whose row in the tail table is outdated
  std::vector<Round> rounds;
  std::vector<Event> events;
  std::vector<AccountPart> account;
  std::optional<Conclusion> conclusion;
  std::optional<End> end;

  std::size_t records() const {
    return processes.size() + rounds.size() + events.size() + account.size() +
           (conclusion ? 1 : 0) + (end ? 1 : 0);
  }
};

// What never reached the file.
struct Loss {
  std::int64_t samples = 0;
  std::int64_t records = 0;
  std::int64_t heap_bytes = 0;

  bool any() const { return samples != 0 || records != 0 || heap_bytes != 0; }
};

}  // namespace lowtide::recording

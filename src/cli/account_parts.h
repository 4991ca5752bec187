// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the recorder keeps of a process' mappings, so that its account can be closed again later,
// when its heap has been read: rows of the account named "smaps: …" and "malloc: …", beside the
// parts that a person reads. Proportional sizes (Pss).

#include <vector>

#include "recording/recording.h"
#include "watch/account.h"

namespace lowtide::cli {

// Of the tree: what is in processes too small to be looked at.
inline constexpr const char* kSmallerProcesses = "smaller processes";
inline constexpr const char* kMappedHeap = "smaps: heap";
inline constexpr const char* kMappedStacks = "smaps: stacks";
inline constexpr const char* kMappedAnonymous = "smaps: anonymous";
inline constexpr const char* kMappedFiles = "smaps: files";
inline constexpr const char* kMappedShared = "smaps: shared";
inline constexpr const char* kMappedOther = "smaps: other";
inline constexpr const char* kMallocInUse = "malloc: in use";
inline constexpr const char* kMallocFree = "malloc: free";

inline std::vector<recording::AccountPart> parts_of(const watch::Mappings& mappings,
                                                    const watch::Known& known, double seconds,
                                                    std::int64_t process) {
  return {{seconds, process, kMappedHeap, mappings.heap.pss},
          {seconds, process, kMappedStacks, mappings.stacks.pss},
          {seconds, process, kMappedAnonymous, mappings.anonymous.pss},
          {seconds, process, kMappedFiles, mappings.files.pss},
          {seconds, process, kMappedShared, mappings.shared.pss},
          {seconds, process, kMappedOther, mappings.other.pss},
          {seconds, process, kMallocInUse, known.allocator_in_use},
          {seconds, process, kMallocFree, known.allocator_free}};
}

// The way back. `bytes(name)` gives a row, -1 where there is none.
template <typename Bytes>
watch::Mappings mappings_of(const Bytes& bytes) {
  watch::Mappings mappings;
  for (auto [mapping, name] : {std::pair(&mappings.heap, kMappedHeap),
                               {&mappings.stacks, kMappedStacks},
                               {&mappings.anonymous, kMappedAnonymous},
                               {&mappings.files, kMappedFiles},
                               {&mappings.shared, kMappedShared},
                               {&mappings.other, kMappedOther}}) {
    const std::int64_t size = bytes(name);
    mapping->rss = mapping->pss = size < 0 ? 0 : size;
  }
  return mappings;
}

}  // namespace lowtide::cli

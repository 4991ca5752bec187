// SPDX-License-Identifier: Apache-2.0
#include "cli/heap_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/units.h"
#include "readers/cpython/stream.h"

namespace lowtide::cli {

Result<heap::Graph> load_heap(const recording::Reader& reading, const recording::HeapInfo& info) {
  cpython::StreamReader stream;
  Status fed = Done{};
  const Status read = reading.read_heap(info.id, [&](std::string_view piece) {
    fed = stream.feed(piece);
    return fed.has_value();
  });
  if (!fed) return fed.error();
  if (!read) return read.error();
  auto answer = std::move(stream).finish();
  if (!answer) return answer.error();
  return std::move(answer->graph);
}

std::vector<recording::HeapInfo> heaps_of(const std::vector<recording::HeapInfo>& all,
                                          std::int64_t process) {
  std::vector<recording::HeapInfo> own;
  for (const recording::HeapInfo& info : all) {
    if (info.process == process && info.whole) own.push_back(info);
  }
  return own;
}

std::vector<recording::HeapInfo> worth_reading(const std::vector<recording::HeapInfo>& heaps) {
  constexpr std::int64_t kObjects = 6'000'000;  // in all: about ten seconds of reading
  constexpr std::size_t kLeast = 4;             // growth is read off no fewer
  std::int64_t objects = 0;
  for (const recording::HeapInfo& info : heaps) objects += info.nodes;
  if (objects <= kObjects || heaps.size() <= kLeast) return heaps;
  const auto fit =
      static_cast<std::size_t>(static_cast<double>(heaps.size()) * static_cast<double>(kObjects) /
                               static_cast<double>(objects));
  const std::size_t most = std::max(kLeast, fit);
  std::vector<recording::HeapInfo> chosen;
  for (std::size_t i = 0; i < most; ++i) {
    chosen.push_back(heaps[i * (heaps.size() - 1) / (most - 1)]);
  }
  return chosen;
}

}  // namespace lowtide::cli

// SPDX-License-Identifier: Apache-2.0
// Any bytes at all, in pieces whose size the first byte says: no crash, no more memory than
// the limits allow, and a graph that can be walked wherever one comes out.

#include "heap/dominators.h"
#include "heap/reach.h"
#include "readers/cpython/stream.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lowtide;
  if (size == 0) return 0;
  const std::size_t piece = std::size_t{1} + data[0];
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  cpython::StreamLimits limits;
  limits.memory = std::uint64_t{64} << 20;
  limits.text = std::uint64_t{16} << 20;
  cpython::StreamReader reader(limits);
  while (!rest.empty()) {
    if (!reader.feed(rest.substr(0, piece))) break;
    rest.remove_prefix(std::min(piece, rest.size()));
  }
  const auto answer = std::move(reader).finish();
  if (!answer) return 0;
  const heap::Graph& graph = answer->graph;
  const heap::HolderTree tree = heap::holder_tree(graph);
  const heap::Dominators dominators = heap::dominators(graph);
  for (heap::NodeId n = 1; n < graph.node_count(); ++n) {
    if (tree.reaches(n) != (dominators.nearest[n] != heap::kUnreached)) __builtin_trap();
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// What a heap may cost once it is open: 29 bytes a node and 9 an edge, and 12 a node for who
// retains what.

#include <gtest/gtest.h>
#include <malloc.h>

#include "heap/dominators.h"
#include "heap/testing.h"

namespace lowtide::heap {
namespace {

double allocated() {
  const auto info = mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd);
}

TEST(GraphBudget, ANodeCosts29BytesAnEdge9AndItsDominator12) {
  const double before = allocated();
  const Graph graph = heaplike_graph(400'000);
  const double open = allocated() - before;
  if (open <= 0) GTEST_SKIP() << "this build's allocator does not say what it gave out";
  const double nodes = graph.node_count();
  EXPECT_LE(open, 1.03 * (29 * nodes + 9.0 * graph.edge_count()));
  const Dominators d = dominators(graph);
  EXPECT_LE(allocated() - before - open, 1.03 * 12 * nodes);
}

}  // namespace
}  // namespace lowtide::heap

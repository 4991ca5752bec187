// SPDX-License-Identifier: Apache-2.0
#include "readers/cpython/stream.h"

#include <gtest/gtest.h>

#include <random>

#include "heap/reach.h"
#include "heap/testing.h"
#include "readers/cpython/testing.h"

namespace lowtide::cpython {
namespace {

using heap::EdgeId;
using heap::EdgeKind;
using heap::Graph;
using heap::kSuperRoot;
using heap::NodeId;
using heap::RootKind;

// module m -> dict -> list -> Result; and a WEAK reference back.
std::string small_stream() {
  return StreamWriter()
      .hello()
      .object({"builtins.module", 2, {{LOWTIDE_EDGE_INTERNAL, "__dict__", 2}}, 1, "m"})
      .root(LOWTIDE_ROOT_MODULE, "m", 1)
      .object({"builtins.dict", 1, {{LOWTIDE_EDGE_KEY, "_history", 3}}})
      .object({"builtins.list", 1, {{LOWTIDE_EDGE_ITEM, "", 4, 412}}})
      .note("one sentence")
      .object({"app.Result", 1, {{LOWTIDE_EDGE_WEAK, "", 1}}, LOWTIDE_NODE_USER, "", 48, 4096})
      .account("pymalloc arenas", 1 << 20)
      .value(0x7010, "Result(1)")
      .end(LOWTIDE_END_GC_OFF)
      .bytes();
}

void expect_small(const HeapAnswer& answer) {
  const Graph& graph = answer.graph;
  ASSERT_EQ(graph.node_count(), 5u);
  EXPECT_EQ(graph.type(1), "module");
  EXPECT_EQ(graph.label(1), "m");
  EXPECT_EQ(graph.type(4), "app.Result");
  EXPECT_EQ(graph.own(4), Bytes{4144});
  EXPECT_EQ(graph.flags(4), heap::kUser);
  EXPECT_EQ(graph.address(4), 0x7040u);
  EXPECT_EQ(graph.name(graph.edges_begin(2)), "_history");
  EXPECT_EQ(graph.kind(graph.edges_begin(3)), EdgeKind::Item);
  EXPECT_EQ(graph.index(graph.edges_begin(3)), 412u);
  EXPECT_FALSE(graph.essential(graph.edges_begin(4)));
  EXPECT_EQ(graph.root_kind(0), RootKind::Module);
  EXPECT_EQ(graph.runtime, "CPython 3.11.2");
  EXPECT_EQ(graph.pid, 4242);
  EXPECT_EQ(graph.notes, std::vector<std::string>{"one sentence"});
  ASSERT_EQ(graph.account.size(), 1u);
  EXPECT_EQ(graph.account[0].second, Bytes{1 << 20});
  EXPECT_TRUE(graph.whole);
  EXPECT_TRUE(graph.gc_off);
  ASSERT_EQ(answer.values.size(), 1u);
  EXPECT_EQ(answer.values[0].text, "Result(1)");
  EXPECT_EQ(answer.walk_seconds, 1.5);
  EXPECT_EQ(answer.unreadable, 3u);
}

TEST(Stream, BecomesTheGraphThatWasSent) {
  const auto answer = read_stream(small_stream());
  ASSERT_TRUE(answer) << answer.error().message;
  expect_small(*answer);
  ASSERT_EQ(answer->graph.native_references.size(), 1u);  // somebody else has the module too
  EXPECT_EQ(answer->graph.native_references[0].node, 1u);
  EXPECT_EQ(answer->graph.native_references[0].surplus, 2u);
}

TEST(Stream, MayBeFedInPiecesOfAnySize) {
  const std::string bytes = small_stream();
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    StreamReader reader;
    for (std::size_t at = 0; at < bytes.size(); at += size) {
      ASSERT_TRUE(reader.feed(std::string_view(bytes).substr(at, size)));
    }
    EXPECT_TRUE(reader.ended());
    const auto answer = std::move(reader).finish();
    ASSERT_TRUE(answer) << answer.error().message;
    expect_small(*answer);
  }
}

TEST(Stream, CutAnywhereGivesWhatCame) {
  const std::string bytes = small_stream();
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    StreamReader reader;
    ASSERT_TRUE(reader.feed(std::string_view(bytes).substr(0, length)));
    const NodeId nodes = reader.nodes();
    const auto answer = std::move(reader).finish();
    ASSERT_EQ(answer.has_value(), nodes > 0);
    if (!answer) continue;
    EXPECT_FALSE(answer->graph.whole);
    EXPECT_EQ(answer->graph.node_count(), nodes + 1);
    EXPECT_TRUE(answer->graph.native_references.empty());
    EXPECT_EQ(heap::reachable(answer->graph).count(), nodes + 1);  // nothing is called garbage
  }
}

TEST(Stream, KeepsLargeRandomHeapsAsTheyAre) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const Graph sent = heap::random_graph(seed, 3000, 9000, 7);
    const std::string bytes = StreamWriter::encode(sent, [](NodeId) { return 0; });
    StreamReader reader;
    std::mt19937 random(seed);
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t size = 1 + random() % 5000;
      ASSERT_TRUE(reader.feed(std::string_view(bytes).substr(at, size)));
      at += size;
    }
    const auto answer = std::move(reader).finish();
    ASSERT_TRUE(answer) << answer.error().message;
    const Graph& read = answer->graph;
    ASSERT_EQ(read.node_count(), sent.node_count());
    ASSERT_EQ(read.edge_count(), sent.edge_count());
    for (NodeId n = 0; n < sent.node_count(); ++n) {
      ASSERT_EQ(read.type(n), sent.type(n));
      ASSERT_EQ(read.own(n), sent.own(n));
      ASSERT_EQ(read.edges_begin(n), sent.edges_begin(n));
    }
    for (EdgeId e = 0; e < sent.edge_count(); ++e) {
      ASSERT_EQ(read.target(e), sent.target(e));
      ASSERT_EQ(read.kind(e), sent.kind(e));
    }
  }
}

TEST(Stream, ARefusalIsTheTargetsOwnSentence) {
  const auto answer = read_stream(StreamWriter().refuse("the lock was busy for 5 s").bytes());
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::Unsupported);
  EXPECT_EQ(answer.error().message, "the lock was busy for 5 s");
}

TEST(Stream, OfAnotherVersionIsRefused) {
  const auto answer = read_stream(StreamWriter().byte('H').varint(7).bytes());
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::Unsupported);
}

TEST(Stream, ATimeLimitMakesItNotWhole) {
  const auto answer = read_stream(StreamWriter()
                                      .hello()
                                      .object({"a", 5, {{LOWTIDE_EDGE_ITEM, "", 7}}})
                                      .end(LOWTIDE_END_TIME)
                                      .bytes());
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->graph.whole);
  EXPECT_EQ(answer->graph.notes.size(), 1u);
  EXPECT_EQ(answer->graph.name(0), "part of the heap that was not read");
}

TEST(Stream, AnAnswerToShowCountsTheObjectsItLookedThrough) {
  const auto answer = read_stream(StreamWriter()
                                      .hello()
                                      .value(0x10, "3")
                                      .byte('E')
                                      .varint(233666)
                                      .varint(0)
                                      .varint(5)
                                      .varint(0)
                                      .varint(0)
                                      .bytes());
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->values.size(), 1u);
  EXPECT_EQ(answer->values[0].text, "3");
}

TEST(Stream, WrongBytesAreCorruptAtAnOffset) {
  const StreamWriter::Object object{"a"};
  const std::string wrong[] = {
      "garbage",
      StreamWriter().object(object).bytes(),
      StreamWriter().hello().hello().bytes(),
      StreamWriter().hello().byte('?').bytes(),
      StreamWriter().hello().root(9, "x", 1).bytes(),
      StreamWriter().hello().root(0, "x", 0).bytes(),
      StreamWriter().hello().root(0, "x", ~std::uint64_t{0}).bytes(),
      StreamWriter().hello().byte('S').varint(1 << 20).bytes(),
      StreamWriter().hello().byte('N').varint(5).text("0000000").bytes(),
      StreamWriter().hello().object({"a", 0, {{12, "x", 1}}}).bytes(),
      StreamWriter().hello().object({"a", 0, {{0, "x", 0}}}).bytes(),
      StreamWriter().hello().object({"a", 0, {{0, "x", ~std::uint64_t{0} >> 2}}}).bytes(),
      StreamWriter().hello().object({"a", 0, {}, 0, "", ~std::uint64_t{0}}).bytes(),
      StreamWriter().hello().object(object).byte('E').varint(9).text("").text("").bytes() +
          std::string(4, '\0'),
      StreamWriter().hello().object(object).end().note("more").bytes(),
      StreamWriter().hello().bytes() + "R" + std::string(12, '\xff'),
  };
  for (const std::string& bytes : wrong) {
    const auto answer = read_stream(bytes);
    ASSERT_FALSE(answer) << bytes;
    EXPECT_EQ(answer.error().code, Code::Corrupt) << answer.error().message;
    EXPECT_NE(answer.error().message.find("corrupt at byte "), std::string::npos);
  }
}

TEST(Stream, LargerThanItsLimitsIsRefused) {
  StreamWriter out;
  out.hello();
  for (int i = 0; i < 100; ++i) out.object({"a", 0, {{LOWTIDE_EDGE_ITEM, "", 1}}, 0, "label"});
  StreamLimits limits;
  for (const StreamLimits& l : {StreamLimits{.nodes = 50}, StreamLimits{.edges = 50},
                                StreamLimits{.text = 20}, StreamLimits{.memory = 2000}}) {
    const auto answer = read_stream(out.bytes(), l);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Code::Limit);
  }
  EXPECT_TRUE(read_stream(out.end().bytes(), limits));
}

}  // namespace
}  // namespace lowtide::cpython

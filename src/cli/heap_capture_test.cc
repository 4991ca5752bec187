// SPDX-License-Identifier: Apache-2.0
#include "cli/heap_capture.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>

namespace lowtide::cli {
namespace {

using namespace std::string_view_literals;

TEST(StreamFacts, AnEndRecordIsFoundWhateverItsNumbersLookLike) {
  // Each field is full of 'E's and of bytes that continue.
  const auto facts = stream_facts(
      "H\x01\x45\x0e"
      "CPython 3.11.2\x00"sv,
      "EEEE\x45\xc5\x45\x45\xc5\xc5\x45\x00\x05"sv);
  EXPECT_TRUE(facts.ended);
  EXPECT_EQ(facts.runtime, "CPython 3.11.2");
  EXPECT_EQ(facts.nodes, 0x45u << 7 | 0x45u);
  EXPECT_EQ(facts.edges, 0x45u);
  EXPECT_EQ(facts.unreadable, 0u);
  EXPECT_EQ(facts.flags, 5u);
}

TEST(StreamFacts, ACutStreamHasNoEnd) {
  EXPECT_FALSE(stream_facts("H", "").ended);
  EXPECT_FALSE(stream_facts("", "E\x01\x02\x03"sv).ended);
  EXPECT_FALSE(stream_facts("", "\xff\xff\xff\xff"sv).ended);
}

TEST(StreamFacts, ARefusalIsReadWithAndWithoutAGreeting) {
  EXPECT_EQ(stream_facts("X\x02no"sv, "").refusal, "no");
  EXPECT_EQ(stream_facts("H\x01\x05\x03py3\x00X\x02no"sv, "").refusal, "no");
  EXPECT_EQ(stream_facts("X\x7fno"sv, "").refusal, "no") << "a length beyond the end is no harm";
}

// Plays the probe's part on the socket.
class Answering {
 public:
  Answering() : folder(*RunFolder::create("", nullptr, 1)), slot(folder.table().slots[3]) {
    slot.pid = ::getpid();
    slot.state = LOWTIDE_SLOT_LIVE;
  }
  Fd connect() const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    folder.socket_path(slot.request).copy(address.sun_path, sizeof address.sun_path - 1);
    Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(fd.number(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return fd;
  }
  RunFolder folder;
  lowtide_slot& slot;
};

TEST(HeapCapture, AWholeStreamArrivesAsItWasSent) {
  Answering target;
  std::string got;
  auto capture = HeapCapture::ask(
      target.folder, target.slot, {}, "expression", [&](std::string_view piece) { got += piece; },
      0, true);
  ASSERT_TRUE(capture);
  EXPECT_EQ((*capture)->step(0, 5), HeapCapture::State::Waiting);
  Fd probe = target.connect();
  const std::string_view stream =
      "H\x01\x05\x03py3\x00"
      "E\x01\x02\x03\x04\x00"sv;
  ASSERT_EQ(::write(probe.number(), stream.data(), stream.size()),
            static_cast<ssize_t>(stream.size()));
  EXPECT_EQ((*capture)->step(0, 5), HeapCapture::State::Streaming);
  EXPECT_EQ((*capture)->step(0, 5), HeapCapture::State::Streaming);
  lowtide_ask question;
  ASSERT_EQ(::read(probe.number(), &question, sizeof question), ssize_t{sizeof question});
  EXPECT_EQ(question.text_bytes, 10u);
  probe.reset();
  EXPECT_EQ((*capture)->step(0, 5), HeapCapture::State::Done);
  EXPECT_EQ(got, stream);
  EXPECT_EQ((*capture)->facts().edges, 2u);
  EXPECT_EQ(target.slot.request, 0u) << "the next one may ask";
}

TEST(HeapCapture, ATargetThatNeverAnswersIsGivenUp) {
  Answering target;
  auto capture = HeapCapture::ask(
      target.folder, target.slot, {}, "", [](std::string_view) {}, 10);
  ASSERT_TRUE(capture);
  EXPECT_EQ((*capture)->step(14, 5), HeapCapture::State::Waiting);
  EXPECT_EQ((*capture)->step(16, 5), HeapCapture::State::Failed);
  EXPECT_EQ(target.slot.request, 0u);
  EXPECT_NE((*capture)->failure(), "");
}

TEST(HeapCapture, OnlyOneMayAskAtATime) {
  Answering target;
  auto first = HeapCapture::ask(
      target.folder, target.slot, {}, "", [](std::string_view) {}, 0);
  ASSERT_TRUE(first);
  const std::uint32_t id = target.slot.request;
  auto second = HeapCapture::ask(
      target.folder, target.slot, {}, "", [](std::string_view) {}, 0);
  EXPECT_FALSE(second);
  EXPECT_EQ(target.slot.request, id) << "the first one's request stands";
}

}  // namespace
}  // namespace lowtide::cli

//===- process_links_test.cc - Messages allowed on a link -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/process_links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/protocol/link_batch.h"
#include "runtime/protocol/wire_kind.h"
#include "runtime/world/testing/recording_world.h"

namespace pathways {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A transport that records sent messages; the test delivers incoming ones.
class FakeTransport final : public Transport {
 public:
  struct Sent {
    PeerId peer;
    Urgency urgency;
    std::string header, payload;
  };
  struct Expected {
    PeerId peer;
    uint64_t token;
    void* memory;
    uint64_t bytes;
    size_t sent_before;
  };
  struct PutPayload {
    PeerId peer;
    uint64_t token;
    const char* data;
    size_t bytes;
    std::function<void()> done;
  };
  absl::StatusOr<std::string> Listen(absl::string_view address) override {
    return std::string(address);
  }
  absl::StatusOr<PeerId> Dial(absl::string_view, absl::Duration) override {
    const PeerId peer{next++};
    if (on_dial) on_dial(peer);
    return peer;
  }
  void Send(PeerId peer, Urgency urgency, absl::Span<const char> header,
            absl::Span<const char> payload) override {
    sent.push_back({peer,
                    urgency,
                    {header.data(), header.size()},
                    {payload.data(), payload.size()}});
  }
  void Expect(PeerId peer, uint64_t token, void* memory,
              uint64_t bytes) override {
    // Expect is called before the answer to the peer is sent.
    expected.push_back({peer, token, memory, bytes, sent.size()});
  }
  void Put(PeerId peer, uint64_t token, absl::Span<const char> bytes,
           std::function<void()> done) override {
    put.push_back({peer, token, bytes.data(), bytes.size(), std::move(done)});
  }
  uint64_t backlog(PeerId) const override { return 0; }
  void Close(PeerId peer) override { closed.push_back(peer); }
  bool Poll() override { return false; }
  void Stop() override {}

  uint32_t next = 0;
  std::function<void(PeerId)> on_dial;
  std::vector<Sent> sent;
  std::vector<Expected> expected;
  std::vector<PutPayload> put;
  std::vector<PeerId> closed;
};

// Links of process 0 of three. Actors 10 n to 10 n + 9 live in process n.
class ProcessLinksTest : public ::testing::Test {
 protected:
  ProcessLinksTest()
      : links_({[this](PeerId peer, std::string_view bytes) {
                  said_.emplace_back(static_cast<uint32_t>(peer), bytes);
                },
                [this](PeerId peer, std::optional<uint32_t> process,
                       const absl::Status&) {
                  gone_.emplace_back(static_cast<uint32_t>(peer),
                                     process ? int(*process) : -1);
                }}) {
    links_.Open(&transport_);
    links_.Place(0, &world_, [](ActorId actor) -> int64_t {
      return actor < 30 ? actor / 10 : -1;
    });
  }
  PeerId Accept() {
    const PeerId peer{transport_.next++};
    links_.OnPeerUp(peer);
    return peer;
  }
  void Hear(PeerId peer, const LinkFrame& frame, const std::string& bytes) {
    links_.OnMessage(peer, AsBytes(frame), bytes);
  }
  static WireMessage Token(uint64_t step) {
    WireMessage message;
    message.kind = kTokenMessage;
    message.step = step;
    return message;
  }

  // Returns for each message its receiver, its step if it is hot, and its
  // payload.
  static std::vector<std::string> MessagesOf(const FakeTransport::Sent& sent) {
    std::vector<std::string> texts;
    auto add = [&](const LinkFrame& frame, absl::Span<const char> payload) {
      std::string text = absl::StrCat(frame.wire.to, ": ");
      if (frame.kind == LinkFrame::kHot) {
        absl::StrAppend(&text, frame.wire.message.step, " ");
      }
      text.append(payload.data(), payload.size());
      texts.push_back(std::move(text));
    };
    const auto frame = ReadLinkFrame(sent.header, sent.payload.size());
    EXPECT_TRUE(frame.has_value());
    if (frame->kind != LinkFrame::kBatch) {
      add(*frame, sent.payload);
      return texts;
    }
    BatchReader batch(sent.payload);
    while (auto entry = batch.Next()) add(entry->frame, entry->payload);
    return texts;
  }

  // Delivers an offer of actor 11 to lend a payload to this process under a
  // token.
  void HearOffer(PeerId peer, uint64_t token, uint64_t bytes,
                 ActorId from = 11) {
    Hear(peer, LinkFrame::Offer(from, 3, Token(token), bytes), Bytes(token));
  }
  static std::string Bytes(uint64_t token) {
    return {reinterpret_cast<const char*>(&token), sizeof token};
  }
  static LocalMessage Numbered(uint64_t step) {
    LocalMessage message;
    message.step = step;
    return message;
  }
  // Returns the local messages that actors of this process got: their steps,
  // and whether the payload was not received.
  std::vector<std::pair<uint64_t, bool>> Told() {
    std::vector<std::pair<uint64_t, bool>> told;
    for (const testing::Sent& one : world_.Take()) {
      if (one.kind != testing::Sent::kLocal) continue;
      EXPECT_EQ(one.local_to, LocalId{7});
      told.emplace_back(one.local.step, one.local.flags & kNotReceived);
    }
    return told;
  }

  testing::RecordingWorld world_;
  FakeTransport transport_;
  std::vector<std::pair<uint32_t, std::string>> said_;
  std::vector<std::pair<uint32_t, int>> gone_;
  ProcessLinks links_;
};

TEST_F(ProcessLinksTest, MessagesGoToTheProcessOfTheirActor) {
  const PeerId one = Accept(), two = Accept();
  ASSERT_TRUE(links_.Link(1, one).ok());
  ASSERT_TRUE(links_.Link(2, two).ok());
  const RemoteChannel remote_channel = links_.remote_channel();
  remote_channel.send(3, 21, Token(5), {"abc", 3});
  remote_channel.send_control(3, 11, "control");
  remote_channel.send_control(3, 99, "nobody's");
  ASSERT_EQ(transport_.sent.size(), 2u);
  EXPECT_EQ(transport_.sent[0].peer, two);
  EXPECT_EQ(transport_.sent[0].urgency, Urgency::kCritical);
  EXPECT_EQ(transport_.sent[0].payload, "abc");
  const auto frame = ReadLinkFrame(transport_.sent[0].header, 3);
  ASSERT_TRUE(frame.has_value());
  EXPECT_EQ(frame->wire.to, 21u);
  EXPECT_EQ(frame->wire.message.step, 5u);
  EXPECT_EQ(transport_.sent[1].peer, one);
  EXPECT_EQ(links_.stats().messages_sent, 2u);
  EXPECT_EQ(links_.stats().bytes_sent, 2 * sizeof(LinkFrame) + 3 + 7);
  EXPECT_EQ(links_.stats().unlinked, 1u);
}

TEST_F(ProcessLinksTest, WhatIsLongOrBulkLetsOthersPass) {
  ASSERT_TRUE(links_.Link(1, Accept()).ok());
  const std::string big(kMaxCriticalBytes + 1, 'x');
  WireMessage block;
  block.kind = kBlockMessage;
  const RemoteChannel remote_channel = links_.remote_channel();
  remote_channel.send(3, 11, Token(1), {big.data(), big.size()});
  remote_channel.send(3, 11, Token(1), {big.data(), big.size() - 1});
  remote_channel.send(3, 11, block, {"b", 1});
  ASSERT_EQ(transport_.sent.size(), 3u);
  EXPECT_EQ(transport_.sent[0].urgency, Urgency::kBulk);
  EXPECT_EQ(transport_.sent[1].urgency, Urgency::kCritical);
  EXPECT_EQ(transport_.sent[2].urgency, Urgency::kBulk);
}

TEST_F(ProcessLinksTest, WhatAWorkerSaysInOneGoIsOneFrame) {
  const PeerId one = Accept(), two = Accept();
  ASSERT_TRUE(links_.Link(1, one).ok());
  ASSERT_TRUE(links_.Link(2, two).ok());
  const auto stage = links_.remote_channel().open_stage();
  EXPECT_TRUE(stage->Send(3, 11, Token(1), {"abc", 3}));
  EXPECT_TRUE(stage->Send(4, 21, Token(2), {}));
  EXPECT_TRUE(stage->SendControl(3, 12, "control"));
  EXPECT_TRUE(stage->Send(3, 99, Token(9), {}));  // no actor has this address
  EXPECT_THAT(transport_.sent, IsEmpty());
  stage->Flush();
  ASSERT_EQ(transport_.sent.size(), 2u);
  EXPECT_EQ(transport_.sent[0].peer, one);
  EXPECT_EQ(transport_.sent[0].urgency, Urgency::kCritical);
  EXPECT_THAT(MessagesOf(transport_.sent[0]),
              ElementsAre("11: 1 abc", "12: control"));
  EXPECT_EQ(transport_.sent[1].peer, two);
  EXPECT_EQ(transport_.sent[1].header.size(), sizeof(LinkFrame));
  EXPECT_THAT(MessagesOf(transport_.sent[1]), ElementsAre("21: 2 "));
  EXPECT_EQ(links_.stats().messages_sent, 3u);
  EXPECT_EQ(links_.stats().frames_sent, 2u);
  EXPECT_EQ(links_.stats().bytes_sent, 4 * sizeof(LinkFrame) + 3 + 7);
  EXPECT_EQ(links_.stats().unlinked, 1u);
  stage->Flush();
  EXPECT_EQ(transport_.sent.size(), 2u);
}

TEST_F(ProcessLinksTest, WhatIsLongComesBehindWhatWasKept) {
  ASSERT_TRUE(links_.Link(1, Accept()).ok());
  const auto stage = links_.remote_channel().open_stage();
  const std::string big(kMaxCriticalBytes + 1, 'x');
  WireMessage block;
  block.kind = kBlockMessage;
  EXPECT_TRUE(stage->Send(3, 11, Token(1), {}));
  EXPECT_FALSE(stage->Send(3, 11, Token(2), {big.data(), big.size()}));
  EXPECT_TRUE(stage->Send(3, 11, Token(3), {}));
  EXPECT_FALSE(stage->Send(3, 11, Token(4), {big.data(), big.size() - 1}));
  EXPECT_TRUE(stage->Send(3, 11, Token(5), {}));
  EXPECT_FALSE(stage->Send(3, 11, block, {"b", 1}));
  EXPECT_FALSE(stage->SendControl(3, 11, big));
  std::vector<std::string> begins;
  std::vector<bool> bulk;
  for (const FakeTransport::Sent& sent : transport_.sent) {
    begins.push_back(MessagesOf(sent)[0].substr(0, 6));
    bulk.push_back(sent.urgency == Urgency::kBulk);
  }
  EXPECT_THAT(begins, ElementsAre("11: 1 ", "11: 2 ", "11: 3 ", "11: 4 ",
                                  "11: 5 ", "11: 0 ", "11: xx"));
  EXPECT_THAT(bulk, ElementsAre(false, true, false, false, false, true, false));
}

// Staged messages go to the peer that was linked when they were sent.
TEST_F(ProcessLinksTest, WhatIsKeptIsForThePeerOfThatTime) {
  const PeerId one = Accept(), again = Accept();
  ASSERT_TRUE(links_.Link(1, one).ok());
  const auto stage = links_.remote_channel().open_stage();
  EXPECT_TRUE(stage->Send(3, 11, Token(1), {}));
  links_.OnPeerDown(one, absl::OkStatus());
  ASSERT_TRUE(links_.Link(1, again).ok());
  EXPECT_TRUE(stage->Send(3, 11, Token(2), {}));
  stage->Flush();
  ASSERT_EQ(transport_.sent.size(), 2u);
  EXPECT_EQ(transport_.sent[0].peer, one);
  EXPECT_THAT(MessagesOf(transport_.sent[0]), ElementsAre("11: 1 "));
  EXPECT_EQ(transport_.sent[1].peer, again);
}

TEST_F(ProcessLinksTest, ABatchIsHeardInOrder) {
  const PeerId one = Accept();
  ASSERT_TRUE(links_.Link(1, one).ok());
  BatchWriter batch;
  batch.Add(LinkFrame::Hot(11, 3, Token(1), 3), std::string_view("abc"));
  batch.Add(LinkFrame::Control(12, 4, 7), std::string_view("control"));
  batch.Add(LinkFrame::Hot(11, 3, Token(2), 0), {});
  links_.OnMessage(one, batch.header(), batch.payload());
  ASSERT_EQ(world_.sent.size(), 3u);
  EXPECT_EQ(world_.sent[0].wire.step, 1u);
  EXPECT_EQ(world_.sent[1].bytes, "control");
  EXPECT_EQ(world_.sent[2].wire.step, 2u);
  EXPECT_EQ(links_.stats().messages_received, 3u);
  EXPECT_EQ(links_.stats().frames_received, 1u);
  EXPECT_EQ(links_.stats().bytes_received, 4 * sizeof(LinkFrame) + 3 + 7);
  EXPECT_EQ(links_.stats().foreign, 0u);
}

// Each frame in a batch is checked as if it had come alone.
TEST_F(ProcessLinksTest, NobodySpeaksForAnotherProcessInABatch) {
  const PeerId one = Accept(), stranger = Accept();
  ASSERT_TRUE(links_.Link(1, one).ok());
  BatchWriter batch;
  batch.Add(LinkFrame::Hot(21, 3, Token(1), 0), {});  // sender is in process 2
  // Sender is in this process.
  batch.Add(LinkFrame::Hot(4, 3, Token(2), 0), {});
  // Sender is in the peer's process.
  batch.Add(LinkFrame::Hot(11, 3, Token(3), 0), {});
  // Receiver is not in this process.
  batch.Add(LinkFrame::Hot(11, 21, Token(4), 0), {});
  batch.Add(LinkFrame::Control(11, 99, 0), {});  // receiver does not exist
  links_.OnMessage(stranger, batch.header(), batch.payload());
  EXPECT_THAT(world_.sent, IsEmpty());
  EXPECT_EQ(links_.stats().foreign, 1u);
  EXPECT_EQ(links_.stats().frames_received, 0u);
  links_.OnMessage(one, batch.header(), batch.payload());
  ASSERT_EQ(world_.sent.size(), 1u);
  EXPECT_EQ(world_.sent[0].wire.step, 3u);
  EXPECT_EQ(links_.stats().foreign, 5u);
  EXPECT_EQ(links_.stats().messages_received, 1u);
}

TEST_F(ProcessLinksTest, OfABatchThatIsNoneNothingIsHeard) {
  const PeerId one = Accept();
  ASSERT_TRUE(links_.Link(1, one).ok());
  BatchWriter batch;
  batch.Add(LinkFrame::Hot(11, 3, Token(1), 0), {});
  batch.Add(LinkFrame::Hot(11, 3, Token(2), 3), std::string_view("abc"));
  const std::string good(batch.payload().data(), batch.payload().size());
  for (const std::string& bad :
       {std::string(), good.substr(0, good.size() - 1), good + "x"}) {
    Hear(one, LinkFrame::Batch(bad.size()), bad);
  }
  Hear(one, LinkFrame::Batch(good.size() + 1), good);  // wrong length
  EXPECT_EQ(links_.stats().foreign, 4u);
  EXPECT_EQ(links_.stats().messages_received, 0u);
  EXPECT_EQ(links_.stats().frames_received, 0u);
  EXPECT_THAT(world_.sent, IsEmpty());
  Hear(one, LinkFrame::Batch(good.size()), good);
  EXPECT_EQ(world_.sent.size(), 2u);
}

TEST_F(ProcessLinksTest, WhatIsLentIsPutWhenItIsTaken) {
  const PeerId one = Accept();
  ASSERT_TRUE(links_.Link(1, one).ok());
  const RemoteChannel remote_channel = links_.remote_channel();
  const std::string big(1000, 'x');
  for (uint64_t step : {1, 2}) {
    EXPECT_TRUE(remote_channel.lend(3, 11, Token(step),
                                    {big.data(), big.size()}, LocalId{7},
                                    Numbered(step)));
  }
  ASSERT_EQ(transport_.sent.size(), 2u);
  const FakeTransport::Sent& offer = transport_.sent[1];
  EXPECT_EQ(offer.urgency, Urgency::kCritical);
  EXPECT_EQ(offer.payload, Bytes(2));
  const auto frame = ReadLinkFrame(offer.header, 8);
  ASSERT_TRUE(frame.has_value());
  EXPECT_EQ(frame->kind, LinkFrame::kOffer);
  EXPECT_EQ(frame->wire.to, 11u);
  EXPECT_EQ(frame->wire.message.step, 2u);
  EXPECT_EQ(frame->wire.payload_bytes, 1000u);

  Hear(one, LinkFrame::Answer(LinkFrame::kTake), Bytes(2));
  ASSERT_EQ(transport_.put.size(), 1u);
  EXPECT_EQ(transport_.put[0].peer, one);
  EXPECT_EQ(transport_.put[0].token, 2u);
  EXPECT_EQ(transport_.put[0].data, big.data());
  EXPECT_EQ(transport_.put[0].bytes, big.size());
  EXPECT_THAT(Told(), IsEmpty());
  transport_.put[0].done();
  EXPECT_THAT(Told(), ElementsAre(std::pair(2u, false)));
  // These have no effect: repeated answers, an answer without an offer, and an
  // answer of a peer without a link.
  Hear(one, LinkFrame::Answer(LinkFrame::kTake), Bytes(2));
  Hear(one, LinkFrame::Answer(LinkFrame::kRefuse), Bytes(2));
  Hear(one, LinkFrame::Answer(LinkFrame::kTake), Bytes(3));
  Hear(Accept(), LinkFrame::Answer(LinkFrame::kTake), Bytes(1));
  EXPECT_EQ(transport_.put.size(), 1u);
  EXPECT_THAT(Told(), IsEmpty());

  Hear(one, LinkFrame::Answer(LinkFrame::kRefuse), Bytes(1));
  EXPECT_THAT(Told(), ElementsAre(std::pair(1u, false)));
  EXPECT_EQ(transport_.put.size(), 1u);
  EXPECT_EQ(links_.stats().bytes_sent, 2 * (sizeof(LinkFrame) + 8) + 1000);
}

TEST_F(ProcessLinksTest, WhatIsLentComesBackWhenThePeerGoes) {
  const PeerId one = Accept(), again = Accept();
  ASSERT_TRUE(links_.Link(1, one).ok());
  const RemoteChannel remote_channel = links_.remote_channel();
  auto lend = [&](uint64_t step) {
    return remote_channel.lend(3, 11, Token(step), {"x", 1}, LocalId{7},
                               Numbered(step));
  };
  EXPECT_TRUE(lend(1));
  EXPECT_TRUE(lend(2));
  Hear(one, LinkFrame::Answer(LinkFrame::kTake), Bytes(1));
  links_.OnPeerDown(one, absl::OkStatus());
  // The transport returns a payload that it has begun to put.
  EXPECT_THAT(Told(), ElementsAre(std::pair(2u, false)));
  ASSERT_EQ(transport_.put.size(), 1u);
  transport_.put[0].done();
  EXPECT_THAT(Told(), ElementsAre(std::pair(1u, false)));
  // The peer is gone, so nothing is lent.
  EXPECT_FALSE(lend(3));
  EXPECT_EQ(links_.stats().unlinked, 1u);
  // Tokens of a new link count from 1 again.
  ASSERT_TRUE(links_.Link(1, again).ok());
  EXPECT_TRUE(lend(4));
  EXPECT_EQ(transport_.sent.back().payload, Bytes(1));
  Hear(one, LinkFrame::Answer(LinkFrame::kTake), Bytes(1));
  EXPECT_EQ(transport_.put.size(), 1u);
}

TEST_F(ProcessLinksTest, WhatIsOfferedIsExpectedBeforeItIsTaken) {
  const PeerId one = Accept();
  ASSERT_TRUE(links_.Link(1, one).ok());
  const RemoteChannel remote_channel = links_.remote_channel();
  HearOffer(one, /*token=*/5, /*bytes=*/1000);
  HearOffer(one, 5, 1000);               // second copy
  HearOffer(one, 6, 1000, /*from=*/21);  // sender is in another process
  HearOffer(one, 7, 2000);
  std::vector<testing::Sent> offers = world_.Take();
  ASSERT_EQ(offers.size(), 2u);
  EXPECT_EQ(offers[0].kind, testing::Sent::kOffer);
  EXPECT_EQ(offers[0].from, 11u);
  EXPECT_EQ(offers[0].to, 3u);
  EXPECT_EQ(offers[0].wire.step, 5u);
  EXPECT_EQ(offers[0].payload.bytes, 1000u);
  EXPECT_EQ(links_.stats().foreign, 1u);

  char memory[1000];
  ReceiveBuffer landing;
  landing.memory = memory;
  landing.landed = Numbered(50);
  remote_channel.take(offers[0].offer, LocalId{7}, landing);
  ASSERT_EQ(transport_.expected.size(), 1u);
  EXPECT_EQ(transport_.expected[0].peer, one);
  EXPECT_EQ(transport_.expected[0].token, 5u);
  EXPECT_EQ(transport_.expected[0].memory, memory);
  EXPECT_EQ(transport_.expected[0].bytes, 1000u);
  EXPECT_EQ(transport_.expected[0].sent_before, 0u);
  remote_channel.refuse(offers[1].offer);
  ASSERT_EQ(transport_.sent.size(), 2u);
  EXPECT_EQ(ReadLinkFrame(transport_.sent[0].header, 8)->kind,
            LinkFrame::kTake);
  EXPECT_EQ(transport_.sent[0].payload, Bytes(5));
  EXPECT_EQ(ReadLinkFrame(transport_.sent[1].header, 8)->kind,
            LinkFrame::kRefuse);
  EXPECT_EQ(transport_.sent[1].payload, Bytes(7));
  EXPECT_THAT(Told(), IsEmpty());
  links_.OnPayload(one, 5);
  EXPECT_THAT(Told(), ElementsAre(std::pair(50u, false)));
}

TEST_F(ProcessLinksTest, WhatDoesNotLandAnyMoreIsTold) {
  const PeerId one = Accept();
  ASSERT_TRUE(links_.Link(1, one).ok());
  const RemoteChannel remote_channel = links_.remote_channel();
  for (uint64_t token : {1, 2, 3}) HearOffer(one, token, 1000);
  std::vector<testing::Sent> offers = world_.Take();
  ASSERT_EQ(offers.size(), 3u);
  char memory[1000];
  ReceiveBuffer landing;
  landing.memory = memory;
  landing.landed = Numbered(1);
  remote_channel.take(offers[0].offer, LocalId{7}, landing);
  links_.OnPeerDown(one, absl::OkStatus());
  EXPECT_THAT(Told(), ElementsAre(std::pair(1u, true)));
  // The answer comes after the peer has gone.
  landing.landed = Numbered(2);
  remote_channel.take(offers[1].offer, LocalId{7}, landing);
  remote_channel.refuse(offers[2].offer);
  EXPECT_THAT(Told(), ElementsAre(std::pair(2u, true)));
  EXPECT_EQ(transport_.expected.size(), 1u);
  EXPECT_EQ(transport_.sent.size(), 1u);
}

TEST_F(ProcessLinksTest, NobodySpeaksForAnotherProcess) {
  const PeerId one = Accept(), stranger = Accept();
  ASSERT_TRUE(links_.Link(1, one).ok());
  Hear(one, LinkFrame::Control(21, 3, 2), "no");  // sender is in process 2
  Hear(one, LinkFrame::Control(4, 3, 2), "no");   // sender is in this process
  // Receiver is not in this process.
  Hear(one, LinkFrame::Control(11, 21, 2), "no");
  Hear(one, LinkFrame::Control(11, 99, 2), "no");  // receiver does not exist
  Hear(one, LinkFrame::Control(11, 3, 3), "no");   // wrong length
  Hear(stranger, LinkFrame::Control(11, 3, 2), "no");  // no link
  links_.OnMessage(one, absl::MakeConstSpan("junk", 4), "no");
  EXPECT_EQ(links_.stats().foreign, 7u);
  EXPECT_EQ(links_.stats().messages_received, 0u);
  EXPECT_THAT(world_.sent, IsEmpty());
  Hear(one, LinkFrame::Control(11, 3, 3), "yes");
  EXPECT_EQ(links_.stats().messages_received, 1u);
  EXPECT_EQ(world_.sent.size(), 1u);
}

TEST_F(ProcessLinksTest, MembershipIsHeardOfAnybody) {
  const PeerId stranger = Accept();
  Hear(stranger, LinkFrame::Membership(5), "hello");
  EXPECT_THAT(said_, ElementsAre(std::pair(0u, std::string("hello"))));
  links_.SendMembership(stranger, "welcome");
  ASSERT_EQ(transport_.sent.size(), 1u);
  EXPECT_EQ(transport_.sent[0].payload, "welcome");
}

TEST_F(ProcessLinksTest, AProcessHasOneLink) {
  const PeerId one = Accept(), again = Accept();
  using Code = absl::StatusCode;
  ASSERT_TRUE(links_.Link(1, one).ok());
  EXPECT_EQ(links_.Link(1, again).code(), Code::kFailedPrecondition);
  EXPECT_EQ(links_.Link(2, one).code(), Code::kFailedPrecondition);
  EXPECT_EQ(links_.Link(0, again).code(), Code::kOutOfRange);
  EXPECT_EQ(links_.Link(kMaxProcesses, again).code(), Code::kOutOfRange);
  links_.OnPeerDown(one, absl::OkStatus());
  EXPECT_EQ(links_.Link(1, one).code(), Code::kUnavailable);
  EXPECT_TRUE(links_.Link(1, again).ok());
  links_.OnPeerDown(again, absl::OkStatus());
  EXPECT_THAT(gone_, ElementsAre(std::pair(0u, 1), std::pair(1u, 1)));
  links_.remote_channel().send_control(3, 11, "late");
  EXPECT_EQ(links_.stats().unlinked, 1u);
}

// A process that was unlinked may still be up and send messages.
TEST_F(ProcessLinksTest, NothingIsHeardOfWhoWasUnlinked) {
  const PeerId one = Accept();
  ASSERT_TRUE(links_.Link(1, one).ok());
  Hear(one, LinkFrame::Control(11, 3, 3), "yes");
  EXPECT_EQ(links_.stats().messages_received, 1u);
  links_.Unlink(1);
  Hear(one, LinkFrame::Control(11, 3, 4), "late");
  EXPECT_EQ(links_.stats().messages_received, 1u);
  EXPECT_EQ(links_.stats().foreign, 1u);
  links_.remote_channel().send_control(3, 11, "late");
  EXPECT_EQ(links_.stats().unlinked, 1u);
  EXPECT_THAT(transport_.closed, ElementsAre(one));
  links_.OnPeerDown(one, absl::OkStatus());
  EXPECT_THAT(gone_, ElementsAre(std::pair(0u, -1)));
}

// A dialed peer may be gone before Dial knows its number.
TEST_F(ProcessLinksTest, WhoGoesWhileDialedIsAnError) {
  transport_.on_dial = [&](PeerId peer) {
    links_.OnPeerDown(peer, absl::UnavailableError("reset"));
  };
  const auto peer = links_.Dial("there", absl::Seconds(1));
  EXPECT_EQ(peer.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(peer.status().message(),
            "the connection to 'there' ended as soon as it was established");
  EXPECT_THAT(gone_, IsEmpty());
  transport_.on_dial = nullptr;
  const auto next = links_.Dial("there", absl::Seconds(1));
  ASSERT_TRUE(next.ok());
  EXPECT_TRUE(links_.Link(1, *next).ok());
}

}  // namespace
}  // namespace pathways

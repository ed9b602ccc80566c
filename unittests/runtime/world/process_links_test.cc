//===- process_links_test.cc - Who may say what on a link -----------------===//
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

// Keeps what is sent; a test says what comes.
class FakeTransport final : public Transport {
 public:
  struct Sent {
    PeerId peer;
    Urgency urgency;
    std::string header, payload;
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
  void Expect(PeerId, uint64_t, void*, uint64_t) override {}
  void Put(PeerId, uint64_t, absl::Span<const char>,
           std::function<void()>) override {}
  uint64_t backlog(PeerId) const override { return 0; }
  void Close(PeerId peer) override { closed.push_back(peer); }
  bool Poll() override { return false; }
  void Stop() override {}

  uint32_t next = 0;
  std::function<void(PeerId)> on_dial;
  std::vector<Sent> sent;
  std::vector<PeerId> closed;
};

// Process 0 of three; actors 10 n to 10 n + 9 live in process n.
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

  // To whom, then of a hot message its step; then what is beside it.
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
  const Uplink uplink = links_.uplink();
  uplink.send(3, 21, Token(5), {"abc", 3});
  uplink.send_control(3, 11, "control");
  uplink.send_control(3, 99, "nobody's");
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
  const Uplink uplink = links_.uplink();
  uplink.send(3, 11, Token(1), {big.data(), big.size()});
  uplink.send(3, 11, Token(1), {big.data(), big.size() - 1});
  uplink.send(3, 11, block, {"b", 1});
  ASSERT_EQ(transport_.sent.size(), 3u);
  EXPECT_EQ(transport_.sent[0].urgency, Urgency::kBulk);
  EXPECT_EQ(transport_.sent[1].urgency, Urgency::kCritical);
  EXPECT_EQ(transport_.sent[2].urgency, Urgency::kBulk);
}

TEST_F(ProcessLinksTest, WhatAWorkerSaysInOneGoIsOneFrame) {
  const PeerId one = Accept(), two = Accept();
  ASSERT_TRUE(links_.Link(1, one).ok());
  ASSERT_TRUE(links_.Link(2, two).ok());
  const auto stage = links_.uplink().open_stage();
  EXPECT_TRUE(stage->Send(3, 11, Token(1), {"abc", 3}));
  EXPECT_TRUE(stage->Send(4, 21, Token(2), {}));
  EXPECT_TRUE(stage->SendControl(3, 12, "control"));
  EXPECT_TRUE(stage->Send(3, 99, Token(9), {}));  // nobody's
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
  const auto stage = links_.uplink().open_stage();
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

// As if it had been sent when it was said.
TEST_F(ProcessLinksTest, WhatIsKeptIsForThePeerOfThatTime) {
  const PeerId one = Accept(), again = Accept();
  ASSERT_TRUE(links_.Link(1, one).ok());
  const auto stage = links_.uplink().open_stage();
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

// Each frame in a batch is looked at as if it had come alone.
TEST_F(ProcessLinksTest, NobodySpeaksForAnotherProcessInABatch) {
  const PeerId one = Accept(), stranger = Accept();
  ASSERT_TRUE(links_.Link(1, one).ok());
  BatchWriter batch;
  batch.Add(LinkFrame::Hot(21, 3, Token(1), 0), {});   // of process 2
  batch.Add(LinkFrame::Hot(4, 3, Token(2), 0), {});    // of this one
  batch.Add(LinkFrame::Hot(11, 3, Token(3), 0), {});   // its own
  batch.Add(LinkFrame::Hot(11, 21, Token(4), 0), {});  // not for this one
  batch.Add(LinkFrame::Control(11, 99, 0), {});        // for nobody
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
  Hear(one, LinkFrame::Batch(good.size() + 1), good);  // not as long
  EXPECT_EQ(links_.stats().foreign, 4u);
  EXPECT_EQ(links_.stats().messages_received, 0u);
  EXPECT_EQ(links_.stats().frames_received, 0u);
  EXPECT_THAT(world_.sent, IsEmpty());
  Hear(one, LinkFrame::Batch(good.size()), good);
  EXPECT_EQ(world_.sent.size(), 2u);
}

TEST_F(ProcessLinksTest, NobodySpeaksForAnotherProcess) {
  const PeerId one = Accept(), stranger = Accept();
  ASSERT_TRUE(links_.Link(1, one).ok());
  Hear(one, LinkFrame::Control(21, 3, 2), "no");       // of process 2
  Hear(one, LinkFrame::Control(4, 3, 2), "no");        // of this one
  Hear(one, LinkFrame::Control(11, 21, 2), "no");      // not for this one
  Hear(one, LinkFrame::Control(11, 99, 2), "no");      // for nobody
  Hear(one, LinkFrame::Control(11, 3, 3), "no");       // not as long
  Hear(stranger, LinkFrame::Control(11, 3, 2), "no");  // not linked
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
  links_.uplink().send_control(3, 11, "late");
  EXPECT_EQ(links_.stats().unlinked, 1u);
}

// A process that is given up may still be up, and speak.
TEST_F(ProcessLinksTest, NothingIsHeardOfWhoWasUnlinked) {
  const PeerId one = Accept();
  ASSERT_TRUE(links_.Link(1, one).ok());
  Hear(one, LinkFrame::Control(11, 3, 3), "yes");
  EXPECT_EQ(links_.stats().messages_received, 1u);
  links_.Unlink(1);
  Hear(one, LinkFrame::Control(11, 3, 4), "late");
  EXPECT_EQ(links_.stats().messages_received, 1u);
  EXPECT_EQ(links_.stats().foreign, 1u);
  links_.uplink().send_control(3, 11, "late");
  EXPECT_EQ(links_.stats().unlinked, 1u);
  EXPECT_THAT(transport_.closed, ElementsAre(one));
  links_.OnPeerDown(one, absl::OkStatus());
  EXPECT_THAT(gone_, ElementsAre(std::pair(0u, -1)));
}

// What was dialed may be gone before its number is known.
TEST_F(ProcessLinksTest, WhoGoesWhileDialedIsAnError) {
  transport_.on_dial = [&](PeerId peer) {
    links_.OnPeerDown(peer, absl::UnavailableError("reset"));
  };
  const auto peer = links_.Dial("there", absl::Seconds(1));
  EXPECT_EQ(peer.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(peer.status().message(),
            "the connection to 'there' ended as soon as it was there");
  EXPECT_THAT(gone_, IsEmpty());
  transport_.on_dial = nullptr;
  const auto next = links_.Dial("there", absl::Seconds(1));
  ASSERT_TRUE(next.ok());
  EXPECT_TRUE(links_.Link(1, *next).ok());
}

}  // namespace
}  // namespace pathways

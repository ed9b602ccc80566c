//===- host_payloads_test.cc - Payloads put where they belong -------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "runtime/plan/testing/test_plans.h"
#include "unittests/runtime/executor/executor_test_support.h"

namespace pathways::testing {
namespace {

using proto::Control;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kRows = 512, kColumns = 512;

// A plan that moves 1 MiB from the first island to the second, which have two
// devices each. Dense: a piece lies in the receiver's shard as it arrives.
proto::Plan TurnPlan(bool dense) {
  const layout::Layout rows = Rows({kRows, kColumns});
  const layout::Layout columns = Split({kRows, kColumns}, {{}, {"x"}});
  return TransferPlan({.name = "turn", .layout = dense ? rows : columns},
                      {.island = 1}, dense ? columns : rows);
}
constexpr uint64_t kPieceBytes = kRows * kColumns / 4 * sizeof(float);
static_assert(kPieceBytes >= kMinLentBytes);

// Host `own` of two, each with an island.
class HostPayloadsTest : public ::testing::Test {
 protected:
  void Load(int own, bool dense = true) {
    host_ = std::make_unique<RecordedHost>("2x1x2", own, DispatchOptions{},
                                           /*has_values=*/true);
    ASSERT_THAT(ControlsOf(host_->Load(TurnPlan(dense)), Control::kLoadReply),
                SizeIs(1));
  }
  // A piece of the other host's first shard, for this one's.
  WireMessage Piece(uint64_t step) {
    WireMessage message;
    message.kind = kPieceMessage;
    message.incarnation = 1;
    const auto& edges = host_->plan().edges();
    for (uint32_t e = 0; e < edges.size(); ++e) {
      if (edges[e].kind == proto::DATA && edges[e].relation == proto::PIECES) {
        message.target = e;
      }
    }
    message.step = step;
    message.from_epoch = message.to_epoch = 1;
    message.sequence = ++sequence_;
    return message;
  }
  ReceiveBuffer Offer(const WireMessage& message,
                      uint64_t bytes = kPieceBytes) {
    return host_->executor->OnOffer(host_->directory().executor(0), message,
                                    bytes);
  }
  // The tokens for devices that the executor has sent: whether poisoned.
  std::vector<bool> Tokens() {
    std::vector<bool> tokens;
    for (const Sent& one : host_->world.Take()) {
      if (one.kind == Sent::kLocal && one.local.kind == kLocalToken) {
        tokens.push_back(one.local.flags & kPoisoned);
      }
    }
    return tokens;
  }
  std::vector<Control> StopReplies(const std::vector<Sent>& sent) {
    return ControlsOf(sent, Control::kStopReply);
  }
  std::vector<Sent> Notify(const LocalMessage& message) {
    host_->executor->OnLocal(message);
    return host_->world.DeliverAll();
  }

  std::unique_ptr<RecordedHost> host_;
  uint64_t sequence_ = 0;
};

TEST_F(HostPayloadsTest, APieceGoesStraightIntoItsSlot) {
  Load(1);
  const ReceiveBuffer first = Offer(Piece(0)), second = Offer(Piece(1));
  ASSERT_NE(first.memory, nullptr);
  ASSERT_NE(second.memory, nullptr);
  // The other slot of the same buffer, in which this is the first half.
  const auto* begin = static_cast<const char*>(first.memory);
  EXPECT_EQ(static_cast<const char*>(second.memory) - begin,
            static_cast<ptrdiff_t>(2 * kPieceBytes));
  EXPECT_THAT(Tokens(), IsEmpty());
  host_->executor->OnLocal(first.landed);
  EXPECT_THAT(Tokens(), ::testing::ElementsAre(false));
  // The slot is the same in the other direction, too.
  EXPECT_EQ(Offer(Piece(2)).memory, first.memory);
}

TEST_F(HostPayloadsTest, APieceThatIsToBeSpreadWaitsBeside) {
  Load(1, /*dense=*/false);
  const ReceiveBuffer first = Offer(Piece(0)), second = Offer(Piece(1));
  ASSERT_NE(first.memory, nullptr);
  ASSERT_NE(second.memory, nullptr);
  EXPECT_NE(first.memory, second.memory);
  std::memset(first.memory, 1, kPieceBytes);
  host_->executor->OnLocal(first.landed);
  EXPECT_THAT(Tokens(), ::testing::ElementsAre(false));
  // The slot is free again once its piece has arrived.
  EXPECT_EQ(Offer(Piece(2)).memory, first.memory);
  EXPECT_NE(Offer(Piece(3)).memory, second.memory);
}

TEST_F(HostPayloadsTest, WhatCannotBeIsRefused) {
  Load(1);
  const HostCounters& counters = host_->executor->counters();
  const WireMessage piece = Piece(0);
  EXPECT_NE(Offer(piece).memory, nullptr);
  EXPECT_EQ(Offer(piece).memory, nullptr);
  EXPECT_EQ(counters.duplicates.get(), 1u);
  WireMessage other = Piece(1);
  other.from_epoch = 2;
  EXPECT_EQ(Offer(other).memory, nullptr);
  other = Piece(1);
  other.incarnation = 2;
  EXPECT_EQ(Offer(other).memory, nullptr);
  EXPECT_EQ(counters.stale.get(), 2u);
  other = Piece(1);
  other.item = 7;
  EXPECT_EQ(Offer(other).memory, nullptr);
  other = Piece(1);
  other.target = UINT32_MAX;
  EXPECT_EQ(Offer(other).memory, nullptr);
  other = Piece(1);
  other.kind = kContributionMessage;
  EXPECT_EQ(Offer(other).memory, nullptr);
  other = Piece(1);
  other.kind = kTokenMessage;
  EXPECT_EQ(Offer(other).memory, nullptr);
  EXPECT_EQ(host_->executor->OnOffer(99, Piece(1), kPieceBytes).memory,
            nullptr);
  EXPECT_EQ(counters.foreign.get(), 2u);
  EXPECT_THAT(Tokens(), IsEmpty());
  // Nobody waits for what is of another size.
  EXPECT_EQ(Offer(Piece(1), kPieceBytes + 1).memory, nullptr);
  EXPECT_EQ(Offer(Piece(2), uint64_t{1} << 60).memory, nullptr);
  EXPECT_THAT(Tokens(), ::testing::ElementsAre(true, true));
}

TEST_F(HostPayloadsTest, AProgramIsNotStoppedWhileOthersWriteToIt) {
  for (const bool dense : {true, false}) {
    for (const uint16_t flags : {uint16_t{0}, kNotReceived}) {
      Load(1, dense);
      sequence_ = 0;
      ReceiveBuffer first = Offer(Piece(0)), second = Offer(Piece(1));
      EXPECT_THAT(StopReplies(host_->NotifyFromController(Stop(1))), IsEmpty());
      // Pieces that come now belong to no program.
      EXPECT_EQ(Offer(Piece(2)).memory, nullptr);
      first.landed.flags |= flags;
      second.landed.flags |= flags;
      EXPECT_THAT(StopReplies(Notify(second.landed)), IsEmpty());
      EXPECT_THAT(StopReplies(Notify(first.landed)), SizeIs(1));
    }
  }
}

TEST_F(HostPayloadsTest, WhatDoesNotComeIsNoToken) {
  Load(1);
  ReceiveBuffer landing = Offer(Piece(0));
  landing.landed.flags |= kNotReceived;
  host_->executor->OnLocal(landing.landed);
  EXPECT_THAT(Tokens(), IsEmpty());
  EXPECT_THAT(StopReplies(host_->NotifyFromController(Stop(1))), SizeIs(1));
}

TEST_F(HostPayloadsTest, AProgramIsNotStoppedWhileOthersReadIt) {
  Load(0);
  const std::vector<char> bytes(kPieceBytes);
  LocalMessage forward;
  forward.kind = kForwardPiece;
  forward.incarnation = 1;
  forward.target = Piece(0).target;
  forward.extra = 1;  // host
  forward.payload = const_cast<char*>(bytes.data());
  forward.payload_bytes = bytes.size();
  host_->world.lends = true;
  host_->executor->OnLocal(forward);
  std::vector<Sent> sent = host_->world.Take();
  ASSERT_THAT(sent, SizeIs(1));
  ASSERT_EQ(sent[0].kind, Sent::kLent);
  EXPECT_EQ(sent[0].to, host_->directory().executor(1));
  EXPECT_EQ(sent[0].payload.data, bytes.data());
  // A payload that the world does not lend is not in flight.
  host_->world.lends = false;
  host_->executor->OnLocal(forward);
  EXPECT_THAT(WiresOf(host_->world.Take(), kPieceMessage), SizeIs(1));
  EXPECT_THAT(StopReplies(host_->NotifyFromController(Stop(1))), IsEmpty());
  EXPECT_THAT(StopReplies(Notify(sent[0].local)), SizeIs(1));
}

// Its device hears when a piece that lies in its buffer is not read any more:
// at once if nobody is there to read it.
TEST_F(HostPayloadsTest, ADeviceGetsItsBufferBack) {
  Load(0);
  const WireMessage piece = Piece(0);
  const std::vector<char> bytes(kPieceBytes);
  LocalMessage forward;
  forward.kind = kForwardPiece;
  forward.flags = kInPlace;
  forward.incarnation = 1;
  forward.target = piece.target;
  forward.item = 1;  // of the second device
  forward.step = 5;
  forward.extra = 1;
  forward.payload = const_cast<char*>(bytes.data());
  forward.payload_bytes = bytes.size();
  auto returned = [&] {
    std::vector<std::pair<LocalId, uint64_t>> told;
    for (const Sent& one : host_->world.Take()) {
      if (one.kind != Sent::kLocal) continue;
      EXPECT_EQ(one.local.kind, kPayloadReturned);
      EXPECT_EQ(one.local.incarnation, 1u);
      told.emplace_back(one.local_to, one.local.step);
    }
    return told;
  };
  const LocalId device = host_->devices[1]->local_id();
  host_->executor->OnLocal(forward);
  EXPECT_THAT(returned(), ::testing::ElementsAre(std::pair(device, 5u)));
  host_->world.lends = true;
  host_->executor->OnLocal(forward);
  const std::vector<Sent> sent = host_->world.Take();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].wire.flags, 0u);
  host_->executor->OnLocal(sent[0].local);
  EXPECT_THAT(returned(), ::testing::ElementsAre(std::pair(device, 5u)));
}

}  // namespace
}  // namespace pathways::testing

//===- host_tokens_test.cc - Tokens and pieces between hosts --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/executor/host_tokens.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "unittests/runtime/executor/outbox_test_support.h"
#include "unittests/runtime/program/host_program_test_support.h"

namespace pathways::testing {
namespace {

// Host 0 receives a piece on each of two devices, which are cohorts of their
// own, from host 1.
class HostTokensTest : public OutboxTest {
 protected:
  HostTokensTest() : host_(topology, 0, {0, 1}) {
    program_ = programs_.Add(host_.MustBuild(
        Prepare(MovePlan("p", 2, /*from=*/1, /*to=*/0), topology)));
    const auto& edges = program_->plan->edges();
    for (uint32_t e = 0; e < edges.size(); ++e) {
      if (edges[e].kind == proto::DATA && edges[e].relation == proto::PIECES) {
        edge_ = e;
      }
    }
  }
  // The program is in the memory of host_, which is destroyed first.
  ~HostTokensTest() override { programs_.Remove(*program_); }
  WireMessage Message(WireKind kind, uint32_t shard, uint32_t item) const {
    WireMessage message;
    message.kind = kind;
    message.target = edge_;
    message.shard = shard;
    message.item = item;
    message.step = 1;
    return message;
  }

  TestHost host_;
  HostProgram* program_;
  uint32_t edge_ = UINT32_MAX;
  HostTokens tokens_{&topology, &actors_, 0, &programs_, &outbox_, &counters_};
};

TEST_F(HostTokensTest, NotifiesTheDeviceThatAPieceIsFor) {
  const PieceIn* piece = HostTokens::FindPiece(*program_, edge_, 1, 1);
  ASSERT_NE(piece, nullptr);
  WireMessage message = Message(kPieceMessage, 1, 1);
  message.flags = kPoisoned;
  tokens_.OnPiece(program_, message, {});
  const std::vector<Sent> sent = world.Take();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].local_to, actors_.devices[1]);
  EXPECT_EQ(sent[0].local.kind, kLocalToken);
  EXPECT_EQ(sent[0].local.flags, kPoisoned);
  EXPECT_EQ(sent[0].local.target, piece->in_edge);
  EXPECT_EQ(sent[0].local.step, 1u);
}

TEST_F(HostTokensTest, IgnoresWhatFitsNoEdge) {
  EXPECT_EQ(HostTokens::FindPiece(*program_, edge_, 1, 9), nullptr);
  tokens_.OnPiece(program_, Message(kPieceMessage, 1, 9), {});
  WireMessage message = Message(kTokenMessage, 0, 0);
  message.target = UINT32_MAX;
  tokens_.OnToken(program_, message);
  EXPECT_TRUE(world.Take().empty());
}

TEST_F(HostTokensTest, SendsEachCohortOneBatchOfARecord) {
  MemberHeader members[2];
  for (uint32_t i = 0; i < 2; ++i) members[i].shard = members[i].item = i;
  WireMessage message = Message(kPiecesMessage, 0, 2);
  message.flags = kPoisoned;  // so the members have no bytes
  tokens_.OnRecord(program_, message, {members, sizeof members});
  const std::vector<Sent> sent = world.Take();
  ASSERT_EQ(sent.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(sent[i].local_to, actors_.devices[i]);
    EXPECT_EQ(sent[i].local.kind, kTokenBatch);
    auto* batch = const_cast<TokenBatch*>(
        static_cast<const TokenBatch*>(sent[i].local.payload));
    EXPECT_EQ(batch->members().size(), 1u);
    batch->Return();
  }
  EXPECT_EQ(counters_.foreign.get(), 0u);
}

TEST_F(HostTokensTest, CountsAMalformedRecordAsForeign) {
  MemberHeader members[2];
  for (MemberHeader& member : members) member.shard = member.item = 1;
  tokens_.OnRecord(program_, Message(kPiecesMessage, 0, 2),
                   {members, sizeof members});
  EXPECT_TRUE(world.Take().empty());
  EXPECT_EQ(counters_.foreign.get(), 1u);
}

TEST_F(HostTokensTest, ForwardsATokenToItsHost) {
  LocalMessage message;
  message.kind = kForwardToken;
  message.program = program_->program;
  message.incarnation = program_->incarnation;
  message.target = edge_;
  message.shard = 1;
  message.extra = 1;  // host
  tokens_.Forward(program_, message);
  const std::vector<Sent> sent = world.Take();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].to, context.directory.executor(1));
  EXPECT_EQ(sent[0].wire.kind, kTokenMessage);
  EXPECT_EQ(sent[0].wire.target, edge_);
  EXPECT_EQ(sent[0].wire.shard, 1u);
}

}  // namespace
}  // namespace pathways::testing

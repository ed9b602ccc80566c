//===- move_builder_test.cc - Builder of sends and recvs ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/move_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/buffer_bytes.h"
#include "unittests/runtime/program/table_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

class MoveBuilderTest : public ::testing::Test {
 protected:
  void Begin(const std::string& topology, int host, proto::Plan plan) {
    t_ = std::make_unique<TestTables>(topology, host, std::move(plan));
    pieces_in_.clear();
    piece_begin_.clear();
  }
  void Build() {
    t_->LayOut();
    t_->AllocateDevices();
    ArrivingPieces arriving(*t_->plan);
    TokenBuilder tokens(t_->in, t_->bases, t_->self_bases, &arriving);
    MoveBuilder moves(t_->in, t_->devices, t_->bases, tokens, &arriving,
                      &t_->memory);
    for (const auto& device : t_->devices) {
      if (device != nullptr) moves.ReserveStaging(*device);
    }
    t_->AllocateHost();
    for (const auto& device : t_->devices) {
      if (device != nullptr) moves.MakeOps(device.get());
    }
    moves.TakeReceived(&pieces_in_, &piece_begin_);
  }
  const DeviceProgram& device(int d) const { return *t_->devices[d]; }

  std::unique_ptr<TestTables> t_;
  std::vector<PieceIn> pieces_in_;
  std::vector<uint32_t> piece_begin_;
};

TEST_F(MoveBuilderTest, APieceIsCopiedToItsPlaceOnTheSameHost) {
  Begin("1x1x2", 0,
        TransferPlan({.slice = {.shards = 1}, .layout = Rows({4})},
                     {.shards = 1, .base = 1}));
  Build();
  EXPECT_EQ(t_->memory.host_bytes(), 0u);  // no staging
  ASSERT_THAT(device(0).sends, SizeIs(1));
  EXPECT_EQ(device(0).sends[0].begin, 0u);
  EXPECT_EQ(device(0).sends[0].end, 1u);
  ASSERT_THAT(device(0).pieces, SizeIs(1));
  const PieceOut& piece = device(0).pieces[0];
  EXPECT_EQ(piece.bytes, 16u);
  EXPECT_EQ(piece.lent_offset, -1);
  EXPECT_EQ(piece.member_offset, -1);
  ASSERT_THAT(device(1).recvs, SizeIs(1));
  EXPECT_EQ(piece.to.base, device(1).recvs[0].to.base);
  EXPECT_EQ(piece.from.base, device(0).sends[0].from.base);
  EXPECT_EQ(device(1).recvs[0].fill, RecvOp::kNone);
  EXPECT_THAT(pieces_in_, SizeIs(0));
}

// Two shards of host 0, each of which keeps two elements of four, move to one
// of host 1.
proto::Plan JoinPlan(int64_t elements = 4) {
  return TransferPlan({.slice = {.shards = 2}, .layout = Rows({elements})},
                      {.shards = 1, .island = 1});
}

TEST_F(MoveBuilderTest, PiecesThatLeaveTheHostAreStaged) {
  Begin("2x1x2", 0, JoinPlan());
  Build();
  // Each piece has 8 bytes, for each of the two slots of the destination.
  EXPECT_EQ(t_->memory.host_bytes(), 2 * 2 * AlignBuffer(8));
  for (int d = 0; d < 2; ++d) {
    ASSERT_THAT(device(d).pieces, SizeIs(1));
    const PieceOut& piece = device(d).pieces[0];
    EXPECT_EQ(piece.to.base, t_->host_memory.data() + d * 2 * AlignBuffer(8));
    EXPECT_EQ(piece.to.stride, AlignBuffer(8));
    EXPECT_EQ(piece.to.credits, 2u);
    EXPECT_THAT(piece.destination_offset, ElementsAre(2 * d));
    EXPECT_THAT(piece.extent, ElementsAre(2));
    EXPECT_EQ(piece.member_offset, -1);
  }
}

TEST_F(MoveBuilderTest, SmallPiecesForOtherProcessesMayBeMembersOfRecords) {
  Begin("2x1x2", 0, JoinPlan());
  t_->reach.is_far = [](int) { return true; };
  Build();
  EXPECT_EQ(device(0).pieces[0].token.type, OutToken::kOtherProcess);
  EXPECT_EQ(device(0).pieces[0].member_offset, 0);
}

TEST_F(MoveBuilderTest, LargePiecesAreLentAndNeedNoStaging) {
  constexpr int64_t kElements = 2 * kMinLentBytes / sizeof(float);
  Begin("2x1x2", 0, JoinPlan(kElements));
  t_->reach.lends = [](int host) { return host == 1; };
  Build();
  EXPECT_EQ(t_->memory.host_bytes(), 0u);
  EXPECT_EQ(device(1).pieces[0].lent_offset, 0);
  EXPECT_EQ(device(1).pieces[0].to.base, nullptr);

  Begin("2x1x2", 0, JoinPlan(kElements - 2));
  t_->reach.lends = [](int host) { return host == 1; };
  Build();
  EXPECT_GT(t_->memory.host_bytes(), 0u);
  EXPECT_EQ(device(1).pieces[0].lent_offset, -1);
}

TEST_F(MoveBuilderTest, PiecesOfOtherHostsAreSortedBySource) {
  Begin("2x1x2", 1, JoinPlan());
  Build();
  ASSERT_THAT(pieces_in_, SizeIs(2));
  const RecvOp& recv = device(0).recvs[0];
  for (uint32_t i = 0; i < 2; ++i) {
    const PieceIn& in = pieces_in_[i];
    EXPECT_EQ(in.source, i);
    EXPECT_EQ(in.shard, 0u);
    EXPECT_EQ(in.device, 0u);
    EXPECT_EQ(in.bytes, 8u);
    EXPECT_EQ(in.dense_offset, 8 * i);
    EXPECT_EQ(in.to.base, recv.to.base);
    EXPECT_EQ(device(0).in_edges[in.in_edge].expected, 2u);
  }
  // The two pieces belong to the recv.
  uint32_t action = 0;
  while (t_->plan->plan().actions(action).kind() != proto::RECV) ++action;
  ASSERT_THAT(piece_begin_, SizeIs(t_->plan->plan().actions_size() + 1));
  for (uint32_t a = 0; a < piece_begin_.size(); ++a) {
    EXPECT_EQ(piece_begin_[a], a <= action ? 0u : 2u) << a;
  }
}

// Five rows: the second of two devices has two of them, and one row of padding.
// The third of four devices has one, and the last has none.
TEST_F(MoveBuilderTest, PaddingIsFilledWhereThereIsSome) {
  Begin("2x1x2", 1, MovePlan("p", 2, 0, 1, 0, /*elements=*/5));
  Build();
  EXPECT_EQ(device(0).recvs[0].fill, RecvOp::kNone);
  EXPECT_EQ(device(1).recvs[0].fill, RecvOp::kPadding);
  EXPECT_THAT(device(1).recvs[0].valid, ElementsAre(2));

  Begin("2x1x4", 1, MovePlan("p", 4, 0, 1, 0, /*elements=*/5));
  Build();
  EXPECT_EQ(device(1).recvs[0].fill, RecvOp::kNone);
  EXPECT_EQ(device(2).recvs[0].fill, RecvOp::kPadding);
  EXPECT_EQ(device(3).recvs[0].fill, RecvOp::kZero);
}

}  // namespace
}  // namespace pathways::testing

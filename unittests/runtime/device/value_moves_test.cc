//===- value_moves_test.cc - Effects of moves on memory -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/value_moves.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "runtime/device/cpu_backend.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;

SlotRef SlotAt(float* data, uint32_t credits = 1, uint64_t stride = 0) {
  SlotRef slot;
  slot.base = reinterpret_cast<char*>(data);
  slot.credits = credits;
  slot.stride = stride;
  return slot;
}

PreparedBuffer Numbers(int64_t count) {
  PreparedBuffer buffer;
  buffer.shape = {count};
  buffer.element_bytes = 4;
  buffer.element = proto::F32;
  return buffer;
}

// A launch of two firings with one argument and one result.
class ValueMovesTest : public ::testing::Test {
 protected:
  ValueMovesTest() {
    launch_.first = 6;
    launch_.end = 8;
    launch_.values.steps = 2;
    argument_ = store_.Create(1, 16, "an argument");
    const float values[4] = {1, 2, 3, 4};
    std::memcpy(argument_->data(), values, 16);
    launch_.values.arguments.push_back(argument_);
    launch_.values.results.emplace_back();
    launch_.values.results[0].object = store_.Create(2, 16, "a result");
  }

  CpuBackend backend_{/*costs=*/false, /*cohort=*/nullptr, /*place=*/0};
  Arena memory_{"memory", 1 << 20, /*backed=*/true};
  HostStore store_{&memory_};
  HostStore::Ref argument_;
  HostLaunch launch_;
  float data_[4] = {9, 9, 9, 9};
};

TEST_F(ValueMovesTest, APieceIsCopiedOrPacked) {
  const PreparedBuffer from = Numbers(3), to = Numbers(4);
  float source[3] = {5, 6, 7};
  PieceOut piece;
  piece.source = &from;
  piece.destination = &to;
  piece.source_offset = {1};
  piece.destination_offset = {2};
  piece.extent = {2};
  piece.zeros = {0};
  piece.from = SlotAt(source);
  piece.to = SlotAt(data_);
  MovePiece(&backend_, piece, 0);
  EXPECT_EQ(PlaceOf(piece, 0), reinterpret_cast<char*>(data_));
  EXPECT_THAT(data_, ElementsAre(9, 9, 6, 7));
  piece.token.type = OutToken::kOtherHost;
  MovePiece(&backend_, piece, 0);
  EXPECT_THAT(data_, ElementsAre(6, 7, 6, 7));
}

TEST_F(ValueMovesTest, AReceiveFillsWhatNoPieceBrings) {
  const PreparedBuffer buffer = Numbers(4);
  RecvOp op;
  op.buffer = &buffer;
  op.to = SlotAt(data_);
  FillReceived(&backend_, op, 0);
  EXPECT_THAT(data_, ElementsAre(9, 9, 9, 9));
  op.fill = RecvOp::kPadding;
  op.valid = {3};
  FillReceived(&backend_, op, 0);
  EXPECT_THAT(data_, ElementsAre(9, 9, 9, 0));
  op.fill = RecvOp::kZero;
  FillReceived(&backend_, op, 0);
  EXPECT_THAT(data_, ElementsAre(0, 0, 0, 0));
}

TEST_F(ValueMovesTest, AFeedReadsTheStepOfItsFiring) {
  const PreparedBuffer buffer = Numbers(2);
  FeedOp op;
  op.buffer = &buffer;
  op.stepped = true;
  op.to = SlotAt(data_, /*credits=*/2, /*stride=*/8);
  op.extent = {2};
  op.zeros = {0};
  op.part.bytes = op.bytes = 8;
  EXPECT_TRUE(IsFilled(op, 6, launch_));
  EXPECT_EQ(FeedBuffer(&backend_, &op, 6, launch_), 8u);
  EXPECT_EQ(FeedBuffer(&backend_, &op, 7, launch_), 8u);
  EXPECT_THAT(data_, ElementsAre(1, 2, 3, 4));
}

TEST_F(ValueMovesTest, AFeedPlacesWhatStaysTheSameOnce) {
  const PreparedBuffer buffer = Numbers(4);
  FeedOp op;
  op.buffer = &buffer;
  op.to = SlotAt(data_);
  op.extent = {3};
  op.zeros = {0};
  op.part.bytes = 12;
  op.bytes = 16;
  op.placed = {0};
  EXPECT_EQ(FeedBuffer(&backend_, &op, 6, launch_), 12u);
  EXPECT_THAT(data_, ElementsAre(1, 2, 3, 0));
  EXPECT_EQ(FeedBuffer(&backend_, &op, 7, launch_), 0u);
}

TEST_F(ValueMovesTest, AFeedCarriesWhatTheFiringBeforeMade) {
  const PreparedBuffer buffer = Numbers(2);
  float made[2] = {7, 8};
  FeedOp op;
  op.buffer = &buffer;
  op.carried = true;
  op.to = SlotAt(data_);
  op.carried_from = SlotAt(made);
  op.extent = {2};
  op.zeros = {0};
  op.part.bytes = op.bytes = 8;
  EXPECT_EQ(FeedBuffer(&backend_, &op, 6, launch_), 8u);
  EXPECT_THAT(data_, ElementsAre(1, 2, 9, 9));
  EXPECT_EQ(FeedBuffer(&backend_, &op, 7, launch_), 8u);
  EXPECT_THAT(data_, ElementsAre(7, 8, 9, 9));
  // Only the first firing knows the state of the argument.
  argument_->poisoned = true;
  argument_->filled = false;
  EXPECT_TRUE(ReadsPoison(op, 6, launch_));
  EXPECT_FALSE(IsFilled(op, 6, launch_));
  EXPECT_FALSE(ReadsPoison(op, 7, launch_));
  EXPECT_TRUE(IsFilled(op, 7, launch_));
}

TEST_F(ValueMovesTest, AFetchTakesEachStepOrTheLast) {
  const PreparedBuffer buffer = Numbers(2);
  FetchOp op;
  op.buffer = &buffer;
  op.from = SlotAt(data_);
  op.extent = {2};
  op.zeros = {0};
  op.part.bytes = 8;
  EXPECT_FALSE(IsFetched(op, 6, launch_));
  EXPECT_TRUE(IsFetched(op, 7, launch_));
  op.stepped = true;
  EXPECT_TRUE(IsFetched(op, 6, launch_));
  EXPECT_EQ(FetchBuffer(&backend_, op, 7, launch_), 8u);
  float result[2];
  std::memcpy(result, launch_.values.results[0].object->data() + 8, 8);
  EXPECT_THAT(result, ElementsAre(9, 9));
  op.writes = false;
  EXPECT_EQ(FetchBuffer(&backend_, op, 6, launch_), 0u);
}

}  // namespace
}  // namespace pathways::testing

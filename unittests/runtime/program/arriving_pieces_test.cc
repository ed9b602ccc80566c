//===- arriving_pieces_test.cc - Pieces that arrive at a shard ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/arriving_pieces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unittests/runtime/binding/binding_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAreArray;
using ::testing::SizeIs;

// Each of three shards has a row. Of the two shards that they move to, the
// first takes two rows, and the second takes one.
TEST(ArrivingPiecesTest, AreThoseOfTheMovement) {
  const Topology topology = MakeTopology("1x1x3");
  const auto plan =
      Prepare(TransferPlan({.slice = {.shards = 3}, .layout = Rows({3})}, {}),
              topology);
  uint32_t send = 0;
  while (plan->plan().actions(send).kind() != proto::SEND) ++send;
  ArrivingPieces pieces(*plan);
  EXPECT_THAT(pieces.Into(send, 0), SizeIs(2));
  EXPECT_THAT(pieces.Into(send, 1), SizeIs(1));
  for (int32_t shard : {0, 1, 0}) {
    EXPECT_THAT(pieces.Into(send, shard),
                ElementsAreArray(plan->movement(send).PiecesInto(shard)));
  }
}

}  // namespace
}  // namespace pathways::testing

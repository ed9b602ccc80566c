//===- assign_credits_test.cpp - Number of slots of each buffer -----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "graph_test.h"

namespace mlir::pathways {
namespace {

using AssignCreditsTest = GraphTest;

TEST_F(AssignCreditsTest, WhatOnlyGangsTouchHasOneSlot) {
  uint32_t x = write(add(Kind::Feed));
  uint32_t inner = write(gang({x}));
  uint32_t outer = write(gang({inner}));
  fetch(outer);
  uint32_t unread = write(gang({x}));
  EXPECT_EQ(assignCredits(graph, 3), Numbers({3, 1, 3, 1}));
  EXPECT_EQ(unread, 3u);
}

TEST_F(AssignCreditsTest, BothEndsOfAMovementHaveAll) {
  uint32_t source = write(gang({}));
  write(move(source).second);
  EXPECT_EQ(assignCredits(graph, 2), Numbers({2, 2}));
}

TEST_F(AssignCreditsTest, WhatIsCarriedHasAll) {
  uint32_t feed = add(Kind::Feed);
  uint32_t next = write(gang({write(feed)}));
  graph.addRead(feed, next);
  EXPECT_EQ(assignCredits(graph, 4), Numbers({4, 4}));
}

TEST_F(AssignCreditsTest, WhatSharesMemoryTurnsTogether) {
  uint32_t a = write(gang({}));
  uint32_t second = gang({a}), b = write(second);
  graph.addAlias(second, a, b);
  uint32_t third = gang({b}), c = write(third);
  graph.addAlias(third, b, c);
  fetch(c);
  EXPECT_EQ(assignCredits(graph, 5), Numbers({5, 5, 5}));
}

} // namespace
} // namespace mlir::pathways

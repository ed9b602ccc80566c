//===- grant_order_test.cc - The one order of all grants ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/grant_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pathways {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(GrantOrderTest, TicketsAreOneOrderAndIslandsMissNone) {
  GrantOrder order;
  const Grant& first = order.Give(11, /*program=*/0, 5, {0, 1});
  EXPECT_EQ(first.ticket, 1u);
  EXPECT_THAT(first.previous, ElementsAre(Pair(0, 0), Pair(1, 0)));
  EXPECT_THAT(order.Give(12, 1, 1, {1}).previous, ElementsAre(Pair(1, 1)));
  EXPECT_THAT(order.Give(13, 1, 1, {}).previous, IsEmpty());
  const Grant& last = order.Give(14, 0, 1, {0, 1, 2});
  EXPECT_EQ(last.ticket, 4u);
  EXPECT_THAT(last.previous, ElementsAre(Pair(0, 1), Pair(1, 2), Pair(2, 0)));
}

TEST(GrantOrderTest, FiringsOfAProgramAreAdjacent) {
  GrantOrder order;
  EXPECT_EQ(order.next_firing(0), 0u);
  order.Give(1, 0, 5, {0});
  order.Give(2, 1, 2, {0});
  const Grant& grant = order.Give(3, 0, 7, {0});
  EXPECT_EQ(grant.first, 5u);
  EXPECT_EQ(grant.end, 12u);
  EXPECT_EQ(order.next_firing(0), 12u);
  EXPECT_EQ(order.next_firing(1), 2u);
  order.Restart(0);
  EXPECT_EQ(order.Give(4, 0, 1, {0}).first, 0u);
}

TEST(GrantOrderTest, GrantsAreFoundUntilTheyAreForgotten) {
  GrantOrder order;
  EXPECT_EQ(order.Find(1), nullptr);
  order.Give(1, 0, 5, {0, 1});
  ASSERT_NE(order.Find(1), nullptr);
  EXPECT_EQ(order.Find(1)->end, 5u);
  order.Forget(1);
  EXPECT_EQ(order.Find(1), nullptr);
  EXPECT_THAT(order.Give(2, 0, 1, {1}).previous, ElementsAre(Pair(1, 1)));
}

}  // namespace
}  // namespace pathways

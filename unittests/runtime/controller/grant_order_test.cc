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

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace pathways {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// "first-end@ticket" of the grants that `program` gets now.
std::vector<std::string> Take(GrantOrder& order, uint32_t program) {
  std::vector<std::string> grants;
  while (const Grant* grant = order.Next(program)) {
    grants.push_back(
        absl::StrCat(grant->first, "-", grant->end, "@", grant->ticket));
  }
  return grants;
}

constexpr int32_t kIslands[] = {0, 1, 2};
absl::Span<const int32_t> Islands(int count) {
  return {kIslands, size_t(count)};
}

TEST(GrantOrderTest, TicketsAreOneOrderAndIslandsMissNone) {
  GrantOrder order;
  for (uint32_t program : {0, 1}) order.Restart(program, /*cost_ns=*/1);
  order.Begin(11, /*program=*/0, 5, Islands(2));
  const Grant* grant = order.Next(0);
  EXPECT_EQ(grant->ticket, 1u);
  EXPECT_THAT(grant->previous, ElementsAre(Pair(0, 0), Pair(1, 0)));
  order.Begin(12, 1, 1, Islands(2).subspan(1));
  EXPECT_THAT(order.Next(1)->previous, ElementsAre(Pair(1, 1)));
  order.Begin(13, 1, 1, {});
  EXPECT_THAT(order.Next(1)->previous, IsEmpty());
  order.Begin(14, 0, 1, Islands(3));
  grant = order.Next(0);
  EXPECT_EQ(grant->ticket, 4u);
  EXPECT_THAT(grant->previous, ElementsAre(Pair(0, 1), Pair(1, 2), Pair(2, 0)));
}

TEST(GrantOrderTest, FiringsOfAProgramAreAdjacent) {
  GrantOrder order;
  for (uint32_t program : {0, 1}) order.Restart(program, 1);
  EXPECT_EQ(order.next_firing(0), 0u);
  order.Begin(1, 0, 5, Islands(1));
  EXPECT_THAT(Take(order, 0), ElementsAre("0-5@1"));
  order.Begin(2, 1, 2, Islands(1));
  EXPECT_THAT(Take(order, 1), ElementsAre("0-2@2"));
  order.Begin(3, 0, 7, Islands(1));
  EXPECT_THAT(Take(order, 0), ElementsAre("5-12@3"));
  EXPECT_EQ(order.FindLaunch(3)->first, 5u);
  EXPECT_EQ(order.next_firing(0), 12u);
  EXPECT_EQ(order.next_firing(1), 2u);
  for (uint64_t launch : {1, 3}) order.Forget(launch);
  order.Restart(0, 1);
  order.Begin(4, 0, 1, Islands(1));
  EXPECT_THAT(Take(order, 0), ElementsAre("0-1@4"));
}

TEST(GrantOrderTest, NobodyIsGrantedBeyondTheHorizon) {
  GrantOrder order(/*horizon_ns=*/1000);
  order.Restart(0, /*cost_ns=*/100);
  order.Begin(1, 0, 1'000'000, Islands(2));
  // Half of the horizon each.
  EXPECT_THAT(Take(order, 0), ElementsAre("0-5@1", "5-10@2"));
  EXPECT_FALSE(order.Done(1, 0, 2500));
  EXPECT_FALSE(order.Done(1, 0, 2500));  // a second copy
  EXPECT_THAT(Take(order, 0), IsEmpty());
  EXPECT_TRUE(order.Done(1, 1, 100));
  // Its firings took 500 ns, on the slower island.
  EXPECT_THAT(Take(order, 0), ElementsAre("10-11@3"));
  EXPECT_FALSE(order.Done(1, 1, 100));
  EXPECT_FALSE(order.Done(2, 1, 50));
  EXPECT_TRUE(order.Done(2, 0, 50));
  EXPECT_TRUE(order.Done(3, 0, 10) || order.Done(3, 1, 10));
  // They took 10 ns of late, 284 on average.
  EXPECT_THAT(Take(order, 0), ElementsAre("11-12@4", "12-13@5", "13-14@6"));
}

TEST(GrantOrderTest, AFiringLongerThanTheHorizonIsAGrant) {
  GrantOrder order(1000);
  order.Restart(0, 1'000'000);
  order.Begin(1, 0, 5, Islands(1));
  EXPECT_THAT(Take(order, 0), ElementsAre("0-1@1", "1-2@2"));
}

TEST(GrantOrderTest, WhatACostSaysIsTrustedForShortGrantsOnly) {
  GrantOrder order;
  order.Restart(0, 1);
  order.Begin(1, 0, 1'000'000'000, Islands(1));
  EXPECT_EQ(order.Next(0)->end, 64u);
  EXPECT_TRUE(order.Done(1, 0, 64));
  EXPECT_EQ(order.Next(0)->end, 64u + 5'000'000);
}

TEST(GrantOrderTest, ShortLaunchesFillTheHorizonTogether) {
  GrantOrder order(1000);
  order.Restart(0, 100);
  for (uint64_t launch = 1; launch <= 10; ++launch) {
    order.Begin(launch, 0, 1, Islands(1));
    EXPECT_EQ(Take(order, 0).size(), 1u) << launch;
  }
  order.Begin(11, 0, 1, Islands(1));
  EXPECT_THAT(Take(order, 0), IsEmpty());
  EXPECT_TRUE(order.Done(1, 0, 100));
  EXPECT_THAT(Take(order, 0), ElementsAre("10-11@11"));
}

TEST(GrantOrderTest, WhatIsForgottenIsNotAwaited) {
  GrantOrder order(1000);
  order.Restart(0, 100);
  order.Begin(1, 0, 100, Islands(1));
  EXPECT_EQ(Take(order, 0).size(), 2u);
  EXPECT_THAT(order.FindLaunch(1)->tickets, ElementsAre(1, 2));
  order.Forget(1);
  EXPECT_EQ(order.Find(1), nullptr);
  EXPECT_EQ(order.FindLaunch(1), nullptr);
  EXPECT_THAT(Take(order, 0), IsEmpty());
  EXPECT_FALSE(order.Done(1, 0, 100));
  order.Forget(1);
  order.Begin(2, 0, 3, Islands(1));
  EXPECT_THAT(Take(order, 0), ElementsAre("10-13@3"));
}

}  // namespace
}  // namespace pathways

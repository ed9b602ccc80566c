//===- lent_payloads_test.cc - Payloads that stay until asked for ---------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/lent_payloads.h"

#include <gtest/gtest.h>

namespace pathways {
namespace {

constexpr PeerId kOne{1}, kTwo{2};

LentPayloads::Lent Lent(uint64_t step) {
  LentPayloads::Lent lent;
  lent.returned.step = step;
  return lent;
}

TEST(LentPayloadsTest, TokensAreOfEachPeer) {
  LentPayloads payloads;
  EXPECT_EQ(payloads.Lend(kOne, Lent(1)), std::nullopt);
  payloads.AddPeer(kOne);
  payloads.AddPeer(kTwo);
  EXPECT_EQ(payloads.Lend(kOne, Lent(1)), 1u);
  EXPECT_EQ(payloads.Lend(kOne, Lent(2)), 2u);
  EXPECT_EQ(payloads.Lend(kTwo, Lent(3)), 1u);
  const auto lent = payloads.TakeLent(kTwo, 1);
  ASSERT_TRUE(lent.has_value());
  EXPECT_EQ(lent->returned.step, 3u);
  EXPECT_FALSE(payloads.TakeLent(kTwo, 1).has_value());
  EXPECT_FALSE(payloads.TakeLent(kTwo, 2).has_value());
  EXPECT_EQ(payloads.TakeLent(kOne, 1)->returned.step, 1u);
}

TEST(LentPayloadsTest, AnOfferCountsOnce) {
  LentPayloads payloads;
  EXPECT_FALSE(payloads.AddOffer({kOne, 1, 10}).has_value());
  payloads.AddPeer(kOne);
  payloads.AddPeer(kTwo);
  const auto first = payloads.AddOffer({kOne, 9, 10});
  const auto other = payloads.AddOffer({kTwo, 9, 20});
  ASSERT_TRUE(first.has_value());
  ASSERT_TRUE(other.has_value());
  EXPECT_NE(*first, *other);
  EXPECT_FALSE(payloads.AddOffer({kOne, 9, 10}).has_value());
  EXPECT_TRUE(payloads.AddOffer({kOne, 8, 10}).has_value());  // arrives late
  EXPECT_EQ(payloads.TakeOffer(*other)->bytes, 20u);
  EXPECT_FALSE(payloads.TakeOffer(*other).has_value());
  // An answered offer does not count again either.
  EXPECT_FALSE(payloads.AddOffer({kTwo, 9, 20}).has_value());
}

TEST(LentPayloadsTest, APeerThatGoesLeavesWhatIsNotOver) {
  LentPayloads payloads;
  payloads.AddPeer(kOne);
  payloads.AddPeer(kTwo);
  payloads.Lend(kOne, Lent(1));
  payloads.Lend(kOne, Lent(2));
  payloads.Lend(kTwo, Lent(3));
  payloads.TakeLent(kOne, 1);
  const auto offer = payloads.AddOffer({kOne, 1, 10});
  const auto stays = payloads.AddOffer({kTwo, 1, 10});
  LentPayloads::Awaited awaited;
  awaited.landed.step = 4;
  EXPECT_TRUE(payloads.Await(kOne, 1, awaited));
  EXPECT_TRUE(payloads.Await(kOne, 2, awaited));
  EXPECT_EQ(payloads.TakeAwaited(kOne, 2)->landed.step, 4u);
  EXPECT_FALSE(payloads.TakeAwaited(kOne, 2).has_value());

  const LentPayloads::Left left = payloads.RemovePeer(kOne);
  ASSERT_EQ(left.lent.size(), 1u);
  EXPECT_EQ(left.lent[0].returned.step, 2u);
  ASSERT_EQ(left.awaited.size(), 1u);
  EXPECT_EQ(left.awaited[0].landed.step, 4u);
  EXPECT_FALSE(payloads.TakeOffer(*offer).has_value());
  EXPECT_TRUE(payloads.TakeOffer(*stays).has_value());
  EXPECT_FALSE(payloads.Await(kOne, 3, awaited));
  EXPECT_FALSE(payloads.TakeAwaited(kOne, 1).has_value());
  EXPECT_FALSE(payloads.TakeLent(kOne, 2).has_value());
  EXPECT_TRUE(payloads.RemovePeer(kOne).lent.empty());
}

}  // namespace
}  // namespace pathways

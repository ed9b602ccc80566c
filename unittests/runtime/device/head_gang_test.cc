//===- head_gang_test.cc - State of the head of the queue -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/head_gang.h"

#include <gtest/gtest.h>

namespace pathways::testing {
namespace {

TEST(ShardPoisonTest, HasTheShardsOfOneGang) {
  ShardPoison poison;
  poison.Reserve(3);
  EXPECT_FALSE(poison.any());
  poison.Add(1);
  EXPECT_TRUE(poison.any());
  EXPECT_FALSE(poison.Has(0));
  EXPECT_TRUE(poison.Has(1));
  EXPECT_EQ(poison.data()[1], 1);

  poison.Clear();
  EXPECT_FALSE(poison.any());
  EXPECT_FALSE(poison.Has(1));
  poison.Add(2);
  EXPECT_FALSE(poison.Has(1));
  EXPECT_TRUE(poison.Has(2));
}

TEST(ShardPoisonTest, DataOfAGangWithoutPoisonIsZero) {
  ShardPoison poison;
  poison.Reserve(2);
  poison.Add(0);
  poison.Clear();
  EXPECT_EQ(poison.data()[0], 0);
  EXPECT_EQ(poison.data()[1], 0);
}

TEST(HeadGangTest, ARemovedHeadAwaitsNoEvent) {
  HeadGang head;
  head.generation = 7;
  head.awaits = HeadGang::kWork;
  EXPECT_TRUE(head.Awaits(HeadGang::kWork, 7));
  EXPECT_FALSE(head.Awaits(HeadGang::kWork, 6));
  EXPECT_FALSE(head.Awaits(HeadGang::kCost, 7));
  head.started = true;
  head.step = head.waiting_groups = 2;
  head.Reset();
  EXPECT_FALSE(head.started);
  EXPECT_EQ(head.step, 0u);
  EXPECT_EQ(head.waiting_groups, 0u);
  EXPECT_EQ(head.awaits, HeadGang::kNothing);
  head.awaits = HeadGang::kWork;
  EXPECT_FALSE(head.Awaits(HeadGang::kWork, 7));
}

}  // namespace
}  // namespace pathways::testing

//===- host_epochs_test.cc - Lives of hosts, in their order ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/protocol/host_epochs.h"

#include <gtest/gtest.h>

namespace pathways {
namespace {

TEST(HostEpochsTest, OneLifeAfterTheOther) {
  HostEpochs lives(Directory({0}, {{0, 1}, {1, 4}}));
  EXPECT_FALSE(lives.Has(-1));
  EXPECT_FALSE(lives.Has(2));
  EXPECT_EQ(lives.epoch(1), 4u);
  EXPECT_EQ(lives.restarts(1), 3u);
  EXPECT_TRUE(lives.IsNow(1, 3));
  EXPECT_FALSE(lives.Up(1, 4));  // it lives
  EXPECT_FALSE(lives.Up(1, 5));
  EXPECT_FALSE(lives.Down(1, 3));  // late
  EXPECT_TRUE(lives.Down(1, 4));
  EXPECT_FALSE(lives.Down(1, 4));
  EXPECT_TRUE(lives.IsGone(1));
  EXPECT_FALSE(lives.IsNow(1, 3));
  EXPECT_FALSE(lives.Up(1, 4));  // that one is over
  EXPECT_TRUE(lives.Up(1, 5));
  EXPECT_FALSE(lives.Up(1, 5));
  EXPECT_FALSE(lives.IsNow(1, 3));
  EXPECT_TRUE(lives.IsNow(1, 4));
  EXPECT_FALSE(lives.Down(1, 4));
  EXPECT_TRUE(lives.IsNow(0, 0));
}

}  // namespace
}  // namespace pathways

//===- backoff_test.cc - Time before the next attempt ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/node/backoff.h"

#include <gtest/gtest.h>

namespace pathways {
namespace {

TEST(BackoffTest, PausesGrowToALongestAndBeginAnew) {
  double random = 0;
  Backoff backoff([&] { return random; });
  EXPECT_EQ(backoff.Next(), absl::Milliseconds(100));
  EXPECT_EQ(backoff.Next(), absl::Milliseconds(200));
  random = 1;
  EXPECT_EQ(backoff.Next(), absl::Milliseconds(200));
  random = 0.5;
  EXPECT_EQ(backoff.Next(), absl::Milliseconds(600));
  random = 0;
  EXPECT_EQ(backoff.Next(), absl::Milliseconds(1600));
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(backoff.Next(), absl::Seconds(3));
  backoff.Reset();
  EXPECT_EQ(backoff.Next(), absl::Milliseconds(100));
}

TEST(BackoffTest, TwoDoNotKeepStep) {
  Backoff one, other;
  int same = 0;
  for (int i = 0; i < 20; ++i) {
    const absl::Duration a = one.Next(), b = other.Next();
    EXPECT_GE(a, Backoff::kFirst / 2);
    EXPECT_LE(a, Backoff::kLongest);
    same += a == b;
  }
  EXPECT_LT(same, 20);
}

}  // namespace
}  // namespace pathways

//===- liveness_test.cc - Members that have been silent for long ----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/node/liveness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pathways {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Change = Liveness::Change;

constexpr absl::Duration kTick = absl::Milliseconds(250);

TEST(LivenessTest, SilenceIsSlowAndThenLost) {
  Liveness liveness{LivenessOptions()};
  liveness.Add(3);
  liveness.Add(1);
  for (int i = 0; i < 3; ++i) EXPECT_THAT(liveness.Tick(kTick), IsEmpty());
  EXPECT_FALSE(liveness.Heard(3));
  EXPECT_THAT(liveness.Tick(kTick), ElementsAre(Change{1, Liveness::kSlow}));
  EXPECT_TRUE(liveness.IsSlow(1));
  EXPECT_EQ(liveness.SilenceOf(1), absl::Seconds(1));
  EXPECT_FALSE(liveness.IsSlow(3));
  // Once; and once more when it was heard meanwhile.
  EXPECT_THAT(liveness.Tick(kTick), IsEmpty());
  EXPECT_TRUE(liveness.Heard(1));
  EXPECT_FALSE(liveness.IsSlow(1));
  liveness.Remove(3);
  for (int i = 0; i < 3; ++i) EXPECT_THAT(liveness.Tick(kTick), IsEmpty());
  EXPECT_THAT(liveness.Tick(kTick), ElementsAre(Change{1, Liveness::kSlow}));
  for (int i = 0; i < 35; ++i) EXPECT_THAT(liveness.Tick(kTick), IsEmpty());
  EXPECT_THAT(liveness.Tick(kTick), ElementsAre(Change{1, Liveness::kLost}));
  // Too late.
  EXPECT_FALSE(liveness.Heard(1));
  EXPECT_THAT(liveness.Tick(kTick), IsEmpty());
}

// Whoever counts was stopped for a minute, and what was said meanwhile waits
// to be read.
TEST(LivenessTest, ALateTickIsNoLongSilence) {
  Liveness liveness{LivenessOptions()};
  liveness.Add(1);
  EXPECT_THAT(liveness.Tick(absl::Minutes(1)), IsEmpty());
  EXPECT_EQ(liveness.SilenceOf(1), 2 * kTick);
  EXPECT_THAT(liveness.Tick(-absl::Minutes(1)), IsEmpty());
  EXPECT_EQ(liveness.SilenceOf(1), 2 * kTick);
}

}  // namespace
}  // namespace pathways

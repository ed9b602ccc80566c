//===- host_launch_test.cc - Launches and grants of one host --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/host_launch.h"

#include <gtest/gtest.h>

namespace pathways {
namespace {

FirstFailure FailureAt(uint64_t firing, uint32_t action, uint32_t shard) {
  return {firing, action, shard, /*step=*/0, /*code=*/3};
}

TEST(FirstFailureTest, IsTheSmallestFiringThenActionThenShard) {
  FirstFailure first;
  first.Add({});
  EXPECT_EQ(first.code, 0);
  first.Add(FailureAt(5, 2, 1));
  EXPECT_EQ(first.firing, 5u);
  first.Add(FailureAt(5, 2, 2));
  EXPECT_EQ(first.shard, 1u);
  first.Add(FailureAt(5, 1, 9));
  EXPECT_EQ(first.action, 1u);
  first.Add(FailureAt(4, 8, 8));
  EXPECT_EQ(first.firing, 4u);
  first.Add({});  // no failure
  EXPECT_EQ(first.code, 3);
  EXPECT_EQ(first.action, 8u);
}

TEST(HostLaunchTest, NumbersItsSteps) {
  HostLaunch launch;
  launch.first = 10;
  launch.first_step = 3;
  EXPECT_EQ(launch.numbers().Of(12), 5u);
}

}  // namespace
}  // namespace pathways

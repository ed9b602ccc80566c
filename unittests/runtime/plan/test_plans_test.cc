//===- test_plans_test.cc - Plans of tests pass the verifier --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/testing/test_plans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/plan/tables.h"
#include "runtime/plan/verify.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;

TEST(TestPlansTest, PassTheVerifier) {
  for (const proto::Plan& plan : {
           IdentityPlan({}),
           IdentityPlan({.slice = {.mesh = {{"x", 2}, {"y", 3}}}}, true),
           KernelPlan({.slice = {.shards = 4, .span = 2}}, "k"),
           AllReducePlan({.slice = {.devices = {3, 1}}}),
           TransferPlan({}, {.shards = 1, .island = 1}),
       }) {
    const absl::Status status = CheckPlan(plan, 0);
    EXPECT_TRUE(status.ok()) << status;
  }
}

// A gang reads the array before it and what was fed since; a second chain has
// arguments and results of its own.
TEST(TestPlansTest, ChainsHaveTheirOwnArrays) {
  ChainBuilder b({.slice = {.shards = 4}, .layout = Rows({8})});
  b.Feed("u").Feed("v").Run("add", "add1").Fetch("sum").CarryResult();
  b.Feed("w").Run("again", "add1");
  b.Move("m", {.shards = 2, .island = 1}).MoveTo("back", 0);
  EXPECT_EQ(b.plan().buffers(b.last()).slice(), 0u);
  b.Begin({.base = 4}).Feed("x").Gang("g").Fetch("y").CarryResult();
  const proto::Plan plan = b.Finish();
  const absl::Status status = CheckPlan(plan, 0);
  EXPECT_TRUE(status.ok()) << status;

  EXPECT_THAT(plan.actions(2).operands(), ElementsAre(0, 1));
  EXPECT_THAT(plan.actions(5).operands(), ElementsAre(2, 3));
  EXPECT_EQ(plan.kernels_size(), 1);
  EXPECT_EQ(plan.interface().arguments(0).from(), 0u);
  EXPECT_FALSE(plan.interface().arguments(1).carried());
  EXPECT_EQ(plan.interface().arguments(3).name(), "x");
  EXPECT_EQ(plan.interface().arguments(3).from(), 1u);
  EXPECT_EQ(DeviceOf(plan.slices(2), 1), (BoundDevice{0, 5}));
}

TEST(TestPlansTest, DevicesMayBeListed) {
  const proto::Plan plan = IdentityPlan({.slice = {.devices = {3, 1}}});
  EXPECT_EQ(DeviceOf(plan.slices(0), 0), (BoundDevice{0, 3}));
  EXPECT_EQ(DeviceOf(plan.slices(0), 1), (BoundDevice{0, 1}));
}

}  // namespace
}  // namespace pathways::testing

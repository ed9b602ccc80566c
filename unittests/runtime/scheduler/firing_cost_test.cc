//===- firing_cost_test.cc - Cost of one firing of a program --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/scheduler/firing_cost.h"

#include "runtime/plan/testing/test_plans.h"
#include "unittests/runtime/binding/binding_test_support.h"

namespace pathways::testing {
namespace {

// Gangs of these costs, one after the other, of stage s on device s % devices.
FiringCost Pipeline(const std::vector<uint64_t>& costs, int64_t devices) {
  ChainBuilder b(
      {.name = "pipeline", .slice = {.shards = 1}, .layout = Rows({2})});
  b.Feed("x");
  for (size_t i = 0; i < costs.size(); ++i) {
    const int64_t device = static_cast<int64_t>(i) % devices;
    if (i > 0) b.Move(absl::StrCat("m", i), {.shards = 1, .base = device});
    b.Gang(absl::StrCat("g", i), {.cost_ns = costs[i]});
  }
  return CostOf(*Prepare(b.Fetch("y").Finish(), MakeTopology("1x1x4")));
}

TEST(FiringCostTest, StagesOnDevicesOfTheirOwnFill) {
  const FiringCost cost = Pipeline({100, 300, 200}, 4);
  EXPECT_EQ(cost.total_ns, 600);
  EXPECT_EQ(cost.bottleneck_ns, 300);
  EXPECT_EQ(cost.fill_ns, 300);
}

TEST(FiringCostTest, SlicesThatShareADeviceAddUp) {
  const FiringCost cost = Pipeline({100, 300, 200}, 2);
  EXPECT_EQ(cost.total_ns, 600);
  EXPECT_EQ(cost.bottleneck_ns, 300);
  EXPECT_EQ(Pipeline({100, 100, 300}, 2).bottleneck_ns, 400);
  const FiringCost alone = Pipeline({100, 300, 200}, 1);
  EXPECT_EQ(alone.bottleneck_ns, 600);
  EXPECT_EQ(alone.fill_ns, 0);
}

TEST(FiringCostTest, AGangOfUnknownCostIsAMicrosecond) {
  EXPECT_EQ(Pipeline({0}, 1).total_ns, 1000);
}

}  // namespace
}  // namespace pathways::testing

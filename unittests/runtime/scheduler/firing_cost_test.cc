//===- firing_cost_test.cc - Cost of one firing of a program --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/scheduler/firing_cost.h"

#include "unittests/runtime/binding/binding_test_support.h"

namespace pathways::testing {
namespace {

// Gangs of these costs, one after the other, of stage s on device s % devices.
FiringCost Pipeline(const std::vector<uint64_t>& costs, int64_t devices) {
  PlanBuilder b("pipeline", 2);
  uint32_t before = 0;
  for (size_t i = 0; i < costs.size(); ++i) {
    const std::string n = absl::StrCat(i);
    const uint32_t s =
        b.AddSlice("s" + n, {{"x", 1}}, 0, static_cast<int64_t>(i) % devices);
    const uint32_t in = b.AddBuffer("in" + n, s, RowsOf(2), 2);
    const uint32_t out = b.AddBuffer("out" + n, s, RowsOf(2), 2);
    i == 0 ? void(b.AddFeed("x", in)) : void(b.AddMove("m" + n, before, in));
    b.AddGang("g" + n, s, {in}, {out}, costs[i]);
    before = out;
  }
  b.AddFetch("y", before);
  return CostOf(*Prepare(b.Finish(), MakeTopology("1x1x4")));
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

//===- place_plan_test.cc - A program that places an array ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/place_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "runtime/binding/plan_binding.h"
#include "runtime/plan/verify.h"

namespace pathways {
namespace {

using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

class PlacePlanTest : public ::testing::Test {
 protected:
  PlacePlanTest()
      : topology_(*Topology::Create(*ReadTopology("3x2x2"))),
        mesh_{{"d", 4}},
        layout_{{8, 3}, {{"d"}, {}}, {}, layout::Reduction::kNone} {}

  absl::StatusOr<PlanData> Make(const std::vector<int64_t>& devices) {
    return MakePlacePlan(layout_, mesh_, ElementType::kI32, devices, topology_);
  }

  const Topology topology_;
  layout::Mesh mesh_;
  layout::Layout layout_;
};

TEST_F(PlacePlanTest, ShardsAreOnTheirDevices) {
  const std::vector<std::vector<int64_t>> places = {
      {0, 1, 2, 3}, {3, 3, 0, 1}, {10, 9, 8, 8}, {9, 8, 1, 0}, {4, 5, 11, 10}};
  for (const std::vector<int64_t>& devices : places) {
    const absl::StatusOr<PlanData> plan = Make(devices);
    ASSERT_TRUE(plan.ok()) << plan.status();
    EXPECT_TRUE(VerifyPlan(plan->tables, plan->blobs.size()).empty());
    const auto binding = PlanBinding::Create(plan->tables, topology_);
    ASSERT_TRUE(binding.ok()) << binding.status();
    EXPECT_THAT(binding->slices()[0].device_of, ElementsAreArray(devices));
  }
}

TEST_F(PlacePlanTest, OtherDivisionsAreErrors) {
  const std::vector<std::pair<std::vector<int64_t>, std::string>> cases = {
      {{0, 1, 2}, "names 3 devices, expected 4"},
      {{0, 1, 2, 4}, "4 shards in 2 runs on 2 islands"},
      {{0, 4, 1, 5}, "4 shards in 4 runs on 2 islands"},
      {{0, 4, 8, 9}, "4 shards in 3 runs on 3 islands"},
  };
  for (const auto& [devices, what] : cases) {
    const absl::Status status = Make(devices).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr(what));
  }
  layout_.dims[1] = {"e"};
  EXPECT_THAT(Make({0, 1, 2, 3}).status().message(),
              HasSubstr("the sharding: "));
}

}  // namespace
}  // namespace pathways

//===- client_values_test.cc - Arrays and results of a client -------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/client/client.h"
#include "runtime/plan/testing/test_plans.h"
#include "unittests/runtime/client/runtime_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ClientValuesTest
    : public ::testing::TestWithParam<ClusterOptions::WorldKind> {
 protected:
  TestCluster Make() {
    ClusterOptions options;
    options.world = GetParam();
    return Start("1x2x1", options);
  }
};
INSTANTIATE_TEST_SUITE_P(Worlds, ClientValuesTest, BothWorlds(), WorldName);

// v = u + 1 on two hosts; `none` has no elements.
proto::Plan AddPlanWithNone() {
  return ChainBuilder({.name = "add"})
      .Feed("u")
      .Run("add", "add_one1")
      .Fetch("v")
      .Feed("none", /*stepped=*/false, Whole({0}))
      .Fetch("none")
      .Finish();
}

RunHandle LaunchAdd(Client& client, ProgramHandle program) {
  return LaunchPlan(client, program, {Floats({2}, {1, 2}), Floats({0}, {})});
}

TEST_P(ClientValuesTest, ResultsAreFetchedByNameOrNumberAsOftenAsOneLikes) {
  auto runtime = Make();
  const RunHandle run =
      LaunchAdd(*runtime, LoadPlan(*runtime, AddPlanWithNone()));
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(FetchValues(*runtime, run, "v"), ElementsAre(2, 3));
    EXPECT_THAT(Values(*runtime->Fetch(run, 0)), ElementsAre(2, 3));
    EXPECT_THAT(FetchValues(*runtime, run, "none"), IsEmpty());
  }
  for (int64_t index : {-1, 2}) {
    EXPECT_EQ(runtime->Fetch(run, index).status().code(),
              absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(runtime->Keep(run, index).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
  const absl::Status unknown = absl::InvalidArgumentError(
      "program 'add' has no result 'w'; it has 'v', 'none' [PW6108]");
  EXPECT_EQ(runtime->Fetch(run, "w").status(), unknown);
  EXPECT_EQ(runtime->Keep(run, "w").status(), unknown);
  EXPECT_TRUE(runtime->ReleaseRun(run).ok());
  EXPECT_EQ(runtime->Fetch(run, "v").status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(runtime->ReleaseRun(run).code(), absl::StatusCode::kNotFound);
}

TEST_P(ClientValuesTest, AResultIsAsManyArraysAsItIsKept) {
  auto runtime = Make();
  const RunHandle run =
      LaunchAdd(*runtime, LoadPlan(*runtime, AddPlanWithNone()));
  const ArrayHandle early = *runtime->Keep(run, "v");
  EXPECT_TRUE(runtime->Await(run).ok());
  const ArrayHandle late = *runtime->Keep(run, 0);
  EXPECT_NE(early.id, late.id);
  EXPECT_TRUE(runtime->ReleaseRun(run).ok());
  EXPECT_TRUE(runtime->Release(early).ok());
  EXPECT_EQ(runtime->Release(early).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(StatsOf(*runtime).object_bytes, 8u);
  EXPECT_THAT(Values(*runtime->Get(late)), ElementsAre(2, 3));
  EXPECT_TRUE(runtime->Release(late).ok());
  EXPECT_EQ(StatsOf(*runtime).object_bytes, 0u);
}

// A simulation advances only while some thread waits.
TEST_P(ClientValuesTest, AResultWithoutBytesIsKeptWhenItsRunHasEnded) {
  auto runtime = Make();
  const RunHandle run =
      LaunchAdd(*runtime, LoadPlan(*runtime, AddPlanWithNone()));
  const ArrayHandle none = *runtime->Keep(run, "none");
  EXPECT_TRUE(*runtime->IsReady(run));
  EXPECT_TRUE(*runtime->IsReady(none));
  EXPECT_THAT(runtime->TypeOf(none)->shape, ElementsAre(0));
  EXPECT_TRUE(runtime->ReleaseRun(run).ok());
  EXPECT_THAT(Values(*runtime->Get(none)), IsEmpty());
}

TEST_P(ClientValuesTest, ArraysThatWerePutHaveTheBytesOfTheirType) {
  auto runtime = Make();
  EXPECT_EQ(
      runtime->Put(Floats({2}, {1})).status(),
      absl::InvalidArgumentError("an array of 2xf32 has 4 bytes, expected 8"));
  EXPECT_EQ(runtime->Put(Floats({-1}, {})).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(runtime->Put(Floats({int64_t{1} << 40, int64_t{1} << 40}, {}))
                .status()
                .code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(StatsOf(*runtime).object_bytes, 0u);
  const ArrayHandle array = *runtime->Put(Floats({2, 1}, {1, 2}));
  EXPECT_EQ(StatsOf(*runtime).object_bytes, 8u);
  EXPECT_TRUE(runtime->AwaitArray(array).ok());
  for (int i = 0; i < 2; ++i) {
    const HostArray copy = *runtime->Get(array);
    EXPECT_THAT(copy.shape, ElementsAre(2, 1));
    EXPECT_THAT(Values(copy), ElementsAre(1, 2));
  }
}

}  // namespace
}  // namespace pathways::testing

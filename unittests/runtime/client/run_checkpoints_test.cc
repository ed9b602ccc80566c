//===- run_checkpoints_test.cc - Checkpoints of one recovered run ---------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/run_checkpoints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "unittests/runtime/checkpoint/test_folder.h"
#include "unittests/runtime/client/client_parts.h"
#include "unittests/runtime/client/recurrence.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

SharedValue Value(std::vector<float> floats) {
  const auto size = static_cast<int64_t>(floats.size());
  return std::make_shared<const ArrayValue>(Floats({size}, std::move(floats)));
}

// Checkpoints of a program that carries argument 0 of three.
class RunCheckpointsTest : public ::testing::Test {
 protected:
  RunCheckpointsTest() {
    auto plan = PreparedPlan::Create(MakePlanData(RecurrencePlan("p"), {}),
                                     topology_, &Kernels(), true);
    EXPECT_TRUE(plan.ok()) << plan.status();
    program_ = std::make_shared<const LoadedProgram>(7, *plan, *plan, true);
  }

  RunCheckpoints Make(int64_t first_step = 0) {
    return RunCheckpoints(&parts_.store, /*on_hosts=*/nullptr, options_,
                          first_step, &report_);
  }
  // Returns arrays by argument, as intervals of a run have them.
  std::vector<ArrayHandle> Put(std::vector<float> carried) {
    const auto array = parts_.store.Put(Value(std::move(carried)));
    EXPECT_TRUE(array.ok()) << array.status();
    return {array.value_or(ArrayHandle()), {}, {}};
  }
  // Returns the carried values of the current checkpoint.
  static std::vector<float> ValuesOf(const RunCheckpoints& checkpoints) {
    const absl::StatusOr<SharedValue> value = checkpoints.ValueOf(0);
    if (!value.ok()) {
      ADD_FAILURE() << value.status();
      return {};
    }
    HostArray array{(*value)->type().element, (*value)->type().shape, {}};
    array.data.resize((*value)->bytes());
    if ((*value)->saved() == nullptr) {
      std::copy_n((*value)->data().data(), array.data.size(),
                  array.data.data());
    } else {
      EXPECT_TRUE((*value)
                      ->saved()
                      ->Read({{0, array.data.size(), array.data.data()}})
                      .ok());
    }
    return Values(array);
  }

  ClientParts parts_;
  const Topology topology_ = *Topology::Create(MakeCluster("1x2x1"));
  std::shared_ptr<const LoadedProgram> program_;
  RecoveryOptions options_;
  RecoveryReport report_;
  TestFolder folder_;
};

TEST_F(RunCheckpointsTest, BeginsWithTheArgumentsAndKeepsTheLastCheckpoint) {
  RunCheckpoints checkpoints = Make();
  ASSERT_TRUE(checkpoints.Open(program_, kSteps).ok());
  checkpoints.SetBeginning(0, Value({1, 2}));
  EXPECT_EQ(checkpoints.steps(), 0);
  EXPECT_FALSE(checkpoints.is_in_files());
  EXPECT_THAT(ValuesOf(checkpoints), ElementsAre(1, 2));

  const std::vector<ArrayHandle> arrays = Put({3, 4});
  ASSERT_TRUE(checkpoints.Make(2, arrays).ok());
  // The checkpoint outlives the array.
  EXPECT_TRUE(parts_.store.Release(arrays[0]).ok());
  EXPECT_EQ(checkpoints.steps(), 2);
  EXPECT_THAT(ValuesOf(checkpoints), ElementsAre(3, 4));
  EXPECT_EQ(report_.checkpoint_bytes, 8u);

  // A checkpoint that cannot be made leaves the last one.
  EXPECT_TRUE(absl::IsNotFound(checkpoints.Make(4, arrays)));
  EXPECT_EQ(checkpoints.steps(), 2);
  EXPECT_THAT(ValuesOf(checkpoints), ElementsAre(3, 4));
}

TEST_F(RunCheckpointsTest, AFolderHasTheLastCheckpointAlone) {
  options_.checkpoint_dir = folder_ / "c";
  RunCheckpoints checkpoints = Make();
  ASSERT_TRUE(checkpoints.Open(program_, kSteps).ok());
  checkpoints.SetBeginning(0, Value({1, 2}));
  ASSERT_TRUE(checkpoints.Make(2, Put({3, 4})).ok());
  const auto after_two = folder_.List("c");
  EXPECT_EQ(after_two.size(), 1u);
  ASSERT_TRUE(checkpoints.Make(4, Put({5, 6})).ok());
  EXPECT_EQ(folder_.List("c").size(), 1u);
  EXPECT_NE(folder_.List("c"), after_two);
  EXPECT_TRUE(checkpoints.is_in_files());
  EXPECT_THAT(ValuesOf(checkpoints), ElementsAre(5, 6));
}

TEST_F(RunCheckpointsTest, ARunResumesFromItsOwnFolderAlone) {
  options_.checkpoint_dir = folder_ / "c";
  {
    RunCheckpoints checkpoints = Make(/*first_step=*/3);
    ASSERT_TRUE(checkpoints.Open(program_, kSteps).ok());
    ASSERT_TRUE(checkpoints.NoteInput(2, Value({7, 8})).ok());
    ASSERT_TRUE(checkpoints.Make(4, Put({5, 6})).ok());
  }
  EXPECT_TRUE(absl::IsAlreadyExists(Make(3).Open(program_, kSteps)));
  options_.resume = true;
  const absl::Status ended = Make(3).Open(program_, 4);
  EXPECT_TRUE(absl::IsInvalidArgument(ended));
  EXPECT_THAT(std::string(ended.message()),
              HasSubstr("after 4 steps, expected fewer than the 4 steps"));
  EXPECT_TRUE(absl::IsInvalidArgument(Make(0).Open(program_, kSteps)));

  RunCheckpoints resumed = Make(3);
  ASSERT_TRUE(resumed.Open(program_, kSteps).ok());
  EXPECT_EQ(resumed.steps(), 4);
  EXPECT_THAT(ValuesOf(resumed), ElementsAre(5, 6));
  ASSERT_TRUE(resumed.NoteInput(2, Value({7, 8})).ok());
  EXPECT_TRUE(resumed.CheckInputs().ok());

  RunCheckpoints other = Make(3);
  ASSERT_TRUE(other.Open(program_, kSteps).ok());
  ASSERT_TRUE(other.NoteInput(2, Value({7, 9})).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(other.CheckInputs()));
}

TEST_F(RunCheckpointsTest, TheBeginningIsSavedIfTheClientLacksAnArgument) {
  options_.checkpoint_dir = folder_ / "c";
  RunCheckpoints checkpoints = Make();
  ASSERT_TRUE(checkpoints.Open(program_, kSteps).ok());
  const std::vector<ArrayHandle> arrays = Put({9, 10});
  LaunchArguments arguments;
  for (ArrayHandle array : arrays) arguments.emplace_back(array);
  ASSERT_TRUE(checkpoints.SaveBeginning(arguments).ok());
  EXPECT_EQ(checkpoints.steps(), 0);
  EXPECT_TRUE(checkpoints.is_in_files());
  EXPECT_THAT(ValuesOf(checkpoints), ElementsAre(9, 10));
}

}  // namespace
}  // namespace pathways::testing

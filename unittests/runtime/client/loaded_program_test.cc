//===- loaded_program_test.cc - Arguments and results of a loaded program -===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/loaded_program.h"

#include <memory>
#include <string>
#include <utility>

#include "runtime/plan/testing/test_plans.h"
#include "unittests/runtime/client/runtime_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;

// y = u + v on two hosts of one device; v and y are stepped.
proto::Plan AddPlan() {
  return ChainBuilder({.name = "add"})
      .Feed("u")
      .Feed("v", /*stepped=*/true)
      .Run("add", "add1")
      .Fetch("y", /*stepped=*/true)
      .Finish();
}

class LoadedProgramTest : public ::testing::Test {
 protected:
  std::unique_ptr<LoadedProgram> Make(proto::Plan plan, bool has_values) {
    absl::StatusOr<std::shared_ptr<const PreparedPlan>> prepared =
        PreparedPlan::Create(MakePlanData(std::move(plan), {}), topology_,
                             &Kernels(), has_values);
    EXPECT_TRUE(prepared.ok()) << prepared.status();
    return std::make_unique<LoadedProgram>(7, *prepared, *prepared, has_values);
  }

  FreeList memory_;
  const Topology topology_ = *Topology::Create(MakeCluster("1x2x1"));
};

absl::Status Invalid(const std::string& text) {
  return absl::InvalidArgumentError(text);
}

TEST_F(LoadedProgramTest, KnowsItsArgumentsAndWhereTheyLie) {
  const auto program = Make(AddPlan(), /*has_values=*/true);
  EXPECT_EQ(program->handle(), 7u);
  EXPECT_EQ(program->name(), "add");
  ASSERT_EQ(program->num_arguments(), 2);
  EXPECT_EQ(program->argument(1).name(), "v");
  EXPECT_EQ(program->Describe(1), "argument 'v' of program 'add'");
  ASSERT_NE(program->placement(0), nullptr);
  EXPECT_EQ(program->placement(0)->hosts.size(), 2u);
  EXPECT_FALSE(program->placement(0)->stepped);
  EXPECT_TRUE(program->placement(1)->stepped);
}

TEST_F(LoadedProgramTest, RefusesALaunchOfOtherStepsOrArguments) {
  const auto program = Make(AddPlan(), /*has_values=*/true);
  EXPECT_TRUE(program->CheckLaunch(0, 1, 2).ok());
  EXPECT_TRUE(program->CheckLaunch(0, int64_t{1} << 40, 2).ok());
  EXPECT_EQ(program->CheckLaunch(0, 0, 2),
            Invalid("program 'add' was launched for 0 steps, expected 1 to "
                    "1099511627776"));
  EXPECT_EQ(program->CheckLaunch(0, (int64_t{1} << 40) + 1, 2),
            Invalid("program 'add' was launched for 1099511627777 steps, "
                    "expected 1 to 1099511627776"));
  EXPECT_EQ(program->CheckLaunch(0, 1, 3),
            Invalid("program 'add' takes 2 arguments, got 3"));
}

TEST_F(LoadedProgramTest, RefusesAnArgumentOfAnotherType) {
  const auto program = Make(AddPlan(), /*has_values=*/true);
  constexpr ElementType kF32 = ElementType::kF32;
  EXPECT_TRUE(program->CheckArgument(0, {kF32, {2}}, 8, 5).ok());
  EXPECT_TRUE(program->CheckArgument(1, {kF32, {5, 2}}, 40, 5).ok());
  EXPECT_EQ(
      program->CheckArgument(0, {ElementType::kI32, {2}}, 8, 5),
      Invalid(
          "argument 'u' of program 'add' is 2xi32, expected 2xf32 [PW5103]"));
  EXPECT_EQ(program->CheckArgument(1, {kF32, {4, 2}}, 32, 5),
            Invalid("argument 'v' of program 'add' is 4x2xf32, expected "
                    "5x2xf32 (one index per step) [PW5103]"));
  EXPECT_EQ(program->CheckArgument(0, {kF32, {2}}, 7, 5),
            Invalid("argument 'u' of program 'add' has 7 bytes, expected 8"));
}

TEST_F(LoadedProgramTest, WithoutValuesSizesLieWhereValuesWould) {
  const auto program = Make(AddPlan(), /*has_values=*/false);
  ASSERT_NE(program->placement(0), nullptr);
  EXPECT_FALSE(program->placement(0)->hosts.empty());
  EXPECT_TRUE(
      program->CheckArgument(0, {ElementType::kF32, {2}}, /*bytes=*/0, 1).ok());
  EXPECT_TRUE(
      program->CheckArgument(0, {ElementType::kF32, {2}}, /*bytes=*/8, 1).ok());
  EXPECT_FALSE(
      program->CheckArgument(0, {ElementType::kF32, {2}}, /*bytes=*/7, 1).ok());
}

TEST_F(LoadedProgramTest, ARunHasTheResultsOfItsSteps) {
  const auto program = Make(AddPlan(), /*has_values=*/true);
  absl::StatusOr<std::shared_ptr<RunState>> run = program->MakeRun(3, &memory_);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ((*run)->program(), "add");
  EXPECT_EQ((*run)->steps, 3u);
  ASSERT_EQ((*run)->results.size(), 1u);
  const RunState::Result& result = (*run)->results[0];
  EXPECT_EQ(result.type->element, ElementType::kF32);
  EXPECT_THAT(result.type->shape, ElementsAre(3, 2));
  EXPECT_EQ(result.bytes, 24u);
  EXPECT_EQ(result.placed.object, 0u);
  EXPECT_EQ(result.placed.placement->hosts.size(), 2u);
  // It lies as `v` does.
  EXPECT_EQ(result.placed.placement, program->placement(1));
}

TEST_F(LoadedProgramTest, RefusesARunWhoseResultsFitNoMemory) {
  // 2^40 steps of 8 bytes are 2^43; of 2 * 512 floats, 2^52.
  EXPECT_TRUE(Make(AddPlan(), true)->MakeRun(int64_t{1} << 40, &memory_).ok());
  const proto::Plan wide =
      ChainBuilder({.name = "wide", .layout = Rows({1024})})
          .Feed("u")
          .Fetch("u", /*stepped=*/true)
          .Finish();
  EXPECT_EQ(Make(wide, true)->MakeRun(int64_t{1} << 40, &memory_).status(),
            absl::ResourceExhaustedError("result 'u' of program 'wide' needs "
                                         "more than 1125899906842624 bytes"));
  EXPECT_TRUE(Make(wide, false)->MakeRun(int64_t{1} << 40, &memory_).ok());
}

}  // namespace
}  // namespace pathways::testing

//===- program_constants_test.cc ------------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/program_constants.h"

#include <variant>

#include "runtime/plan/plan_hash.h"
#include "unittests/runtime/client/runtime_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Returns a plan whose argument "u" has the value `values`, and whose result is
// that argument.
PlanData ConstantPlan(const std::vector<float>& values) {
  ChainOptions options;
  options.slice.shards = 4;
  const auto* begin = reinterpret_cast<const uint8_t*>(values.data());
  PlanData plan =
      MakePlanData(IdentityPlan(options),
                   absl::MakeConstSpan(begin, values.size() * sizeof(float)));
  proto::Constant* constant =
      plan.tables.mutable_interface()->mutable_arguments(0)->mutable_constant();
  constant->set_blob_bytes(plan.blobs.size());
  constant->set_sha256(std::string(HashOf(plan.blobs).view()));
  return plan;
}

class ProgramConstantsTest : public InWorldTest {};
INSTANTIATE_TEST_SUITE_P(Worlds, ProgramConstantsTest, BothWorlds(), WorldName);

TEST_P(ProgramConstantsTest, AreFedOnceWithoutBeingPassed) {
  auto runtime = Start("1x2x2", Options());
  const PlanData plan = ConstantPlan({1, 2, 3, 4});
  const absl::StatusOr<ProgramHandle> program = runtime->Load(plan);
  ASSERT_TRUE(program.ok()) << program.status();
  absl::StatusOr<ProgramConstants> constants =
      ProgramConstants::Put(&*runtime, plan);
  ASSERT_TRUE(constants.ok()) << constants.status();
  EXPECT_EQ(constants->num_arguments(), 0);
  for (int launch = 0; launch < 3; ++launch) {
    const absl::StatusOr<RunHandle> run =
        runtime->Launch(*program, constants->Complete({}), /*steps=*/3);
    ASSERT_TRUE(run.ok()) << run.status();
    EXPECT_TRUE(runtime->Await(*run).ok());
    EXPECT_THAT(FetchValues(*runtime, *run, "u"), ElementsAre(1, 2, 3, 4));
    EXPECT_TRUE(runtime->ReleaseRun(*run).ok());
  }
  // Each device has two slots of one element.
  for (const auto& device : StatsOf(*runtime).devices) {
    EXPECT_EQ(device.fed_bytes, 8) << device.name;
  }
  constants->Release(&*runtime);
  EXPECT_THAT(
      runtime->Launch(*program, constants->Complete({})).status().message(),
      HasSubstr("argument 'u'"));
}

TEST_P(ProgramConstantsTest, HostsDoNotSeeThem) {
  auto runtime = Start("1x1x4", Options());
  const absl::StatusOr<ProgramHandle> program =
      runtime->Load(ConstantPlan({1, 2, 3, 4}));
  ASSERT_TRUE(program.ok()) << program.status();
  // To hosts, a program with other values is the same program.
  const absl::StatusOr<ProgramHandle> other =
      runtime->Load(ConstantPlan({5, 6, 7, 8}));
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_EQ(*runtime->PlanOf(*program), *runtime->PlanOf(*other));
  EXPECT_FALSE((*runtime->PlanOf(*program))
                   ->plan()
                   .interface()
                   .arguments(0)
                   .has_constant());
}

TEST_P(ProgramConstantsTest, AreBetweenOtherArguments) {
  auto runtime = Start("1x1x4", Options());
  PlanData plan = ConstantPlan({1, 2, 3, 4});
  proto::Interface* interface = plan.tables.mutable_interface();
  for (bool is_constant : {false, false, true, false}) {
    *interface->add_arguments() = interface->arguments(0);
    if (!is_constant) {
      interface->mutable_arguments(interface->arguments_size() - 1)
          ->clear_constant();
    }
  }
  absl::StatusOr<ProgramConstants> constants =
      ProgramConstants::Put(&*runtime, plan);
  ASSERT_TRUE(constants.ok()) << constants.status();
  EXPECT_EQ(constants->num_arguments(), 3);
  LaunchArguments passed;
  for (float i : {1, 2, 3}) passed.emplace_back(Floats({1}, {i}));
  const LaunchArguments all = constants->Complete(std::move(passed));
  ASSERT_EQ(all.size(), 5);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(std::holds_alternative<ArrayHandle>(all[i]), i == 0 || i == 3);
  }
  EXPECT_THAT(Values(std::get<HostArray>(all[2])), ElementsAre(2));
  EXPECT_THAT(Values(std::get<HostArray>(all[4])), ElementsAre(3));
  constants->Release(&*runtime);
}

TEST_P(ProgramConstantsTest, RefusesPlansWithoutTheirBytes) {
  auto runtime = Start("1x1x4", Options());
  PlanData plan = ConstantPlan({1, 2, 3, 4});
  proto::Constant* constant =
      plan.tables.mutable_interface()->mutable_arguments(0)->mutable_constant();
  constant->set_blob_offset(64);
  EXPECT_EQ(ProgramConstants::Put(&*runtime, plan).status().message(),
            "argument 'u' has a constant value of 16 bytes from 64, but the "
            "blobs of its plan have 16 [PW2201]");
  constant->set_blob_offset(0);
  constant->set_blob_bytes(12);
  EXPECT_EQ(ProgramConstants::Put(&*runtime, plan).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace pathways::testing

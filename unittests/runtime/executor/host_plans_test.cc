//===- host_plans_test.cc - Plans that hosts of a process wait for --------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/executor/host_plans.h"

#include <string>

#include "gmock/gmock.h"
#include "runtime/binding/plan_messages.h"
#include "unittests/runtime/executor/executor_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::SizeIs;

class HostPlansTest : public ::testing::Test {
 protected:
  HostPlansTest() {
    context_.topology = &topology_;
    context_.directory = DirectoryOf(topology_);
    context_.backends = &NoBackends();
    plan_ = Prepare(MovePlan("p", 2), topology_);
    name_ = *NameOf(plan_->data());
    there_.Put(name_, plan_);
  }
  proto::LoadProgram Load(uint32_t incarnation = 1) const {
    proto::LoadProgram load;
    load.set_incarnation(incarnation);
    NamePlan(name_, load.mutable_plan());
    return load;
  }
  HostPlans::Outcome Answer(const proto::PlanRequest& request) {
    proto::PlanPart part;
    AnswerPlanRequest(&there_, request, &part);
    return plans_.Take(part);
  }

  const Topology topology_ = MakeTopology("1x2x1");
  RuntimeContext context_;
  PlanIndex there_;
  std::shared_ptr<const PreparedPlan> plan_;
  PlanName name_;
  HostPlans plans_{&context_};
};

TEST_F(HostPlansTest, HostsOfAProcessFetchOnce) {
  const HostPlans::Outcome first = plans_.Want(0, Load());
  ASSERT_TRUE(first.request.has_value());
  EXPECT_FALSE(plans_.Want(1, Load()).request.has_value());
  EXPECT_EQ(plans_.size(), 1u);
  const HostPlans::Outcome come = Answer(*first.request);
  ASSERT_THAT(come.answers, SizeIs(2));
  EXPECT_EQ(come.answers[0].host, 0u);
  EXPECT_EQ(come.answers[1].host, 1u);
  EXPECT_EQ(come.answers[1].arrived.code(), 0);
  EXPECT_EQ(come.answers[1].arrived.load().SerializeAsString(),
            Load().SerializeAsString());
  EXPECT_EQ(plans_.size(), 0u);
  EXPECT_EQ(context_.plans.received(), name_.bytes);
  // It is here now.
  const HostPlans::Outcome late = plans_.Want(0, Load(2));
  EXPECT_FALSE(late.request.has_value());
  EXPECT_THAT(late.answers, SizeIs(1));
}

TEST_F(HostPlansTest, AHostThatAsksAgainMissesSomething) {
  plans_.Want(0, Load());
  EXPECT_TRUE(plans_.Want(0, Load()).request.has_value());
  plans_.Want(1, Load());
  const HostPlans::Outcome again = plans_.Want(1, Load());
  ASSERT_TRUE(again.request.has_value());
  EXPECT_THAT(Answer(*again.request).answers, SizeIs(2));
}

TEST_F(HostPlansTest, HostsHearWhyItDoesNotCome) {
  const HostPlans::Outcome first = plans_.Want(0, Load());
  proto::PlanPart part;
  AnswerPlanRequest(&there_, *first.request, &part);
  part.mutable_bytes()->back() ^= 1;
  const HostPlans::Outcome failed = plans_.Take(part);
  ASSERT_THAT(failed.answers, SizeIs(1));
  EXPECT_EQ(failed.answers[0].arrived.code(),
            static_cast<int>(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(
      failed.answers[0].arrived.message(),
      ::testing::HasSubstr("was not received correctly: its tables have hash"));
  // A later load begins anew.
  EXPECT_EQ(plans_.Want(0, Load(2)).request->offset(), 0u);
}

TEST_F(HostPlansTest, IgnoresWhatNamesNoPlan) {
  proto::LoadProgram load = Load();
  load.mutable_plan()->set_hash("short");
  const HostPlans::Outcome outcome = plans_.Want(0, load);
  EXPECT_FALSE(outcome.request.has_value());
  EXPECT_THAT(outcome.answers, SizeIs(0));
}

}  // namespace
}  // namespace pathways::testing

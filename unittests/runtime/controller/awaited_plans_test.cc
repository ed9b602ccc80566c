//===- awaited_plans_test.cc - Loads whose plans clients send -------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/awaited_plans.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "runtime/binding/plan_messages.h"
#include "unittests/runtime/binding/binding_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr TimeNs kPlanTimeout = 100;

class AwaitedPlansTest : public ::testing::Test {
 protected:
  AwaitedPlansTest() {
    context_.topology = &topology_;
    context_.directory = DirectoryOf(topology_);
    context_.backends = &NoBackends();
    plan_ = Prepare(MovePlan("p", 2), topology_);
    name_ = *NameOf(plan_->data());
    there_.Put(name_, plan_);
  }
  AwaitedPlans::Outcome Add(uint32_t client, uint64_t request) {
    AwaitedPlans::Outcome outcome;
    plans_.Add(now_, {client, request}, name_, &outcome);
    return outcome;
  }
  AwaitedPlans::Outcome Answer(uint32_t client,
                               const proto::PlanRequest& request,
                               bool spoiled = false) {
    proto::PlanPart part;
    AnswerPlanRequest(&there_, request, &part);
    if (spoiled) part.mutable_bytes()->back() ^= 1;
    AwaitedPlans::Outcome outcome;
    plans_.Take(now_, client, part, &outcome);
    return outcome;
  }
  AwaitedPlans::Outcome Tick() {
    AwaitedPlans::Outcome outcome;
    plans_.Tick(now_, &outcome);
    return outcome;
  }

  const Topology topology_ = MakeTopology("1x2x1");
  RuntimeContext context_;
  PlanIndex there_;
  std::shared_ptr<const PreparedPlan> plan_;
  PlanName name_;
  TimeNs now_ = 5;
  AwaitedPlans plans_{&context_, kPlanTimeout};
};

TEST_F(AwaitedPlansTest, OneClientIsAskedForAll) {
  const AwaitedPlans::Outcome asked = Add(7, 1);
  ASSERT_THAT(asked.questions, SizeIs(1));
  EXPECT_EQ(asked.questions[0].client, 7u);
  EXPECT_THAT(Add(8, 1).questions, IsEmpty());
  EXPECT_THAT(Add(7, 2).questions, IsEmpty());
  // Not from who was not asked.
  EXPECT_THAT(Answer(8, asked.questions[0].request).ended, IsEmpty());
  const AwaitedPlans::Outcome come = Answer(7, asked.questions[0].request);
  ASSERT_THAT(come.ended, SizeIs(3));
  for (const AwaitedPlans::Ended& ended : come.ended) {
    EXPECT_TRUE(ended.status.ok()) << ended.status;
    EXPECT_EQ(ended.plan->name(), "p");
    EXPECT_EQ(ended.name, name_);
  }
  EXPECT_TRUE(plans_.empty());
  EXPECT_TRUE(context_.plans.Source(name_.hash).ok());
}

TEST_F(AwaitedPlansTest, WhoSendsRubbishFailsAlone) {
  const AwaitedPlans::Outcome asked = Add(7, 1);
  Add(8, 1);
  Add(7, 2);
  const AwaitedPlans::Outcome failed =
      Answer(7, asked.questions[0].request, /*spoiled=*/true);
  ASSERT_THAT(failed.ended, SizeIs(2));
  EXPECT_THAT(std::string(failed.ended[1].status.message()),
              HasSubstr("was not received correctly"));
  EXPECT_EQ(failed.ended[1].request.client, 7u);
  ASSERT_THAT(failed.questions, SizeIs(1));
  EXPECT_EQ(failed.questions[0].client, 8u);
  const AwaitedPlans::Outcome come = Answer(8, failed.questions[0].request);
  ASSERT_THAT(come.ended, SizeIs(1));
  EXPECT_TRUE(come.ended[0].status.ok());
}

TEST_F(AwaitedPlansTest, AClientThatLeavesIsNotWaitedFor) {
  Add(7, 1);
  Add(8, 1);
  Add(9, 1);
  AwaitedPlans::Outcome left;
  plans_.Leave(now_, 9, &left);
  EXPECT_THAT(left.questions, IsEmpty());
  plans_.Leave(now_, 7, &left);
  ASSERT_THAT(left.questions, SizeIs(1));
  EXPECT_EQ(left.questions[0].client, 8u);
  plans_.Leave(now_, 8, &left);
  EXPECT_TRUE(plans_.empty());
}

TEST_F(AwaitedPlansTest, AsksAgainUntilTheTimeIsOver) {
  Add(7, 1);
  Add(8, 1);
  now_ += kPlanTimeout - 1;
  EXPECT_THAT(Tick().questions, SizeIs(1));
  now_ += 1;
  const AwaitedPlans::Outcome over = Tick();
  ASSERT_THAT(over.ended, SizeIs(1));
  EXPECT_EQ(over.ended[0].status,
            absl::DeadlineExceededError(
                "plan " + name_.hash.Text() +
                " did not arrive: its client did not answer"));
  ASSERT_THAT(over.questions, SizeIs(1));
  EXPECT_EQ(over.questions[0].client, 8u);
  EXPECT_THAT(Tick().ended, IsEmpty());
}

TEST_F(AwaitedPlansTest, AClientMayWaitForSoMany) {
  for (size_t i = 0; i < kMaxAwaitedLoads; ++i) {
    EXPECT_THAT(Add(7, i + 1).ended, IsEmpty());
  }
  EXPECT_EQ(Add(7, 100).ended.at(0).status,
            absl::ResourceExhaustedError(
                "the client already has 64 loads whose plans have not arrived, "
                "which is the limit"));
  EXPECT_THAT(Add(8, 1).ended, IsEmpty());
}

}  // namespace
}  // namespace pathways::testing

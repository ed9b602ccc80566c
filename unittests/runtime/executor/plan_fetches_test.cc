//===- plan_fetches_test.cc - Plans that this process asks for ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/executor/plan_fetches.h"

#include <memory>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "runtime/binding/plan_messages.h"
#include "unittests/runtime/executor/executor_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::HasSubstr;

class PlanFetchesTest : public ::testing::Test {
 protected:
  PlanFetchesTest() {
    context_.topology = &topology_;
    context_.directory = DirectoryOf(topology_);
    context_.backends = &NoBackends();
  }

  // Its name; `there_` has it.
  PlanName Put(PlanData plan) {
    const PlanName name = *NameOf(plan);
    absl::StatusOr<std::unique_ptr<PreparedPlan>> prepared =
        PreparedPlan::WithoutCode(std::move(plan), MakeTopology("4x1x4"),
                                  /*runs_code=*/false,
                                  [](int32_t) { return false; });
    EXPECT_TRUE(prepared.ok()) << prepared.status();
    plans_.push_back(*std::move(prepared));
    there_.Put(name, plans_.back());
    return name;
  }
  // Asks until it is over.
  PlanFetches::Outcome Fetch(PlanFetches* fetches, const PlanName& name) {
    PlanFetches::Outcome outcome;
    outcome.request = fetches->Ask(name);
    while (!outcome.over) {
      proto::PlanPart part;
      AnswerPlanRequest(&there_, outcome.request, &part);
      outcome = fetches->Take(part);
    }
    return outcome;
  }

  const Topology topology_ = MakeTopology("1x2x1");
  RuntimeContext context_;
  PlanIndex there_;
  std::vector<std::shared_ptr<const PreparedPlan>> plans_;
};

TEST_F(PlanFetchesTest, WhatComesIsPreparedAndKept) {
  const PlanName name = Put(MakePlanData(MovePlan("p", 2), {}));
  PlanFetches fetches(&context_, /*serves=*/false);
  const PlanFetches::Outcome outcome = Fetch(&fetches, name);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_EQ(outcome.plan->name(), "p");
  EXPECT_EQ(context_.plans.Find(name.hash), outcome.plan);
  EXPECT_EQ(context_.plans.received(), name.bytes);
  EXPECT_EQ(there_.sent(), name.bytes);
  EXPECT_EQ(fetches.size(), 0u);
  EXPECT_FALSE(context_.plans.Source(name.hash).ok());
}

TEST_F(PlanFetchesTest, WhoServesHasItAll) {
  const PlanName name = Put(MakePlanData(MovePlan("p", 2), {}));
  PlanFetches fetches(&context_, /*serves=*/true);
  ASSERT_TRUE(Fetch(&fetches, name).status.ok());
  const auto source = context_.plans.Source(name.hash);
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_EQ((*source)->name(), name);
}

// A plan that arrives is verified like one that was made in this process.
TEST_F(PlanFetchesTest, WhatComesIsVerified) {
  proto::Plan plan = MovePlan("p", 2);
  plan.mutable_edges()->RemoveLast();
  PlanFetches fetches(&context_, /*serves=*/false);
  const PlanFetches::Outcome outcome =
      Fetch(&fetches, Put(MakePlanData(std::move(plan), {})));
  EXPECT_EQ(outcome.status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(outcome.plan, nullptr);
  EXPECT_EQ(fetches.size(), 0u);
}

TEST_F(PlanFetchesTest, WhatComesFitsTheMachines) {
  PlanFetches fetches(&context_, /*serves=*/false);
  EXPECT_THAT(
      std::string(Fetch(&fetches, Put(MakePlanData(MovePlan("p", 4), {})))
                      .status.message()),
      HasSubstr("which has 2 devices"));
}

TEST_F(PlanFetchesTest, NothingComesOfWhatNobodyAskedFor) {
  const PlanName name = Put(MakePlanData(MovePlan("p", 2), {}));
  PlanFetches fetches(&context_, /*serves=*/false);
  proto::PlanPart part;
  AnswerPlanRequest(&there_, fetches.Ask(name), &part);
  fetches.Drop(name.hash);
  const PlanFetches::Outcome outcome = fetches.Take(part);
  EXPECT_FALSE(outcome.ask || outcome.over);
  part.set_hash("short");
  EXPECT_FALSE(fetches.Take(part).over);
  EXPECT_EQ(context_.plans.received(), 0u);
  EXPECT_EQ(context_.plans.Find(name.hash), nullptr);
}

TEST_F(PlanFetchesTest, AskingAgainAsksForTheSame) {
  const PlanName name = Put(MakePlanData(MovePlan("p", 2), {}));
  PlanFetches fetches(&context_, /*serves=*/false);
  const proto::PlanRequest first = fetches.Ask(name);
  EXPECT_EQ(first.offset(), 0u);
  EXPECT_EQ(first.hash(), name.hash.view());
  EXPECT_EQ(fetches.Ask(name).SerializeAsString(), first.SerializeAsString());
}

}  // namespace
}  // namespace pathways::testing

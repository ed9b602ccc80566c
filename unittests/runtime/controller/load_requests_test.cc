//===- load_requests_test.cc - Load requests of clients -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/load_requests.h"

#include "runtime/binding/plan_messages.h"
#include "unittests/runtime/controller/tables_fixture.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class LoadRequestsTest : public TablesTest {
 protected:
  LoadRequestsTest() {
    context_.topology = &topology_;
    context_.directory = directory_;
    context_.backends = &NoBackends();
  }

  // Keeps a plan in the index of a client's process. Returns its name.
  PlanName Keep(const std::string& name, PlanIndex* index) {
    const auto plan = Prepare(MovePlan(name, 2), topology_);
    const PlanName hash = *NameOf(plan->data());
    index->Put(hash, plan);
    kept_.push_back(plan);
    return hash;
  }
  void Ask(uint32_t client, uint64_t request, std::vector<PlanName> names) {
    proto::LoadRequest load;
    load.set_request(request);
    NamePlan(names[0], load.mutable_plan());
    for (size_t i = 1; i < names.size(); ++i) {
      NamePlan(names[i], load.add_more()->mutable_plan());
    }
    requests_.Take(client, load);
  }
  // Makes the clients answer the questions that they were sent.
  void AnswerQuestions() {
    for (const testing::Sent& one : world_.Take()) {
      const auto control = one.As<proto::Control>();
      if (!control.has_plan_request()) continue;
      proto::PlanPart part;
      AnswerPlanRequest(&there_, control.plan_request(), &part);
      requests_.Take(control.client(), part);
    }
  }

  PlanIndex there_;
  std::vector<std::shared_ptr<const PreparedPlan>> kept_;
  LoadRequests requests_{{.plans = context_.plans,
                          .awaited = plans_,
                          .admission = programs_.admission(),
                          .loads = load_service_,
                          .outbox = outbox_,
                          .clock = clock_,
                          .timer = answers_}};
};

TEST_F(LoadRequestsTest, ALoadWhosePlanIsHereIsPassedOn) {
  Ask(1, 7, {Keep("p", &context_.plans)});
  EXPECT_THAT(Sent(),
              ElementsAre("load_program to host0", "load_program to host1"));
  EXPECT_TRUE(load_service_.IsLoading({1, 7}));
  Ask(1, 7, {Keep("p", &context_.plans)});  // a duplicate
  EXPECT_THAT(Sent(), IsEmpty());
}

TEST_F(LoadRequestsTest, ALoadWaitsForAllItsPlans) {
  Ask(1, 7, {Keep("p", &there_), Keep("q", &there_)});
  EXPECT_FALSE(load_service_.IsLoading({1, 7}));
  AnswerQuestions();
  EXPECT_THAT(Sent(),
              ElementsAre("load_program to host0", "load_program to host1",
                          "load_program to host0", "load_program to host1"));
  EXPECT_EQ(programs_.Find(0)->plan->name(), "p");
  EXPECT_EQ(programs_.Find(1)->plan->name(), "q");
}

TEST_F(LoadRequestsTest, AnImpossibleLoadIsRefused) {
  const PlanName name = Keep("p", &context_.plans);
  Ask(1, 7, std::vector<PlanName>(65, name));
  EXPECT_THAT(Sent(), ElementsAre("client1 7: the load has 65 programs, "
                                  "expected at most 64"));
  proto::LoadRequest load;
  load.set_request(8);
  load.mutable_plan()->set_hash("short");
  requests_.Take(1, load);
  EXPECT_THAT(Sent(), ElementsAre("client1 8: the request does not name a plan "
                                  "by its hash"));
}

TEST_F(LoadRequestsTest, AClientThatDoesNotSendItsPlanIsAnswered) {
  Ask(1, 7, {Keep("p", &there_)});
  EXPECT_THAT(Sent(), ElementsAre("plan_request to client1"));
  world_.Advance(kTimeout / 2);
  requests_.Tick();
  EXPECT_THAT(Sent(), ElementsAre("plan_request to client1"));
  world_.Advance(kTimeout / 2);
  requests_.Tick();
  const std::vector<std::string> sent = Sent();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_THAT(sent[0], ::testing::HasSubstr("its client did not answer"));
}

TEST_F(LoadRequestsTest, IfAClientLeavesAnotherOneIsAskedForThePlan) {
  const PlanName name = Keep("p", &there_);
  Ask(1, 7, {name});
  Ask(2, 7, {name});
  EXPECT_THAT(Sent(), ElementsAre("plan_request to client1"));
  requests_.Leave(1);
  AnswerQuestions();
  EXPECT_THAT(Sent(),
              ElementsAre("load_program to host0", "load_program to host1"));
  EXPECT_TRUE(load_service_.IsLoading({2, 7}));
  EXPECT_FALSE(load_service_.IsLoading({1, 7}));
}

}  // namespace
}  // namespace pathways::testing

//===- plan_messages_test.cc - Plans in control messages ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/binding/plan_messages.h"

#include <string>

#include "gtest/gtest.h"
#include "unittests/runtime/binding/binding_test_support.h"

namespace pathways::testing {
namespace {

TEST(PlanMessagesTest, ARequestIsAnsweredWithBytesOrWhyNot) {
  PlanIndex plans;
  const auto plan = Prepare(MovePlan("p", 1), MakeTopology("1x1x1"));
  const PlanName name = *NameOf(plan->data());
  proto::PlanName named;
  NamePlan(name, &named);
  EXPECT_EQ(named.hash(), name.hash.view());
  EXPECT_EQ(named.bytes(), name.bytes);

  proto::PlanRequest request;
  request.set_hash(named.hash());
  request.set_offset(10);
  proto::PlanPart part;
  AnswerPlanRequest(&plans, request, &part);
  EXPECT_EQ(part.status(), static_cast<int>(absl::StatusCode::kNotFound));
  EXPECT_EQ(part.message(),
            "plan " + name.hash.Text() + " is not in the index");
  EXPECT_EQ(plans.sent(), 0u);

  plans.Put(name, plan);
  part.Clear();
  AnswerPlanRequest(&plans, request, &part);
  EXPECT_EQ(part.status(), 0);
  EXPECT_EQ(part.hash(), named.hash());
  EXPECT_EQ(part.offset(), 10u);
  EXPECT_EQ(part.total(), name.bytes);
  EXPECT_EQ(part.bytes().size(), name.bytes - 10);
  EXPECT_FALSE(part.code());
  EXPECT_EQ(plans.sent(), name.bytes - 10);

  request.add_objects(0);
  part.Clear();
  AnswerPlanRequest(&plans, request, &part);
  EXPECT_EQ(part.status(), static_cast<int>(absl::StatusCode::kOutOfRange));
  EXPECT_TRUE(part.code());
  request.set_hash("no hash");
  part.Clear();
  AnswerPlanRequest(&plans, request, &part);
  EXPECT_EQ(part.message(), "the request does not name a plan by its hash");
}

}  // namespace
}  // namespace pathways::testing

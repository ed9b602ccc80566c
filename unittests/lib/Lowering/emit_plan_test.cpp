//===- emit_plan_test.cpp - The tables of a plan --------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "graph_test.h"

#include "runtime/plan/verify.h"

namespace mlir::pathways {
namespace {

using EmitPlanTest = GraphTest;
namespace proto = ::pathways::proto;

TEST_F(EmitPlanTest, ThePlanVerifies) {
  uint32_t feed = add(Kind::Feed), x = write(feed);
  auto [send, recv] = move(x);
  uint32_t moved = write(recv);
  uint32_t fetch = add(Kind::Fetch, 1);
  graph.addRead(fetch, moved);
  graph.arguments.push_back({"x", feed, /*isStepped=*/true});
  graph.results.push_back({"y", fetch, /*isStepped=*/false});
  proto::Plan plan = emit(/*credits=*/2, /*stepsInFlight=*/2);
  for (const ::pathways::PlanIssue &issue :
       ::pathways::VerifyPlan(plan, /*blob_bytes=*/0))
    ADD_FAILURE() << issue.message;

  EXPECT_EQ(plan.header().program(), "program");
  EXPECT_EQ(plan.header().steps_in_flight(), 2u);
  EXPECT_EQ(plan.actions(send).peer(), recv);
  EXPECT_EQ(plan.slices(1).binding().list().devices_size(), 4);
  EXPECT_EQ(plan.buffers(x).first_action(), feed);
  EXPECT_EQ(plan.buffers(x).last_action(), send);
  EXPECT_TRUE(plan.interface().arguments(0).stepped());
  EXPECT_FALSE(plan.interface().arguments(0).carried());
}

} // namespace
} // namespace mlir::pathways

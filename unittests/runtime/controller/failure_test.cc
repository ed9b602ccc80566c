//===- failure_test.cc - Causes of failed launches ------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/failure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unittests/runtime/binding/binding_test_support.h"

namespace pathways::testing {
namespace {

TEST(FailureTest, FirstIsTheSmallestFiringPositionAndShard) {
  const Failure least = {1, 2, 3, 4, absl::OkStatus()};
  for (const Failure& other :
       {Failure{2, 0, 0, 0, {}}, Failure{1, 3, 0, 0, {}},
        Failure{1, 2, 4, 0, {}}, Failure{1, 2, 3, 5, {}}}) {
    EXPECT_TRUE(least < other);
    EXPECT_FALSE(other < least);
  }
  EXPECT_FALSE(least < least);
}

class ReadFailureTest : public ::testing::Test {
 protected:
  // Kernel "k" of 'first' has a segment that says where.
  static proto::Plan WithKernel() {
    proto::Plan plan = MovePlan("p", 2, 0, 1);
    for (proto::Action& action : *plan.mutable_actions()) {
      if (action.name() != "first") continue;
      action.set_location("model.mlir:5:1");
      proto::GangStep::Run* run = action.add_steps()->mutable_run();
      run->add_buffers(action.operands(0));
      run->add_buffers(action.results(0));
    }
    proto::Kernel* kernel = plan.add_kernels();
    kernel->set_name("k");
    proto::Location* location = kernel->add_segments()->add_locations();
    location->set_where("model.mlir:7:3");
    location->set_message("expected no zero");
    return plan;
  }
  Failure Read(uint32_t action, uint32_t shard, int32_t code) {
    proto::Failure failure;
    failure.set_firing(12);
    failure.set_action(action);
    failure.set_shard(shard);
    failure.set_code(code);
    return ReadFailure(*plan_, topology_, {.first = 10}, failure);
  }

  Topology topology_ = MakeTopology("2x1x2");
  std::shared_ptr<const PreparedPlan> plan_ = Prepare(WithKernel(), topology_);
};

TEST_F(ReadFailureTest, SaysWhereAndWhat) {
  const uint32_t first = ActionOf(*plan_, "first");
  const Failure failure = Read(first, 1, 1);
  EXPECT_EQ(failure.firing, 12u);
  EXPECT_EQ(failure.action, first);
  EXPECT_EQ(failure.status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(failure.status.message(),
            "model.mlir:7:3: 'first' of program 'p' failed at step 2 on shard "
            "1 (island0/host0/device1): expected no zero [PW6106]");
  EXPECT_EQ(Read(first, 0, 2).status.message(),
            "model.mlir:5:1: 'first' of program 'p' failed at step 2 on shard "
            "0 (island0/host0/device0): code 2 [PW6106]");
  EXPECT_EQ(Read(ActionOf(*plan_, "second"), 0, 1).status.message(),
            "'second' of program 'p' failed at step 2 on shard 0 "
            "(island1/host1/device0): code 1 [PW6106]");
}

TEST_F(ReadFailureTest, AHostMayNotNameWhatIsNotThere) {
  for (const Failure& failure : {Read(99, 0, 1), Read(UINT32_MAX, 0, 1),
                                 Read(ActionOf(*plan_, "first"), 2, 1)}) {
    EXPECT_EQ(failure.status.code(), absl::StatusCode::kInternal);
  }
  EXPECT_EQ(Read(99, 7, 1).status.message(),
            "program 'p' failed in action 99 on shard 7, which it does not "
            "have");
}

}  // namespace
}  // namespace pathways::testing

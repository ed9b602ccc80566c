//===- wait_timer_test.cc - The timer of waiting loads and drains ---------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/wait_timer.h"

#include "unittests/runtime/controller/tables_fixture.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class WaitTimerTest : public TablesTest {
 protected:
  // Adds a drain that waits for an array until the time `deadline`.
  void Drain(TimeNs deadline) {
    proto::DrainRequest drain;
    drain.set_request(3);
    drain.add_devices(0);
    drain.set_wait_ns(deadline - world_.Now());
    drains_.Take(2, drain);
  }
  std::vector<TimeNs> Due() {
    std::vector<TimeNs> due;
    for (const testing::Sent& one : world_.Take()) {
      if (one.kind == testing::Sent::kTimer) due.push_back(one.due);
    }
    return due;
  }
};

TEST_F(WaitTimerTest, ATimerIsStartedOnlyForAnEarlierDeadline) {
  deadlines_.Arm();
  EXPECT_THAT(Due(), IsEmpty());
  AddArray(1, 1);
  world_.Advance(10);
  Drain(70);
  deadlines_.Arm();
  EXPECT_THAT(Due(), ElementsAre(70));
  Drain(80);
  deadlines_.Arm();
  EXPECT_THAT(Due(), IsEmpty());
  Drain(60);
  deadlines_.Arm();
  EXPECT_THAT(Due(), ElementsAre(60));
  world_.Advance(50);
  deadlines_.Fired();
  drains_.Expire();
  Due();
  deadlines_.Arm();
  EXPECT_THAT(Due(), ElementsAre(70));
}

}  // namespace
}  // namespace pathways::testing

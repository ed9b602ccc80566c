//===- grant_queue_test.cc - Granted firings of a device, in order --------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/grant_queue.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

namespace pathways::testing {
namespace {

// Programs of two gangs.
class GrantQueueTest : public ::testing::Test {
 protected:
  GrantQueueTest() {
    GangTables tables;
    tables.gangs.resize(2);
    tables.gangs[0].action = 5;
    tables.gangs[1].action = 8;
    const auto shared = std::make_shared<const GangTables>(std::move(tables));
    for (DeviceProgram& program : programs_) program.queue = shared;
    launch_.first = 3;
    launch_.end = 9;
  }
  HostGrant* Grant(uint64_t first, uint64_t end) {
    grants_.push_back(std::make_unique<HostGrant>());
    grants_.back()->launch = &launch_;
    grants_.back()->first = first;
    grants_.back()->end = end;
    return grants_.back().get();
  }

  DeviceProgram programs_[2];
  HostLaunch launch_;
  std::vector<std::unique_ptr<HostGrant>> grants_;
  GrantQueue queue_;
};

TEST_F(GrantQueueTest, GoesThroughTheGangsOfEachFiring) {
  EXPECT_TRUE(queue_.empty());
  queue_.Push(&programs_[0], Grant(4, 6));
  ASSERT_FALSE(queue_.empty());
  EXPECT_EQ(queue_.head().numbers.first, 3u);
  EXPECT_EQ(queue_.head().next, 4u);
  EXPECT_EQ(queue_.gang().action, 5u);
  EXPECT_FALSE(queue_.Advance(1));
  EXPECT_EQ(queue_.gang().action, 8u);
  EXPECT_EQ(queue_.gang_index(), 1u);
  EXPECT_FALSE(queue_.Advance(1));
  EXPECT_EQ(queue_.head().next, 5u);
  EXPECT_EQ(queue_.gang().action, 5u);
  EXPECT_TRUE(queue_.Advance(2));
  EXPECT_EQ(queue_.head().program, &programs_[0]);
  queue_.Pop();
  EXPECT_TRUE(queue_.empty());
}

TEST_F(GrantQueueTest, TakesGrantsInTheOrderInWhichTheyCame) {
  queue_.Push(&programs_[0], Grant(3, 4));
  queue_.Push(&programs_[1], Grant(3, 4));
  queue_.Push(&programs_[0], Grant(4, 5));
  queue_.Pop();
  EXPECT_EQ(queue_.head().program, &programs_[1]);
  EXPECT_LT(queue_.head().since, 0);
  queue_.Pop();
  EXPECT_EQ(queue_.head().next, 4u);
}

TEST_F(GrantQueueTest, KnowsWhatHasNotHappened) {
  for (DeviceProgram& program : programs_) program.granted = 6;
  EXPECT_EQ(queue_.NextFiring(programs_[0], 0), 6u);
  queue_.Push(&programs_[0], Grant(4, 6));
  queue_.Push(&programs_[1], Grant(5, 6));
  queue_.Advance(1);
  EXPECT_EQ(queue_.NextFiring(programs_[0], 0), 5u);
  EXPECT_EQ(queue_.NextFiring(programs_[0], 1), 4u);
  EXPECT_EQ(queue_.NextFiring(programs_[1], 0), 5u);
}

TEST_F(GrantQueueTest, ForgetsAProgram) {
  for (int i = 0; i < 2; ++i) {
    for (DeviceProgram& program : programs_) queue_.Push(&program, Grant(3, 4));
  }
  queue_.Advance(1);
  EXPECT_FALSE(queue_.Remove(&programs_[1]));
  EXPECT_EQ(queue_.gang_index(), 1u);  // the head is where it was
  EXPECT_TRUE(queue_.Remove(&programs_[0]));
  EXPECT_TRUE(queue_.empty());
  EXPECT_FALSE(queue_.Remove(&programs_[0]));
  queue_.Push(&programs_[1], Grant(3, 4));
  EXPECT_EQ(queue_.gang_index(), 0u);
}

}  // namespace
}  // namespace pathways::testing

//===- head_cost_test.cc - Virtual time of gangs --------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/head_cost.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "runtime/world/testing/recording_world.h"

namespace pathways::testing {
namespace {

// A device with one gang of 50 ns, without the device.
class HeadCostTest : public ::testing::Test {
 protected:
  class Recorder final : public Actor {
   public:
    std::vector<LocalMessage> got;
    void OnLocal(const LocalMessage& message) override {
      got.push_back(message);
    }
  };

  HeadCostTest() {
    actors_.executor = world_.Register(&executor_, {}, "executor");
    actors_.devices = {world_.Register(&self_, {}, "device")};
    actors_.cohorts = {0};
    GangTables tables;
    tables.gangs.resize(1);
    tables.gangs[0].action = 9;
    tables.gangs[0].cost_ns = 50;
    program_.queue = std::make_shared<const GangTables>(std::move(tables));
    program_.entries.resize(1);
    grant_.launch = &launch_;
    grant_.end = launch_.end = 1;
    queue_.Push(&program_, &grant_);
  }
  // Handles what came to the device until `duration` later.
  void After(TimeNs duration) {
    world_.Advance(duration);
    for (const LocalMessage& message : std::exchange(self_.got, {})) {
      cost_.OnMessage(message);
    }
    world_.DeliverAll();
  }

  RecordingWorld world_;
  HostActors actors_;
  Recorder executor_, self_;
  WorkLimits limits_;
  DeviceProgram program_;
  HostLaunch launch_;
  HostGrant grant_;
  GrantQueue queue_;
  HeadGang head_;
  DeviceCounters counters_;
  DeviceSender sender_{&world_, &self_, &actors_, &counters_};
  HeadCost cost_{&world_, &self_, 0,        &actors_,  &limits_,
                 &queue_, &head_, &sender_, &counters_};
};

TEST_F(HeadCostTest, TheHeadWaitsForItsTime) {
  cost_.Start(program_, queue_.gang());
  EXPECT_EQ(head_.awaits, HeadGang::kCost);
  After(49);
  EXPECT_FALSE(head_.cost_paid);
  After(1);
  EXPECT_TRUE(head_.cost_paid);
  EXPECT_EQ(head_.awaits, HeadGang::kNothing);
  EXPECT_EQ(counters_.sent[kCostDone].get(), 1u);
}

TEST_F(HeadCostTest, TheTimeOfARemovedHeadIsIgnored) {
  cost_.Start(program_, queue_.gang());
  head_.Reset();
  After(50);
  EXPECT_FALSE(head_.cost_paid);
}

TEST_F(HeadCostTest, ALongHeadIsReported) {
  limits_.report_ns = 20;
  cost_.Start(program_, queue_.gang());
  After(20);
  ASSERT_EQ(executor_.got.size(), 1u);
  EXPECT_EQ(executor_.got[0].kind, kLongKernel);
  EXPECT_EQ(executor_.got[0].target, 9u);
  EXPECT_EQ(executor_.got[0].extra, 20u);
  EXPECT_FALSE(head_.cost_paid);
  After(30);
  EXPECT_TRUE(head_.cost_paid);
}

TEST_F(HeadCostTest, AHeadOverTheLimitCostsTheWorker) {
  limits_.limit_ns = 30;
  cost_.Start(program_, queue_.gang());
  After(30);
  EXPECT_EQ(executor_.got.size(), 1u);
  EXPECT_FALSE(head_.cost_paid);
  EXPECT_EQ(head_.awaits, HeadGang::kCost);
}

}  // namespace
}  // namespace pathways::testing

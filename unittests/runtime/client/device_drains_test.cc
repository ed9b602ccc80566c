//===- device_drains_test.cc - Drains and offline devices -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/device_drains.h"

#include <gtest/gtest.h>

#include "unittests/runtime/client/answered_channel.h"
#include "unittests/runtime/client/runtime_test_support.h"

namespace pathways::testing {
namespace {

class DeviceDrainsTest : public ::testing::Test {
 protected:
  const Topology topology_ = *Topology::Create(MakeCluster("1x2x2"));
  AnsweredChannel it_;
  DeviceDrains drains_{&it_.channel, &topology_};
};

TEST_F(DeviceDrainsTest, MarksTheDevicesThatAreOffline) {
  it_.on_message = [&](const proto::Control& message) {
    proto::Answer answer;
    answer.add_devices(1);
    answer.add_devices(3);
    answer.add_devices(9);  // more than the cluster has
    it_.Answer(message.devices_request().request(), answer);
  };
  EXPECT_EQ(*drains_.AwayDevices(),
            (std::vector<bool>{false, true, false, true}));
}

TEST_F(DeviceDrainsTest, AsksToDrainTheDevicesOfAHost) {
  it_.on_message = [&](const proto::Control& message) {
    it_.Answer(message.drain_request().request());
  };
  EXPECT_TRUE(drains_.Drain({"host1"}, /*wait_ns=*/5, /*undo=*/false).ok());
  EXPECT_TRUE(drains_.Drain({"host1"}, /*wait_ns=*/-1, /*undo=*/true).ok());
  ASSERT_EQ(it_.messages.size(), 2u);
  const proto::DrainRequest& drain = it_.messages[0].drain_request();
  EXPECT_FALSE(drain.undo());
  EXPECT_EQ(drain.wait_ns(), 5u);
  ASSERT_EQ(drain.devices_size(), 2);
  EXPECT_EQ(drain.devices(0), 2u);
  EXPECT_EQ(drain.devices(1), 3u);
  EXPECT_TRUE(it_.messages[1].drain_request().undo());
  EXPECT_FALSE(it_.messages[1].drain_request().has_wait_ns());
}

TEST_F(DeviceDrainsTest, AsksNothingForAnUnknownName) {
  EXPECT_TRUE(absl::IsInvalidArgument(drains_.Drain({"host9"}, -1, false)));
  it_.HandleSent();
  EXPECT_TRUE(it_.messages.empty());
}

}  // namespace
}  // namespace pathways::testing

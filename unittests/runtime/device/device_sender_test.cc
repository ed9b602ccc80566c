//===- device_sender_test.cc - Messages of a device -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/device_sender.h"

#include <gtest/gtest.h>

#include <vector>

#include "runtime/world/testing/recording_world.h"

namespace pathways::testing {
namespace {

class Receiver final : public Actor {
 public:
  std::vector<LocalMessage> got;
  void OnLocal(const LocalMessage& message) override { got.push_back(message); }
};

TEST(DeviceSenderTest, SendsToTheExecutorAndToDevicesAndCounts) {
  RecordingWorld world;
  Receiver executor, self, peer;
  HostActors actors;
  actors.executor = world.Register(&executor, {}, "executor");
  actors.devices = {world.Register(&self, {}, "device0"),
                    world.Register(&peer, {}, "device1")};
  DeviceCounters counters;
  DeviceSender sender(&world, &self, &actors, &counters);

  DeviceProgram program;
  program.program = 3;
  program.incarnation = 5;
  sender.SendExecutor(DeviceSender::New(kDeviceDone, program));
  sender.SendDevice(1, DeviceSender::New(kGroupDone, program));
  sender.SendDevice(1, DeviceSender::New(kGroupDone, program));
  world.DeliverAll();

  ASSERT_EQ(executor.got.size(), 1u);
  EXPECT_EQ(executor.got[0].kind, kDeviceDone);
  EXPECT_EQ(executor.got[0].program, 3u);
  EXPECT_EQ(executor.got[0].incarnation, 5u);
  EXPECT_EQ(peer.got.size(), 2u);
  EXPECT_TRUE(self.got.empty());
  EXPECT_EQ(counters.sent[kDeviceDone].get(), 1u);
  EXPECT_EQ(counters.sent[kGroupDone].get(), 2u);
}

}  // namespace
}  // namespace pathways::testing

//===- lost_devices_test.cc - State of a host with lost devices -----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/executor/lost_devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace pathways {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class LostDevicesTest : public ::testing::Test {
 protected:
  static proto::WorkerLost Loss(std::vector<uint32_t> devices) {
    proto::WorkerLost loss;
    for (uint32_t device : devices) loss.add_devices(device);
    return loss;
  }
  // On these devices of four, with 8 bytes on each and on the host.
  std::unique_ptr<HostProgram> Program(std::vector<uint32_t> devices) {
    auto program = std::make_unique<HostProgram>();
    program->devices.resize(4);
    for (uint32_t device : devices) {
      program->devices[device] = std::make_unique<DeviceProgram>();
      program->devices[device]->device = device;
      program->devices[device]->memory = *arenas_[device].Allocate(8, "a test");
    }
    program->host_memory = *host_.Allocate(8, "a test");
    return program;
  }
  static Arena Make() { return Arena("memory", 1 << 20, /*backed=*/true); }

  Arena host_ = Make();
  Arena arenas_[4] = {Make(), Make(), Make(), Make()};
  LostDevices lost_;
};

TEST_F(LostDevicesTest, FindsProgramsThatTheyAreOf) {
  EXPECT_EQ(lost_.Find(*Program({0, 1, 2, 3})), std::nullopt);
  lost_.Add(Loss({3, 1}), /*unresponsive=*/false);
  lost_.Add(Loss({2}), /*unresponsive=*/true);
  EXPECT_EQ(lost_.Find(*Program({0, 1, 3})), 1u);
  EXPECT_EQ(lost_.Find(*Program({0, 2})), 2u);
  EXPECT_EQ(lost_.Find(*Program({0})), std::nullopt);
  EXPECT_FALSE(lost_.IsDeaf(1));
  EXPECT_TRUE(lost_.IsDeaf(2));
  ASSERT_THAT(lost_.losses(), SizeIs(2));
  EXPECT_EQ(lost_.losses()[0].devices(0), 3u);
}

TEST_F(LostDevicesTest, KeepsWhatAKernelMayTouch) {
  lost_.Add(Loss({1}), /*unresponsive=*/true);
  lost_.Add(Loss({0}), /*unresponsive=*/false);
  lost_.Release(Program({0, 1, 2}));
  EXPECT_EQ(arenas_[0].used(), 0u);
  EXPECT_EQ(arenas_[1].used(), 8u);
  EXPECT_EQ(arenas_[2].used(), 0u);
  EXPECT_EQ(host_.used(), 0u);
  lost_ = LostDevices();
  EXPECT_EQ(arenas_[1].used(), 0u);
}

TEST_F(LostDevicesTest, GivesBackWhatNoneMayTouch) {
  lost_.Add(Loss({1}), /*unresponsive=*/true);
  lost_.Release(Program({0, 2}));
  for (const Arena& arena : arenas_) EXPECT_EQ(arena.used(), 0u);
  EXPECT_EQ(host_.used(), 0u);
}

}  // namespace
}  // namespace pathways

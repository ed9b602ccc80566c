//===- cohort_test.cc - Devices of one worker -----------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cohort.h"

#include <gtest/gtest.h>

#include <memory>

#include "runtime/device/device.h"
#include "runtime/world/testing/recording_world.h"

namespace pathways::testing {
namespace {

TEST(CohortTest, KnowsItsDevicesByTheirNumberOnTheHost) {
  RecordingWorld world;
  HostActors actors;
  WorkLimits limits;
  Cohort cohort(world.kernels().kernel_gate(0));
  EXPECT_EQ(cohort.begin_index(), cohort.end_index());
  auto device = [&](int index) {
    return std::make_unique<Device>(&world, &actors, &cohort, 0, index, index,
                                    NoBackends(), &limits);
  };
  // Numbers 4 and 5 are of another worker.
  const auto third = device(3), sixth = device(6);
  EXPECT_EQ(cohort.begin_index(), 3u);
  EXPECT_EQ(cohort.end_index(), 7u);
  EXPECT_EQ(cohort.at(3), third.get());
  EXPECT_EQ(cohort.at(4), nullptr);
  EXPECT_EQ(cohort.at(6), sixth.get());
  EXPECT_EQ(cohort.at(2), nullptr);
  EXPECT_EQ(cohort.at(7), nullptr);
  // Devices with nothing to do have had their turn.
  cohort.Wake(sixth.get());
  cohort.Run(third.get());
  EXPECT_TRUE(world.sent.empty());
}

}  // namespace
}  // namespace pathways::testing

//===- lane_table_test.cc - Devices that the same programs are on ---------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/scheduler/lane_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <random>
#include <set>

namespace pathways {
namespace {

using ::testing::ElementsAre;
using ::testing::FieldsAre;
using ::testing::IsEmpty;

// Four devices to an island.
std::vector<LaneTable::Split> Add(LaneTable& lanes, uint32_t program,
                                  const std::vector<int64_t>& devices) {
  std::vector<LaneTable::Device> on;
  for (int64_t device : devices) {
    on.push_back({static_cast<int32_t>(device / 4), device});
  }
  std::vector<LaneTable::Split> splits;
  lanes.Add(program, on, &splits);
  return splits;
}

TEST(LaneTableTest, AProgramAloneHasALaneOnEachIsland) {
  LaneTable lanes;
  EXPECT_THAT(Add(lanes, 7, {0, 1, 2, 3, 4, 5}), IsEmpty());
  EXPECT_THAT(lanes.Of(7), ElementsAre(0, 1));
  EXPECT_EQ(lanes.IslandOf(0), 0);
  EXPECT_EQ(lanes.IslandOf(1), 1);
  EXPECT_THAT(lanes.Of(8), IsEmpty());
}

TEST(LaneTableTest, WhoeverSharesADeviceSharesItsLane) {
  LaneTable lanes;
  Add(lanes, 0, {0, 1, 2, 3});
  EXPECT_THAT(Add(lanes, 1, {0, 1, 2, 3}), IsEmpty());
  EXPECT_THAT(Add(lanes, 2, {2, 3, 6}), ElementsAre(FieldsAre(0, 2)));
  EXPECT_THAT(lanes.Of(0), ElementsAre(0, 2));
  EXPECT_THAT(lanes.Of(1), ElementsAre(0, 2));
  EXPECT_THAT(lanes.Of(2), ElementsAre(1, 2));
  // What nobody is on any more stays divided.
  lanes.Remove(2);
  EXPECT_THAT(Add(lanes, 3, {0, 1, 2, 3}), IsEmpty());
  EXPECT_THAT(lanes.Of(3), ElementsAre(0, 2));
}

TEST(LaneTableTest, RandomProgramsAgainstTheirDevices) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    LaneTable lanes;
    std::map<uint32_t, std::set<int64_t>> programs;
    for (int i = 0; i < 30; ++i) {
      const auto program = static_cast<uint32_t>(random() % 8);
      if (programs.erase(program) > 0) {
        lanes.Remove(program);
        continue;
      }
      std::set<int64_t>& on = programs[program];
      for (int64_t device = 0; device < 16; ++device) {
        if (random() % 3 == 0) on.insert(device);
      }
      Add(lanes, program, {on.begin(), on.end()});
      for (const auto& [a, on_a] : programs) {
        for (const auto& [b, on_b] : programs) {
          std::set<int64_t> devices;
          std::set_intersection(on_a.begin(), on_a.end(), on_b.begin(),
                                on_b.end(),
                                std::inserter(devices, devices.end()));
          const std::set<uint32_t> lanes_a(lanes.Of(a).begin(),
                                           lanes.Of(a).end());
          size_t shared = 0;
          for (uint32_t lane : lanes.Of(b)) shared += lanes_a.count(lane);
          EXPECT_EQ(shared > 0, !devices.empty());
          if (on_a == on_b) EXPECT_EQ(lanes.Of(a), lanes.Of(b));
        }
      }
    }
    EXPECT_LE(lanes.size(), 16u);
  }
}

}  // namespace
}  // namespace pathways

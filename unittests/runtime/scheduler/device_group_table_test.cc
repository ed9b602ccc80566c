//===- device_group_table_test.cc - Devices that the same programs are on -===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/scheduler/device_group_table.h"

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
std::vector<DeviceGroupTable::Split> Add(DeviceGroupTable& groups,
                                         uint32_t program,
                                         const std::vector<int64_t>& devices) {
  std::vector<DeviceGroupTable::Device> on;
  for (int64_t device : devices) {
    on.push_back({static_cast<int32_t>(device / 4), device});
  }
  std::vector<DeviceGroupTable::Split> splits;
  groups.Add(program, on, &splits);
  return splits;
}

TEST(DeviceGroupTableTest, AProgramAloneHasAGroupOnEachIsland) {
  DeviceGroupTable groups;
  EXPECT_THAT(Add(groups, 7, {0, 1, 2, 3, 4, 5}), IsEmpty());
  EXPECT_THAT(groups.Of(7), ElementsAre(0, 1));
  EXPECT_EQ(groups.IslandOf(0), 0);
  EXPECT_EQ(groups.IslandOf(1), 1);
  EXPECT_THAT(groups.Of(8), IsEmpty());
}

TEST(DeviceGroupTableTest, ProgramsThatShareADeviceShareItsGroup) {
  DeviceGroupTable groups;
  Add(groups, 0, {0, 1, 2, 3});
  EXPECT_THAT(Add(groups, 1, {0, 1, 2, 3}), IsEmpty());
  EXPECT_THAT(Add(groups, 2, {2, 3, 6}), ElementsAre(FieldsAre(0, 2)));
  EXPECT_THAT(groups.Of(0), ElementsAre(0, 2));
  EXPECT_THAT(groups.Of(1), ElementsAre(0, 2));
  EXPECT_THAT(groups.Of(2), ElementsAre(1, 2));
  // Devices that no program uses any longer stay divided.
  groups.Remove(2);
  EXPECT_THAT(Add(groups, 3, {0, 1, 2, 3}), IsEmpty());
  EXPECT_THAT(groups.Of(3), ElementsAre(0, 2));
}

TEST(DeviceGroupTableTest, RandomProgramsAgainstTheirDevices) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    DeviceGroupTable groups;
    std::map<uint32_t, std::set<int64_t>> programs;
    for (int i = 0; i < 30; ++i) {
      const auto program = static_cast<uint32_t>(random() % 8);
      if (programs.erase(program) > 0) {
        groups.Remove(program);
        continue;
      }
      std::set<int64_t>& on = programs[program];
      for (int64_t device = 0; device < 16; ++device) {
        if (random() % 3 == 0) on.insert(device);
      }
      Add(groups, program, {on.begin(), on.end()});
      for (const auto& [a, on_a] : programs) {
        for (const auto& [b, on_b] : programs) {
          std::set<int64_t> devices;
          std::set_intersection(on_a.begin(), on_a.end(), on_b.begin(),
                                on_b.end(),
                                std::inserter(devices, devices.end()));
          const std::set<uint32_t> lanes_a(groups.Of(a).begin(),
                                           groups.Of(a).end());
          size_t shared = 0;
          for (uint32_t group : groups.Of(b)) shared += lanes_a.count(group);
          EXPECT_EQ(shared > 0, !devices.empty());
          if (on_a == on_b) EXPECT_EQ(groups.Of(a), groups.Of(b));
        }
      }
    }
    EXPECT_LE(groups.size(), 16u);
  }
}

}  // namespace
}  // namespace pathways

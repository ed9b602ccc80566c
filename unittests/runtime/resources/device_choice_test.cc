//===- device_choice_test.cc - Choice among equivalent devices ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/resources/device_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "unittests/runtime/binding/binding_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

constexpr uint64_t kBytes = 100;  // that each device has

DeviceRoom AllFree(const Topology& topology) {
  const size_t devices = static_cast<size_t>(topology.num_devices());
  return {std::vector<uint64_t>(devices, kBytes),
          std::vector<uint64_t>(devices, kBytes), std::vector<bool>(devices),
          std::vector<CellLoad>(devices)};
}
IslandNeed Need(std::vector<uint64_t> bytes, int32_t like = 0) {
  IslandNeed need;
  for (uint64_t one : bytes) need.devices.push_back({one, like});
  return need;
}

class DeviceChoiceTest : public ::testing::Test {
 protected:
  std::optional<ChosenDevices> Choose(const DeviceDemand& demand) {
    return ChooseDevices(topology_, classes_, demand, &room_);
  }
  Topology topology_ = MakeTopology("2x1x4");
  DeviceClasses classes_{topology_};
  DeviceRoom room_ = AllFree(topology_);
};

TEST_F(DeviceChoiceTest, TakesTheLeastLoadedAndWhatItTakesIsTaken) {
  room_.load[0] = {1, 5, 0};
  EXPECT_THAT(Choose({{}, {Need({60, 60})}}),
              Optional(ElementsAre(ElementsAre(1, 2))));
  EXPECT_EQ(room_.free[1], 40u);
  EXPECT_THAT(Choose({{}, {Need({60, 60})}}),
              Optional(ElementsAre(ElementsAre(4, 5))));
  EXPECT_THAT(Choose({{}, {Need({60, 60})}}),
              Optional(ElementsAre(ElementsAre(6, 7))));
  EXPECT_THAT(Choose({{}, {Need({40, 60})}}),
              Optional(ElementsAre(ElementsAre(1, 3))));
  EXPECT_EQ(Choose({{}, {Need({60, 60})}}), std::nullopt);
  EXPECT_EQ(room_.free[0], 100u);
  EXPECT_THAT(Choose({{}, {Need({kWholeDevice})}}),
              Optional(ElementsAre(ElementsAre(0))));
  EXPECT_EQ(Choose({{}, {Need({kWholeDevice})}}), std::nullopt);
}

// An island goes to who cannot do without it, though another one likes it best.
TEST_F(DeviceChoiceTest, IslandsGoToThoseWhoNeedThem) {
  room_.closed[0] = true;
  room_.load[1][0] = room_.load[2][0] = room_.load[3][0] = 5;
  EXPECT_THAT(Choose({{}, {Need({1}), Need({1, 1, 1, 1})}}),
              Optional(ElementsAre(ElementsAre(1), ElementsAre(4, 5, 6, 7))));
  DeviceDemand apart{{}, {Need({1})}};
  apart.apart = {0};
  EXPECT_THAT(Choose(apart), Optional(ElementsAre(ElementsAre(4))));
  apart.apart = {0, 1};
  EXPECT_EQ(Choose(apart), std::nullopt);
  EXPECT_EQ(Choose({{}, {Need({1}), Need({1}), Need({1})}}), std::nullopt);
}

TEST_F(DeviceChoiceTest, WhatIsFixedGoesFirst) {
  EXPECT_THAT(Choose({{{0, 100}, {4, 50}}, {Need({60, 60, 60, 60})}}),
              ::testing::Eq(std::nullopt));
  EXPECT_THAT(Choose({{{0, 100}}, {Need({60, 60, 60, 60})}}),
              Optional(ElementsAre(ElementsAre(4, 5, 6, 7))));
  EXPECT_EQ(Choose({{{0, 1}}, {}}), std::nullopt);
}

TEST(DeviceClassesTest, KindsAndTargets) {
  proto::Cluster cluster;
  proto::Host* host = cluster.add_islands()->add_hosts();
  for (const char* kind : {"cpu", "gpu", "", "gpu", "cpu"}) {
    host->add_devices()->set_kind(kind);
  }
  host->mutable_devices(4)->mutable_target()->set_cpu("old");
  absl::StatusOr<Topology> topology = Topology::Create(cluster);
  ASSERT_TRUE(topology.ok()) << topology.status();
  const DeviceClasses classes(*topology);
  EXPECT_EQ(classes.of(0), classes.of(2));
  EXPECT_THAT(classes.OfKind("cpu"), ElementsAre(0, 2));
  EXPECT_THAT(classes.OfKind("gpu"), ElementsAre(1));
  EXPECT_TRUE(classes.OfKind("tpu").empty());
  // All of a slice have one target.
  DeviceRoom room = AllFree(*topology);
  DeviceDemand three{{}, {Need({1, 1, 1})}};
  three.kind = "cpu";
  EXPECT_EQ(ChooseDevices(*topology, classes, three, &room), std::nullopt);
  DeviceDemand one{{}, {Need({kWholeDevice})}};
  one.kind = "cpu";
  room.free[0] = room.free[2] = 1;
  EXPECT_THAT(ChooseDevices(*topology, classes, one, &room),
              Optional(ElementsAre(ElementsAre(4))));
}

// Every way in which a demand can be met, tried one after the other.
class Ways {
 public:
  Ways(const Topology& topology, const DeviceClasses& classes,
       const DeviceDemand& demand, const DeviceRoom& room)
      : topology_(topology), classes_(classes), demand_(demand), room_(room) {}

  // The least load of all; nothing: there is none.
  std::optional<CellLoad> Least() {
    Try(0, 0, {}, {});
    return least_;
  }

 private:
  void Try(size_t need, size_t device, std::vector<int> islands,
           std::set<int64_t> taken) {
    if (need == demand_.islands.size()) {
      CellLoad sum = {};
      for (int64_t d : taken) {
        for (size_t i = 0; i < sum.size(); ++i) {
          sum[i] += room_.load[static_cast<size_t>(d)][i];
        }
      }
      least_ = std::min(least_.value_or(sum), sum);
      return;
    }
    if (device == 0) {
      for (int island = 0; island < topology_.num_islands(); ++island) {
        if (demand_.apart.count(island) > 0 ||
            std::count(islands.begin(), islands.end(), island) > 0) {
          continue;
        }
        std::vector<int> more = islands;
        more.push_back(island);
        Place(need, device, more, taken);
      }
      return;
    }
    Place(need, device, islands, taken);
  }
  void Place(size_t need, size_t device, const std::vector<int>& islands,
             const std::set<int64_t>& taken) {
    const std::vector<IslandNeed::Device>& all = demand_.islands[need].devices;
    for (int64_t d = 0; d < topology_.num_devices(); ++d) {
      if (topology_.FromGlobalDevice(d).first != islands.back() ||
          taken.count(d) > 0 || classes_.of(d) != all[device].like ||
          !room_.Fits(d, all[device].bytes)) {
        continue;
      }
      std::set<int64_t> more = taken;
      more.insert(d);
      const bool is_last = device + 1 == all.size();
      Try(is_last ? need + 1 : need, is_last ? 0 : device + 1, islands, more);
    }
  }

  const Topology& topology_;
  const DeviceClasses& classes_;
  const DeviceDemand& demand_;
  const DeviceRoom& room_;
  std::optional<CellLoad> least_;
};

// Nothing is found only if there is nothing; what is found is there, and where
// one island is asked for it is of least load.
TEST(DeviceChoiceModelTest, RandomDemandsAgainstEveryWay) {
  int found = 0, missing = 0;
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    auto pick = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
    proto::Cluster cluster;
    for (uint32_t i = 0; i < 1 + pick(3); ++i) {
      proto::Host* host = cluster.add_islands()->add_hosts();
      for (uint32_t d = 0; d < 1 + pick(4); ++d) {
        host->add_devices()->set_kind(pick(4) == 0 ? "gpu" : "cpu");
      }
    }
    absl::StatusOr<Topology> topology = Topology::Create(cluster);
    ASSERT_TRUE(topology.ok()) << topology.status();
    const DeviceClasses classes(*topology);
    DeviceRoom room = AllFree(*topology);
    for (size_t d = 0; d < room.free.size(); ++d) {
      room.free[d] = kBytes - pick(2) * pick(kBytes);
      room.closed[d] = pick(8) == 0;
      room.load[d] = {pick(3), pick(3), 0};
    }
    DeviceDemand demand;
    for (uint32_t i = 0; i < 1 + pick(3); ++i) {
      IslandNeed& need = demand.islands.emplace_back();
      for (uint32_t d = 0; d < 1 + pick(3); ++d) {
        need.devices.push_back(
            {pick(6) == 0 ? kWholeDevice : pick(kBytes),
             classes.of(pick(static_cast<uint32_t>(room.free.size())))});
      }
    }
    if (pick(3) == 0) demand.apart.insert(static_cast<int>(pick(3)));
    const DeviceRoom before = room;
    const std::optional<CellLoad> least =
        Ways(*topology, classes, demand, before).Least();
    const std::optional<ChosenDevices> chosen =
        ChooseDevices(*topology, classes, demand, &room);
    ASSERT_EQ(chosen.has_value(), least.has_value());
    found += chosen.has_value();
    missing += !chosen.has_value();
    if (!chosen.has_value()) {
      EXPECT_EQ(room.free, before.free);
      continue;
    }
    std::set<int> islands;
    std::set<int64_t> taken;
    CellLoad sum = {};
    for (size_t i = 0; i < demand.islands.size(); ++i) {
      const std::vector<IslandNeed::Device>& need = demand.islands[i].devices;
      ASSERT_EQ((*chosen)[i].size(), need.size());
      const int island = topology->FromGlobalDevice((*chosen)[i][0]).first;
      EXPECT_TRUE(islands.insert(island).second);
      EXPECT_EQ(demand.apart.count(island), 0u);
      for (size_t d = 0; d < need.size(); ++d) {
        const int64_t device = (*chosen)[i][d];
        EXPECT_EQ(topology->FromGlobalDevice(device).first, island);
        EXPECT_EQ(classes.of(device), need[d].like);
        EXPECT_TRUE(before.Fits(device, need[d].bytes));
        EXPECT_TRUE(taken.insert(device).second);
        for (size_t k = 0; k < sum.size(); ++k) {
          sum[k] += before.load[static_cast<size_t>(device)][k];
        }
      }
    }
    if (demand.islands.size() == 1) {
      EXPECT_EQ(sum, *least);
    }
  }
  EXPECT_GT(found, 300);
  EXPECT_GT(missing, 300);
}

}  // namespace
}  // namespace pathways::testing

//===- rebind_plan_test.cc - A plan on other devices ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/rebind_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "runtime/binding/plan_binding.h"
#include "runtime/plan/plan_manifest.h"
#include "runtime/plan/testing/random_plan.h"
#include "runtime/plan/verify.h"
#include "runtime/topology/named_devices.h"
#include "unittests/random_cases.h"
#include "unittests/runtime/binding/binding_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Names = std::vector<std::string>;

class RebindPlanTest : public ::testing::Test {
 protected:
  absl::StatusOr<PlanData> Rebind(const Names& avoid,
                                  bool oversubscribe = false) {
    const auto slices = RebindPlan(
        plan_, topology_, *NamedDevices(topology_, avoid), oversubscribe);
    if (!slices.ok()) return slices.status();
    return WithSlices(MakePlanData(plan_, {}), *slices);
  }
  // Of slice `s`, by shard.
  std::vector<int32_t> DevicesOf(const absl::StatusOr<PlanData>& plan, int s) {
    EXPECT_TRUE(plan.ok()) << plan.status();
    if (!plan.ok()) return {};
    EXPECT_TRUE(CheckPlan(*plan).ok()) << CheckPlan(*plan);
    const auto binding = PlanBinding::Create(plan->tables, topology_);
    EXPECT_TRUE(binding.ok()) << binding.status();
    return binding->slices()[static_cast<size_t>(s)].device_of;
  }

  // Three islands of two hosts of two devices; the plan is on the first two
  // devices of two islands.
  Topology topology_ = MakeTopology("3x2x2");
  proto::Plan plan_ = MovePlan("p", 2, 0, 1);
};

TEST_F(RebindPlanTest, NothingMovesThatNeedNot) {
  const auto same = Rebind({"host5", "island0/host1/device0"});
  ASSERT_TRUE(same.ok()) << same.status();
  EXPECT_EQ(same->tables.SerializeAsString(), plan_.SerializeAsString());
}

TEST_F(RebindPlanTest, AnotherDeviceOfTheIslandComesFirst) {
  const auto plan = Rebind({"island0/host0/device1"});
  EXPECT_THAT(DevicesOf(plan, 0), ElementsAre(0, 2));
  EXPECT_THAT(DevicesOf(plan, 1), ElementsAre(4, 5));
  // Neighbours stay as short in the plan as they were.
  const auto whole = Rebind({"host0"});
  EXPECT_THAT(DevicesOf(whole, 0), ElementsAre(2, 3));
  EXPECT_TRUE(whole->tables.slices(0).binding().has_affine());
  EXPECT_EQ(whole->tables.slices(0).binding().affine().base(), 2);
}

TEST_F(RebindPlanTest, ThenAnotherIslandWithAllThatWasOnIt) {
  EXPECT_THAT(DevicesOf(Rebind({"host0", "island0/host1/device0"}), 0),
              ElementsAre(8, 9));
  EXPECT_THAT(DevicesOf(Rebind({"island1", "host4"}), 1), ElementsAre(10, 11));
  const auto none = Rebind({"island0", "island2/host4/device0", "host5"});
  EXPECT_EQ(none.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(
      none.status().message(),
      "program 'p' is on 2 devices of island0, 2 of which must be avoided, and "
      "there are too few devices to replace them; devices that are allowed and "
      "that the program does not use: island0 0, island1 2, island2 1; "
      "oversubscribe to share devices [PW2105]");
}

TEST_F(RebindPlanTest, OversubscribedDevicesAreShared) {
  const Names most = {"host0", "island0/host1/device0", "island2"};
  EXPECT_FALSE(Rebind(most).ok());
  EXPECT_THAT(DevicesOf(Rebind(most, true), 0), ElementsAre(3, 3));
  // An island becomes one with another one.
  const auto both = Rebind({"island0", "island2"}, true);
  EXPECT_THAT(DevicesOf(both, 0), ElementsAre(6, 7));
  EXPECT_THAT(DevicesOf(both, 1), ElementsAre(4, 5));
  const auto none = Rebind({"island0", "island1", "island2"}, true);
  EXPECT_THAT(none.status().message(), HasSubstr("island0 0, island1 0"));
  // The error advises nothing that would not help.
  EXPECT_THAT(
      std::string(Rebind({"island0", "island1", "island2"}).status().message()),
      HasSubstr("does not use: island0 0, island1 0, island2 0 [PW2105]"));
}

TEST_F(RebindPlanTest, OnlyDevicesThatAreAlike) {
  proto::Cluster cluster = *ReadTopology("2x1x2");
  cluster.mutable_islands(1)->mutable_hosts(0)->mutable_devices(1)->set_kind(
      "tpu");
  topology_ = *Topology::Create(cluster);
  plan_ = MovePlan("p", 1, 0, 0, /*base=*/1);
  EXPECT_THAT(DevicesOf(Rebind({"island0/host0/device0"}, true), 0),
              ElementsAre(1));
  EXPECT_THAT(DevicesOf(Rebind({"island0"}), 0), ElementsAre(2));
  EXPECT_FALSE(Rebind({"island0", "island1/host1/device0"}, true).ok());
}

TEST_F(RebindPlanTest, NamesAreThoseOfTheCluster) {
  for (const char* name : {"", "host6", "island3", "host0/device0", "Host0"}) {
    const auto named = NamedDevices(topology_, {"host1", name});
    EXPECT_EQ(named.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(named.status().message(),
                HasSubstr(std::string("no island, host or device '") + name));
  }
}

// Whatever is avoided: what was together is together, what was apart stays so
// without oversubscription, and nothing is on what is avoided.
TEST(RebindRandomPlansTest, KeepWhatIsTogether) {
  const uint64_t seed = TestSeed(20261125);
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  const Topology topology = MakeTopology("4x2x3");
  std::mt19937_64 random(seed);
  int moved = 0, refused = 0;
  for (uint64_t i = 0; i < 400; ++i) {
    RandomPlanOptions options;
    options.islands = 3;
    options.devices_per_island = 5;
    options.spanning = true;
    const proto::Plan plan = RandomPlan(seed + i, options);
    std::vector<bool> avoid(24);
    const uint64_t one_in = 1 + random() % 8;
    for (auto device : avoid) device = random() % one_in == 0;
    const bool oversubscribe = i % 2 == 0;
    const auto slices = RebindPlan(plan, topology, avoid, oversubscribe);
    if (!slices.ok()) {
      ++refused;
      ASSERT_EQ(slices.status().code(), absl::StatusCode::kResourceExhausted)
          << slices.status();
      continue;
    }
    const PlanData rebound = WithSlices(MakePlanData(plan, {}), *slices);
    ASSERT_TRUE(CheckPlan(rebound).ok()) << CheckPlan(rebound);
    // It has the same name as if it had been made so.
    ASSERT_EQ(*PlanNamer::Create(MakePlanData(plan, {}))->NameWith(*slices),
              *NameOf(rebound));
    const auto before = PlanBinding::Create(plan, topology);
    const auto after = PlanBinding::Create(rebound.tables, topology);
    ASSERT_TRUE(before.ok() && after.ok()) << after.status();
    std::map<int32_t, int32_t> place, origin;
    std::map<int, int> island_of, from_island;
    for (size_t s = 0; s < before->slices().size(); ++s) {
      for (size_t k = 0; k < before->slices()[s].device_of.size(); ++k) {
        const int32_t from = before->slices()[s].device_of[k];
        const int32_t to = after->slices()[s].device_of[k];
        ASSERT_FALSE(avoid[static_cast<size_t>(to)]) << "seed " << seed + i;
        ASSERT_EQ(place.try_emplace(from, to).first->second, to);
        const int there = topology.FromGlobalDevice(from).first;
        const int here = topology.FromGlobalDevice(to).first;
        ASSERT_EQ(island_of.try_emplace(there, here).first->second, here);
        moved += from != to;
        if (oversubscribe) continue;
        ASSERT_EQ(origin.try_emplace(to, from).first->second, from);
        ASSERT_EQ(from_island.try_emplace(here, there).first->second, there);
      }
    }
  }
  EXPECT_GT(moved, 100);
  EXPECT_GT(refused, 20);
}

}  // namespace
}  // namespace pathways::testing

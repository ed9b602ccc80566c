//===- topology_test.cc - Numbers of islands, hosts and devices -----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/topology/topology.h"

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace pathways {
namespace {

using ::testing::ElementsAre;

Topology Make(absl::StatusOr<proto::Cluster> cluster) {
  EXPECT_TRUE(cluster.ok()) << cluster.status();
  absl::StatusOr<Topology> topology = Topology::Create(*std::move(cluster));
  EXPECT_TRUE(topology.ok()) << topology.status();
  return *std::move(topology);
}

Topology Uneven() {
  return Make(ParseTopology(R"(
      islands {
        hosts { devices {} devices { memory_bytes: 7 } devices {} }
        hosts { name: "big" memory_bytes: 9 devices { kind: "gpu" } }
      }
      islands {
        name: "right" shape: [2, 2]
        hosts { devices {} }
        hosts { devices {} devices { coordinates: [1, 1] }
                devices { coordinates: [1, 0] } }
      })",
                            "text"));
}

TEST(TopologyTest, CountsAndNumbers) {
  Topology topology = Uneven();
  EXPECT_EQ(topology.num_islands(), 2);
  EXPECT_EQ(topology.num_hosts(), 4);
  EXPECT_EQ(topology.num_devices(), 8);
  EXPECT_EQ(topology.num_hosts(1), 2);
  EXPECT_EQ(topology.first_host(1), 2);
  EXPECT_EQ(topology.num_devices(0), 4);
  EXPECT_EQ(topology.num_devices(1), 4);
  EXPECT_EQ(topology.num_host_devices(0), 3);
  EXPECT_EQ(topology.num_host_devices(2), 1);
  EXPECT_EQ(topology.island_of_host(1), 0);
  EXPECT_EQ(topology.island_of_host(2), 1);
  EXPECT_EQ(topology.first_device(1), 3);
  EXPECT_EQ(topology.first_device(2), 0);
  EXPECT_EQ(topology.first_device(3), 1);
}

TEST(TopologyTest, NumbersAreInverses) {
  Topology topology = Uneven();
  int64_t global = 0;
  for (int island = 0; island < topology.num_islands(); ++island) {
    int64_t index = 0;
    for (int h = 0; h < topology.num_hosts(island); ++h) {
      int host = topology.first_host(island) + h;
      EXPECT_EQ(topology.first_device(host), index);
      for (int d = 0; d < topology.num_host_devices(host); ++d) {
        Topology::Place place{host, d};
        EXPECT_EQ(topology.Locate(island, index), place);
        EXPECT_EQ(topology.GlobalDevice(place), global);
        EXPECT_EQ(topology.LocateGlobal(global), place);
        EXPECT_EQ(topology.GlobalDevice(island, index), global);
        EXPECT_EQ(topology.FromGlobalDevice(global),
                  std::make_pair(island, index));
        EXPECT_EQ(&topology.device(island, index),
                  &topology.cluster().islands(island).hosts(h).devices(d));
        ++index;
        ++global;
      }
    }
  }
  EXPECT_EQ(global, topology.num_devices());
}

TEST(TopologyTest, NamesAndDefaults) {
  Topology topology = Uneven();
  EXPECT_EQ(topology.IslandName(0), "island0");
  EXPECT_EQ(topology.IslandName(1), "right");
  EXPECT_EQ(topology.HostName(1), "big");
  EXPECT_EQ(topology.HostName(2), "host2");
  EXPECT_EQ(topology.DeviceName(0, 2), "island0/host0/device2");
  EXPECT_EQ(topology.DeviceName(0, 3), "island0/big/device0");
  EXPECT_EQ(topology.DeviceName(1, 2), "right/host3/device1");
  EXPECT_EQ(DeviceKind(topology.device(0, 0)), "cpu");
  EXPECT_EQ(DeviceKind(topology.device(0, 3)), "gpu");
  EXPECT_EQ(DeviceMemoryBytes(topology.device(0, 0)), uint64_t{1} << 30);
  EXPECT_EQ(DeviceMemoryBytes(topology.device(0, 1)), 7u);
  EXPECT_EQ(HostMemoryBytes(topology.host(0)), uint64_t{4} << 30);
  EXPECT_EQ(HostMemoryBytes(topology.host(1)), 9u);
}

TEST(TopologyTest, ShapesAndCoordinates) {
  Topology topology = Uneven();
  EXPECT_THAT(topology.IslandShape(0), ElementsAre(4));
  EXPECT_THAT(topology.DeviceCoordinates(0, 3), ElementsAre(3));
  EXPECT_THAT(topology.IslandShape(1), ElementsAre(2, 2));
  EXPECT_THAT(topology.DeviceCoordinates(1, 1), ElementsAre(0, 1));
  EXPECT_THAT(topology.DeviceCoordinates(1, 2), ElementsAre(1, 1));
}

TEST(TopologyTest, Format) {
  EXPECT_EQ(FormatTopology(Uneven()),
            "2 islands x 2 hosts x 1..3 mixed devices (8 devices)");
  EXPECT_EQ(FormatTopology(Make(ReadTopology("1x1x1"))),
            "1 island x 1 host x 1 cpu device (1 device)");
  EXPECT_EQ(FormatTopology(Make(ReadTopology("2x1x4"))),
            "2 islands x 1 host x 4 cpu devices (8 devices)");
}

TEST(TopologyTest, CreateChecks) {
  EXPECT_TRUE(
      absl::IsInvalidArgument(Topology::Create(proto::Cluster()).status()));
}

TEST(TopologyTest, ManyDevices) {
  Topology topology = Make(ReadTopology("4x256x4"));
  EXPECT_EQ(topology.num_devices(), 4096);
  EXPECT_EQ(topology.DeviceName(3, 1023), "island3/host1023/device3");
  EXPECT_EQ(topology.FromGlobalDevice(4095), std::make_pair(3, int64_t{1023}));
}

}  // namespace
}  // namespace pathways

//===- discovery_test.cc - The machine the test runs on -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/topology/discovery.h"

#include <sched.h>

#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "runtime/topology/topology.h"

namespace pathways {
namespace {

TEST(DiscoveryTest, LocalIsOneHostWithItsCores) {
  for (const char* spec : {"", "local"}) {
    absl::StatusOr<proto::Cluster> cluster = ReadTopology(spec);
    ASSERT_TRUE(cluster.ok()) << cluster.status();
    absl::StatusOr<Topology> topology = Topology::Create(*cluster);
    ASSERT_TRUE(topology.ok()) << topology.status();
    EXPECT_EQ(topology->num_islands(), 1);
    EXPECT_EQ(topology->num_hosts(), 1);
    EXPECT_EQ(topology->num_devices(), NumPhysicalCores());
    EXPECT_EQ(topology->device(0, 0).target().cpu(), "");
    // Together no more than there is.
    uint64_t devices = topology->device(0, 0).memory_bytes() *
                       static_cast<uint64_t>(topology->num_devices());
    EXPECT_LE(devices, 2 * topology->host(0).memory_bytes() + (1 << 20));
  }
}

TEST(DiscoveryTest, CountsRespectTheAffinity) {
  cpu_set_t set;
  ASSERT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
  EXPECT_EQ(NumProcessingUnits(), CPU_COUNT(&set));
  EXPECT_GE(NumPhysicalCores(), 1);
  EXPECT_LE(NumPhysicalCores(), NumProcessingUnits());
}

TEST(DiscoveryTest, SharesOfCoresAreForWhatAThreadStarts) {
  const auto allowed = [] {
    cpu_set_t set;
    EXPECT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
    return set;
  };
  const cpu_set_t all = allowed();
  const int cores = NumPhysicalCores();
  for (int parts : {1, 2, cores, cores + 3}) {
    cpu_set_t together;
    CPU_ZERO(&together);
    for (int part = 0; part < parts; ++part) {
      {
        const ShareOfCores share(part, parts);
        const cpu_set_t mine = allowed();
        CPU_OR(&together, &together, &mine);
        if (parts <= cores) {
          EXPECT_LE(CPU_COUNT(&mine), (cores + parts - 1) / parts *
                                          (CPU_COUNT(&all) - cores + 1));
        }
        EXPECT_GE(CPU_COUNT(&mine), 1);
      }
      const cpu_set_t after = allowed();
      EXPECT_TRUE(CPU_EQUAL(&after, &all));
    }
    EXPECT_TRUE(CPU_EQUAL(&together, &all)) << parts;
  }
}

TEST(DiscoveryTest, BindsThreads) {
  NumPhysicalCores();  // Reads the affinity before it changes below.
  for (int core : {0, NumPhysicalCores() - 1, NumPhysicalCores(), 1 << 30}) {
    std::thread([core] {
      absl::Status status = BindThisThreadToCore(core);
      // A sandbox may refuse; then the thread may go on as it was.
      if (absl::IsUnavailable(status)) return;
      ASSERT_TRUE(status.ok()) << status;
      cpu_set_t set;
      ASSERT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
      EXPECT_GE(CPU_COUNT(&set), 1);
      EXPECT_LE(CPU_COUNT(&set), NumProcessingUnits() - NumPhysicalCores() + 1);
    }).join();
  }
}

TEST(DiscoveryTest, NegativeCoreIsRefused) {
  absl::Status status = BindThisThreadToCore(-1);
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_EQ(status.message(), "core number is -1, expected at least 0");
}

}  // namespace
}  // namespace pathways

//===- make_world_test.cc - The world that options and links ask for ------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cluster/make_world.h"

#include "unittests/runtime/client/runtime_test_support.h"

namespace pathways::testing {
namespace {

class MakeWorldTest : public ::testing::Test {
 protected:
  ProcessWorld Make(const ClusterOptions& options) {
    absl::StatusOr<ProcessWorld> made = MakeWorld(topology_, options, {});
    EXPECT_TRUE(made.ok()) << made.status();
    return *std::move(made);
  }

  const Topology topology_ = *Topology::Create(MakeCluster("2x1x2"));
};

TEST_F(MakeWorldTest, SaysWhichOfTheTwoItIs) {
  ClusterOptions options;
  options.workers = 3;
  const ProcessWorld threads = Make(options);
  EXPECT_EQ(threads.world.get(), threads.threads);
  EXPECT_EQ(threads.sim, nullptr);
  EXPECT_FALSE(threads.world->simulated());
  EXPECT_EQ(threads.world->num_workers(), 3);
  options.world = ClusterOptions::kSim;
  const ProcessWorld sim = Make(options);
  EXPECT_EQ(sim.world.get(), sim.sim);
  EXPECT_EQ(sim.threads, nullptr);
  EXPECT_TRUE(sim.world->simulated());
  EXPECT_EQ(sim.world->num_workers(), 3);
}

TEST_F(MakeWorldTest, AWorkerPerCoreUnlessToldOtherwise) {
  EXPECT_GE(Make(ClusterOptions()).world->num_workers(), 1);
  ClusterOptions options;
  options.world = ClusterOptions::kSim;
  EXPECT_EQ(Make(options).world->num_workers(), 1);
}

TEST_F(MakeWorldTest, GoesByTheClockThatItIsGiven) {
  ClusterOptions options;
  options.workers = 1;
  auto clock = std::make_shared<ManualClock>();
  options.clock = clock;
  const ProcessWorld made = Make(options);
  const TimeNs before = made.world->Now();
  clock->Advance(5);
  EXPECT_EQ(made.world->Now() - before, 5);
}

}  // namespace
}  // namespace pathways::testing

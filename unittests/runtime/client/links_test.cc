//===- links_test.cc - Links of the cluster -------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/testing/test_plans.h"
#include "unittests/runtime/client/runtime_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAreArray;
using ::testing::Ge;
using ::testing::Le;

constexpr TimeNs kMs = 1'000'000;

// Two islands of two hosts of one device, and links that differ.
proto::Cluster LinkedCluster() {
  proto::Cluster cluster = MakeCluster("2x2x1");
  cluster.mutable_islands(0)->mutable_ici()->set_latency_seconds(1e-3);
  cluster.mutable_islands(1)->mutable_ici()->set_latency_seconds(3e-3);
  cluster.mutable_dcn()->set_latency_seconds(2e-3);
  cluster.mutable_dcn()->set_bytes_per_second(1e6);
  return cluster;
}

// Eight floats go from one host to another.
proto::Plan OneMovePlan(uint32_t from_island, int64_t from, uint32_t to_island,
                        int64_t to) {
  return TransferPlan(
      {.name = "move",
       .slice = {.shards = 1, .island = from_island, .base = from},
       .layout = Rows({8})},
      {.shards = 1, .island = to_island, .base = to});
}

TimeNs MoveTime(const ClusterOptions& options, proto::Plan plan) {
  auto runtime = StartOn(LinkedCluster(), options);
  const ProgramHandle program = LoadPlan(*runtime, std::move(plan));
  const TimeNs start = StatsOf(*runtime).now_ns;
  const RunHandle run = LaunchPlan(*runtime, program, {Floats({8}, Ramp(8))});
  EXPECT_TRUE(runtime->Await(run).ok()) << runtime->Await(run);
  const TimeNs time = StatsOf(*runtime).now_ns - start;
  EXPECT_THAT(FetchValues(*runtime, run, "v"), ElementsAreArray(Ramp(8)));
  return time;
}

TEST(LinksTest, SimulationKeepsThoseOfEachIsland) {
  // The launch crosses the controller's links too, which have a fifth of a
  // millisecond at most for all that it takes. The island's scheduler is on its
  // first host: the second one's grant travels while the piece does, and then
  // its end goes back.
  const TimeNs launch = kMs / 4;
  EXPECT_THAT(MoveTime(Sim(), OneMovePlan(0, 0, 0, 1)),
              AllOf(Ge(2 * kMs), Le(2 * kMs + launch)));
  EXPECT_THAT(MoveTime(Sim(), OneMovePlan(1, 0, 1, 1)),
              AllOf(Ge(6 * kMs), Le(6 * kMs + launch)));
  // 96 bytes at 1 MB/s take 0.096 ms.
  EXPECT_THAT(MoveTime(Sim(), OneMovePlan(0, 0, 1, 0)),
              AllOf(Ge(2 * kMs + 96'000), Le(2 * kMs + 96'000 + launch)));
}

TEST(LinksTest, ThreadsKeepThemWhenTold) {
  ClusterOptions options;
  options.workers = 2;
  options.kernels = &Kernels();
  options.link_costs = true;
  EXPECT_GE(MoveTime(options, OneMovePlan(0, 0, 0, 1)), 2 * kMs);
  EXPECT_GE(MoveTime(options, OneMovePlan(1, 0, 1, 1)), 6 * kMs);
  EXPECT_GE(MoveTime(options, OneMovePlan(0, 0, 1, 0)), 2 * kMs + 96'000);
}

// Messages are under way on slow links, payloads in their senders' staging,
// while the program is stopped and while the runtime ends.
TEST(LinksTest, StoppedWhileMessagesAreUnderWay) {
  ClusterOptions options;
  options.workers = 2;
  options.kernels = &Kernels();
  options.link_costs = true;
  options.stall_timeout_ns = 20 * kMs;
  proto::Cluster cluster = LinkedCluster();
  cluster.mutable_dcn()->set_latency_seconds(3600);
  auto runtime = StartTurnedOn(cluster, options);
  const ProgramHandle program = LoadPlan(*runtime, OneMovePlan(0, 1, 1, 0));
  const RunHandle run =
      LaunchPlan(*runtime, program, {Floats({8}, Ramp(8))}, 10);
  EXPECT_THAT(std::string(runtime->Await(run).message()),
              ::testing::HasSubstr("'m.recv' at step 0, shard 0 on "
                                   "island1/host2/device0 waits for the data "
                                   "edge from 'm.send' to 'm.recv': 0 of 1 "
                                   "tokens arrived"));
  EXPECT_TRUE(runtime->Unload(program).ok());
  const ProgramHandle again = LoadPlan(*runtime, OneMovePlan(0, 1, 1, 0));
  LaunchPlan(*runtime, again, {Floats({8}, Ramp(8))}, 10);
}

TEST(LinksTest, SequentialDispatchPaysForItsMessages) {
  ClusterOptions options = Sim();
  const TimeNs parallel = MoveTime(options, OneMovePlan(1, 0, 1, 1));
  options.dispatch = ClusterOptions::kSequential;
  options.host_work_ns = kMs;
  // Feed and send are prepared, that is told over the link, and then the recv
  // and the fetch are. Messages inside a host take some microseconds, which are
  // others each time.
  EXPECT_THAT(MoveTime(options, OneMovePlan(1, 0, 1, 1)),
              AllOf(Ge(parallel + 4 * kMs - kMs / 50),
                    Le(parallel + 4 * kMs + kMs / 4)));
}

}  // namespace
}  // namespace pathways::testing

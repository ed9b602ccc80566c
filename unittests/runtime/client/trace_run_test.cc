//===- trace_run_test.cc - Traces of runs ---------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "runtime/plan/testing/test_plans.h"
#include "unittests/runtime/client/runtime_test_support.h"

namespace pathways::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// out = all_reduce(check(v)) + 1 on island 1, from v on island 0.
proto::Plan TwoIslands() {
  return ChainBuilder({})
      .Feed("v")
      .Run("check", "check1", {.cost_ns = 1000})
      .Move("move", {.island = 1})
      .Collective("reduce", proto::ALL_REDUCE, {.cost_ns = 500})
      .Run("add", "add_one1", {.cost_ns = 2000})
      .Fetch("out")
      .Finish();
}

ClusterOptions Traced(ClusterOptions::WorldKind world, int64_t events = 1 << 16,
                      uint64_t seed = 1) {
  ClusterOptions options;
  options.world = world;
  options.seed = seed;
  options.trace_events = events;
  return options;
}

std::string Written(Client& runtime) {
  std::ostringstream text;
  const absl::Status status = runtime.WriteTrace(&text);
  EXPECT_TRUE(status.ok()) << status;
  return text.str();
}

std::string TraceOf(const ClusterOptions& options, int launches = 2,
                    int64_t steps = 3) {
  auto runtime = Start("2x1x2", options);
  const ProgramHandle program = LoadPlan(*runtime, TwoIslands());
  for (int i = 0; i < launches; ++i) {
    const RunHandle run =
        LaunchPlan(*runtime, program, {Floats({2}, {1, 2})}, steps);
    EXPECT_TRUE(runtime->Await(run).ok());
  }
  return Written(*runtime);
}

class TraceRunTest
    : public ::testing::TestWithParam<ClusterOptions::WorldKind> {};
INSTANTIATE_TEST_SUITE_P(Worlds, TraceRunTest, BothWorlds(), WorldName);

TEST_P(TraceRunTest, EveryFiringIsThere) {
  const json trace = json::parse(TraceOf(Traced(GetParam())));
  EXPECT_EQ(trace["otherData"]["world"],
            GetParam() == ClusterOptions::kSim ? "sim" : "threads");
  std::map<std::string, int> count;
  for (const json& e : trace["traceEvents"]) {
    if (e["ph"] == "X") ++count[e["name"]];
  }
  // Two launches of three steps on two shards.
  for (const char* name : {"v.feed", "check", "move.send", "move.recv",
                           "reduce", "all_reduce", "add", "out.fetch"}) {
    EXPECT_EQ(count[name], 12) << name;
  }
  EXPECT_EQ(count["launch p"], 2);
  EXPECT_EQ(count["await p"], 2);
  EXPECT_EQ(count["load"], 1);
  EXPECT_EQ(count["p, 3 steps from 3"], 3);  // its run, and on each island
}

TEST_P(TraceRunTest, AFailedRunIsThereAndSaysWhatIsPoisoned) {
  auto runtime = Start("2x1x2", Traced(GetParam()));
  const ProgramHandle program = LoadPlan(*runtime, TwoIslands());
  const RunHandle run = LaunchPlan(*runtime, program, {Floats({2}, {1, -2})});
  EXPECT_FALSE(runtime->Await(run).ok());
  std::map<std::string, int> poisoned;
  const json trace = json::parse(Written(*runtime));
  for (const json& e : trace["traceEvents"]) {
    if (e["ph"] == "X") poisoned[e["name"]] += e["args"].contains("poisoned");
  }
  EXPECT_EQ(poisoned["check"], 1);
  EXPECT_EQ(poisoned["reduce"], 2);
  EXPECT_EQ(poisoned["add"], 2);
  EXPECT_EQ(poisoned["v.feed"], 0);
}

TEST_P(TraceRunTest, AShortRingKeepsTheEnd) {
  auto runtime = Start("2x1x2", Traced(GetParam(), 100));
  const ProgramHandle program = LoadPlan(*runtime, TwoIslands());
  const RunHandle run =
      LaunchPlan(*runtime, program, {Floats({2}, {1, 2})}, 500);
  EXPECT_TRUE(runtime->Await(run).ok());
  const json trace = json::parse(Written(*runtime));
  EXPECT_GT(std::stoll(trace["otherData"]["events_dropped"].get<std::string>()),
            1000);
  int64_t last = 0;
  for (const json& e : trace["traceEvents"]) {
    if (e["name"] == "add") last = std::max<int64_t>(last, e["args"]["firing"]);
  }
  EXPECT_EQ(last, 499);
  absl::StatusOr<TraceSummary> summary = runtime->Summarize();
  ASSERT_TRUE(summary.ok());
  EXPECT_GT(summary->events_dropped, 1000u);
  EXPECT_GT(summary->wall_ns(), 0);
}

TEST_P(TraceRunTest, WithoutOneThereIsNothingToWrite) {
  ClusterOptions options;
  options.world = GetParam();
  auto runtime = Start("2x1x2", options);
  std::ostringstream text;
  EXPECT_TRUE(absl::IsFailedPrecondition(runtime->WriteTrace(&text)));
  EXPECT_EQ(text.str(), "");
  EXPECT_TRUE(absl::IsFailedPrecondition(runtime->Summarize().status()));
  options.trace_events = -1;
  absl::StatusOr<std::unique_ptr<Cluster>> refused =
      Cluster::Create(MakeCluster("1x1x1"), options);
  EXPECT_TRUE(absl::IsInvalidArgument(refused.status()));
  EXPECT_THAT(std::string(refused.status().message()),
              HasSubstr("trace_events is -1"));
}

TEST(TraceRuns, OneSeedOneTrace) {
  const std::string first = TraceOf(Traced(ClusterOptions::kSim));
  EXPECT_EQ(TraceOf(Traced(ClusterOptions::kSim)), first);
  EXPECT_NE(TraceOf(Traced(ClusterOptions::kSim, 1 << 16, /*seed=*/2)), first);
}

// Looking at a simulation does not change it.
TEST(TraceRuns, TracingIsNoEvent) {
  uint64_t hashes[2];
  for (int traced = 0; traced < 2; ++traced) {
    ClusterOptions options = Traced(ClusterOptions::kSim);
    if (!traced) options.trace_events = 0;
    auto runtime = Start("2x1x2", options);
    const ProgramHandle program = LoadPlan(*runtime, TwoIslands());
    const RunHandle run = LaunchPlan(*runtime, program, {Floats({2}, {1, 2})});
    EXPECT_TRUE(runtime->Await(run).ok());
    hashes[traced] = StatsOf(*runtime).event_hash;
  }
  EXPECT_EQ(hashes[0], hashes[1]);
}

// In virtual time the sums are exact: 'check' takes 1000 ns, 'reduce' 500 and
// 'add' 2000.
TEST(TraceRuns, TheSummaryOfASimulation) {
  auto runtime = Start("2x1x2", Traced(ClusterOptions::kSim));
  const ProgramHandle program = LoadPlan(*runtime, TwoIslands());
  const RunHandle run = LaunchPlan(*runtime, program, {Floats({2}, {1, 2})}, 4);
  EXPECT_TRUE(runtime->Await(run).ok());
  absl::StatusOr<TraceSummary> summary = runtime->Summarize();
  ASSERT_TRUE(summary.ok()) << summary.status();
  ASSERT_EQ(summary->devices.size(), 4u);
  EXPECT_EQ(summary->devices[0].busy_ns, 4 * 1000);
  EXPECT_EQ(summary->devices[2].busy_ns, 4 * 2500);
  TimeNs sum = summary->path_between_ns;
  for (const TraceSummary::Share& share : summary->path) {
    sum += share.ns;
    if (share.action != "add") continue;
    EXPECT_GE(share.firings, 1u);  // at least those of the last firing
    EXPECT_EQ(static_cast<uint64_t>(share.ns), share.firings * 2000);
  }
  EXPECT_EQ(sum, summary->wall_ns());
  ASSERT_FALSE(summary->waits.empty());
  // This wait is for the piece from the other island.
  EXPECT_EQ(summary->waits[0].from, "move.recv");
  EXPECT_EQ(summary->waits[0].to, "reduce");
}

TEST(TraceRuns, WritingWhileOthersRun) {
  auto runtime = Start("2x1x2", Traced(ClusterOptions::kThreads, 64));
  const ProgramHandle program = LoadPlan(*runtime, TwoIslands());
  const RunHandle run =
      LaunchPlan(*runtime, program, {Floats({2}, {1, 2})}, 20000);
  std::thread waiter([&] { EXPECT_TRUE(runtime->Await(run).ok()); });
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(json::parse(Written(*runtime))["traceEvents"].empty());
    EXPECT_TRUE(runtime->Summarize().ok());
  }
  waiter.join();
}

}  // namespace
}  // namespace pathways::testing

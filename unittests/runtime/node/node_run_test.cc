//===- node_run_test.cc - Programs over processes -------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/plan/testing/test_plans.h"
#include "runtime/scheduler/grant_order.h"
#include "unittests/runtime/checkpoint/test_folder.h"
#include "unittests/runtime/client/blocking_kernel.h"
#include "unittests/runtime/client/runtime_test_support.h"
#include "unittests/runtime/node/node_cluster.h"

namespace pathways::testing {
namespace {

// A worker for each host of "2x2x2", and a client in the controller's process.
class NodeRunTest : public ::testing::Test {
 protected:
  void Begin(ClusterOptions options = {}) {
    if (options.kernels == nullptr) options.kernels = &Kernels();
    options.workers = 2;
    cluster_.kernels = options.kernels;
    for (const char* host : {"host0", "host1", "host2", "host3"}) {
      cluster_.Add({host});
    }
    const absl::Status begun = cluster_.Begin(options);
    ASSERT_TRUE(begun.ok()) << begun;
    auto client = cluster_.cluster().Connect("c");
    ASSERT_TRUE(client.ok()) << client.status();
    client_ = *std::move(client);
  }
  // One feed, a move to the other host of the island, and a fetch.
  static proto::Plan MovePlan(const std::string& name, uint32_t island) {
    return TransferPlan(
        {.name = name, .steps_in_flight = 3, .slice = {.island = island}},
        {.island = island, .base = 2});
  }
  // One feed of so many numbers, a move to the other island, and a fetch.
  static proto::Plan LongPlan(int64_t rows) {
    return TransferPlan({.name = "long", .layout = Rows({rows})},
                        {.island = 1});
  }

  NodeCluster cluster_{"2x2x2"};
  std::unique_ptr<Client> client_;  // goes first
};

TEST_F(NodeRunTest, ResultsAreThoseOfOneProcess) {
  auto run = [](Client& client) {
    const ProgramHandle program = LoadPlan(client, GoldenPlan(kThreeHosts));
    const RunHandle run =
        LaunchPlan(client, program, {Floats({2}, {0.1f, 0.7f})}, 200);
    std::vector<float> values = FetchValues(client, run, "y");
    for (float z : FetchValues(client, run, "z")) values.push_back(z);
    return values;
  };
  auto one = Start("2x2x2");
  const std::vector<float> expected = run(*one);
  ASSERT_EQ(expected.size(), 4u);
  ASSERT_NO_FATAL_FAILURE(Begin());
  EXPECT_EQ(run(*client_), expected);
  EXPECT_EQ(run(*client_), expected);
}

struct Clock {
  int64_t offset = 0, error = 0;
};

// Returns the clock of each process except the client's. Fails the test when an
// arrow of the trace points backwards by more than the error of the clocks.
std::map<int, Clock> ClocksOf(Client& client) {
  std::ostringstream text;
  const absl::Status written = client.WriteTrace(&text);
  EXPECT_TRUE(written.ok()) << written;
  const auto trace = nlohmann::json::parse(text.str());
  std::map<int, Clock> clocks;
  for (const auto& clock : trace["otherData"]["clocks"]) {
    clocks[clock["process"]] = {clock["offset_ns"], clock["error_ns"]};
  }
  std::map<int, std::pair<int, double>> starts;
  size_t crossing = 0;
  for (const auto& e : trace["traceEvents"]) {
    if (e["ph"] == "s") starts[e["id"]] = {e["pid"], e["ts"]};
  }
  for (const auto& e : trace["traceEvents"]) {
    if (e["ph"] != "f") continue;
    const auto [pid, start] = starts.at(e["id"]);
    if (e["pid"] == pid) continue;
    ++crossing;
    const int64_t error = clocks[pid].error + clocks[e["pid"]].error;
    EXPECT_GE(1000 * e["ts"].get<double>() + static_cast<double>(error) + 1,
              1000 * start);
  }
  EXPECT_GT(crossing, 0u);
  return clocks;
}

TEST_F(NodeRunTest, OneTraceHasAllProcessesByOneClock) {
  ClusterOptions options;
  options.trace_events = 10'000;
  ASSERT_NO_FATAL_FAILURE(Begin(options));
  const ProgramHandle program = LoadPlan(*client_, GoldenPlan(kThreeHosts));
  const RunHandle run =
      LaunchPlan(*client_, program, {Floats({2}, {0.1f, 0.7f})}, 20);
  EXPECT_TRUE(client_->Await(run).ok());
  const std::map<int, Clock> clocks = ClocksOf(*client_);
  ASSERT_EQ(clocks.size(), 5u);
  EXPECT_EQ(clocks.at(0).error, 0);
  // The machine is the same, so two measurements differ by their error only.
  const std::map<int, Clock> again = ClocksOf(*client_);
  for (int process = 1; process < 5; ++process) {
    const Clock &a = clocks.at(process), &b = again.at(process);
    EXPECT_GT(a.error, 0);
    EXPECT_LE(std::abs((a.offset - clocks.at(0).offset) -
                       (b.offset - again.at(0).offset)),
              a.error + b.error)
        << "process " << process;
  }
}

// Messages that a launch costs the controller, and all that arrive at its
// process.
TEST_F(NodeRunTest, TheControllerHearsOfTimeAndNotOfSteps) {
  ClusterOptions options;
  ASSERT_NO_FATAL_FAILURE(Begin(options));
  const ProgramHandle program = LoadPlan(*client_, MovePlan("move", 1));
  auto launch = [&](int64_t steps) {
    const ClusterStats before = StatsOf(*client_);
    const RunHandle run =
        LaunchPlan(*client_, program, {Floats({2}, {1, 2})}, steps);
    EXPECT_TRUE(client_->Await(run).ok());
    const ClusterStats after = StatsOf(*client_);
    const uint64_t halves =
        static_cast<uint64_t>(after.now_ns - before.now_ns) /
        (kGrantHorizonNs / 2);
    // The launch with its argument, an answer of each host, and the end of each
    // grant; to the process also what statistics are made of.
    EXPECT_LE(after.controller_messages - before.controller_messages,
              32 + 4 * halves);
    EXPECT_LE(after.controller_bytes - before.controller_bytes,
              10'000 + 1000 * halves);
    EXPECT_LE(after.processes[0].links.messages_received -
                  before.processes[0].links.messages_received,
              64 + 8 * halves);
    // Between workers there is something in each step.
    const uint64_t moved = after.processes[3].links.messages_sent -
                           before.processes[3].links.messages_sent;
    EXPECT_GE(moved, static_cast<uint64_t>(steps));
    EXPECT_EQ(after.steps_done - before.steps_done,
              static_cast<uint64_t>(steps));
  };
  launch(1000);
  launch(20'000);
}

// The array goes as rows, then as columns, so the result must be scattered.
TEST_F(NodeRunTest, LargePiecesComeToTheirPlaces) {
  ASSERT_NO_FATAL_FAILURE(Begin());
  constexpr int64_t kSide = 512;
  const layout::Layout rows = Rows({kSide, kSide});
  const layout::Layout columns = Split({kSide, kSide}, {{}, {"x"}});
  const ProgramHandle program = LoadPlan(
      *client_,
      ChainBuilder({.name = "turn", .slice = {.base = 1}, .layout = rows})
          .Feed("u")
          .Move("there", {.island = 1, .base = 1}, columns)
          .MoveTo("back", 0, rows)
          .Fetch("w")
          .Finish());
  std::vector<float> values;
  for (int64_t i = 0; i < kSide * kSide; ++i) {
    values.push_back(static_cast<float>(i));
  }
  const RunHandle run =
      LaunchPlan(*client_, program, {Floats({kSide, kSide}, values)},
                 /*steps=*/20);
  EXPECT_TRUE(FetchValues(*client_, run, "w") == values);
}

TEST_F(NodeRunTest, ValuesDoNotPassTheController) {
  ASSERT_NO_FATAL_FAILURE(Begin());
  constexpr int64_t kRows = 500'000;
  const ProgramHandle program = LoadPlan(*client_, LongPlan(kRows));
  const ClusterStats before = StatsOf(*client_);
  const RunHandle run = LaunchPlan(
      *client_, program, {Floats({kRows}, std::vector<float>(kRows, 3))});
  EXPECT_EQ(FetchValues(*client_, run, "v").back(), 3);
  const ClusterStats after = StatsOf(*client_);
  EXPECT_LT(after.controller_bytes - before.controller_bytes, 10'000u);
  // They went to a host, to the other island, and back.
  uint64_t sent = 0;
  for (const ClusterStats::Process& process : after.processes) {
    sent += process.links.bytes_sent;
    EXPECT_EQ(process.links.unlinked, 0u);
    EXPECT_EQ(process.links.foreign, 0u);
  }
  EXPECT_GE(sent, 3 * kRows * sizeof(float));
}

TEST_F(NodeRunTest, LongValuesAreMoved) {
  ASSERT_NO_FATAL_FAILURE(Begin());
  constexpr int64_t kRows = 200'000;
  const ProgramHandle program = LoadPlan(*client_, LongPlan(kRows));
  std::vector<float> values(kRows);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  for (int round = 0; round < 3; ++round) {
    const RunHandle run =
        LaunchPlan(*client_, program, {Floats({kRows}, values)});
    EXPECT_EQ(FetchValues(*client_, run, "v"), values);
  }
}

// Workers are told the marks and the folder, in which each has one of its own.
TEST_F(NodeRunTest, WorkersSpill) {
  const TestFolder folder;
  ClusterOptions options;
  options.spill = {.folder = folder.path(), .begin = 1e-9, .end = 1e-9};
  ASSERT_NO_FATAL_FAILURE(Begin(options));
  EXPECT_EQ(folder.List(),
            (std::vector<std::string>{"host0", "host1", "host2", "host3"}));
  constexpr int64_t kRows = 200'000;
  const ProgramHandle program = LoadPlan(*client_, LongPlan(kRows));
  auto values = [&](int i) {
    std::vector<float> all(kRows);
    for (size_t k = 0; k < all.size(); ++k) all[k] = static_cast<float>(k + i);
    return all;
  };
  std::vector<ArrayHandle> kept;
  for (int i = 0; i < 5; ++i) {
    const RunHandle run =
        LaunchPlan(*client_, program, {Floats({kRows}, values(i))});
    ASSERT_TRUE(client_->Await(run).ok());
    kept.push_back(*client_->Keep(run, 0));
    EXPECT_TRUE(client_->ReleaseRun(run).ok());
  }
  for (int i = 4; i >= 0; --i) {
    EXPECT_TRUE(Values(*client_->Get(kept[i])) == values(i)) << i;
    const RunHandle run = *client_->Launch(program, {kept[i]});
    EXPECT_TRUE(FetchValues(*client_, run, "v") == values(i)) << i;
    EXPECT_TRUE(client_->ReleaseRun(run).ok());
    EXPECT_TRUE(client_->Release(kept[i]).ok());
  }
  uint64_t spilled = 0, sent = 0;
  const ClusterStats stats = StatsOf(*client_);
  for (const auto& host : stats.hosts) spilled += host.spilled_bytes;
  for (const auto& [kind, count] : stats.messages) {
    if (kind == "spill-done") sent = count;
  }
  EXPECT_EQ(spilled, 0u);
  EXPECT_GT(sent, 10u);
}

TEST_F(NodeRunTest, WhatTakesLongElsewhereIsToldTheClient) {
  Warnings warnings;
  BlockedKernels::Hold();
  ClusterOptions options;
  options.kernels = &KernelsThatBlock();
  options.on_long_work = warnings.Hook();
  options.stall_timeout_ns = 1'000'000;  // for the workers' watchdogs
  ASSERT_NO_FATAL_FAILURE(Begin(options));
  auto other = cluster_.cluster().Connect("other");
  ASSERT_TRUE(other.ok()) << other.status();
  const ProgramHandle program = LoadPlan(*client_, BlockPlan("slow", 0, 3));
  const RunHandle run = LaunchPlan(*client_, program, {Floats({1}, {4})}, 2);
  AwaitState([&] { return !warnings.texts().empty(); });
  EXPECT_THAT(warnings.texts()[0],
              ::testing::MatchesRegex(
                  "model.mlir:3:8: 'wait' of program 'slow' has not returned "
                  "for .* at step 0 on shard 0 \\(island0/host1/device1\\)"));
  EXPECT_NE(warnings.all()[0].incarnation, 0u);
  BlockedKernels::Release();
  EXPECT_EQ(FetchValues(*client_, run, "y"), std::vector<float>{8});
}

// Clients that used the lost worker get an error; no other client notices.
TEST_F(NodeRunTest, ALostWorkerEndsWhatUsedIt) {
  ASSERT_NO_FATAL_FAILURE(Begin());
  const ProgramHandle lost = LoadPlan(*client_, MovePlan("lost", 0));
  const ProgramHandle other = LoadPlan(*client_, MovePlan("other", 1));
  const std::vector<float> values = {1, 2};
  const RunHandle before = LaunchPlan(*client_, other, {Floats({2}, values)});
  EXPECT_EQ(FetchValues(*client_, before, "v"), values);
  const RunHandle run = LaunchPlan(*client_, lost, {Floats({2}, values)}, 1);
  EXPECT_EQ(FetchValues(*client_, run, "v"), values);
  cluster_.Cut(1);
  // The next launch, or the load after it, hears of it.
  absl::Status ended;
  while (ended.ok()) {
    LaunchArguments again;
    again.emplace_back(Floats({2}, values));
    auto launched = client_->Launch(lost, std::move(again), 1);
    ended = launched.ok() ? client_->Await(*launched) : launched.status();
  }
  EXPECT_THAT(
      std::string(ended.message()),
      ::testing::EndsWith(
          "program 'lost' cannot go on: host1 is gone (epoch 1) [PW4101]"))
      << ended;
  auto reload = client_->Load(MakePlanData(MovePlan("lost", 0), {}));
  EXPECT_EQ(reload.status().code(), absl::StatusCode::kUnavailable)
      << reload.status();
  EXPECT_EQ(reload.status().message(),
            "program 'lost' needs host1, which is gone (epoch 1) [PW4101]");
  const RunHandle after = LaunchPlan(*client_, other, {Floats({2}, values)});
  EXPECT_EQ(FetchValues(*client_, after, "v"), values);
}

// Arrays of eight shards go to and fro between two processes.
TEST(NodeStepTest, AStepOfAGangIsOneFrameForEachPeer) {
  constexpr uint32_t kShards = 8;
  constexpr int kMoves = 10;
  constexpr int64_t kSteps = 100;
  NodeCluster nodes("2x1x8");
  nodes.Add({"host0"});
  nodes.Add({"host1"});
  ClusterOptions options;
  options.workers = 1;
  ASSERT_TRUE(nodes.Begin(options).ok());
  auto client = nodes.cluster().Connect("c");
  ASSERT_TRUE(client.ok()) << client.status();
  ChainBuilder b(
      {.name = "moves", .steps_in_flight = 4, .slice = {.shards = kShards}});
  b.Feed("v").Move("m1", {.shards = kShards, .island = 1});
  for (int i = 2; i <= kMoves; ++i) b.MoveTo(absl::StrCat("m", i), i % 2);
  const ProgramHandle program = LoadPlan(**client, b.Fetch("out").Finish());
  const std::vector<float> values = {0, 1, 2, 3, 4, 5, 6, 7};
  const ClusterStats before = StatsOf(**client);
  const RunHandle run =
      LaunchPlan(**client, program, {Floats({kShards}, values)}, kSteps);
  EXPECT_EQ(FetchValues(**client, run, "out"), values);
  const ClusterStats after = StatsOf(**client);
  uint64_t messages = 0, frames = 0;
  for (int process : {1, 2}) {
    const LinkStats &then = before.processes[process].links,
                    &now = after.processes[process].links;
    messages += now.messages_sent - then.messages_sent;
    frames += now.frames_sent - then.frames_sent;
  }
  // Pieces of all shards there, and tokens for their slots back.
  const uint64_t moves = kMoves * kSteps;
  EXPECT_GE(messages, 2 * moves);
  EXPECT_LE(messages, 3 * moves);
  // The pieces of a move go with the tokens of the one before it.
  EXPECT_LE(frames, 2 * moves);
}

}  // namespace
}  // namespace pathways::testing

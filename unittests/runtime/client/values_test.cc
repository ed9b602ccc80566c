//===- values_test.cc - Arguments and results, in parts on hosts ----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <thread>

#include "runtime/plan/testing/test_plans.h"
#include "runtime/program/local_kind.h"
#include "unittests/runtime/client/runtime_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

class ValuesTest : public ::testing::TestWithParam<ClusterOptions::WorldKind> {
 protected:
  ClusterOptions Options() {
    ClusterOptions options;
    options.world = GetParam();
    options.seed = 5;
    return options;
  }
};
INSTANTIATE_TEST_SUITE_P(Worlds, ValuesTest, BothWorlds(), WorldName);

// u in, u out, on `shards` devices from `base` on.
proto::Plan PassPlan(const std::string& name, const layout::Layout& layout,
                     int64_t shards, int64_t base = 0, bool stepped = false) {
  return IdentityPlan({.name = name,
                       .slice = {.shards = shards, .base = base},
                       .layout = layout},
                      stepped);
}

std::vector<uint64_t> ObjectBytes(Client& runtime) {
  std::vector<uint64_t> bytes;
  for (const auto& host : StatsOf(runtime).hosts) {
    bytes.push_back(host.object_bytes);
  }
  return bytes;
}

RunHandle LaunchArrays(Client& runtime, ProgramHandle program,
                       std::vector<ArrayHandle> arrays, int64_t steps = 1) {
  absl::StatusOr<RunHandle> run = runtime.Launch(
      program, LaunchArguments(arrays.begin(), arrays.end()), steps);
  EXPECT_TRUE(run.ok()) << run.status();
  EXPECT_TRUE(runtime.Await(*run).ok()) << runtime.Await(*run);
  return *run;
}

uint64_t FedBytes(Client& runtime) {
  uint64_t bytes = 0;
  for (const auto& device : StatsOf(runtime).devices) bytes += device.fed_bytes;
  return bytes;
}

// u in, 2u out; in place if asked for, then u has no memory of its own.
proto::Plan TwicePlan(const std::string& name, bool in_place) {
  ChainBuilder b({.name = name});
  b.Feed("u").Run("twice", "twice1").Fetch("v", /*stepped=*/true);
  if (in_place) {
    const uint32_t u = 0, v = b.last(), feed = 0, gang = 1, fetch = 2;
    b.ShareMemory({u, v});
    b.AddAlias(gang, u, v);
    b.AddEdge(gang, feed, 2, proto::REUSE, proto::SAME);
    b.AddEdge(fetch, feed, 2, proto::REUSE, proto::SAME);
  }
  return b.Finish();
}

TEST_P(ValuesTest, AnArgumentIsPlacedOncePerSlotNotAtEachStep) {
  auto runtime = Start("1x1x2", Options());
  const ProgramHandle program =
      LoadPlan(*runtime, TwicePlan("apart", /*in_place=*/false));
  const ArrayHandle u = *runtime->Put(Floats({2}, {3, 4}));
  const ArrayHandle w = *runtime->Put(Floats({2}, {5, 6}));
  EXPECT_EQ(
      Values(*runtime->Fetch(LaunchArrays(*runtime, program, {u}, 5), "v")),
      (std::vector<float>{6, 8, 6, 8, 6, 8, 6, 8, 6, 8}));
  EXPECT_EQ(FedBytes(*runtime), 2 * 8u);  // two slots
  // A later launch does not place values again that are already there.
  EXPECT_EQ(
      Values(*runtime->Fetch(LaunchArrays(*runtime, program, {u}, 1), "v")),
      (std::vector<float>{6, 8}));
  EXPECT_EQ(FedBytes(*runtime), 2 * 8u);
  EXPECT_EQ(
      Values(*runtime->Fetch(LaunchArrays(*runtime, program, {w}, 1), "v")),
      (std::vector<float>{10, 12}));
  EXPECT_EQ(FedBytes(*runtime), 3 * 8u);
  EXPECT_EQ(
      Values(*runtime->Fetch(LaunchArrays(*runtime, program, {u}, 3), "v")),
      (std::vector<float>{6, 8, 6, 8, 6, 8}));
}

TEST_P(ValuesTest, AnArgumentWhoseMemoryIsWrittenIsPlacedAtEachStep) {
  auto runtime = Start("1x1x2", Options());
  const ProgramHandle program =
      LoadPlan(*runtime, TwicePlan("in_place", /*in_place=*/true));
  const ArrayHandle u = *runtime->Put(Floats({2}, {3, 4}));
  EXPECT_EQ(
      Values(*runtime->Fetch(LaunchArrays(*runtime, program, {u}, 3), "v")),
      (std::vector<float>{6, 8, 6, 8, 6, 8}));
  EXPECT_EQ(FedBytes(*runtime), 3 * 8u);
}

TEST_P(ValuesTest, AHostHoldsWhatItsOwnShardsNeed) {
  auto runtime = Start("1x4x2", Options());
  // Six shards of 100 floats on three hosts; the last block is short.
  const ProgramHandle program =
      LoadPlan(*runtime, PassPlan("rows", Rows({590}), 6, 2));
  const ArrayHandle u = *runtime->Put(Floats({590}, Ramp(590)));
  EXPECT_EQ(StatsOf(*runtime).object_bytes, 590u * 4);  // the client's
  EXPECT_THAT(ObjectBytes(*runtime), ElementsAre(0, 0, 0, 0));
  const RunHandle run = LaunchArrays(*runtime, program, {u});
  // ceil(590 / 6) = 99; argument and result.
  EXPECT_THAT(ObjectBytes(*runtime),
              ElementsAre(0, 2 * 198 * 4, 2 * 198 * 4, 2 * 194 * 4));
  EXPECT_EQ(StatsOf(*runtime).object_bytes, 2 * 590u * 4);
  EXPECT_THAT(FetchValues(*runtime, run, "u"), ElementsAreArray(Ramp(590)));
  EXPECT_THAT(Values(*runtime->Get(u)), ElementsAreArray(Ramp(590)));
  EXPECT_TRUE(runtime->ReleaseRun(run).ok());
  EXPECT_THAT(ObjectBytes(*runtime), ElementsAre(0, 198 * 4, 198 * 4, 194 * 4));
  EXPECT_TRUE(runtime->Release(u).ok());
  EXPECT_THAT(ObjectBytes(*runtime), ElementsAre(0, 0, 0, 0));
}

TEST_P(ValuesTest, ShardsOfOneHostShareACopy) {
  auto runtime = Start("1x2x4", Options());
  const ProgramHandle program =
      LoadPlan(*runtime, PassPlan("whole", Whole({10}), 8));
  const RunHandle run = LaunchPlan(*runtime, program, {Floats({10}, Ramp(10))});
  EXPECT_THAT(FetchValues(*runtime, run, "u"), ElementsAreArray(Ramp(10)));
  EXPECT_TRUE(runtime->Unload(program).ok());  // the argument is gone by now
  EXPECT_THAT(ObjectBytes(*runtime), ElementsAre(40, 40));
  EXPECT_TRUE(runtime->ReleaseRun(run).ok());
  EXPECT_THAT(ObjectBytes(*runtime), ElementsAre(0, 0));
}

// Rows lie together in the client's memory, columns do not.
TEST_P(ValuesTest, BytesAreCopiedTwiceAtMostAndNeverByTheController) {
  auto runtime = Start("1x4x1", Options());
  constexpr int64_t kRows = 640, kColumns = 512;
  constexpr uint64_t kBytes = kRows * kColumns * 4;
  layout::Layout columns;
  columns.shape = {kRows, kColumns};
  columns.dims = {{}, {"x"}};
  layout::Layout rows = columns;
  rows.dims = {{"x"}, {}};
  ClusterStats before = StatsOf(*runtime);
  for (const layout::Layout& layout : {rows, columns}) {
    const ProgramHandle program = LoadPlan(*runtime, PassPlan("p", layout, 4));
    const std::vector<float> values = Ramp(kRows * kColumns);
    const RunHandle run =
        LaunchPlan(*runtime, program, {Floats({kRows, kColumns}, values)});
    EXPECT_TRUE(Values(*runtime->Fetch(run, "u")) == values);
    EXPECT_TRUE(runtime->ReleaseRun(run).ok());
    const ClusterStats after = StatsOf(*runtime);
    uint64_t stored = 0;
    for (size_t h = 0; h < after.hosts.size(); ++h) {
      stored += after.hosts[h].stored_bytes - before.hosts[h].stored_bytes;
    }
    EXPECT_EQ(stored, kBytes);
    EXPECT_EQ(after.gathered_bytes - before.gathered_bytes,
              layout.dims[0].empty() ? kBytes : 0);
    EXPECT_EQ(after.received_bytes - before.received_bytes, kBytes);
    EXPECT_LT(after.controller_bytes - before.controller_bytes, 2000u);
    before = after;
  }
}

TEST_P(ValuesTest, ArraysThatFitStayWhereTheyAre) {
  auto runtime = Start("1x4x1", Options());
  const ProgramHandle program =
      LoadPlan(*runtime, PassPlan("rows", Rows({8}), 4));
  const ProgramHandle same = LoadPlan(*runtime, PassPlan("same", Rows({8}), 4));
  const ProgramHandle other =
      LoadPlan(*runtime, PassPlan("other", Rows({8}), 2, 1));
  const ArrayHandle u = *runtime->Put(Floats({8}, Ramp(8)));
  auto messages = [&](ProgramHandle p, ArrayHandle array) {
    const uint64_t before = StatsOf(*runtime).controller_messages;
    const RunHandle run = LaunchArrays(*runtime, p, {array});
    const uint64_t after = StatsOf(*runtime).controller_messages;
    EXPECT_THAT(FetchValues(*runtime, run, "u"), ElementsAreArray(Ramp(8)));
    EXPECT_TRUE(runtime->ReleaseRun(run).ok());
    return after - before;
  };
  // A launch, an answer of each host that is sent values, its end.
  EXPECT_EQ(messages(program, u), 1 + 4 + 1u);
  EXPECT_EQ(messages(program, u), 1 + 1u);
  EXPECT_EQ(messages(same, u), 1 + 1u);
  EXPECT_THAT(ObjectBytes(*runtime), ElementsAre(8, 8, 8, 8));
  // On two hosts: a fetch begins and ends; the values come by another way.
  EXPECT_EQ(messages(other, u), 1 + 2 + 1 + (1 + 1u));
  EXPECT_EQ(messages(program, u), 1 + 1u);
  // An array that was fetched before is an argument without a detour, too.
  const RunHandle run = LaunchArrays(*runtime, program, {u});
  const ArrayHandle kept = *runtime->Keep(run, 0);
  EXPECT_TRUE(runtime->ReleaseRun(run).ok());
  EXPECT_TRUE(runtime->Release(u).ok());
  EXPECT_THAT(ObjectBytes(*runtime), ElementsAre(8, 8, 8, 8));
  EXPECT_EQ(messages(same, kept), 1 + 1u);
  EXPECT_TRUE(runtime->Release(kept).ok());
  EXPECT_THAT(ObjectBytes(*runtime), ElementsAre(0, 0, 0, 0));
  EXPECT_EQ(runtime->Release(kept).message(),
            "array 2 does not exist or was released [PW6101]");
  EXPECT_EQ(runtime->Get(kept).status().message(),
            "array 2 does not exist or was released [PW6101]");
}

TEST_P(ValuesTest, LargeArraysTravelInPieces) {
  auto runtime = Start("1x2x1", Options());
  constexpr int64_t kCount = 5'000'000;  // 10 MB a host
  const ProgramHandle program =
      LoadPlan(*runtime, PassPlan("rows", Rows({kCount}), 2));
  HostArray u = Floats({kCount}, Ramp(kCount));
  const ArrayBytes bytes = u.data;
  LaunchArguments arguments;
  arguments.emplace_back(std::move(u));
  absl::StatusOr<RunHandle> run =
      runtime->Launch(program, std::move(arguments));
  ASSERT_TRUE(run.ok());
  absl::StatusOr<HostArray> out = runtime->Fetch(*run, 0);
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_TRUE(out->data == bytes);
  EXPECT_TRUE(runtime->ReleaseRun(*run).ok());
  EXPECT_EQ(StatsOf(*runtime).object_bytes, 0u);
}

TEST_P(ValuesTest, SteppedArraysCanBeKept) {
  auto runtime = Start("1x3x1", Options());
  const ProgramHandle stepped =
      LoadPlan(*runtime, PassPlan("stepped", Rows({5}), 3, 0, true));
  const ArrayHandle u = *runtime->Put(Floats({3, 5}, Ramp(15)));
  const RunHandle run = LaunchArrays(*runtime, stepped, {u}, 3);
  EXPECT_THAT(FetchValues(*runtime, run, "u"), ElementsAreArray(Ramp(15)));
  const ArrayHandle kept = *runtime->Keep(run, 0);
  EXPECT_THAT(Values(*runtime->Get(kept)), ElementsAreArray(Ramp(15)));
  LaunchArrays(*runtime, stepped, {kept}, 3);
}

TEST_P(ValuesTest, AHostWithoutRoomRefusesTheLaunch) {
  proto::Cluster cluster = MakeCluster("1x2x1");
  cluster.mutable_islands(0)->mutable_hosts(1)->set_memory_bytes(20000);
  ClusterOptions options = Options();
  options.kernels = &Kernels();
  options.workers = 2;
  auto runtime = StartOn(cluster, options);
  const ProgramHandle large =
      LoadPlan(*runtime, PassPlan("large", Rows({8000}), 2));
  const ProgramHandle small =
      LoadPlan(*runtime, PassPlan("small", Rows({2000}), 2));
  const std::vector<uint64_t> baseline = ObjectBytes(*runtime);
  const HostArray value = Floats({8000}, Ramp(8000));
  const ArrayHandle kept = *runtime->Put(value);
  // Rows of `large` have room as an argument, but not as a result beside it.
  const ProgramHandle larger =
      LoadPlan(*runtime, PassPlan("larger", Rows({12000}), 2));
  const RunHandle none =
      LaunchPlan(*runtime, larger, {Floats({12000}, Ramp(12000))});
  EXPECT_THAT(std::string(runtime->Await(none).message()),
              ::testing::MatchesRegex(
                  "argument 'u' of program 'larger' needs 24000 bytes of host "
                  "memory of host1, where 0 of 20000 bytes are "
                  "used \\[PW3102\\]"));
  for (int i = 0; i < 3; ++i) {
    for (const LaunchArgument& argument :
         {LaunchArgument(value), LaunchArgument(kept)}) {
      const RunHandle run = *runtime->Launch(large, {argument});
      const absl::Status status = runtime->Await(run);
      EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
      EXPECT_THAT(std::string(status.message()),
                  ::testing::MatchesRegex(
                      "result 'u' of program 'large' needs 16000 bytes of host "
                      "memory of host1, where 16000 of 20000 bytes "
                      "are used \\[PW3102\\]"));
      EXPECT_EQ(runtime->Fetch(run, 0).status(), status);
      EXPECT_TRUE(runtime->ReleaseRun(run).ok());
    }
    const RunHandle run =
        LaunchPlan(*runtime, small, {Floats({2000}, Ramp(2000, i))}, 5);
    EXPECT_THAT(FetchValues(*runtime, run, "u"),
                ElementsAreArray(Ramp(2000, i)));
    EXPECT_TRUE(runtime->ReleaseRun(run).ok());
  }
  // A refused launch leaves its array as it was.
  EXPECT_TRUE(runtime->Get(kept)->data == value.data);
  EXPECT_TRUE(runtime->Release(kept).ok());
  EXPECT_EQ(ObjectBytes(*runtime), baseline);
  EXPECT_EQ(StatsOf(*runtime).object_bytes, 0u);
  // A refused launch runs no step.
  EXPECT_EQ(StatsOf(*runtime).steps_done, 15u);
}

TEST_P(ValuesTest, ClientsMemoryIsBounded) {
  proto::Cluster cluster = MakeCluster("1x2x1");
  for (auto& host : *cluster.mutable_islands(0)->mutable_hosts()) {
    host.set_memory_bytes(50);
  }
  ClusterOptions options = Options();
  options.kernels = &Kernels();
  auto runtime = StartOn(cluster, options);
  const std::unique_ptr<Client> bo = runtime.Connect("bo");
  const ArrayHandle first = *bo->Put(Floats({20}, Ramp(20)));
  EXPECT_EQ(bo->Put(Floats({6}, Ramp(6))).status().message(),
            "array 6xf32 needs 24 bytes of the memory of client 'bo', where 80 "
            "of 100 bytes are used [PW3102]");
  EXPECT_TRUE(bo->Release(first).ok());
  EXPECT_TRUE(bo->Put(Floats({6}, Ramp(6))).ok());
  EXPECT_EQ(StatsOf(*bo).object_bytes, 24u);
  EXPECT_EQ(StatsOf(*runtime).object_bytes, 0u);
}

TEST_P(ValuesTest, WhatADeadClientHeldGoesOnAllHosts) {
  auto runtime = Start("1x4x1", Options());
  const ArrayHandle bobs = *runtime->Put(Floats({8}, Ramp(8)));
  const ProgramHandle program =
      LoadPlan(*runtime, PassPlan("rows", Rows({8}), 4));
  LaunchArrays(*runtime, program, {bobs});
  const std::vector<uint64_t> before = ObjectBytes(*runtime);
  EXPECT_THAT(before, ElementsAre(16, 16, 16, 16));
  std::unique_ptr<Client> alice = runtime.Connect("alice");
  const ProgramHandle alices = LoadPlan(*alice, PassPlan("rows", Rows({8}), 4));
  const ArrayHandle u = *alice->Put(Floats({8}, Ramp(8)));
  const RunHandle run = LaunchArrays(*alice, alices, {u});
  EXPECT_TRUE(alice->Keep(run, 0).ok());
  // Given up, with what it has on the hosts by then.
  LaunchPlan(*alice, alices, {Floats({8}, Ramp(8))}, 1'000'000);
  alice.reset();
  runtime.Connect("alice");
  EXPECT_EQ(StatsOf(*runtime).programs, 1u);
  EXPECT_EQ(ObjectBytes(*runtime), before);
  EXPECT_THAT(Values(*runtime->Get(bobs)), ElementsAreArray(Ramp(8)));
}

// The messages of values, doubled and out of order.
TEST(ValuesFaultTest, DoubledAndOvertakingMessagesChangeNothing) {
  uint64_t dropped = 0;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    ClusterOptions options = Sim(seed);
    options.duplicate_probability = 0.3;
    options.reorder_probability = 0.3;
    auto runtime = Start("1x4x2", options);
    const ProgramHandle wide =
        LoadPlan(*runtime, PassPlan("wide", Rows({16}), 8));
    const ProgramHandle narrow =
        LoadPlan(*runtime, PassPlan("narrow", Rows({16}), 3, 2));
    const ArrayHandle u = *runtime->Put(Floats({16}, Ramp(16)));
    std::vector<RunHandle> runs;
    for (int i = 0; i < 4; ++i) {
      runs.push_back(*runtime->Launch(i % 2 ? narrow : wide, {u}, 2));
      runs.push_back(LaunchPlan(*runtime, i % 2 ? wide : narrow,
                                {Floats({16}, Ramp(16, i))}, 2));
    }
    const ArrayHandle kept = *runtime->Keep(runs[2], 0);
    EXPECT_TRUE(runtime->Release(u).ok());
    for (int i = 0; i < 4; ++i) {
      EXPECT_THAT(FetchValues(*runtime, runs[2 * i], "u"),
                  ElementsAreArray(Ramp(16)));
      EXPECT_THAT(FetchValues(*runtime, runs[2 * i + 1], "u"),
                  ElementsAreArray(Ramp(16, i)));
      EXPECT_TRUE(runtime->ReleaseRun(runs[2 * i]).ok());
      EXPECT_TRUE(runtime->ReleaseRun(runs[2 * i + 1]).ok());
    }
    LaunchArrays(*runtime, narrow, {kept});
    LaunchArrays(*runtime, wide, {kept});
    runtime.Reconnect();
    const ClusterStats stats = StatsOf(*runtime);
    EXPECT_EQ(stats.object_bytes, 0u);
    for (const auto& host : stats.hosts) {
      EXPECT_EQ(host.memory_used_bytes, 0u) << host.name;
      dropped += host.duplicates_dropped;
    }
  }
  EXPECT_GT(dropped, 1000u);
}

// A program that is given up while launches wait for it, and what they hold.
TEST(ValuesFaultTest, NothingStaysOfWhatWasGivenUp) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    ClusterOptions options = Sim(seed);
    options.duplicate_probability = 0.2;
    options.reorder_probability = 0.2;
    auto lost = std::make_shared<bool>(false);
    options.fault_hook = [lost](ActorId, ActorId, const WireMessage& message) {
      if (message.kind != kPieceMessage || *lost) return Fault::Deliver();
      *lost = true;
      return Fault::Drop();
    };
    auto runtime = Start("2x2x2", options);
    const ProgramHandle program =
        LoadPlan(*runtime, GoldenPlan({{0, 0}, {0, 2}, {1, 0}}));
    const ArrayHandle v = *runtime->Put(Floats({2}, {1, 2}));
    std::vector<RunHandle> runs;
    for (int i = 0; i < 3; ++i) {
      runs.push_back(*runtime->Launch(program, {v}, 5));
    }
    for (RunHandle run : runs) {
      EXPECT_EQ(runtime->Await(run).code(),
                absl::StatusCode::kDeadlineExceeded);
      EXPECT_TRUE(runtime->ReleaseRun(run).ok());
    }
    EXPECT_TRUE(runtime->Unload(program).ok());
    EXPECT_THAT(Values(*runtime->Get(v)), ElementsAre(1, 2));
    const ProgramHandle again =
        LoadPlan(*runtime, GoldenPlan({{0, 0}, {0, 2}, {1, 0}}));
    const RunHandle run = LaunchArrays(*runtime, again, {v}, 5);
    EXPECT_THAT(FetchValues(*runtime, run, "y"), ElementsAre(3, 5));
    runtime.Reconnect();
    for (const auto& host : StatsOf(*runtime).hosts) {
      EXPECT_EQ(host.memory_used_bytes, 0u) << host.name;
    }
    EXPECT_EQ(StatsOf(*runtime).object_bytes, 0u);
  }
}

TEST_P(ValuesTest, ShutdownWhileValuesTravel) {
  for (int i = 0; i < 5; ++i) {
    auto runtime = Start("1x2x1", Options());
    const ProgramHandle program =
        LoadPlan(*runtime, PassPlan("rows", Rows({2'000'000}), 2));
    const RunHandle run =
        LaunchPlan(*runtime, program, {Floats({2'000'000}, Ramp(2'000'000))});
    std::thread client([&] {
      absl::StatusOr<HostArray> array = runtime->Fetch(run, 0);
      EXPECT_TRUE(array.ok() || absl::IsCancelled(array.status()))
          << array.status();
    });
    for (int spin = 0; spin < 1000 * i; ++spin) std::this_thread::yield();
    runtime.Shutdown();
    client.join();
  }
}

}  // namespace
}  // namespace pathways::testing

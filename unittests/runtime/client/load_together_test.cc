//===- load_together_test.cc - Loads of several programs, and of hosts ----===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <future>
#include <memory>
#include <string>
#include <vector>

#include "runtime/plan/testing/test_plans.h"
#include "unittests/runtime/client/runtime_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class LoadTogetherTest
    : public ::testing::TestWithParam<ClusterOptions::WorldKind> {
 protected:
  // A device of so many bytes to a host.
  static TestCluster StartSmall(int hosts, uint64_t device_bytes,
                                uint64_t host_bytes) {
    ClusterOptions options = Sim(2);
    options.world = GetParam();
    proto::Cluster cluster = MakeCluster(absl::StrCat("1x", hosts, "x1"));
    for (proto::Host& host : *cluster.mutable_islands(0)->mutable_hosts()) {
      host.set_memory_bytes(host_bytes);
      host.mutable_devices(0)->set_memory_bytes(device_bytes);
    }
    return StartTurnedOn(cluster, options);
  }
  // From one device to another, or the same.
  static PlanData Move(const std::string& name, int64_t floats, int64_t from,
                       int64_t to) {
    return MakePlanData(TransferPlan({.name = name,
                                      .slice = {.shards = 1, .base = from},
                                      .layout = Rows({floats})},
                                     {.shards = 1, .base = to}),
                        {});
  }
  static void Runs(Client& client, ProgramHandle program, int64_t floats) {
    const std::vector<float> values = Ramp(floats);
    EXPECT_EQ(FetchValues(
                  client,
                  LaunchPlan(client, program, {Floats({floats}, values)}), "v"),
              values);
  }
  static std::vector<uint64_t> BytesOn(Client& client) {
    std::vector<uint64_t> bytes;
    for (const auto& device : StatsOf(client).devices) {
      bytes.push_back(device.used_bytes);
    }
    return bytes;
  }
  static std::vector<PlanData> Two(PlanData one, PlanData other) {
    std::vector<PlanData> plans;
    plans.push_back(std::move(one));
    plans.push_back(std::move(other));
    return plans;
  }
};
INSTANTIATE_TEST_SUITE_P(Worlds, LoadTogetherTest, BothWorlds(), WorldName);

TEST_P(LoadTogetherTest, AllOrNone) {
  TestCluster runtime = StartSmall(2, 16384, 1 << 20);
  auto both = runtime->Load(Two(Move("p", 512, 0, 0), Move("q", 256, 1, 1)));
  ASSERT_TRUE(both.ok()) << both.status();
  EXPECT_THAT(BytesOn(*runtime), ElementsAre(8192, 4096));
  Runs(*runtime, (*both)[0], 512);
  Runs(*runtime, (*both)[1], 256);
  // The second one of these has no room beside the first.
  const LoadOptions now{.wait_ns = 0};
  for (PlanData* second : {new PlanData(Move("s", 512, 0, 0)),
                           new PlanData(Move("s", 1024, 1, 1))}) {
    const absl::Status none =
        runtime->Load(Two(Move("r", 384, 0, 0), std::move(*second)), now)
            .status();
    delete second;
    EXPECT_EQ(none.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_THAT(std::string(none.message()), HasSubstr("program 's' needs"));
    EXPECT_THAT(BytesOn(*runtime), ElementsAre(8192, 4096));
  }
  for (const ProgramHandle& program : *both) {
    EXPECT_TRUE(runtime->Unload(program).ok());
  }
  // Loading the same plan twice makes two programs.
  both = runtime->Load(Two(Move("p", 256, 0, 0), Move("p", 256, 0, 0)));
  ASSERT_TRUE(both.ok()) << both.status();
  EXPECT_NE((*both)[0].id, (*both)[1].id);
  EXPECT_THAT(BytesOn(*runtime), ElementsAre(8192, 0));
  EXPECT_TRUE(runtime->Load(std::vector<PlanData>())->empty());
}

TEST_P(LoadTogetherTest, AnywhereTheyHavePlacesOfTheirOwn) {
  TestCluster runtime = StartSmall(2, 16384, 1 << 20);
  LoadOptions anywhere;
  anywhere.place = LoadPlace::kAnywhere;
  auto both =
      runtime->Load(Two(Move("p", 640, 0, 0), Move("q", 768, 0, 0)), anywhere);
  ASSERT_TRUE(both.ok()) << both.status();
  EXPECT_THAT(BytesOn(*runtime), ElementsAre(12288, 10240));
  Runs(*runtime, (*both)[0], 640);
  Runs(*runtime, (*both)[1], 768);
  anywhere.wait_ns = 0;
  EXPECT_FALSE(
      runtime->Load(Two(Move("r", 256, 0, 0), Move("s", 512, 0, 0)), anywhere)
          .ok());
  EXPECT_THAT(BytesOn(*runtime), ElementsAre(12288, 10240));
}

// In opposite orders, again and again: each needs more than half of both.
TEST_P(LoadTogetherTest, OppositeOrdersNeverMeet) {
  if (GetParam() == ClusterOptions::kSim) GTEST_SKIP() << "needs two threads";
  TestCluster runtime = StartSmall(2, 16384, 1 << 20);
  std::vector<std::unique_ptr<Client>> clients;
  std::vector<std::future<void>> loops;
  for (int c = 0; c < 4; ++c) {
    clients.push_back(runtime.Connect(absl::StrCat("c", c)));
  }
  for (int c = 0; c < 4; ++c) {
    loops.push_back(std::async(std::launch::async, [&, c] {
      for (int i = 0; i < 20; ++i) {
        auto both = clients[c]->Load(Two(Move("p", 640, c % 2, c % 2),
                                         Move("q", 640, 1 - c % 2, 1 - c % 2)));
        ASSERT_TRUE(both.ok()) << both.status();
        Runs(*clients[c], (*both)[0], 640);
        for (const ProgramHandle& program : *both) {
          ASSERT_TRUE(clients[c]->Unload(program).ok());
        }
      }
    }));
  }
  for (std::future<void>& loop : loops) loop.get();
  EXPECT_THAT(BytesOn(*runtime), Each(0u));
}

// A program that moves n floats between hosts takes 8 n bytes of the first one.
class HostMemoryWaitTest : public LoadTogetherTest {
 protected:
  TestCluster runtime_ = StartSmall(2, 1 << 20, 65536);
  std::unique_ptr<Client> other_ = runtime_.Connect("other");

  // 24576 bytes on the first host.
  ArrayHandle KeepSome() {
    const ProgramHandle copy = *runtime_->Load(Move("copy", 6144, 0, 0));
    const RunHandle run =
        LaunchPlan(*runtime_, copy, {Floats({6144}, Ramp(6144))});
    EXPECT_TRUE(runtime_->Await(run).ok());
    const absl::StatusOr<ArrayHandle> kept = runtime_->Keep(run, 0);
    EXPECT_TRUE(kept.ok()) << kept.status();
    EXPECT_TRUE(runtime_->ReleaseRun(run).ok());
    return *kept;
  }
  static constexpr char kWhy[] =
      "program 'move' needs 49152 of 65536 bytes of host0, held by arrays of "
      "client 'client0' (24576)";
};
INSTANTIATE_TEST_SUITE_P(Worlds, HostMemoryWaitTest, BothWorlds(), WorldName);

TEST_P(HostMemoryWaitTest, ALoadWaitsForArraysOfOthers) {
  const ArrayHandle kept = KeepSome();
  const absl::Status now =
      other_->Load(Move("move", 6144, 0, 1), {.wait_ns = 0}).status();
  EXPECT_EQ(now.code(), absl::StatusCode::kResourceExhausted) << now;
  EXPECT_THAT(std::string(now.message()), HasSubstr("49152 bytes"));
  const absl::Status late =
      other_->Load(Move("move", 6144, 0, 1), {.wait_ns = 50'000'000}).status();
  EXPECT_EQ(late.code(), absl::StatusCode::kDeadlineExceeded) << late;
  EXPECT_THAT(std::string(late.message()), HasSubstr(kWhy));
  // The client that has the arrays waits for nobody.
  const absl::Status own = runtime_->Load(Move("move", 6144, 0, 1)).status();
  EXPECT_EQ(own.code(), absl::StatusCode::kResourceExhausted) << own;
  EXPECT_THAT(std::string(own.message()),
              HasSubstr("49152 bytes on host0, where 24576 of 65536 bytes are "
                        "used; held by arrays of client 'client0' (24576)"));
  if (GetParam() == ClusterOptions::kThreads) {
    std::promise<std::string> told;
    std::future<std::string> why = told.get_future();
    bool first = true;
    auto loaded = std::async(std::launch::async, [&] {
      return other_->Load(Move("move", 6144, 0, 1),
                          {.on_waiting = [&](const std::string& text) {
                            if (std::exchange(first, false)) {
                              told.set_value(text);
                            }
                          }});
    });
    EXPECT_EQ(why.get(), kWhy);
    ASSERT_TRUE(runtime_->Release(kept).ok());
    const absl::StatusOr<ProgramHandle> program = loaded.get();
    ASSERT_TRUE(program.ok()) << program.status();
    return;
  }
  ASSERT_TRUE(runtime_->Release(kept).ok());
  EXPECT_TRUE(other_->Load(Move("move", 6144, 0, 1)).ok());
}

TEST_P(HostMemoryWaitTest, WhatAHostNeverHasIsRefused) {
  const absl::Status large = other_->Load(Move("move", 9216, 0, 1)).status();
  EXPECT_EQ(large.code(), absl::StatusCode::kResourceExhausted) << large;
  EXPECT_THAT(std::string(large.message()), HasSubstr("73728 bytes"));
  EXPECT_THAT(BytesOn(*runtime_), Each(0u));
  // Nothing of it stays.
  EXPECT_TRUE(other_->Load(Move("move", 6144, 0, 1)).ok());
}

// Programs of one act give back what they have when one has to wait.
TEST_P(HostMemoryWaitTest, AnActWaitsWithoutHoldingAnything) {
  const ArrayHandle kept = KeepSome();
  const absl::Status late =
      other_
          ->Load(Two(Move("small", 16, 0, 0), Move("move", 6144, 0, 1)),
                 {.wait_ns = 50'000'000})
          .status();
  EXPECT_EQ(late.code(), absl::StatusCode::kDeadlineExceeded) << late;
  EXPECT_THAT(std::string(late.message()),
              HasSubstr("program 'small' and program 'move' need 49152 of "
                        "65536 bytes of host0"));
  ASSERT_TRUE(runtime_->Release(kept).ok());
  const auto both =
      other_->Load(Two(Move("small", 16, 0, 0), Move("move", 6144, 0, 1)));
  ASSERT_TRUE(both.ok()) << both.status();
  Runs(*other_, (*both)[0], 16);
}

}  // namespace
}  // namespace pathways::testing

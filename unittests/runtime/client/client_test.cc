//===- client_test.cc - Tenants of one cluster ----------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/client.h"

#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/plan/testing/test_plans.h"
#include "unittests/runtime/client/runtime_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ClientTest : public ::testing::TestWithParam<ClusterOptions::WorldKind> {
 protected:
  ClusterOptions Options() {
    ClusterOptions options;
    options.world = GetParam();
    return options;
  }
};

// v = u + 1 on two devices.
proto::Plan AddPlan() { return KernelPlan({.name = "add"}, "add_one1"); }

TEST_P(ClientTest, WhatIsAnothersIsAnError) {
  auto runtime = Start("1x1x2", Options());
  auto elsewhere = Start("1x1x2", Options());
  const std::unique_ptr<Client> bo = runtime.Connect("bo");
  const ProgramHandle program = LoadPlan(*runtime, AddPlan());
  const ArrayHandle array = *runtime->Put(Floats({2}, {1, 2}));
  const RunHandle run = *runtime->Launch(program, {array});
  // Things of the same numbers.
  for (Client* other : {bo.get(), &*elsewhere}) {
    const ProgramHandle own = LoadPlan(*other, AddPlan());
    const ArrayHandle ones = *other->Put(Floats({2}, {1, 2}));
    const RunHandle runs = *other->Launch(own, {ones});
    EXPECT_TRUE(other->Await(runs).ok());
    auto of = [&](const char* what, uint64_t id) {
      return absl::InvalidArgumentError(absl::StrCat(
          what, " ", id, " is not of client '", other->name(), "' [PW6111]"));
    };
    EXPECT_EQ(other->Launch(program, {ones}).status(),
              of("program", program.id));
    EXPECT_EQ(other->Unload(program), of("program", program.id));
    EXPECT_EQ(other->Launch(own, {array}).status(), of("array", array.id));
    EXPECT_EQ(other->Get(array).status(), of("array", array.id));
    EXPECT_EQ(other->Release(array), of("array", array.id));
    EXPECT_EQ(other->Await(run), of("run", run.id));
    EXPECT_EQ(other->Fetch(run, 0).status(), of("run", run.id));
    EXPECT_EQ(other->Fetch(run, "v").status(), of("run", run.id));
    EXPECT_EQ(other->Keep(run, 0).status(), of("run", run.id));
    EXPECT_EQ(other->ReleaseRun(run), of("run", run.id));
  }
  EXPECT_EQ(runtime->Get(ArrayHandle()).status(),
            absl::InvalidArgumentError(
                "array 0 is not of client 'client0' [PW6111]"));
  EXPECT_THAT(FetchValues(*runtime, run, "v"), ElementsAre(2, 3));
}

TEST_P(ClientTest, LaunchesOfSeveralDoNotMeet) {
  auto runtime = Start("1x2x1", Options());
  std::vector<std::unique_ptr<Client>> clients;
  std::vector<ArrayHandle> arrays;
  std::vector<ProgramHandle> programs;
  for (int c = 0; c < 3; ++c) {
    clients.push_back(runtime.Connect(absl::StrCat("tenant", c)));
    programs.push_back(LoadPlan(*clients[c], AddPlan()));
    arrays.push_back(*clients[c]->Put(Floats({2}, {100.0f * c, 0})));
  }
  for (int i = 0; i < 20; ++i) {
    for (int c = 0; c < 3; ++c) {
      const RunHandle run = *clients[c]->Launch(programs[c], {arrays[c]});
      const ArrayHandle next = *clients[c]->Keep(run, 0);
      EXPECT_TRUE(clients[c]->ReleaseRun(run).ok());
      EXPECT_TRUE(clients[c]->Release(arrays[c]).ok());
      arrays[c] = next;
    }
  }
  for (int c = 0; c < 3; ++c) {
    EXPECT_THAT(Values(*clients[c]->Get(arrays[c])),
                ElementsAre(100 * c + 20, 20));
  }
}

TEST_P(ClientTest, ClosingGivesUpWhatRuns) {
  auto runtime = Start("1x2x1", Options());
  for (int i = 0; i < 5; ++i) {
    const std::unique_ptr<Client> client = runtime.Connect("bo");
    const ProgramHandle program = LoadPlan(*client, AddPlan());
    const ArrayHandle array = *client->Put(Floats({2}, {1, 2}));
    std::vector<RunHandle> runs;
    for (int k = 0; k < 3; ++k) {
      runs.push_back(*client->Launch(program, {array}, 1'000'000));
    }
    EXPECT_TRUE(client->Keep(runs[0], 0).ok());
    EXPECT_TRUE(client->ReleaseRun(runs[1]).ok());
    client->Close();
    EXPECT_EQ(client->Await(runs[0]),
              absl::CancelledError("client 'bo' was closed [PW6105]"));
    EXPECT_EQ(client->Load(MakePlanData(AddPlan(), {})).status().code(),
              absl::StatusCode::kCancelled);
    client->Close();
  }
  runtime.Connect("bo");
  const ClusterStats stats = StatsOf(*runtime);
  EXPECT_EQ(stats.programs, 0u);
  for (const auto& host : stats.hosts) {
    EXPECT_EQ(host.memory_used_bytes, 0u) << host.name;
  }
  for (const auto& device : stats.devices) {
    EXPECT_EQ(device.used_bytes, 0u) << device.name;
  }
}

// 24 MiB through two hosts, in pieces.
proto::Plan WidePlan() {
  return IdentityPlan({.name = "wide", .layout = Rows({6 << 20})});
}

TEST_P(ClientTest, OneThatGoesDuringAnUploadOrAFetchLeavesNothing) {
  auto runtime = Start("1x2x1", Options());
  const ProgramHandle own = LoadPlan(*runtime, AddPlan());
  const HostArray wide = Floats({6 << 20}, Ramp(6 << 20));
  for (bool fetch : {false, true}) {
    SCOPED_TRACE(fetch ? "fetch" : "upload");
    const std::unique_ptr<Client> bo = runtime.Connect("bo");
    const ProgramHandle program = LoadPlan(*bo, WidePlan());
    RunHandle run;
    if (fetch) {
      run = LaunchPlan(*bo, program, {wide});
      ASSERT_TRUE(bo->Await(run).ok());
    }
    std::atomic<bool> begun{false};
    std::thread caller([&] {
      begun = true;
      if (fetch) {
        const absl::Status status = bo->Fetch(run, 0).status();
        EXPECT_TRUE(status.ok() || absl::IsCancelled(status)) << status;
      } else {
        const absl::Status status = bo->Launch(program, {wide}).status();
        EXPECT_TRUE(status.ok() || absl::IsCancelled(status)) << status;
      }
    });
    while (!begun) std::this_thread::yield();
    bo->Close();
    caller.join();
    // Others go on meanwhile.
    EXPECT_THAT(
        FetchValues(*runtime, LaunchPlan(*runtime, own, {Floats({2}, {1, 2})}),
                    "v"),
        ElementsAre(2, 3));
    runtime.Connect("bo");
    EXPECT_EQ(StatsOf(*runtime).programs, 1u);
  }
  runtime.Reconnect();
  for (const auto& host : StatsOf(*runtime).hosts) {
    EXPECT_EQ(host.memory_used_bytes, 0u) << host.name;
  }
}

TEST_P(ClientTest, WhatIsGivenUpGoesWhenItsLaunchesHaveEnded) {
  auto runtime = Start("1x2x1", Options());
  const ProgramHandle program = LoadPlan(*runtime, AddPlan());
  const RunHandle run =
      LaunchPlan(*runtime, program, {Floats({2}, {1, 2})}, 1000);
  EXPECT_TRUE(runtime->Discard(program).ok());
  EXPECT_EQ(runtime->Discard(program).code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(runtime->Launch(program, {Floats({2}, {1, 2})}).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(FetchValues(*runtime, run, "v"), ElementsAre(2, 3));
  EXPECT_EQ(StatsOf(*runtime).programs, 0u);
  // One without launches goes at once.
  EXPECT_TRUE(runtime->Discard(LoadPlan(*runtime, AddPlan())).ok());
  EXPECT_EQ(StatsOf(*runtime).programs, 0u);
}

TEST_P(ClientTest, ArraysSayWhatTheyAreAndWhetherTheyAreThere) {
  auto runtime = Start("1x2x1", Options());
  const ProgramHandle program = LoadPlan(*runtime, AddPlan());
  const ArrayHandle array = *runtime->Put(Floats({2}, {1, 2}));
  EXPECT_TRUE(*runtime->IsReady(array));
  const RunHandle run = *runtime->Launch(program, {array});
  const ArrayHandle sum = *runtime->Keep(run, "v");
  EXPECT_EQ(runtime->TypeOf(sum)->element, ElementType::kF32);
  EXPECT_THAT(runtime->TypeOf(sum)->shape, ElementsAre(2));
  if (GetParam() == ClusterOptions::kSim) {
    EXPECT_FALSE(*runtime->IsReady(sum));
    EXPECT_FALSE(*runtime->IsReady(run));
  }
  EXPECT_TRUE(runtime->AwaitArray(sum).ok());
  EXPECT_TRUE(*runtime->IsReady(sum));
  EXPECT_TRUE(*runtime->IsReady(run));
  EXPECT_TRUE(runtime->Release(sum).ok());
  const absl::Status gone = absl::NotFoundError(absl::StrCat(
      "array ", sum.id, " does not exist or was released [PW6101]"));
  EXPECT_EQ(runtime->Get(sum).status(), gone);
  EXPECT_EQ(runtime->AwaitArray(sum), gone);
  EXPECT_EQ(runtime->TypeOf(sum).status(), gone);
  EXPECT_EQ(runtime->IsReady(sum).status(), gone);
  EXPECT_EQ(runtime->Keep(run, "w").status(),
            absl::InvalidArgumentError(
                "program 'add' has no result 'w'; it has 'v' [PW6108]"));
}

TEST_P(ClientTest, ClosingWakesThoseWhoWait) {
  auto runtime = Start("1x2x1", Options());
  const std::unique_ptr<Client> client = runtime.Connect("bo");
  const ProgramHandle program = LoadPlan(*client, AddPlan());
  const RunHandle run =
      LaunchPlan(*client, program, {Floats({2}, {1, 2})}, 300'000);
  std::atomic<bool> waiting{false};
  absl::Status status;
  std::thread waiter([&] {
    waiting = true;
    status = client->Await(run);
  });
  while (!waiting) std::this_thread::yield();
  client->Close();
  waiter.join();
  // Either it had ended, or it was cut off; it never hangs.
  EXPECT_TRUE(status.ok() || status.code() == absl::StatusCode::kCancelled)
      << status;
  // Others go on.
  const ProgramHandle own = LoadPlan(*runtime, AddPlan());
  EXPECT_THAT(
      FetchValues(*runtime, LaunchPlan(*runtime, own, {Floats({2}, {1, 2})}),
                  "v"),
      ElementsAre(2, 3));
}

// In a simulation, what one client does does not hang on what another one has
// under way: a stall is that of its own program.
TEST(ClientSimTest, AStallOfOneIsNotThatOfAnother) {
  ClusterOptions options = Sim();
  auto lost = std::make_shared<bool>(false);
  options.fault_hook = [lost](ActorId, ActorId, const WireMessage& message) {
    if (message.kind != kPieceMessage || *lost) return Fault::Deliver();
    *lost = true;
    return Fault::Drop();
  };
  auto runtime = Start("2x2x2", options);
  const std::unique_ptr<Client> bo = runtime.Connect("bo");
  const ProgramHandle stuck = LoadPlan(*bo, GoldenPlan(kThreeHosts));
  const RunHandle run = LaunchPlan(*bo, stuck, {Floats({2}, {1, 2})});
  const ProgramHandle program = LoadPlan(*runtime, GoldenPlan(kThreeHosts));
  const RunHandle good = LaunchPlan(*runtime, program, {Floats({2}, {1, 2})});
  EXPECT_THAT(FetchValues(*runtime, good, "y"), ElementsAre(3, 5));
  EXPECT_THAT(std::string(bo->Await(run).message()),
              HasSubstr("program 'golden' is stalled"));
}

INSTANTIATE_TEST_SUITE_P(Worlds, ClientTest, BothWorlds(), WorldName);

}  // namespace
}  // namespace pathways::testing

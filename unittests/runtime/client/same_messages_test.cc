//===- same_messages_test.cc - Messages of runs that compute nothing ------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A simulation without values is one of the same protocol: whoever measures
// messages and time in it measures those of a run with values.
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/testing/random_plan.h"
#include "runtime/plan/testing/test_plans.h"
#include "runtime/protocol/control_message.h"
#include "runtime/protocol/wire_kind.h"
#include "unittests/runtime/client/runtime_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::Gt;

// Messages of a run by kind, and the time of its end.
struct Said {
  std::map<std::string, uint64_t> messages;
  TimeNs now_ns = 0;
  uint64_t events = 0;
  uint64_t fetched_bytes = 0;  // by the client
};

Said Listen(const proto::Plan& plan, const std::string& topology, bool values,
            uint64_t seed, int64_t steps) {
  Said said;
  ClusterOptions options = Sim(seed);
  options.run_kernels = values;
  options.fault_hook = [&](ActorId, ActorId, const WireMessage& message) {
    ++said.messages[absl::StrCat("wire ", WireKindName(message.kind))];
    return Fault::Deliver();
  };
  options.control_fault_hook = [&](ActorId, ActorId, std::string_view bytes) {
    proto::Control control;
    EXPECT_TRUE(
        control.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
    ++said.messages[absl::StrCat("control ", control.kind_case())];
    return Fault::Deliver();
  };
  auto runtime = Start(topology, options);
  const ProgramHandle program = LoadPlan(*runtime, plan);
  std::vector<RunHandle> runs;
  for (int launch = 0; launch < 2; ++launch) {
    LaunchArguments arguments;
    for (const proto::Argument& argument : plan.interface().arguments()) {
      const proto::Layout& layout = plan.layouts(
          plan.buffers(plan.actions(argument.action()).results(0)).layout());
      HostArray array;
      array.element = static_cast<ElementType>(layout.element());
      if (argument.stepped()) array.shape.push_back(steps);
      for (int64_t size : layout.shape()) array.shape.push_back(size);
      if (values) {
        array.data.resize(array.numElements() * elementBytes(array.element));
      }
      arguments.emplace_back(std::move(array));
    }
    const absl::StatusOr<RunHandle> run =
        runtime->Launch(program, std::move(arguments), steps);
    EXPECT_TRUE(run.ok()) << run.status();
    if (run.ok()) runs.push_back(*run);
  }
  for (const RunHandle& run : runs) {
    EXPECT_TRUE(runtime->Await(run).ok()) << runtime->Await(run);
    for (int r = 0; r < plan.interface().results_size(); ++r) {
      const absl::StatusOr<HostArray> result = runtime->Fetch(run, r);
      EXPECT_TRUE(result.ok()) << result.status();
      if (!result.ok()) continue;
      said.fetched_bytes += result->data.size();
      EXPECT_EQ(
          result->data.size(),
          values ? result->numElements() * elementBytes(result->element) : 0);
    }
    EXPECT_TRUE(runtime->ReleaseRun(run).ok());
  }
  EXPECT_TRUE(runtime->Unload(program).ok());
  const ClusterStats stats = StatsOf(*runtime);
  for (const auto& [kind, count] : stats.messages) {
    said.messages[absl::StrCat("host ", kind)] = count;
  }
  said.now_ns = stats.now_ns;
  said.events = stats.events;
  for (const auto& host : stats.hosts) {
    EXPECT_EQ(host.memory_used_bytes, 0u) << host.name;
  }
  return said;
}

void ExpectSame(const proto::Plan& plan, const std::string& topology,
                uint64_t seed, int64_t steps) {
  const Said with = Listen(plan, topology, /*values=*/true, seed, steps);
  const Said without = Listen(plan, topology, /*values=*/false, seed, steps);
  EXPECT_EQ(with.messages, without.messages);
  EXPECT_EQ(with.events, without.events);
  EXPECT_EQ(with.now_ns, without.now_ns);
}

TEST(SameMessagesTest, OfThePlanOfThePaper) {
  ExpectSame(GoldenPlan(kThreeHosts), "2x2x2", /*seed=*/1, /*steps=*/5);
  const Said said = Listen(GoldenPlan(kThreeHosts), "2x2x2", /*values=*/false,
                           /*seed=*/1, /*steps=*/5);
  // It is no other protocol, with fewer of them.
  auto count = [&](const std::string& kind) {
    const auto found = said.messages.find(kind);
    return found == said.messages.end() ? 0 : found->second;
  };
  auto control = [&](proto::Control::KindCase kind) {
    return count(absl::StrCat("control ", kind));
  };
  EXPECT_THAT(control(proto::Control::kPrepareLaunch), Gt(0u));
  EXPECT_THAT(control(proto::Control::kLaunchReady), Gt(0u));
  EXPECT_THAT(control(proto::Control::kFetchBegin), Gt(0u));
  EXPECT_THAT(count(absl::StrCat("wire ", WireKindName(kPullMessage))), Gt(0u));
  EXPECT_THAT(count(absl::StrCat("wire ", WireKindName(kBlockMessage))),
              Gt(0u));
}

TEST(SameMessagesTest, OfRandomPlans) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    ExpectSame(RandomPlan(seed), seed % 2 ? "2x2x2" : "2x1x4", seed,
               /*steps=*/4);
  }
}

// An array of many pieces, of which some must be gathered.
TEST(SameMessagesTest, OfLargeArrays) {
  ExpectSame(IdentityPlan({.name = "large",
                           .slice = {.shards = 4},
                           .layout = Split({4096, 512}, {{}, {"x"}})}),
             "1x2x2", /*seed=*/1, /*steps=*/2);
}

}  // namespace
}  // namespace pathways::testing

//===- lives_test.cc - Hosts that are lost, and come again ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "runtime/program/host_actors.h"
#include "runtime/world/mix.h"
#include "unittests/runtime/client/sim_processes.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Kills and restarts processes at given times of the simulation while clients
// call.
class Fate final : public Actor {
 public:
  explicit Fate(World* world) : world_(*world) {
    world_.Register(this, {-1, 0, -1}, "fate");
  }
  void After(TimeNs delay, std::function<void()> event) {
    events_.push_back(std::move(event));
    LocalMessage message;
    message.item = static_cast<uint32_t>(events_.size()) - 1;
    world_.SendAfter(kNobody, local_id(), delay, message);
  }
  void OnLocal(const LocalMessage& message) override {
    events_[message.item]();
  }

 private:
  World& world_;
  std::vector<std::function<void()>> events_;
};

// The golden plan on "2x2x2", whose hosts are in processes 0 to 3. `slices` has
// the host of each of its three slices.
struct Program {
  std::string name;
  std::vector<int32_t> slices;

  proto::Plan Plan() const {
    std::vector<std::pair<uint32_t, int64_t>> at;
    for (int32_t host : slices) at.emplace_back(host / 2, host % 2 * 2);
    proto::Plan plan = GoldenPlan(at);
    plan.mutable_header()->set_program(name);
    return plan;
  }
  bool Uses(int32_t host) const {
    return std::find(slices.begin(), slices.end(), host) != slices.end();
  }
};

const std::vector<Program>& Programs() {
  static const auto* const programs = new std::vector<Program>{
      {"left", {0, 1, 0}},  {"right", {2, 3, 2}}, {"cross", {1, 2, 3}},
      {"three", {0, 1, 2}}, {"alone", {3, 3, 3}}, {"first", {0, 0, 0}}};
  return *programs;
}

SimProcesses FourProcesses(const ClusterOptions& options) {
  return SimProcesses(MakeCluster("2x2x2"), {0, 1, 2, 3}, /*client_process=*/0,
                      options);
}

// Calls a client with one program, and keeps the first error. Calls continue
// after an error where they can; each call must end.
class Tenant {
 public:
  Tenant(Client& client, const Program& program, float value)
      : client_(client), program_(program), value_(value) {}

  const Program& program() const { return program_; }
  const absl::Status& status() const { return status_; }

  void Load() {
    loaded_ = client_.Load(MakePlanData(program_.Plan(), {}));
    status_.Update(loaded_.status());
  }
  void Launch() {
    for (int i = 0; i < 3 && loaded_.ok(); ++i) {
      LaunchArguments values;
      values.emplace_back(Floats({2}, {value_, value_ + i}));
      runs_.push_back(client_.Launch(*loaded_, std::move(values), /*steps=*/4));
      status_.Update(runs_.back().status());
    }
  }
  void Fetch() {
    for (size_t i = 0; i < runs_.size(); ++i) {
      if (!runs_[i].ok()) continue;
      Expect(client_.Fetch(*runs_[i], "y"), 2 * value_ + 1, i);
      Expect(client_.Fetch(*runs_[i], "z"), 2 * value_, i);
      client_.ReleaseRun(*runs_[i]).IgnoreError();
    }
  }
  void Unload() {
    if (!loaded_.ok()) return;
    const absl::Status unloaded = client_.Unload(*loaded_);
    EXPECT_TRUE(unloaded.ok()) << program_.name << ": " << unloaded;
  }

 private:
  void Expect(const absl::StatusOr<HostArray>& array, float first, size_t i) {
    status_.Update(array.status());
    if (!array.ok()) return;
    EXPECT_THAT(Values(*array),
                ElementsAre(first, first + 2 * static_cast<float>(i)));
  }

  Client& client_;
  const Program& program_;
  const float value_;
  absl::StatusOr<ProgramHandle> loaded_ = absl::UnknownError("not loaded");
  std::vector<absl::StatusOr<RunHandle>> runs_;
  absl::Status status_;
};

// Runs the given programs at the same time; `each` is called with the outcome
// of each.
void RunTogether(Client& client, const std::vector<const Program*>& programs,
                 float value,
                 absl::FunctionRef<void(const Tenant& tenant)> each) {
  std::vector<Tenant> tenants;
  for (const Program* program : programs) {
    tenants.emplace_back(client, *program, value++);
  }
  for (Tenant& tenant : tenants) tenant.Load();
  for (Tenant& tenant : tenants) tenant.Launch();
  for (Tenant& tenant : tenants) tenant.Fetch();
  for (Tenant& tenant : tenants) tenant.Unload();
  for (const Tenant& tenant : tenants) each(tenant);
}

void ExpectAllRun(Client& client) {
  std::vector<const Program*> all;
  for (const Program& program : Programs()) all.push_back(&program);
  RunTogether(client, all, 7, [](const Tenant& tenant) {
    EXPECT_TRUE(tenant.status().ok())
        << tenant.program().name << ": " << tenant.status();
  });
}

void ExpectEmpty(Client& client) {
  const ClusterStats stats = StatsOf(client);
  EXPECT_EQ(stats.programs, 0u);
  EXPECT_EQ(stats.hosts.size(), 4u);
  for (const auto& host : stats.hosts) {
    EXPECT_EQ(host.memory_used_bytes, 0u) << host.name;
  }
  for (const auto& device : stats.devices) {
    EXPECT_EQ(device.used_bytes, 0u) << device.name;
  }
}

TEST(LivesTest, WhatUsedALostHostEndsAndIsLoadedAgain) {
  SimProcesses processes = FourProcesses(Sim());
  const ProgramHandle cross = LoadPlan(*processes, Programs()[2].Plan());
  const ProgramHandle left = LoadPlan(*processes, Programs()[0].Plan());
  processes.Kill(3);
  LaunchArguments values;
  values.emplace_back(Floats({2}, {1, 2}));
  // The controller may hear of the launch first.
  processes.world().RunFor(1'000'000);
  const absl::StatusOr<RunHandle> run = processes->Launch(cross, values, 2);
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(
      processes->Await(*run),
      absl::FailedPreconditionError(
          "program 'cross' was given up and must be loaded again: "
          "program 'cross' cannot go on: host3 is gone (epoch 1) [PW4101]"));
  EXPECT_EQ(
      processes->Load(MakePlanData(Programs()[4].Plan(), {})).status(),
      absl::UnavailableError(
          "program 'alone' needs host3, which is gone (epoch 1) [PW4101]"));
  // Others are there, and tell what they count.
  EXPECT_EQ(StatsOf(*processes).hosts.size(), 3u);
  processes.Replace(3);
  processes.world().RunFor(1'000'000);
  // While the old one is not unloaded it is what it was.
  ExpectAllRun(*processes);
  EXPECT_FALSE(processes->Await(*processes->Launch(cross, values, 2)).ok());
  EXPECT_TRUE(processes->Unload(cross).ok());
  EXPECT_TRUE(processes->Unload(left).ok());
  ExpectEmpty(*processes);
}

// Drops the first `number` stops of any program on a host, then no more.
ControlFaultHook LoseStops(int32_t host, int number) {
  const ActorId executor =
      DirectoryOf(Topology::Create(MakeCluster("2x2x2")).value())
          .executor(static_cast<uint32_t>(host));
  auto left = std::make_shared<int>(number);
  return [=](ActorId, ActorId to, std::string_view bytes) {
    proto::Control control;
    if (to != executor || *left == 0 ||
        !control.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) ||
        !control.has_stop_program()) {
      return Fault::Deliver();
    }
    --*left;
    return Fault::Drop();
  };
}

// Runs two programs on host 1, and loses host 2, which one of them uses, while
// both run. Returns how the other one ends.
absl::Status RunBesideALoss(SimProcesses& processes) {
  const ProgramHandle three = LoadPlan(*processes, Programs()[3].Plan());
  const ProgramHandle left = LoadPlan(*processes, Programs()[0].Plan());
  const RunHandle lost = LaunchPlan(*processes, three, {Floats({2}, {1, 2})},
                                    /*steps=*/1000);
  const RunHandle run = LaunchPlan(*processes, left, {Floats({2}, {1, 2})}, 4);
  processes.world().RunFor(500'000);
  processes.Kill(2);
  const absl::Status ended = processes->Await(run);
  EXPECT_TRUE(absl::IsUnavailable(processes->Await(lost)));
  if (ended.ok()) {
    EXPECT_THAT(FetchValues(*processes, run, "y"), ElementsAre(3, 5));
  }
  processes.Replace(2);
  for (RunHandle each : {lost, run}) {
    EXPECT_TRUE(processes->ReleaseRun(each).ok());
  }
  EXPECT_TRUE(processes->Unload(three).ok());
  EXPECT_TRUE(processes->Unload(left).ok());
  return ended;
}

// The other program stands behind grants of the lost one until its host has
// heard that it stops.
TEST(LivesTest, AStopThatWasLostHoldsUpNoOtherProgram) {
  for (int losses = 0; losses <= 4; ++losses) {
    SCOPED_TRACE(losses);
    ClusterOptions options = Sim();
    options.control_fault_hook = LoseStops(1, losses);
    options.answer_timeout_ns = 100'000'000'000;
    SimProcesses processes = FourProcesses(options);
    const absl::Status ended = RunBesideALoss(processes);
    EXPECT_TRUE(ended.ok()) << ended;
    ExpectEmpty(*processes);
  }
}

// A simulation does not ask for ever.
TEST(LivesTest, AStopThatIsNeverHeardEndsWhatItHoldsUp) {
  ClusterOptions options = Sim();
  options.control_fault_hook = LoseStops(1, 10);
  SimProcesses processes = FourProcesses(options);
  const TimeNs begin = processes.world().Now();
  EXPECT_EQ(RunBesideALoss(processes),
            absl::DeadlineExceededError(
                "program 'left' is stalled: 'b' at step 0, shard 0 on "
                "island0/host1/device0 is behind another program [PW4106]"));
  EXPECT_LT(processes.world().Now() - begin, 60'000'000'000);
}

// Messages that load and unload may be lost, and nothing ends because of it.
bool IsSentAgain(std::string_view bytes) {
  proto::Control control;
  if (!control.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return false;
  }
  switch (control.kind_case()) {
    case proto::Control::kLoadProgram:
    case proto::Control::kLoadReply:
    case proto::Control::kStopProgram:
    case proto::Control::kStopReply:
    case proto::Control::kFreeProgram:
    case proto::Control::kFreeReply:
    case proto::Control::kPlanRequest:
    case proto::Control::kPlanPart:
      return true;
    default:
      return false;
  }
}

struct Outcome {
  int good = 0, bad = 0;
};

// Three programs run at a time; one process or the other is lost at some
// time and replaced at a later one, twice. `late`: it stands still instead, and
// goes on when its next life has begun.
Outcome RunWithLosses(uint64_t seed, bool late) {
  SCOPED_TRACE(absl::StrCat("seed ", seed, late ? ", late" : ""));
  SplitMix random(seed);
  ClusterOptions options = Sim(seed);
  options.duplicate_probability = 0.2;
  options.reorder_probability = 0.2;
  options.answer_timeout_ns = 1'000'000'000'000;
  SplitMix losses(Mix(seed, 1));
  const double lost = seed % 2 == 0 ? 0.1 : 0;
  options.control_fault_hook = [&](ActorId, ActorId, std::string_view bytes) {
    return lost > 0 && losses.Chance(lost) && IsSentAgain(bytes)
               ? Fault::Drop()
               : Fault::Deliver();
  };
  SimProcesses processes = FourProcesses(options);
  Fate fate(&processes.world());
  // Hosts that were lost, and how many are.
  std::set<int32_t> lost_hosts;
  int down = 0;
  TimeNs when = 0;
  for (int i = 0; i < 2; ++i) {
    const uint32_t p = 1 + static_cast<uint32_t>(random.UpTo(2));
    when += static_cast<TimeNs>(random.UpTo(3'000'000));
    fate.After(when, [&, p] {
      lost_hosts.insert(static_cast<int32_t>(p));
      ++down;
      if (!late) return processes.Kill(p);
      processes.world().SuspendHost(static_cast<int32_t>(p));
      processes.Declare(p);
    });
    when += static_cast<TimeNs>(random.UpTo(2'000'000));
    fate.After(when, [&, p] {
      processes.Replace(p);
      --down;
    });
    when += static_cast<TimeNs>(random.UpTo(500'000));
    if (late) {
      fate.After(when, [&, p] {
        processes.world().ResumeHost(static_cast<int32_t>(p));
      });
    }
  }
  Outcome outcome;
  for (int i = 0; i < 4; ++i) {
    std::vector<const Program*> programs;
    for (int p = 0; p < 3; ++p) {
      programs.push_back(&Programs()[random.UpTo(Programs().size() - 1)]);
    }
    RunTogether(
        *processes, programs, static_cast<float>(i), [&](const Tenant& tenant) {
          const absl::Status& status = tenant.status();
          ++(status.ok() ? outcome.good : outcome.bad);
          if (status.ok()) return;
          const Program& program = tenant.program();
          EXPECT_TRUE(
              std::any_of(lost_hosts.begin(), lost_hosts.end(),
                          [&](int32_t host) { return program.Uses(host); }))
              << program.name << ": " << status;
          EXPECT_TRUE(absl::IsUnavailable(status) ||
                      absl::IsFailedPrecondition(status))
              << status;
          EXPECT_THAT(std::string(status.message()), HasSubstr("gone (epoch "));
        });
  }
  processes.world().RunFor(when + 100'000'000);
  EXPECT_EQ(down, 0);
  // All is as it was, wherever programs run.
  ExpectAllRun(*processes);
  ExpectEmpty(*processes);
  return outcome;
}

TEST(LivesTest, AProcessIsReplacedAtAnyTime) {
  for (bool late : {false, true}) {
    Outcome all;
    for (uint64_t seed = 1; seed <= 120; ++seed) {
      const Outcome one = RunWithLosses(seed, late);
      all.good += one.good;
      all.bad += one.bad;
      if (HasFailure()) return;
    }
    // Neither is rare.
    EXPECT_GT(all.good, 400) << late;
    EXPECT_GT(all.bad, 100) << late;
  }
}

// Other seeds each time.
TEST(LivesTest, AFreshSample) {
  const uint64_t first = std::random_device()();
  std::printf("seeds %llu and the next 24\n",
              static_cast<unsigned long long>(first));
  for (uint64_t seed = first; seed < first + 25; ++seed) {
    RunWithLosses(seed, /*late=*/false);
    RunWithLosses(seed, /*late=*/true);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace pathways::testing

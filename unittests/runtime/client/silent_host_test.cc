//===- silent_host_test.cc - Every call ends, whoever falls silent --------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <random>

#include "runtime/plan/testing/test_plans.h"
#include "runtime/program/host_actors.h"
#include "runtime/proto/control.pb.h"
#include "unittests/runtime/client/runtime_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

// v = 2 u on the first of an island's two hosts, moved to the second one, and
// plus one there.
proto::Plan PairPlan(const std::string& name, uint32_t island) {
  ChainBuilder b({.name = name, .slice = {.shards = 1, .island = island}});
  b.Feed("u").Run("g", "twice1");
  const uint32_t v = b.last();
  b.Move("m", {.shards = 1, .island = island, .base = 1}).Run("h", "add_one1");
  b.AddFetch("v", v);
  return b.Fetch("z").Finish();
}

// Time moves when the only worker has nothing left to do, as in a simulation,
// and while the client calls nothing that waits it stands still, as there.
class IdleClock final : public Clock {
 public:
  TimeNs Now() override { return now_.load(); }
  TimeNs RealDelay(TimeNs time) override {
    if (held_.load()) return 100'000;
    if (time > now_.load()) now_ = time;
    return 0;
  }
  int AddListener(std::function<void()>) override { return 0; }
  void RemoveListener(int) override {}

  static void Hold(bool held) { held_ = held; }

 private:
  static inline std::atomic<bool> held_{false};
  std::atomic<TimeNs> now_{0};
};

// Calls a client with one program, call by call, and keeps what each returned.
class Tenant {
 public:
  Tenant(Client& runtime, uint32_t island)
      : runtime_(runtime), island_(island) {}

  using Calls = std::vector<std::pair<std::string, absl::Status>>;
  const Calls& calls() const { return calls_; }

  void Load() {
    absl::StatusOr<ProgramHandle> program = runtime_.Load(
        MakePlanData(PairPlan(absl::StrCat("p", island_), island_), {}));
    Note("load", program.status());
    if (program.ok()) program_ = *program;
    loaded_ = program.ok();
  }
  // Two launches, of which the second reads what the first returned, and all
  // that they returned.
  void Run() {
    if (!loaded_) return;
    absl::StatusOr<ArrayHandle> x = runtime_.Put(Floats({1}, {3}));
    Note("put", x.status());
    IdleClock::Hold(true);
    absl::StatusOr<RunHandle> first = runtime_.Launch(program_, {*x}, 3);
    Note("launch", first.status());
    if (!first.ok()) return IdleClock::Hold(false);
    absl::StatusOr<ArrayHandle> v = runtime_.Keep(*first, 0);
    Note("keep", v.status());
    if (v.ok()) {
      absl::StatusOr<RunHandle> second = runtime_.Launch(program_, {*v}, 2);
      Note("launch", second.status());
      IdleClock::Hold(false);
      if (second.ok()) {
        Note("await", runtime_.Await(*second));
        Expect("fetch", runtime_.Fetch(*second, "z"), 13);
        Note("release", runtime_.ReleaseRun(*second));
      }
    }
    IdleClock::Hold(false);
    Expect("fetch", runtime_.Fetch(*first, "z"), 7);
    Expect("get", runtime_.Get(*x), 3);
    Note("release", runtime_.ReleaseRun(*first));
    Note("release", runtime_.Release(*x));
    if (v.ok()) Note("release", runtime_.Release(*v));
  }
  void Unload() {
    if (!loaded_) return;
    Note("unload", runtime_.Unload(program_));
  }

 private:
  void Note(const std::string& call, const absl::Status& status) {
    calls_.emplace_back(call, status);
  }
  void Expect(const std::string& call, const absl::StatusOr<HostArray>& array,
              float value) {
    Note(call, array.status());
    if (array.ok()) EXPECT_EQ(Values(*array), std::vector<float>{value});
  }

  Client& runtime_;
  const uint32_t island_;
  ProgramHandle program_;
  bool loaded_ = false;
  Calls calls_;
};

// Two tenants on an island each, which are clients of their own.
std::vector<Tenant> RunTenants(TestCluster& runtime) {
  const std::unique_ptr<Client> other = runtime.Connect("client1");
  std::vector<Tenant> tenants = {{*runtime, 0}, {*other, 1}};
  for (Tenant& tenant : tenants) tenant.Load();
  for (Tenant& tenant : tenants) tenant.Run();
  (void)runtime->Stats();
  for (Tenant& tenant : tenants) tenant.Unload();
  return tenants;
}

// A host that stops for ever before the control message of the seed. Calls that
// need it end with an error that names it, the other tenant's with their
// results. Returns the calls that ended with an error, by name.
std::map<std::string, int> RunWithoutAHost(uint64_t seed) {
  SCOPED_TRACE(absl::StrCat("seed ", seed));
  const int host = static_cast<int>(seed % 4);
  ClusterOptions options = Sim(seed);
  options.host_stops = {{host, seed / 4 % 125}};
  // Whether anybody notices.
  if (seed % 3 == 0) options.host_stops[0].tell_after = 1'000'000;
  auto runtime = Start("2x2x1", options);
  const std::vector<Tenant> tenants = RunTenants(runtime);
  std::map<std::string, int> errors;
  for (const auto& [call, status] : tenants[host / 2].calls()) {
    if (status.ok()) continue;
    ++errors[call];
    EXPECT_TRUE(absl::IsDeadlineExceeded(status) ||
                absl::IsUnavailable(status) ||
                absl::IsFailedPrecondition(status))
        << call << ": " << status;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(absl::StrCat("host", host)))
        << call;
  }
  for (const auto& [call, status] : tenants[1 - host / 2].calls()) {
    EXPECT_TRUE(status.ok()) << call << ": " << status;
  }
  return errors;
}

TEST(SilentHostTest, EveryCallEndsAndNamesTheHost) {
  std::map<std::string, int> errors;
  int unharmed = 0;
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    const std::map<std::string, int> found = RunWithoutAHost(seed);
    unharmed += found.empty();
    for (const auto& [call, count] : found) errors[call] += count;
    if (::testing::Test::HasFailure()) return;
  }
  // It was the last one for each kind of call.
  for (const char* call : {"load", "await", "fetch", "get", "unload"}) {
    EXPECT_GT(errors[call], 0) << call;
  }
  EXPECT_GT(unharmed, 0);
}

struct Counts {
  int good = 0, bad = 0;
};

// Control messages are lost, doubled and overtaken. Calls that do not go well
// name who did not answer.
Counts RunWithLosses(uint64_t seed, double lost) {
  SCOPED_TRACE(absl::StrCat("seed ", seed));
  ClusterOptions options = Sim(seed);
  options.drop_probability = lost;
  options.duplicate_probability = seed % 4 < 2 ? 0.1 : 0;
  options.reorder_probability = seed % 8 < 4 ? 0.1 : 0;
  auto runtime = Start("2x2x1", options);
  Counts counts;
  for (const Tenant& tenant : RunTenants(runtime)) {
    for (const auto& [call, status] : tenant.calls()) {
      ++(status.ok() ? counts.good : counts.bad);
      if (status.ok()) continue;
      EXPECT_THAT(std::string(status.message()),
                  ContainsRegex("(host|island)[0-3]"))
          << call;
    }
  }
  return counts;
}

// All but those of a grant are sent again, so most calls go well.
TEST(SilentHostTest, LostControlMessagesAreSentAgain) {
  for (double lost : {0.01, 0.1}) {
    Counts sum;
    for (uint64_t seed = 1; seed <= 500; ++seed) {
      const Counts one = RunWithLosses(seed, lost);
      sum.good += one.good;
      sum.bad += one.bad;
      if (::testing::Test::HasFailure()) return;
    }
    EXPECT_GT(sum.good, (lost < 0.05 ? 50 : 5) * sum.bad) << lost;
    EXPECT_GT(sum.bad, 0) << lost;
  }
}

// Other seeds each time.
TEST(SilentHostTest, AFreshSample) {
  const uint64_t first = std::random_device()();
  std::printf("seeds %llu and the next 99\n",
              static_cast<unsigned long long>(first));
  for (uint64_t seed = first; seed < first + 100; ++seed) {
    RunWithoutAHost(seed);
    RunWithLosses(seed, 0.05);
    if (::testing::Test::HasFailure()) return;
  }
}

// Values take far longer than the timeout, but they come.
TEST(SilentHostTest, ALongWayIsNoSilence) {
  constexpr int64_t kElements = 8 << 20;
  ClusterOptions options = Sim();
  // Half of what they take from the client to a host: 1.25 GB/s.
  options.answer_timeout_ns = kElements * 4 / 2;
  auto runtime = Start("1x1x1", options);
  const ProgramHandle program =
      LoadPlan(*runtime, IdentityPlan({.name = "long",
                                       .slice = {.shards = 1},
                                       .layout = Rows({kElements})}));
  const std::vector<float> values = Ramp(kElements);
  const RunHandle run =
      LaunchPlan(*runtime, program, {Floats({kElements}, values)});
  EXPECT_TRUE(runtime->Await(run).ok());
  EXPECT_EQ(FetchValues(*runtime, run, "u"), values);
}

// A host that is neither heard nor told anything any more, from the control
// message to it on that is the first of its kind.
class Silence {
 public:
  Silence(int host, proto::Control::KindCase kind)
      : host_(DirectoryOf(Topology::Create(MakeCluster("2x2x1")).value())
                  .executor(host)),
        kind_(kind) {}

  void Install(ClusterOptions* options) {
    options->fault_hook = [this](ActorId from, ActorId to, const WireMessage&) {
      return Lost(from, to);
    };
    options->control_fault_hook = [this](ActorId from, ActorId to,
                                         std::string_view bytes) {
      proto::Control control;
      if (to == host_ && !begun_) {
        begun_ = control.ParseFromArray(bytes.data(),
                                        static_cast<int>(bytes.size())) &&
                 control.kind_case() == kind_;
      }
      return Lost(from, to);
    };
  }

 private:
  Fault Lost(ActorId from, ActorId to) const {
    return begun_ && (from == host_ || to == host_) ? Fault::Drop()
                                                    : Fault::Deliver();
  }

  const ActorId host_;
  const proto::Control::KindCase kind_;
  bool begun_ = false;
};

// A fetch is not answered while its host is busy with another launch, which
// then stalls: only its end lets a simulation look for the fetch again.
TEST(SilentHostTest, AFetchGoesOnWhenItsHostIsNotBusyAnyMore) {
  ClusterOptions options = Sim();
  int begins = 0, ends = 0;
  const ActorId controller =
      DirectoryOf(Topology::Create(MakeCluster("2x2x1")).value()).controller();
  options.control_fault_hook = [&](ActorId, ActorId to,
                                   std::string_view bytes) {
    proto::Control control;
    if (!control.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
      return Fault::Deliver();
    }
    // The first time that a host is told to begin, and that the second launch
    // is over.
    if ((control.has_fetch_begin() && begins++ == 0) ||
        (to == controller && control.has_grant_done() && ++ends == 2)) {
      return Fault::Drop();
    }
    return Fault::Deliver();
  };
  auto runtime = Start("2x2x1", options);
  const ProgramHandle program = LoadPlan(*runtime, PairPlan("p", 0));
  const RunHandle first = LaunchPlan(*runtime, program, {Floats({1}, {3})});
  const RunHandle second = LaunchPlan(*runtime, program, {Floats({1}, {4})});
  EXPECT_EQ(FetchValues(*runtime, first, "z"), std::vector<float>{7});
  EXPECT_TRUE(absl::IsDeadlineExceeded(runtime->Await(second)));
  EXPECT_GT(begins, 1);
}

// A host does not get the second launch, whose grant comes first. Neither goes
// on, so the host has something to run and seems busy.
TEST(SilentHostTest, ALaunchThatAHostMissedDoesNotEndTheOneBehindIt) {
  ClusterOptions options = Sim();
  const ActorId host1 =
      DirectoryOf(Topology::Create(MakeCluster("2x2x1")).value()).executor(1);
  uint32_t lossy = 0;  // the program, if it is to be lost
  int prepares = 0;
  options.control_fault_hook = [&](ActorId, ActorId to,
                                   std::string_view bytes) {
    proto::Control control;
    if (to != host1 || lossy == 0 ||
        !control.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) ||
        !control.has_prepare_launch() ||
        control.prepare_launch().incarnation() != lossy) {
      return Fault::Deliver();
    }
    EXPECT_TRUE(control.prepare_launch().sure());
    return prepares++ == 0 ? Fault::Drop() : Fault::Deliver();
  };
  auto runtime = Start("2x2x1", options);
  const ProgramHandle p = LoadPlan(*runtime, PairPlan("p", 0));
  const ProgramHandle q = LoadPlan(*runtime, PairPlan("q", 0));
  const absl::StatusOr<ArrayHandle> x = runtime->Put(Floats({1}, {3}));
  ASSERT_TRUE(x.ok()) << x.status();
  absl::StatusOr<RunHandle> placed = runtime->Launch(q, {*x}, 1);
  ASSERT_TRUE(placed.ok() && runtime->Await(*placed).ok());
  lossy = 2;
  const RunHandle first = LaunchPlan(*runtime, p, {Floats({1}, {4})});
  const absl::StatusOr<RunHandle> second = runtime->Launch(q, {*x}, 1);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(FetchValues(*runtime, first, "z"), std::vector<float>{9});
  EXPECT_EQ(FetchValues(*runtime, *second, "z"), std::vector<float>{7});
  EXPECT_GT(prepares, 1);
}

// Its hosts are stopping when it is unloaded, which no call has waited for.
TEST(SilentHostTest, AnUnloadOfWhatWasGivenUpEnds) {
  ClusterOptions options = Sim();
  Silence silence(1, proto::Control::kGrant);
  silence.Install(&options);
  auto runtime = Start("2x2x1", options);
  const ProgramHandle program = LoadPlan(*runtime, PairPlan("p", 0));
  const RunHandle run = LaunchPlan(*runtime, program, {Floats({1}, {3})});
  EXPECT_TRUE(absl::IsDeadlineExceeded(runtime->Await(run)));
  const absl::Status unloaded = runtime->Unload(program);
  EXPECT_TRUE(absl::IsDeadlineExceeded(unloaded)) << unloaded;
  EXPECT_THAT(std::string(unloaded.message()), HasSubstr("host1"));
}

// Values lie on two hosts, one of which does not answer: what the other sends
// again and again is no answer.
TEST(SilentHostTest, AFetchFromTwoHostsEndsWithoutOneOfThem) {
  ClusterOptions options = Sim();
  Silence silence(1, proto::Control::kFetchBegin);
  silence.Install(&options);
  auto runtime = Start("2x2x1", options);
  const ProgramHandle program =
      LoadPlan(*runtime, IdentityPlan({.name = "both"}));
  const RunHandle run = LaunchPlan(*runtime, program, {Floats({2}, {1, 2})});
  EXPECT_TRUE(runtime->Await(run).ok());
  EXPECT_EQ(runtime->Fetch(run, "u").status(),
            absl::DeadlineExceededError(
                "values were not fetched: no answer from host1 [PW4105]"));
}

// One of two programs has no room on its host, and the hosts of the other
// program do not answer. The memory that the other program took is not free, so
// the load is not tried again.
TEST(SilentHostTest, ALoadInPartRefusedSaysWhoRefused) {
  ClusterOptions options = Sim();
  Silence silence(3, proto::Control::kLoadProgram);
  silence.Install(&options);
  proto::Cluster cluster = MakeCluster("2x2x1");
  cluster.mutable_islands(0)->mutable_hosts(0)->set_memory_bytes(6000);
  auto runtime = StartOn(cluster, options);
  // 600 numbers, from one device of an island to another.
  const auto move = [](uint32_t island, int64_t to) {
    return MakePlanData(
        TransferPlan({.name = absl::StrCat("move", island),
                      .slice = {.shards = 1, .island = island},
                      .layout = Rows({600})},
                     {.shards = 1, .island = island, .base = to}),
        {});
  };
  // Some of what is missing is another client's.
  const std::unique_ptr<Client> other = runtime.Connect("other");
  const ProgramHandle copy = *other->Load(move(0, 0));
  const RunHandle run = LaunchPlan(*other, copy, {Floats({600}, Ramp(600))});
  ASSERT_TRUE(other->Await(run).ok());
  std::vector<PlanData> plans;
  plans.push_back(move(0, 1));
  plans.push_back(move(1, 1));
  const absl::Status refused = runtime->Load(std::move(plans)).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted) << refused;
  EXPECT_THAT(
      std::string(refused.message()),
      HasSubstr("4864 bytes of host memory of host0, where 2400 of 6000 "
                "bytes are used"));
}

std::vector<std::string> CallsWithout(ClusterOptions options, int host,
                                      proto::Control::KindCase kind) {
  Silence silence(host, kind);
  silence.Install(&options);
  auto runtime = Start("2x2x1", options);
  std::vector<std::string> texts;
  for (const Tenant& tenant : RunTenants(runtime)) {
    for (const auto& [call, status] : tenant.calls()) {
      texts.push_back(absl::StrCat(call, ": ", status.ToString()));
    }
  }
  return texts;
}

// But for grants: on threads a host that has one may be in a kernel.
TEST(SilentHostTest, TheSameErrorsInBothWorlds) {
  using Control = proto::Control;
  for (Control::KindCase kind :
       {Control::kLoadProgram, Control::kPrepareLaunch, Control::kFetchBegin,
        Control::kStopProgram, Control::kFreeProgram}) {
    for (int host = 0; host < 4; ++host) {
      SCOPED_TRACE(absl::StrCat("host ", host, ", kind ", kind));
      ClusterOptions threads;
      threads.workers = 1;
      threads.clock = std::make_shared<IdleClock>();
      const std::vector<std::string> calls = CallsWithout(threads, host, kind);
      EXPECT_EQ(CallsWithout(Sim(), host, kind), calls);
      EXPECT_THAT(calls,
                  ::testing::Contains(HasSubstr(absl::StrCat("host", host))));
    }
  }
}

TEST(SilentHostTest, BadOptionsAreRefused) {
  auto error = [](std::function<void(ClusterOptions&)> change) {
    ClusterOptions options;
    options.kernels = &Kernels();
    change(options);
    return std::string(
        Cluster::Create(MakeCluster("1x1x1"), options).status().message());
  };
  EXPECT_EQ(error([](ClusterOptions& o) { o.answer_timeout_ns = -1; }),
            "the answer timeout is -1 ns, expected at least 0");
  EXPECT_EQ(error([](ClusterOptions& o) { o.drop_probability = 0.5; }),
            "runs without kernels, and links with faults, need a simulation");
  EXPECT_EQ(error([](ClusterOptions& o) { o.host_stops = {{0, 5}}; }),
            "runs without kernels, and links with faults, need a simulation");
}

}  // namespace
}  // namespace pathways::testing

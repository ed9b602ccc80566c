//===- chain_test.cc - Launches whose arguments are not there yet ---------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <atomic>
#include <random>
#include <thread>

#include "runtime/plan/testing/test_plans.h"
#include "runtime/program/local_kind.h"
#include "unittests/runtime/client/runtime_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// v = kernel(u), one float on each of `size` devices.
proto::Plan MapPlan(const std::string& name, const std::string& kernel,
                    int64_t base = 0, int64_t size = 4) {
  return KernelPlan({.name = name, .slice = {.shards = size, .base = base}},
                    kernel);
}

// v = u, by way of the next host.
proto::Plan ThereAndBackPlan() {
  return ChainBuilder({.name = "move", .slice = {.shards = 4}})
      .Feed("u")
      .Move("there", {.shards = 4, .base = 2})
      .MoveTo("back", 0)
      .Fetch("v")
      .Finish();
}

// w = u + v, where u and v lie on the devices from `first` and `second` on.
proto::Plan SumPlan(int64_t first, int64_t second, int64_t size = 2) {
  PlanBuilder b("sum", 2);
  const uint32_t s = b.AddSlice("s", {{"x", size}}, 0, first);
  const uint32_t t = b.AddSlice("t", {{"x", size}}, 0, second);
  const uint32_t u = b.AddBuffer("u", s, Rows({size}), 2);
  const uint32_t v = b.AddBuffer("v", t, Rows({size}), 2);
  const uint32_t here = b.AddBuffer("here", s, Rows({size}), 2);
  const uint32_t w = b.AddBuffer("w", s, Rows({size}), 2);
  b.AddFeed("u", u);
  b.AddFeed("v", v);
  b.AddMove("bring", v, here);
  AddRun(b, b.AddGang("add", s, {u, here}, {w}), "add1");
  b.AddFetch("w", w);
  return b.Finish();
}

// Launches `program` on `array`, which it releases, and returns its result,
// without waiting for anything.
ArrayHandle Next(Client& runtime, ProgramHandle program, ArrayHandle array) {
  const absl::StatusOr<RunHandle> run = runtime.Launch(program, {array});
  EXPECT_TRUE(run.ok()) << run.status();
  const absl::StatusOr<ArrayHandle> out = runtime.Keep(*run, 0);
  EXPECT_TRUE(out.ok()) << out.status();
  EXPECT_TRUE(runtime.ReleaseRun(*run).ok());
  EXPECT_TRUE(runtime.Release(array).ok());
  return *out;
}

std::atomic<int> holding{0};
std::atomic<bool> hold_open{false};
int32_t HoldWorker(void* const*, const int32_t*, void*, uint64_t) {
  ++holding;
  while (!hold_open) std::this_thread::yield();
  return 0;
}

// Keeps both workers busy until Open, so that nothing comes of what a client
// asks for meanwhile. In a simulation nothing happens before a client waits.
class Hold {
 public:
  // `runtime` was started with Kernels().
  Hold(Client& runtime, ClusterOptions::WorldKind world) : runtime_(runtime) {
    holding = 0;
    hold_open = false;
    const ProgramHandle program =
        LoadPlan(runtime, MapPlan("hold", "hold1", /*base=*/0, /*size=*/2));
    run_ = LaunchPlan(runtime, program, {Floats({2}, {0, 0})});
    while (world == ClusterOptions::kThreads && holding < 2 &&
           !::testing::Test::HasFailure()) {
      std::this_thread::yield();
    }
  }
  ~Hold() { hold_open = true; }
  void Open() {
    hold_open = true;
    EXPECT_TRUE(runtime_.Await(run_).ok());
  }
  static TestKernels* Kernels() {
    static TestKernels* kernels = [] {
      auto* k = new TestKernels(testing::Kernels());
      k->functions["hold1"] = HoldWorker;
      return k;
    }();
    return kernels;
  }

 private:
  Client& runtime_;
  RunHandle run_;
};

// Loses the first piece that is sent to another host, so that the program that
// sends it is given up.
void LoseAPiece(ClusterOptions& options) {
  auto lost = std::make_shared<std::atomic<bool>>(false);
  options.stall_timeout_ns = 200'000'000;
  options.fault_hook = [lost](ActorId, ActorId, const WireMessage& message) {
    const bool drop = message.kind == kPieceMessage && !lost->exchange(true);
    return drop ? Fault::Drop() : Fault::Deliver();
  };
}

uint64_t HeldBytes(TestCluster& runtime) {
  runtime.Reconnect();
  const ClusterStats stats = StatsOf(*runtime);
  uint64_t bytes = stats.object_bytes;
  for (const auto& host : stats.hosts) bytes += host.memory_used_bytes;
  return bytes;
}

class ChainTest : public ::testing::TestWithParam<ClusterOptions::WorldKind> {
 protected:
  ClusterOptions Options() {
    ClusterOptions options;
    options.world = GetParam();
    options.seed = 3;
    options.kernels = Hold::Kernels();
    return options;
  }
};
INSTANTIATE_TEST_SUITE_P(Worlds, ChainTest, BothWorlds(), WorldName);

// More launches than may be open at once, of programs that share devices.
TEST_P(ChainTest, LaunchesFollowEachOther) {
  for (const char* topology : {"1x1x4", "1x2x2", "1x4x1", "2x2x2"}) {
    SCOPED_TRACE(topology);
    auto runtime = Start(topology, Options());
    const ProgramHandle add = LoadPlan(*runtime, MapPlan("add", "add_one1"));
    const ProgramHandle half = LoadPlan(*runtime, MapPlan("half", "half1"));
    ArrayHandle array = *runtime->Put(Floats({4}, {1, 2, 3, 4}));
    std::vector<float> expected = {1, 2, 3, 4};
    for (size_t i = 0; i < 2 * kMaxLaunches; ++i) {
      array = Next(*runtime, i % 3 ? add : half, array);
      for (float& value : expected) value = i % 3 ? value + 1 : value / 2;
    }
    EXPECT_EQ(Values(*runtime->Get(array)), expected);
    EXPECT_TRUE(runtime->Release(array).ok());
    EXPECT_EQ(HeldBytes(runtime), 0u);
  }
}

// An array that lies elsewhere than the next program wants it is waited for.
TEST_P(ChainTest, ArraysMoveWhenTheyAreThere) {
  auto runtime = Start("1x4x2", Options());
  const ProgramHandle here = LoadPlan(*runtime, MapPlan("here", "add_one1"));
  const ProgramHandle there =
      LoadPlan(*runtime, MapPlan("there", "twice1", /*base=*/3));
  ArrayHandle array = *runtime->Put(Floats({4}, {0, 1, 2, 3}));
  for (int i = 0; i < 3; ++i) {
    array = Next(*runtime, there, Next(*runtime, here, array));
  }
  EXPECT_THAT(Values(*runtime->Get(array)), ElementsAre(14, 22, 30, 38));
  EXPECT_EQ(HeldBytes(runtime), 0u);
}

TEST_P(ChainTest, AFailureReachesWhatFollows) {
  auto runtime = Start("1x2x2", Options());
  const ProgramHandle check = LoadPlan(*runtime, MapPlan("check", "check1"));
  const ProgramHandle add = LoadPlan(*runtime, MapPlan("add", "add_one1"));
  Hold hold(*runtime, GetParam());
  const RunHandle bad =
      LaunchPlan(*runtime, check, {Floats({4}, {1, 2, -3, 4})});
  const ArrayHandle poisoned = *runtime->Keep(bad, 0);
  const RunHandle next = *runtime->Launch(add, {poisoned}, 2);
  const ArrayHandle later = *runtime->Keep(next, 0);
  const RunHandle last = *runtime->Launch(check, {later});
  const RunHandle good = LaunchPlan(*runtime, add, {Floats({4}, {1, 2, 3, 4})});
  hold.Open();
  const absl::Status cause = runtime->Await(bad);
  EXPECT_THAT(
      std::string(cause.message()),
      HasSubstr("'check1' of program 'check' failed at step 0 on shard 2"))
      << cause;
  EXPECT_EQ(runtime->Await(last), cause);
  EXPECT_EQ(runtime->Await(next), cause);
  EXPECT_EQ(runtime->Fetch(last, 0).status(), cause);
  EXPECT_EQ(runtime->Get(later).status(), cause);
  const ArrayHandle late = *runtime->Keep(bad, 0);
  EXPECT_EQ(runtime->Get(late).status(), cause);
  EXPECT_EQ(runtime->Await(*runtime->Launch(add, {poisoned})), cause);
  EXPECT_EQ(runtime->Await(*runtime->Launch(add, {late}, 2)), cause);
  EXPECT_THAT(FetchValues(*runtime, good, "v"), ElementsAre(2, 3, 4, 5));
  EXPECT_EQ(HeldBytes(runtime), 0u);
}

// w = u and z = v, where u lies on the devices from `first` on, v on others.
proto::Plan PairPlan(int64_t first) {
  return ChainBuilder({.name = "pair", .slice = {.shards = 4, .base = first}})
      .Feed("u")
      .Fetch("u")
      .Feed("v")
      .Fetch("v")
      .Finish();
}

// A run fails, and another one takes its result before that is known, when it
// is, and when the result would have to go elsewhere: each is told the same,
// and has what does not depend on it.
TEST_P(ChainTest, WhoComesLateIsToldWhatWhoCameEarlyIs) {
  auto runtime = Start("1x4x2", Options());
  const ProgramHandle check = LoadPlan(*runtime, MapPlan("check", "check1"));
  const ProgramHandle here = LoadPlan(*runtime, PairPlan(0));
  const ProgramHandle there = LoadPlan(*runtime, PairPlan(3));
  const ArrayHandle good = *runtime->Put(Floats({4}, {1, 2, 3, 4}));
  Hold hold(*runtime, GetParam());
  const RunHandle bad =
      LaunchPlan(*runtime, check, {Floats({4}, {1, 2, -3, 4})});
  const ArrayHandle kept = *runtime->Keep(bad, 0);
  std::vector<RunHandle> runs = {*runtime->Launch(here, {kept, good})};
  hold.Open();
  const absl::Status cause = runtime->Await(bad);
  EXPECT_THAT(std::string(cause.message()), HasSubstr("failed at step 0"));
  const ArrayHandle late = *runtime->Keep(bad, 0);
  for (ProgramHandle program : {here, there}) {
    for (ArrayHandle array : {kept, late}) {
      runs.push_back(*runtime->Launch(program, {array, good}));
    }
  }
  // And on from there.
  runs.push_back(
      *runtime->Launch(here, {*runtime->Keep(runs.back(), 0), good}));
  for (RunHandle run : runs) {
    EXPECT_EQ(runtime->Await(run), cause);
    EXPECT_EQ(runtime->Fetch(run, "u").status(), cause);
    EXPECT_THAT(FetchValues(*runtime, run, "v"), ElementsAre(1, 2, 3, 4));
  }
  EXPECT_EQ(HeldBytes(runtime), 0u);
}

TEST_P(ChainTest, WhatIsRefusedRefusesWhatFollows) {
  proto::Cluster cluster = MakeCluster("1x2x2");
  // Each array has 8 bytes: there is room for an argument, but for no result
  // beside it.
  cluster.mutable_islands(0)->mutable_hosts(1)->set_memory_bytes(4000);
  ClusterOptions options = Options();
  options.workers = 2;
  auto runtime = StartOn(cluster, options);
  const ProgramHandle add = LoadPlan(*runtime, MapPlan("add", "add_one1"));
  const ProgramHandle large =
      LoadPlan(*runtime, ChainBuilder({.name = "large", .slice = {.shards = 4}})
                             .Feed("u")
                             .Fetch("u")
                             .Feed("w", /*stepped=*/false, Rows({1200}))
                             .Fetch("w")
                             .Finish());
  const HostArray small = Floats({4}, {1, 2, 3, 4});
  Hold hold(*runtime, GetParam());
  const RunHandle refused = LaunchPlan(
      *runtime, large, {small, Floats({1200}, std::vector<float>(1200))});
  const ArrayHandle never = *runtime->Keep(refused, 0);
  const RunHandle next = *runtime->Launch(add, {never});
  const ArrayHandle later = *runtime->Keep(next, 0);
  const RunHandle last = *runtime->Launch(add, {later});
  const RunHandle good = LaunchPlan(*runtime, add, {small});
  hold.Open();
  const absl::Status cause = runtime->Await(refused);
  EXPECT_EQ(cause.code(), absl::StatusCode::kResourceExhausted) << cause;
  EXPECT_EQ(runtime->Await(next), cause);
  EXPECT_EQ(runtime->Await(last), cause);
  EXPECT_EQ(runtime->Get(later).status(), cause);
  EXPECT_EQ(runtime->Await(*runtime->Launch(add, {never})), cause);
  const ArrayHandle late = *runtime->Keep(refused, 0);
  EXPECT_EQ(runtime->Await(*runtime->Launch(add, {late})), cause);
  EXPECT_THAT(FetchValues(*runtime, good, "v"), ElementsAre(2, 3, 4, 5));
  EXPECT_EQ(HeldBytes(runtime), 0u);
}

// A launch that is given up poisons what waits for it; others behind it go on.
TEST_P(ChainTest, WhatIsGivenUpIsTheCauseOfWhatFollows) {
  ClusterOptions options = Options();
  LoseAPiece(options);
  auto runtime = StartTurned("1x3x2", options);
  const ProgramHandle move = LoadPlan(*runtime, ThereAndBackPlan());
  const ProgramHandle add = LoadPlan(*runtime, MapPlan("add", "add_one1"));
  const ProgramHandle other =
      LoadPlan(*runtime, MapPlan("other", "twice1", /*base=*/1));
  const HostArray value = Floats({4}, {1, 2, 3, 4});
  const RunHandle stuck = LaunchPlan(*runtime, move, {value});
  const ArrayHandle moved = *runtime->Keep(stuck, 0);
  const RunHandle next = *runtime->Launch(add, {moved});
  const RunHandle good = LaunchPlan(*runtime, other, {value});
  const absl::Status cause = runtime->Await(stuck);
  EXPECT_THAT(
      std::string(cause.message()),
      ::testing::ContainsRegex("program 'move' is stalled: '(there|back)"));
  EXPECT_EQ(runtime->Await(next), cause);
  for (ArrayHandle array : {moved, *runtime->Keep(stuck, 0)}) {
    EXPECT_EQ(runtime->Await(*runtime->Launch(add, {array})), cause);
  }
  EXPECT_THAT(FetchValues(*runtime, good, "v"), ElementsAre(2, 4, 6, 8));
  const RunHandle after = LaunchPlan(*runtime, add, {value});
  EXPECT_THAT(FetchValues(*runtime, after, "v"), ElementsAre(2, 3, 4, 5));
  EXPECT_EQ(HeldBytes(runtime), 0u);
}

// One array for two arguments, which lie on the same devices or not.
TEST_P(ChainTest, AnArrayIsTwoArguments) {
  for (int64_t second : {0, 2}) {
    SCOPED_TRACE(second);
    auto runtime = Start("1x2x2", Options());
    const ProgramHandle sum = LoadPlan(*runtime, SumPlan(0, second));
    ArrayHandle array = *runtime->Put(Floats({2}, {1, 2}));
    for (int i = 0; i < 3; ++i) {
      const RunHandle run = *runtime->Launch(sum, {array, array});
      EXPECT_TRUE(runtime->Release(array).ok());
      array = *runtime->Keep(run, 0);
      EXPECT_TRUE(runtime->ReleaseRun(run).ok());
    }
    const absl::StatusOr<HostArray> value = runtime->Get(array);
    ASSERT_TRUE(value.ok()) << value.status();
    EXPECT_THAT(Values(*value), ElementsAre(8, 16));
    EXPECT_TRUE(runtime->Release(array).ok());
    EXPECT_EQ(HeldBytes(runtime), 0u);
  }
}

// An array that goes to other devices while a launch waits for its next one.
TEST_P(ChainTest, AnArrayMovesWhileALaunchWaits) {
  auto runtime = Start("1x3x2", Options());
  const ProgramHandle add = LoadPlan(*runtime, MapPlan("add", "add_one1"));
  const ProgramHandle sum = LoadPlan(*runtime, SumPlan(2, 2, 4));
  const ArrayHandle array = *runtime->Put(Floats({4}, {1, 2, 3, 4}));
  const RunHandle run = *runtime->Launch(add, {array});
  const ArrayHandle next = *runtime->Keep(run, 0);
  const absl::StatusOr<RunHandle> both = runtime->Launch(sum, {array, next});
  ASSERT_TRUE(both.ok()) << both.status();
  EXPECT_THAT(FetchValues(*runtime, *both, "w"), ElementsAre(3, 5, 7, 9));
  EXPECT_EQ(HeldBytes(runtime), 0u);
}

TEST_P(ChainTest, ShutdownEndsWhatIsNotThereYet) {
  for (int launches = 1; launches <= 20; ++launches) {
    auto runtime = Start("1x3x2", Options());
    const ProgramHandle move = LoadPlan(*runtime, ThereAndBackPlan());
    ArrayHandle array = *runtime->Put(Floats({4}, {1, 2, 3, 4}));
    for (int i = 0; i < launches; ++i) array = Next(*runtime, move, array);
    runtime.Shutdown();
    const absl::Status got = runtime->Get(array).status();
    EXPECT_TRUE(absl::IsCancelled(got)) << got;
    const absl::StatusOr<RunHandle> late = runtime->Launch(move, {array});
    ASSERT_TRUE(late.ok()) << late.status();
    const absl::Status ended = runtime->Await(*late);
    EXPECT_TRUE(absl::IsCancelled(ended)) << ended;
  }
}

// A launch of a program that was given up is refused, and so is what follows.
TEST_P(ChainTest, WhatAskedABrokenProgramIsTheCauseOfWhatFollows) {
  ClusterOptions options = Options();
  LoseAPiece(options);
  auto runtime = StartTurned("1x3x2", options);
  const ProgramHandle move = LoadPlan(*runtime, ThereAndBackPlan());
  const ProgramHandle add = LoadPlan(*runtime, MapPlan("add", "add_one1"));
  const HostArray value = Floats({4}, {1, 2, 3, 4});
  EXPECT_FALSE(runtime->Await(LaunchPlan(*runtime, move, {value})).ok());
  Hold hold(*runtime, GetParam());
  const RunHandle refused = LaunchPlan(*runtime, move, {value});
  const ArrayHandle never = *runtime->Keep(refused, 0);
  const RunHandle next = *runtime->Launch(add, {never});
  const ArrayHandle later = *runtime->Keep(next, 0);
  const RunHandle last = *runtime->Launch(add, {later});
  hold.Open();
  const absl::Status cause = runtime->Await(refused);
  EXPECT_THAT(std::string(cause.message()), HasSubstr("'move' was given up"));
  EXPECT_EQ(runtime->Await(next), cause);
  EXPECT_EQ(runtime->Await(last), cause);
  EXPECT_EQ(runtime->Await(*runtime->Launch(add, {never})), cause);
  EXPECT_EQ(HeldBytes(runtime), 0u);
}

TEST(ChainFaultTest, DoubledAndOvertakingMessagesChangeNothing) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    ClusterOptions options = Sim(seed);
    options.duplicate_probability = 0.3;
    options.reorder_probability = 0.3;
    auto runtime = Start("1x3x2", options);
    const ProgramHandle add = LoadPlan(*runtime, MapPlan("add", "add_one1"));
    const ProgramHandle check = LoadPlan(*runtime, MapPlan("check", "check1"));
    const ProgramHandle move = LoadPlan(*runtime, ThereAndBackPlan());
    ArrayHandle good = *runtime->Put(Floats({4}, {1, 2, 3, 4}));
    ArrayHandle bad = *runtime->Put(Floats({4}, {1, 2, -9, -9}));
    for (int i = 0; i < 4; ++i) {
      for (ProgramHandle program : {add, move, check}) {
        good = Next(*runtime, program, good);
        bad = Next(*runtime, program, bad);
      }
    }
    EXPECT_THAT(Values(*runtime->Get(good)), ElementsAre(5, 6, 7, 8));
    EXPECT_THAT(std::string(runtime->Get(bad).status().message()),
                HasSubstr("program 'check' failed at step 0 on shard 2"));
    EXPECT_EQ(HeldBytes(runtime), 0u);
  }
}

// A program is given up while hosts hold grants of its later launches, and what
// says so comes in any order.
TEST(ChainFaultTest, WhatIsHeldIsGivenUpToo) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    ClusterOptions options = Sim(seed);
    options.reorder_probability = 0.5;
    LoseAPiece(options);
    auto runtime = StartTurned("1x3x2", options);
    const ProgramHandle move = LoadPlan(*runtime, ThereAndBackPlan());
    ArrayHandle array = *runtime->Put(Floats({4}, {1, 2, 3, 4}));
    std::vector<RunHandle> runs;
    for (int i = 0; i < 5; ++i) {
      runs.push_back(*runtime->Launch(move, {array}));
      array = *runtime->Keep(runs.back(), 0);
    }
    for (RunHandle run : runs) {
      EXPECT_EQ(runtime->Await(run).code(),
                absl::StatusCode::kDeadlineExceeded);
    }
    EXPECT_EQ(HeldBytes(runtime), 0u);
  }
}

// Random launches on random arrays, of which some fail; every third time a
// message is lost, and programs are given up.
class RandomChain {
 public:
  RandomChain(ClusterOptions::WorldKind world, uint64_t seed)
      : random_(seed),
        lossy_(seed % 3 == 0),
        waits_(lossy_ || world == ClusterOptions::kThreads),
        runtime_(StartTurned("1x3x2", Options(world, seed))) {
    plans_ = {MapPlan("add", "add_one1"), MapPlan("there", "twice1", 2),
              MapPlan("check", "check1"), ThereAndBackPlan(),
              SumPlan(0, 0, 4),           SumPlan(0, 2, 4)};
    for (const proto::Plan& plan : plans_) {
      programs_.push_back(LoadPlan(*runtime_, plan));
    }
  }

  void Run() {
    for (int i = 0; i < 80; ++i) Act();
    while (!arrays_.empty()) Check(/*release=*/true);
    for (RunHandle run : runs_) {
      const absl::Status status = runtime_->Await(run);
      EXPECT_FALSE(absl::IsDeadlineExceeded(status) && !lossy_) << status;
      EXPECT_TRUE(runtime_->ReleaseRun(run).ok());
    }
    EXPECT_EQ(HeldBytes(runtime_), 0u);
  }

 private:
  struct Known {
    ArrayHandle array;
    std::vector<float> values;
    bool good;
  };

  int Below(int n) { return static_cast<int>(random_() % n); }

  ClusterOptions Options(ClusterOptions::WorldKind world, uint64_t seed) {
    ClusterOptions options = Sim(seed);
    if (world == ClusterOptions::kSim) {
      options.duplicate_probability = 0.2;
      options.reorder_probability = 0.2;
    }
    options.world = world;
    options.stall_timeout_ns = 20'000'000;
    if (seed % 2 == 0) options.dispatch = ClusterOptions::kSequential;
    if (seed % 5 == 0) options.host_work_ns = 3000;
    if (lossy_) {
      auto left = std::make_shared<std::atomic<int>>(Below(20));
      options.fault_hook = [left](ActorId, ActorId, const WireMessage&) {
        const bool drop = (*left)-- == 0;
        return drop ? Fault::Drop() : Fault::Deliver();
      };
    }
    return options;
  }

  void Act() {
    const int what = Below(10);
    if (arrays_.empty() || what == 0) {
      std::vector<float> values(4);
      for (float& v : values) v = static_cast<float>(Below(20) - 1);
      arrays_.push_back({*runtime_->Put(Floats({4}, values)), values, true});
    } else if (what <= 6) {
      Launch(Below(static_cast<int>(programs_.size())));
    } else if (what == 7) {
      Check(/*release=*/Below(2) == 0);
    } else if (what == 8) {
      const size_t at = Below(static_cast<int>(arrays_.size()));
      EXPECT_TRUE(runtime_->Release(arrays_[at].array).ok());
      arrays_.erase(arrays_.begin() + at);
    } else {
      const int program = Below(static_cast<int>(programs_.size()));
      // Refused while it runs.
      if (runtime_->Unload(programs_[program]).ok()) {
        programs_[program] = LoadPlan(*runtime_, plans_[program]);
      }
    }
  }

  void Launch(int program) {
    const Known first = arrays_[Below(static_cast<int>(arrays_.size()))];
    const Known second = arrays_[Below(static_cast<int>(arrays_.size()))];
    Known out = first;
    LaunchArguments arguments = {first.array};
    for (size_t i = 0; i < out.values.size(); ++i) {
      float& v = out.values[i];
      if (program == 0) v += 1;
      if (program == 1) v *= 2;
      if (program == 2) out.good &= v >= 0;
      if (program >= 4) v += second.values[i];
    }
    if (program >= 4) {
      arguments.push_back(second.array);
      out.good &= second.good;
    }
    const absl::StatusOr<RunHandle> run =
        runtime_->Launch(programs_[program], arguments);
    if (!run.ok()) {  // values that it would bring did not come
      EXPECT_TRUE(lossy_) << run.status();
      return;
    }
    const absl::StatusOr<ArrayHandle> kept = runtime_->Keep(*run, 0);
    ASSERT_TRUE(kept.ok()) << kept.status();
    out.array = *kept;
    arrays_.push_back(out);
    if (!waits_ && Below(2) == 0) {
      EXPECT_TRUE(runtime_->ReleaseRun(*run).ok());
    } else {
      runs_.push_back(*run);
    }
  }

  void Check(bool release) {
    const size_t at = Below(static_cast<int>(arrays_.size()));
    const Known known = arrays_[at];
    const absl::StatusOr<HostArray> value = runtime_->Get(known.array);
    EXPECT_TRUE(value.ok() ? known.good : lossy_ || !known.good)
        << value.status();
    if (value.ok()) EXPECT_EQ(Values(*value), known.values);
    if (!release) return;
    EXPECT_TRUE(runtime_->Release(known.array).ok());
    arrays_.erase(arrays_.begin() + at);
  }

  std::mt19937_64 random_;
  const bool lossy_;
  // True if the test keeps all runs and waits for them at the end. A simulation
  // shows only then that a run is stuck; on threads the run may still be busy.
  const bool waits_;
  TestCluster runtime_;
  std::vector<proto::Plan> plans_;
  std::vector<ProgramHandle> programs_;
  std::vector<RunHandle> runs_;
  std::vector<Known> arrays_;
};

TEST_P(ChainTest, RandomLaunchesHaveTheirValuesAndLeaveNothing) {
  const uint64_t seeds = GetParam() == ClusterOptions::kSim ? 300 : 30;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomChain(GetParam(), seed).Run();
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace pathways::testing

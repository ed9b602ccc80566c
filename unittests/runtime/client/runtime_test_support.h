//===- runtime_test_support.h - Plans with C++ kernels ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_CLIENT_RUNTIME_TEST_SUPPORT_H_
#define UNITTESTS_RUNTIME_CLIENT_RUNTIME_TEST_SUPPORT_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/binding/kernel_resolver.h"
#include "runtime/cluster/cluster.h"
#include "runtime/device/testing/late_backend.h"
#include "runtime/plan/plan_builder.h"
#include "runtime/plan/tables.h"
#include "runtime/plan/testing/test_plans.h"
#include "runtime/topology/topology.h"
#include "unittests/runtime/client/clock_turner.h"
#include "unittests/runtime/test_timeout.h"

namespace pathways::testing {

// For suites that run in each world: INSTANTIATE_TEST_SUITE_P(Worlds, SomeTest,
// BothWorlds(), WorldName). Under TSan they run on threads only, because a
// simulation runs on one thread and cannot have a race.
inline auto BothWorlds() {
#ifdef PATHWAYS_THREAD_SANITIZED
  return ::testing::Values(ClusterOptions::kThreads);
#else
  return ::testing::Values(ClusterOptions::kSim, ClusterOptions::kThreads);
#endif
}
inline std::string WorldName(
    const ::testing::TestParamInfo<ClusterOptions::WorldKind>& info) {
  return info.param == ClusterOptions::kSim ? "Sim" : "Threads";
}
// Base of tests for which one seed is enough.
class InWorldTest : public ::testing::TestWithParam<ClusterOptions::WorldKind> {
 protected:
  static ClusterOptions Options() {
    ClusterOptions options;
    options.world = GetParam();
    options.seed = 3;
    return options;
  }
};

// Kernels by name, one segment each.
class TestKernels final : public KernelResolver {
 public:
  std::map<std::string, KernelFunction> functions;
  absl::StatusOr<ResolvedKernel> Resolve(const proto::Kernel& kernel,
                                         absl::Span<const uint8_t>,
                                         const proto::Target&) override {
    auto found = functions.find(kernel.name());
    if (found == functions.end()) {
      return absl::FailedPreconditionError("no kernel " + kernel.name());
    }
    return ResolvedKernel{
        std::vector<KernelFunction>(kernel.segments_size(), found->second),
        nullptr};
  }
};

// Kernels on N floats per shard: result[i] = f(operand[i]).
template <int N, typename F>
int32_t Map(void* const* buffers, F f) {
  const float* in = static_cast<const float*>(buffers[0]);
  float* out = static_cast<float*>(buffers[1]);
  for (int i = 0; i < N; ++i) out[i] = f(in[i]);
  return 0;
}
template <int N>
int32_t Twice(void* const* buffers, const int32_t*, void*, uint64_t) {
  return Map<N>(buffers, [](float v) { return 2 * v; });
}
template <int N>
int32_t AddOne(void* const* buffers, const int32_t*, void*, uint64_t) {
  return Map<N>(buffers, [](float v) { return v + 1; });
}
template <int N>
int32_t Half(void* const* buffers, const int32_t*, void*, uint64_t) {
  return Map<N>(buffers, [](float v) { return v / 2; });
}
// Fails where an element is negative.
template <int N>
int32_t Check(void* const* buffers, const int32_t*, void*, uint64_t) {
  const float* in = static_cast<const float*>(buffers[0]);
  for (int i = 0; i < N; ++i) {
    if (in[i] < 0) return 1;
  }
  return Map<N>(buffers, [](float v) { return v; });
}
template <int N>
int32_t Add(void* const* buffers, const int32_t*, void*, uint64_t) {
  for (int i = 0; i < N; ++i) {
    static_cast<float*>(buffers[2])[i] =
        static_cast<float*>(buffers[0])[i] + static_cast<float*>(buffers[1])[i];
  }
  return 0;
}

// The sum of two arrays and the number of the step.
template <int N>
int32_t AddStep(void* const* buffers, const int32_t* coordinates, void* scratch,
                uint64_t step) {
  (void)Add<N>(buffers, coordinates, scratch, step);
  for (int i = 0; i < N; ++i) {
    static_cast<float*>(buffers[2])[i] += static_cast<float>(step);
  }
  return 0;
}

inline proto::Cluster MakeCluster(const std::string& spec) {
  absl::StatusOr<proto::Cluster> cluster = ReadTopology(spec);
  EXPECT_TRUE(cluster.ok()) << cluster.status();
  return *std::move(cluster);
}

inline HostArray Floats(std::vector<int64_t> shape,
                        const std::vector<float>& values) {
  HostArray array;
  array.element = ElementType::kF32;
  array.shape = std::move(shape);
  array.data.resize(values.size() * 4);
  std::copy_n(reinterpret_cast<const char*>(values.data()), array.data.size(),
              array.data.data());
  return array;
}
inline std::vector<float> Values(const HostArray& array) {
  std::vector<float> values(array.data.size() / 4);
  std::copy_n(array.data.data(), array.data.size(),
              reinterpret_cast<char*>(values.data()));
  return values;
}
inline std::vector<float> Ramp(int64_t count, float first = 1) {
  std::vector<float> values(count);
  for (int64_t i = 0; i < count; ++i) values[i] = first + i;
  return values;
}

inline TestKernels& Kernels() {
  static TestKernels* kernels = [] {
    auto* k = new TestKernels;
    k->functions = {{"twice0", Twice<0>},      {"twice1", Twice<1>},
                    {"add_one1", AddOne<1>},   {"half1", Half<1>},
                    {"check1", Check<1>},      {"add1", Add<1>},
                    {"add_step1", AddStep<1>}, {"twice8", Twice<8>},
                    {"add8", Add<8>},          {"add_one8", AddOne<8>}};
    return k;
  }();
  return *kernels;
}

// A cluster and its first client, which is what `*` and `->` are of.
class TestCluster {
 public:
  TestCluster(const proto::Cluster& cluster, const ClusterOptions& options) {
    Make(cluster, options, {});
  }
  // On threads, of a clock that a ClockTurner turns.
  static TestCluster Turned(const proto::Cluster& cluster,
                            ClusterOptions options) {
    TestCluster turned;
    if (options.world != ClusterOptions::kThreads) {
      turned.Make(cluster, options, {});
      return turned;
    }
    auto clock = std::make_shared<ManualClock>();
    options.clock = clock;
    const Topology topology = *Topology::Create(cluster);
    const ThreadWorld* threads = nullptr;
    ProcessPart part;
    part.make_world = [&](WorldListeners listeners) {
      auto world = MakeWorld(topology, options, std::move(listeners));
      if (world.ok()) threads = world->threads;
      return world;
    };
    turned.Make(cluster, options, part);
    turned.turner_ = std::make_unique<ClockTurner>(threads, std::move(clock));
    return turned;
  }

  Client& operator*() { return *client_; }
  Client* operator->() { return client_.get(); }
  Cluster& cluster() { return *cluster_; }
  std::unique_ptr<Client> Connect(const std::string& name,
                                  const ClientOptions& how = {}) {
    absl::StatusOr<std::unique_ptr<Client>> client =
        cluster_->Connect(name, how);
    EXPECT_TRUE(client.ok()) << client.status();
    return *std::move(client);
  }
  // Closes the first client, and waits until all that it had is given back.
  void Reconnect() {
    client_->Close();
    client_ = Connect("client0");
  }
  void Shutdown() { cluster_->Shutdown(); }
  void reset() {
    client_.reset();
    turner_.reset();
    cluster_.reset();
  }

 private:
  TestCluster() = default;
  void Make(const proto::Cluster& cluster, const ClusterOptions& options,
            const ProcessPart& part) {
    absl::StatusOr<std::unique_ptr<Cluster>> made =
        Cluster::Create(cluster, options, part);
    EXPECT_TRUE(made.ok()) << made.status();
    cluster_ = *std::move(made);
    client_ = Connect("client0");
  }

  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<ClockTurner> turner_;  // a client that closes may need it
  std::unique_ptr<Client> client_;       // goes first
};

// Returns `options` with the tests' defaults for options that they leave out.
// With PATHWAYS_TEST_LATE_DEVICES in the environment devices are late.
inline ClusterOptions WithTestDefaults(ClusterOptions options) {
  if (options.run_kernels && std::getenv("PATHWAYS_TEST_LATE_DEVICES")) {
    options.backends = &LateBackends();
  }
  if (options.kernels == nullptr) options.kernels = &Kernels();
  if (options.world == ClusterOptions::kThreads && options.workers == 0) {
    options.workers = 2;
  }
  return options;
}
// Nothing stalls where threads use the machine's clock.
inline TestCluster StartOn(const proto::Cluster& cluster,
                           ClusterOptions options = {}) {
  if (options.world == ClusterOptions::kThreads && options.clock == nullptr) {
    EXPECT_GE(options.stall_timeout_ns, ClusterOptions().stall_timeout_ns)
        << "a slow machine takes longer; use StartTurned";
    options.stall_timeout_ns = kTestTimeoutNs;
  }
  return TestCluster(cluster, WithTestDefaults(std::move(options)));
}
inline TestCluster Start(const std::string& topology,
                         const ClusterOptions& options = {}) {
  return StartOn(MakeCluster(topology), options);
}
// For tests of what times out, in either world.
inline TestCluster StartTurnedOn(const proto::Cluster& cluster,
                                 const ClusterOptions& options = {}) {
  return TestCluster::Turned(cluster, WithTestDefaults(options));
}
inline TestCluster StartTurned(const std::string& topology,
                               const ClusterOptions& options = {}) {
  return StartTurnedOn(MakeCluster(topology), options);
}

inline ClusterStats StatsOf(Client& client) {
  absl::StatusOr<ClusterStats> stats = client.Stats();
  EXPECT_TRUE(stats.ok()) << stats.status();
  return stats.ok() ? *std::move(stats) : ClusterStats();
}

inline ClusterOptions Sim(uint64_t seed = 1) {
  ClusterOptions options;
  options.world = ClusterOptions::kSim;
  options.seed = seed;
  // Devices by themselves, all of a host together, or in two cohorts.
  options.workers = static_cast<int>((seed + 2) % 3);
  return options;
}

inline ProgramHandle LoadPlan(Client& runtime, proto::Plan plan) {
  absl::StatusOr<ProgramHandle> program =
      runtime.Load(MakePlanData(std::move(plan), {}));
  EXPECT_TRUE(program.ok()) << program.status();
  return program.ok() ? *program : ProgramHandle{};
}

inline RunHandle LaunchPlan(Client& runtime, ProgramHandle program,
                            std::vector<HostArray> arguments,
                            int64_t steps = 1) {
  LaunchArguments values;
  for (HostArray& a : arguments) values.emplace_back(std::move(a));
  absl::StatusOr<RunHandle> run =
      runtime.Launch(program, std::move(values), steps);
  EXPECT_TRUE(run.ok()) << run.status();
  return run.ok() ? *run : RunHandle{};
}

inline std::vector<float> FetchValues(Client& runtime, RunHandle run,
                                      const std::string& result) {
  absl::StatusOr<HostArray> array = runtime.Fetch(run, result);
  EXPECT_TRUE(array.ok()) << array.status();
  return array.ok() ? Values(*array) : std::vector<float>{};
}

// The example of the Pathways paper: x = a(v), y = b(x), z = a(c(x)) with
// a(v) = 2v, b(v) = v + 1, c(v) = v / 2 on three slices of two devices.
inline proto::Plan GoldenPlan(
    const std::vector<std::pair<uint32_t, int64_t>>& island_and_base) {
  PlanBuilder b("golden", 3);
  const layout::Layout rows = Rows({2});
  uint32_t s[3];
  for (int i = 0; i < 3; ++i) {
    s[i] = b.AddSlice(absl::StrCat("s", i), {{"x", 2}},
                      island_and_base[i].first, island_and_base[i].second);
  }
  auto buffer = [&](const char* name, int slice) {
    return b.AddBuffer(name, s[slice], rows, 2);
  };
  const uint32_t v = buffer("v", 0), x = buffer("x", 0), xb = buffer("xb", 1),
                 y = buffer("y", 1), xc = buffer("xc", 2), h = buffer("h", 2),
                 ha = buffer("ha", 0), z = buffer("z", 0);
  b.AddFeed("v", v);
  AddRun(b, b.AddGang("a", s[0], {v}, {x}), "twice1");
  b.AddMove("to_b", x, xb);
  AddRun(b, b.AddGang("b", s[1], {xb}, {y}), "add_one1");
  b.AddMove("to_c", x, xc);
  AddRun(b, b.AddGang("c", s[2], {xc}, {h}), "half1");
  b.AddMove("to_a", h, ha);
  AddRun(b, b.AddGang("a2", s[0], {ha}, {z}), "twice1");
  b.AddFetch("y", y);
  b.AddFetch("z", z);
  return b.Finish();
}

// Slices of the golden plan for "2x2x2", each on a host of its own.
inline const std::vector<std::pair<uint32_t, int64_t>> kThreeHosts = {
    {0, 0}, {0, 2}, {1, 0}};

// Twice loads the golden plan, has three launches of it open at a time, looks
// at their results and unloads it; hosts hold nothing then. Returns how many
// second copies they dropped.
inline uint64_t RunGoldenTwice(Client& runtime) {
  for (int i = 0; i < 2; ++i) {
    const ProgramHandle program = LoadPlan(runtime, GoldenPlan(kThreeHosts));
    std::vector<RunHandle> runs;
    for (int k = 0; k < 3; ++k) {
      runs.push_back(
          LaunchPlan(runtime, program, {Floats({2}, {float(k), 2})}, 10));
    }
    for (int k = 0; k < 3; ++k) {
      EXPECT_THAT(FetchValues(runtime, runs[k], "y"),
                  ::testing::ElementsAre(2 * k + 1, 5));
      EXPECT_THAT(FetchValues(runtime, runs[k], "z"),
                  ::testing::ElementsAre(2 * k, 4));
      EXPECT_TRUE(runtime.ReleaseRun(runs[k]).ok());
    }
    EXPECT_TRUE(runtime.Unload(program).ok());
  }
  uint64_t dropped = 0;
  for (const auto& host : StatsOf(runtime).hosts) {
    dropped += host.duplicates_dropped;
    EXPECT_EQ(host.memory_used_bytes, 0u) << host.name;
  }
  return dropped;
}

}  // namespace pathways::testing

#endif  // UNITTESTS_RUNTIME_CLIENT_RUNTIME_TEST_SUPPORT_H_

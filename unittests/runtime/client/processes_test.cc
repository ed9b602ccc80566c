//===- processes_test.cc - Hosts in processes of their own ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <string>
#include <utility>
#include <vector>

#include "runtime/plan/plan_manifest.h"
#include "unittests/runtime/client/sim_processes.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> HostNames(const ClusterStats& stats) {
  std::vector<std::string> names;
  for (const auto& host : stats.hosts) names.push_back(host.name);
  return names;
}

// Hosts of process 1 come between those of process 0.
TEST(ProcessesTest, AllProcessesTellWhatTheyCount) {
  for (uint32_t client_process : {0u, 1u, 2u}) {
    SCOPED_TRACE(client_process);
    SimProcesses processes(MakeCluster("2x2x2"), {0, 1, 1, 0}, client_process,
                           Sim());
    const ClusterStats stats = StatsOf(*processes);
    EXPECT_THAT(HostNames(stats),
                ElementsAre("host0", "host1", "host2", "host3"));
    EXPECT_EQ(stats.devices.size(), 8u);
  }
}

// The controller and host 0, hosts 1 and 2, host 3; and the client somewhere.
SimProcesses ThreeProcesses(uint32_t client_process, ClusterOptions options) {
  return SimProcesses(MakeCluster("2x2x2"), {0, 1, 1, 2}, client_process,
                      std::move(options));
}

TEST(ProcessesTest, ProgramsRunOverProcesses) {
  for (uint32_t client_process : {0u, 2u, 3u}) {
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      SCOPED_TRACE(absl::StrCat("client ", client_process, ", seed ", seed));
      SimProcesses processes = ThreeProcesses(client_process, Sim(seed));
      RunGoldenTwice(*processes);
    }
  }
}

TEST(ProcessesTest, ALostMessageIsSentAgain) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    ClusterOptions options = Sim(seed);
    options.duplicate_probability = 0.3;
    options.reorder_probability = 0.3;
    options.drop_probability = 0.1;
    options.answer_timeout_ns = 1'000'000'000'000;
    SimProcesses processes = ThreeProcesses(seed % 4, options);
    const ProgramHandle program = LoadPlan(*processes, GoldenPlan(kThreeHosts));
    ASSERT_FALSE(HasFailure());
    EXPECT_TRUE(processes->Unload(program).ok());
  }
}

// The bits are those of one process, whatever message overtakes another.
TEST(ProcessesTest, ResultsAreThoseOfOneProcess) {
  const std::vector<float> in = {0.1f, 0.7f};
  auto run = [&](Client& client) {
    const ProgramHandle program = LoadPlan(client, GoldenPlan(kThreeHosts));
    const RunHandle run = LaunchPlan(client, program, {Floats({2}, in)}, 5);
    std::vector<float> values = FetchValues(client, run, "y");
    for (float z : FetchValues(client, run, "z")) values.push_back(z);
    return values;
  };
  auto one = Start("2x2x2", Sim());
  const std::vector<float> expected = run(*one);
  ASSERT_EQ(expected.size(), 4u);
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    ClusterOptions options = Sim(seed);
    options.duplicate_probability = 0.3;
    options.reorder_probability = 0.3;
    SimProcesses processes = ThreeProcesses(seed % 4, options);
    EXPECT_EQ(run(*processes), expected);
    if (HasFailure()) return;
  }
}

TEST(ProcessesTest, ASecondLoadMovesNothing) {
  for (uint32_t client_process : {0u, 1u, 3u}) {
    SCOPED_TRACE(client_process);
    SimProcesses processes = ThreeProcesses(client_process, Sim());
    const proto::Plan plan = GoldenPlan(kThreeHosts);
    const uint64_t bytes = NameOf(MakePlanData(plan, {}))->bytes;
    const ProgramHandle first = LoadPlan(*processes, plan);
    // Hosts 0 to 2 have shards: processes 0 and 1; the first asks for it when
    // the client is elsewhere.
    const ClusterStats loaded = StatsOf(*processes);
    const uint64_t moves = client_process == 0   ? 1
                           : client_process == 1 ? 1
                                                 : 2;
    EXPECT_EQ(loaded.plan_bytes_received, moves * bytes);
    EXPECT_EQ(loaded.plan_bytes_sent,
              (client_process == 3 ? moves - 1 : moves) * bytes);
    const ProgramHandle second = LoadPlan(*processes, plan);
    EXPECT_TRUE(processes->Unload(first).ok());
    EXPECT_TRUE(processes->Unload(second).ok());
    RunGoldenTwice(*processes);
    EXPECT_EQ(StatsOf(*processes).plan_bytes_received,
              loaded.plan_bytes_received);
  }
}

// Kernels whose objects are the texts "CPU NAME".
class TextKernels final : public KernelResolver {
 public:
  absl::StatusOr<int> Choose(const proto::Kernel& kernel,
                             const proto::Target& target) override {
    for (int i = 0; i < kernel.objects_size(); ++i) {
      if (kernel.objects(i).target().cpu() == target.cpu()) return i;
    }
    return absl::FailedPreconditionError(absl::StrCat(
        "kernel '", kernel.name(), "' has no code for '", target.cpu(), "'"));
  }
  absl::StatusOr<std::string> HashOf(const proto::Kernel& kernel,
                                     absl::Span<const uint8_t>) override {
    return absl::StrCat("ab", kernel.objects_size());
  }
  absl::StatusOr<ResolvedKernel> Resolve(const proto::Kernel& kernel,
                                         absl::Span<const uint8_t> blobs,
                                         const proto::Target& target) override {
    const absl::StatusOr<int> chosen = Choose(kernel, target);
    if (!chosen.ok()) return chosen.status();
    const proto::KernelObject& object = kernel.objects(*chosen);
    const auto bytes = blobs.subspan(object.blob_offset(), object.blob_bytes());
    const std::string wanted = absl::StrCat(target.cpu(), " ", kernel.name());
    if (std::string(bytes.begin(), bytes.end()).substr(0, wanted.size()) !=
        wanted) {
      return absl::InternalError("other code");
    }
    // The code that arrived was chosen.
    if (kernel.hash() == "ab1") ++alone;
    return Kernels().Resolve(kernel, blobs, target);
  }
  int alone = 0;
};

constexpr uint64_t kObjectBytes = 100'000;

// The golden plan with code for two CPUs, "left" and "right".
PlanData CodedPlan() {
  proto::Plan plan = GoldenPlan(kThreeHosts);
  std::string blobs;
  for (proto::Kernel& kernel : *plan.mutable_kernels()) {
    for (const std::string cpu : {"left", "right"}) {
      blobs.resize((blobs.size() + 63) / 64 * 64);
      proto::KernelObject* object = kernel.add_objects();
      object->mutable_target()->set_cpu(cpu);
      object->set_blob_offset(blobs.size());
      object->set_blob_bytes(kObjectBytes);
      std::string text = absl::StrCat(cpu, " ", kernel.name());
      text.resize(kObjectBytes, '.');
      blobs += text;
    }
  }
  return MakePlanData(
      std::move(plan),
      absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(blobs.data()),
                          blobs.size()));
}

// Islands with CPUs of their own.
proto::Cluster TwoCpus(const std::string& left, const std::string& right) {
  proto::Cluster cluster = MakeCluster("2x2x2");
  for (int i = 0; i < 2; ++i) {
    for (proto::Host& host : *cluster.mutable_islands(i)->mutable_hosts()) {
      for (proto::Device& device : *host.mutable_devices()) {
        device.mutable_target()->set_cpu(i == 0 ? left : right);
      }
    }
  }
  return cluster;
}

// The golden plan runs 'twice1' on host 0, 'add_one1' on host 1 and 'half1' on
// host 2, which is of the other island.
TEST(ProcessesTest, AProcessIsSentCodeForItsOwnCpuOnly) {
  TextKernels kernels;
  ClusterOptions options = Sim();
  options.kernels = &kernels;
  SimProcesses processes(TwoCpus("left", "right"), {1, 2, 3, 3},
                         /*client_process=*/4, options);
  const PlanData plan = CodedPlan();
  const absl::StatusOr<ProgramHandle> program = processes->Load(plan);
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(kernels.alone, 3);
  // All to the controller, and an object to each process.
  const uint64_t all = NameOf(plan)->bytes;
  const uint64_t head = all - 6 * kObjectBytes;
  EXPECT_EQ(StatsOf(*processes).plan_bytes_received,
            all + 3 * (head + kObjectBytes));
  const RunHandle run =
      LaunchPlan(*processes, *program, {Floats({2}, {1, 2})}, 3);
  EXPECT_THAT(FetchValues(*processes, run, "y"), ElementsAre(3, 5));
  EXPECT_THAT(FetchValues(*processes, run, "z"), ElementsAre(2, 4));
}

TEST(ProcessesTest, AHostWithoutCodeRefusesTheLoad) {
  TextKernels kernels;
  ClusterOptions options = Sim();
  options.kernels = &kernels;
  SimProcesses processes(TwoCpus("left", "middle"), {1, 2, 3, 3},
                         /*client_process=*/0, options);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(processes->Load(CodedPlan()).status(),
              absl::FailedPreconditionError(
                  "device island1/host2/device0: kernel 'half1' has no code "
                  "for 'middle'"));
  }
  EXPECT_EQ(StatsOf(*processes).programs, 0u);
}

TEST(ProcessesTest, AProcessWithoutPlacesHasNoClient) {
  SimProcesses processes(MakeCluster("2x1x1"), {0, 1}, /*client_process=*/0,
                         Sim());
  EXPECT_EQ(processes.process(1).Connect("late").status(),
            absl::ResourceExhaustedError(
                "cannot add client 'late': the cluster already has 0 clients, "
                "which is the limit"));
}

}  // namespace
}  // namespace pathways::testing

//===- spill_test.cc - More arrays than hosts have memory -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "unittests/runtime/checkpoint/test_folder.h"
#include "unittests/runtime/client/runtime_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

namespace fs = std::filesystem;

constexpr int64_t kFloats = 1024;
constexpr uint64_t kHostBytes = 64 << 10;

// Two hosts with little memory and a spill folder.
class SpillTest : public ::testing::TestWithParam<ClusterOptions::WorldKind> {
 protected:
  ClusterOptions Options() {
    ClusterOptions options;
    options.world = GetParam();
    options.seed = 11;
    options.workers = 2;
    options.spill.folder = folder_.path();
    options.spill.bytes = 8 << 20;
    return options;
  }
  static TestCluster StartSmall(const ClusterOptions& options) {
    proto::Cluster cluster = MakeCluster("1x2x1");
    for (auto& host : *cluster.mutable_islands(0)->mutable_hosts()) {
      host.set_memory_bytes(kHostBytes);
    }
    return StartOn(cluster, options);
  }
  // u in, 2u out.
  static proto::Plan TwicePlan(const std::string& name,
                               int64_t floats = kFloats) {
    PlanBuilder b(name, 2);
    const uint32_t s = b.AddSlice("s", {{"x", 2}}, 0);
    const uint32_t u = b.AddBuffer("u", s, Rows({floats}), 2);
    const uint32_t v = b.AddBuffer("v", s, Rows({floats}), 2);
    b.AddFeed("u", u);
    AddRun(b, b.AddGang("twice", s, {u}, {v}), "twice512");
    b.AddFetch("v", v);
    return b.Finish();
  }
  static HostArray ValueOf(int i) {
    return Floats({kFloats}, Ramp(kFloats, static_cast<float>(i)));
  }
  static std::vector<float> TwiceOf(int i, float times = 2) {
    std::vector<float> values = Ramp(kFloats, static_cast<float>(i));
    for (float& value : values) value *= times;
    return values;
  }
  static uint64_t SpilledBytes(Client& client) {
    uint64_t bytes = 0;
    for (const auto& host : StatsOf(client).hosts) bytes += host.spilled_bytes;
    return bytes;
  }
  // Of all hosts; in a simulation there are none.
  std::vector<std::string> Files() const {
    std::vector<std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path())) {
      if (entry.path().extension() == ".spill") files.push_back(entry.path());
    }
    return files;
  }

  TestFolder folder_;
};
INSTANTIATE_TEST_SUITE_P(Worlds, SpillTest, BothWorlds(), WorldName);

TEST_P(SpillTest, ArraysOfSeveralTimesTheMemoryAreKeptAndRead) {
  ClusterOptions options = Options();
  TestKernels kernels;
  kernels.functions["twice512"] = Twice<kFloats / 2>;
  options.kernels = &kernels;
  {
    TestCluster runtime = StartSmall(options);
    const ProgramHandle program = LoadPlan(*runtime, TwicePlan("twice"));
    // Each host has two kilobytes of each.
    constexpr int kArrays = 5 * 2 * kHostBytes / (kFloats * 4);
    std::vector<ArrayHandle> kept;
    for (int i = 0; i < kArrays; ++i) {
      const absl::StatusOr<RunHandle> run =
          runtime->Launch(program, {LaunchArgument(ValueOf(i))});
      ASSERT_TRUE(run.ok()) << run.status();
      ASSERT_TRUE(runtime->Await(*run).ok()) << runtime->Await(*run);
      kept.push_back(*runtime->Keep(*run, 0));
      EXPECT_TRUE(runtime->ReleaseRun(*run).ok());
    }
    EXPECT_GE(SpilledBytes(*runtime), 4 * 2 * kHostBytes);
    EXPECT_EQ(Files().empty(), GetParam() == ClusterOptions::kSim);
    // The first ones are arguments of further launches, several at a time.
    std::vector<RunHandle> runs;
    for (int i = 0; i < 12; ++i) {
      runs.push_back(*runtime->Launch(program, {LaunchArgument(kept[i])}));
    }
    for (int i = 0; i < 12; ++i) {
      EXPECT_EQ(Values(*runtime->Fetch(runs[i], "v")), TwiceOf(i, 4)) << i;
      EXPECT_TRUE(runtime->ReleaseRun(runs[i]).ok());
    }
    for (int i = kArrays - 1; i >= 0; --i) {
      const absl::StatusOr<HostArray> value = runtime->Get(kept[i]);
      ASSERT_TRUE(value.ok()) << i << ": " << value.status();
      EXPECT_EQ(Values(*value), TwiceOf(i)) << i;
    }
    for (const ArrayHandle& array : kept) {
      EXPECT_TRUE(runtime->Release(array).ok());
    }
    EXPECT_EQ(StatsOf(*runtime).object_bytes, 0u);
    EXPECT_EQ(SpilledBytes(*runtime), 0u);
    EXPECT_THAT(Files(), IsEmpty());
  }
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

}  // namespace
}  // namespace pathways::testing

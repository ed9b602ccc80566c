//===- checkpoints_test.cc - Arrays of a client in files ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <filesystem>
#include <random>

#include "runtime/plan/testing/test_plans.h"
#include "unittests/runtime/checkpoint/test_folder.h"
#include "unittests/runtime/client/runtime_test_support.h"
#include "unittests/runtime/client/sim_processes.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// u in, u out, on the devices of a mesh from `base` on.
proto::Plan PassPlan(const layout::Layout& layout, const layout::Mesh& mesh,
                     int64_t base = 0, bool stepped = false,
                     proto::ElementType element = proto::F32) {
  return IdentityPlan({.name = "pass",
                       .slice = {.mesh = mesh, .base = base},
                       .layout = layout,
                       .element = element},
                      stepped);
}

// The array, after it has been through the devices of a plan.
ArrayHandle Through(Client& client, const proto::Plan& plan, ArrayHandle array,
                    int64_t steps = 1) {
  const ProgramHandle program = LoadPlan(client, plan);
  absl::StatusOr<RunHandle> run = client.Launch(program, {array}, steps);
  EXPECT_TRUE(run.ok()) << run.status();
  if (!run.ok()) return {};
  EXPECT_TRUE(client.Await(*run).ok()) << client.Await(*run);
  absl::StatusOr<ArrayHandle> result = client.Keep(*run, "u");
  EXPECT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(client.ReleaseRun(*run).ok());
  return result.ok() ? *result : ArrayHandle{};
}

ArrayHandle LoadFrom(Client& client, const std::string& folder) {
  absl::StatusOr<ArrayHandle> array = client.LoadArray(folder);
  EXPECT_TRUE(array.ok()) << array.status();
  return array.ok() ? *array : ArrayHandle{};
}

class CheckpointsTest
    : public ::testing::TestWithParam<ClusterOptions::WorldKind> {
 protected:
  ClusterOptions Options() {
    ClusterOptions options;
    options.world = GetParam();
    options.seed = 5;
    return options;
  }
  TestFolder folder_;
};
INSTANTIATE_TEST_SUITE_P(Worlds, CheckpointsTest, BothWorlds(), WorldName);

TEST_P(CheckpointsTest, EachBlockIsAFile) {
  auto runtime = Start("1x2x2", Options());
  const ArrayHandle u = Through(*runtime, PassPlan(Rows({7, 2}), {{"x", 4}}),
                                *runtime->Put(Floats({7, 2}, Ramp(14))));
  ASSERT_TRUE(runtime->Save(u, folder_ / "u").ok());
  EXPECT_THAT(folder_.List(), ElementsAre("u"));
  EXPECT_THAT(folder_.List("u"),
              ElementsAre("block-0.npy", "block-1.npy", "block-2.npy",
                          "block-3.npy", "index.json"));
  EXPECT_THAT(Values(*runtime->Get(LoadFrom(*runtime, folder_ / "u/"))),
              ElementsAreArray(Ramp(14)));
}

TEST_P(CheckpointsTest, CopiesAreSavedOnce) {
  auto runtime = Start("1x2x4", Options());
  layout::Layout layout = Rows({4});
  const ArrayHandle u =
      Through(*runtime, PassPlan(layout, {{"y", 4}, {"x", 2}}),
              *runtime->Put(Floats({4}, Ramp(4))));
  ASSERT_TRUE(runtime->Save(u, folder_ / "u").ok());
  EXPECT_THAT(folder_.List("u"),
              ElementsAre("block-0.npy", "block-1.npy", "index.json"));
}

TEST_P(CheckpointsTest, ContributionsAreSavedByThemselves) {
  auto runtime = Start("1x2x2", Options());
  layout::Layout layout = Rows({6});
  layout.partial = {"y"};
  layout.reduction = layout::Reduction::kAdd;
  const ArrayHandle u =
      Through(*runtime, PassPlan(layout, {{"y", 2}, {"x", 2}}),
              *runtime->Put(Floats({6}, Ramp(6))));
  ASSERT_TRUE(runtime->Save(u, folder_ / "u").ok());
  EXPECT_THAT(folder_.List("u"),
              ElementsAre("block-0.npy", "block-1.npy", "block-2.npy",
                          "block-3.npy", "index.json"));
  EXPECT_THAT(Values(*runtime->Get(LoadFrom(*runtime, folder_ / "u"))),
              ElementsAreArray(Ramp(6)));
  // The array becomes contributions again.
  EXPECT_THAT(Values(*runtime->Get(
                  Through(*runtime, PassPlan(layout, {{"y", 2}, {"x", 2}}),
                          LoadFrom(*runtime, folder_ / "u")))),
              ElementsAreArray(Ramp(6)));
}

TEST_P(CheckpointsTest, AllStepsOfABlockAreTogether) {
  auto runtime = Start("1x2x1", Options());
  const proto::Plan plan = PassPlan(Rows({4}), {{"x", 2}}, 0, /*stepped=*/true);
  const ArrayHandle u = Through(
      *runtime, plan, *runtime->Put(Floats({3, 4}, Ramp(12))), /*steps=*/3);
  ASSERT_TRUE(runtime->Save(u, folder_ / "u").ok());
  EXPECT_THAT(folder_.List("u"),
              ElementsAre("block-0.npy", "block-1.npy", "index.json"));
  EXPECT_THAT(Values(*runtime->Get(Through(
                  *runtime, plan, LoadFrom(*runtime, folder_ / "u"), 3))),
              ElementsAreArray(Ramp(12)));
}

TEST_P(CheckpointsTest, WhatNoLaunchHasSeenIsOneBlock) {
  auto runtime = Start("1x1x2", Options());
  ASSERT_TRUE(
      runtime->Save(*runtime->Put(Floats({5}, Ramp(5))), folder_ / "u").ok());
  EXPECT_THAT(folder_.List("u"), ElementsAre("block-0.npy", "index.json"));
  // Nor is what was loaded, which is saved as it was.
  const ArrayHandle u = LoadFrom(*runtime, folder_ / "u");
  ASSERT_TRUE(runtime->Save(u, folder_ / "v").ok());
  EXPECT_EQ(ReadFile(folder_ / "u/block-0.npy"),
            ReadFile(folder_ / "v/block-0.npy"));
  EXPECT_EQ(ReadFile(folder_ / "u/index.json"),
            ReadFile(folder_ / "v/index.json"));
}

TEST_P(CheckpointsTest, ArraysOfNothingAndScalars) {
  auto runtime = Start("1x1x2", Options());
  ASSERT_TRUE(
      runtime->Save(*runtime->Put(Floats({0, 3}, {})), folder_ / "none").ok());
  EXPECT_THAT(folder_.List("none"), ElementsAre("index.json"));
  const HostArray none = *runtime->Get(LoadFrom(*runtime, folder_ / "none"));
  EXPECT_THAT(none.shape, ElementsAre(0, 3));
  const proto::Plan plan = PassPlan(Whole({}), {{"x", 2}});
  const ArrayHandle u = Through(*runtime, plan, *runtime->Put(Floats({}, {7})));
  ASSERT_TRUE(runtime->Save(u, folder_ / "one").ok());
  EXPECT_THAT(Values(*runtime->Get(Through(
                  *runtime, plan, LoadFrom(*runtime, folder_ / "one")))),
              ElementsAre(7));
}

// Many pieces, of files that are cut the other way.
TEST_P(CheckpointsTest, LoadsOnAnotherTopology) {
  const std::vector<float> values = Ramp(300 * 400);
  {
    auto runtime = Start("1x2x2", Options());
    const ArrayHandle u =
        Through(*runtime, PassPlan(Rows({300, 400}), {{"x", 4}}),
                *runtime->Put(Floats({300, 400}, values)));
    ASSERT_TRUE(runtime->Save(u, folder_ / "u").ok());
  }
  auto runtime = Start("2x3x1", Options());
  layout::Layout columns = Whole({300, 400});
  columns.dims[1] = {"x"};
  const ArrayHandle u = LoadFrom(*runtime, folder_ / "u");
  EXPECT_EQ(StatsOf(*runtime).object_bytes, 0u);  // none are in memory
  const ArrayHandle v = Through(*runtime, PassPlan(columns, {{"x", 3}}), u);
  EXPECT_THAT(Values(*runtime->Get(v)), ElementsAreArray(values));
  // The hosts have the array by now, so its files may be removed.
  std::filesystem::remove_all(folder_ / "u");
  EXPECT_THAT(Values(*runtime->Get(u)), ElementsAreArray(values));
  ASSERT_TRUE(runtime->Save(v, folder_ / "v").ok());
  EXPECT_THAT(Values(*runtime->Get(LoadFrom(*runtime, folder_ / "v"))),
              ElementsAreArray(values));
}

TEST_P(CheckpointsTest, SeveralArraysByName) {
  auto runtime = Start("1x1x2", Options());
  const ArrayHandle u = Through(*runtime, PassPlan(Rows({4}), {{"x", 2}}),
                                *runtime->Put(Floats({4}, Ramp(4))));
  const ArrayHandle v = *runtime->Put(Floats({1}, {8}));
  ASSERT_TRUE(runtime->Save({{"u", u}, {"v.1", v}}, folder_ / "all").ok());
  EXPECT_THAT(folder_.List("all"), ElementsAre("index.json", "u", "v.1"));
  auto loaded = runtime->LoadArrays(folder_ / "all");
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  ASSERT_EQ(loaded->size(), 2u);
  EXPECT_THAT(Values(*runtime->Get(loaded->at("u"))), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(Values(*runtime->Get(loaded->at("v.1"))), ElementsAre(8));

  absl::Status status = runtime->LoadArray(folder_ / "all").status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("all/index.json: the format is \"pathways-arrays\": a "
                        "folder of several arrays"));
  status = runtime->LoadArrays(folder_ / "all/u").status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  status = runtime->Save({{"../u", u}}, folder_ / "out");
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  // Nothing of it stays when one array fails.
  ASSERT_TRUE(runtime->Release(v).ok());
  status = runtime->Save({{"u", u}, {"v", v}}, folder_ / "out");
  EXPECT_TRUE(absl::IsNotFound(status)) << status;
  EXPECT_THAT(folder_.List(), ElementsAre("all"));
}

TEST_P(CheckpointsTest, OfAnotherTypeThanTheArgument) {
  auto runtime = Start("1x1x2", Options());
  ASSERT_TRUE(
      runtime->Save(*runtime->Put(Floats({5}, Ramp(5))), folder_ / "u").ok());
  const ProgramHandle program =
      LoadPlan(*runtime, PassPlan(Rows({4}), {{"x", 2}}));
  const absl::Status status =
      runtime->Launch(program, {LoadFrom(*runtime, folder_ / "u")}).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("4xf32"), HasSubstr("5xf32")));
}

TEST_P(CheckpointsTest, AFileThatGoesBeforeTheLaunchEndsIt) {
  auto runtime = Start("1x2x1", Options());
  const proto::Plan plan = PassPlan(Rows({4}), {{"x", 2}});
  const ArrayHandle kept =
      Through(*runtime, plan, *runtime->Put(Floats({4}, Ramp(4))));
  ASSERT_TRUE(runtime->Save(kept, folder_ / "u").ok());
  const ArrayHandle u = LoadFrom(*runtime, folder_ / "u");
  const std::string file = folder_ / "u/block-1.npy";
  const std::string bytes = ReadFile(file);
  std::filesystem::remove(file);
  const ProgramHandle program = LoadPlan(*runtime, plan);
  RunHandle run = *runtime->Launch(program, {u});
  absl::Status status = runtime->Await(run);
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("u/block-1.npy' is missing"));
  // Nor is another file of that name taken for it.
  WriteFile(file, bytes);
  status = runtime->Await(*runtime->Launch(program, {u}));
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("was changed after it was checked"));
  EXPECT_THAT(Values(*runtime->Get(
                  Through(*runtime, plan, LoadFrom(*runtime, folder_ / "u")))),
              ElementsAre(1, 2, 3, 4));
}

TEST_P(CheckpointsTest, NothingStaysOfWhatCannotBeSaved) {
  auto runtime = Start("1x1x2", Options());
  const ProgramHandle program =
      LoadPlan(*runtime, KernelPlan({.name = "fails"}, "check1"));
  const RunHandle run = LaunchPlan(*runtime, program, {Floats({2}, {1, -1})});
  absl::StatusOr<ArrayHandle> result = runtime->Keep(run, "v");
  absl::Status status =
      result.ok() ? runtime->Save(*result, folder_ / "v") : result.status();
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("expected no negative element"));
  status = runtime->Save(ArrayHandle{1, /*owner=*/0}, folder_ / "v");
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(folder_.List(), IsEmpty());

  const ArrayHandle one = *runtime->Put(Floats({1}, {1}));
  ASSERT_TRUE(runtime->Save(one, folder_ / "v").ok());
  status = runtime->Save(one, folder_ / "v/index.json/v");
  EXPECT_TRUE(absl::IsNotFound(status)) << status;
  status = runtime->Save(one, folder_ / "v");
  EXPECT_TRUE(absl::IsAlreadyExists(status)) << status;
  EXPECT_THAT(folder_.List(), ElementsAre("v"));
}

// Whatever becomes of the array and its client while hosts ask for it.
TEST_P(CheckpointsTest, ALaunchKeepsWhatItReads) {
  auto runtime = Start("1x2x1", Options());
  const std::vector<float> values = Ramp(200000);
  ASSERT_TRUE(
      runtime->Save(*runtime->Put(Floats({200000}, values)), folder_ / "u")
          .ok());
  const ProgramHandle program =
      LoadPlan(*runtime, PassPlan(Rows({200000}), {{"x", 2}}));
  const ArrayHandle u = LoadFrom(*runtime, folder_ / "u");
  const RunHandle run = *runtime->Launch(program, {u});
  const RunHandle other = *runtime->Launch(program, {u});
  ASSERT_TRUE(runtime->Release(u).ok());
  EXPECT_THAT(FetchValues(*runtime, run, "u"), ElementsAreArray(values));
  EXPECT_THAT(FetchValues(*runtime, other, "u"), ElementsAreArray(values));

  const ArrayHandle v = LoadFrom(*runtime, folder_ / "u");
  const RunHandle cancelled = *runtime->Launch(program, {v});
  ASSERT_TRUE(runtime->Cancel(cancelled).ok());
  (void)runtime->Await(cancelled);
  // It may have been too late; the array is good either way.
  EXPECT_THAT(FetchValues(*runtime, *runtime->Launch(program, {v}), "u"),
              ElementsAreArray(values));
  ASSERT_TRUE(
      runtime->Launch(program, {LoadFrom(*runtime, folder_ / "u")}).ok());
  runtime.Reconnect();
  for (const auto& host : StatsOf(*runtime).hosts) {
    EXPECT_EQ(host.object_bytes, 0u);
  }
  EXPECT_THAT(Values(*runtime->Get(Through(*runtime,
                                           PassPlan(Rows({200000}), {{"x", 2}}),
                                           LoadFrom(*runtime, folder_ / "u")))),
              ElementsAreArray(values));
}

TEST_P(CheckpointsTest, OneArrayIsTwoArguments) {
  auto runtime = Start("1x1x2", Options());
  ASSERT_TRUE(
      runtime->Save(*runtime->Put(Floats({2}, {3, 4})), folder_ / "u").ok());
  const ProgramHandle program =
      LoadPlan(*runtime, ChainBuilder({.name = "two"})
                             .Feed("rows")
                             .Fetch("rows")
                             .Feed("whole", /*stepped=*/false, Whole({2}))
                             .Fetch("whole")
                             .Finish());
  const ArrayHandle u = LoadFrom(*runtime, folder_ / "u");
  const RunHandle run = *runtime->Launch(program, {u, u});
  EXPECT_THAT(FetchValues(*runtime, run, "rows"), ElementsAre(3, 4));
  EXPECT_THAT(FetchValues(*runtime, run, "whole"), ElementsAre(3, 4));
}

TEST(CheckpointsOfProcessesTest, NothingStaysWhenAHostIsLost) {
  TestFolder folder;
  SimProcesses processes(MakeCluster("1x2x1"), {1, 2}, /*client_process=*/0,
                         Sim());
  const ArrayHandle u = Through(*processes, PassPlan(Rows({4}), {{"x", 2}}),
                                *processes->Put(Floats({4}, Ramp(4))));
  ASSERT_TRUE(processes->Save(u, folder / "u").ok());
  processes.Kill(2);
  const absl::Status status = processes->Save(u, folder / "v");
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(folder.List(), ElementsAre("u"));
  EXPECT_THAT(Values(*processes->Get(LoadFrom(*processes, folder / "u"))),
              ElementsAre(1, 2, 3, 4));
}

TEST(CheckpointsOfSimulationsTest, WithoutKernelsThereAreNoValues) {
  TestFolder folder;
  {
    auto runtime = Start("1x1x2");
    ASSERT_TRUE(
        runtime->Save(*runtime->Put(Floats({4}, Ramp(4))), folder / "u").ok());
  }
  ClusterOptions options = Sim();
  options.run_kernels = false;
  auto runtime = Start("1x1x2", options);
  const ArrayHandle u = Through(*runtime, PassPlan(Rows({4}), {{"x", 2}}),
                                LoadFrom(*runtime, folder / "u"));
  const absl::Status status = runtime->Save(u, folder / "v");
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(folder.List(), ElementsAre("u"));
}

//===----------------------------------------------------------------------===//
// Whatever is saved on one cluster, and loaded on another
//===----------------------------------------------------------------------===//

class Placements {
 public:
  explicit Placements(unsigned seed) : random_(seed) {}

  int64_t Below(int64_t end) {
    return std::uniform_int_distribution<int64_t>(0, end - 1)(random_);
  }
  std::vector<int64_t> Shape() {
    std::vector<int64_t> shape(Below(4));
    for (int64_t& size : shape) size = 1 + Below(Below(3) == 0 ? 90 : 9);
    return shape;
  }
  layout::Mesh Mesh(int64_t devices) {
    layout::Mesh mesh;
    for (const char* name : {"x", "y", "z"}) {
      const int64_t size = 1 + Below(std::min<int64_t>(devices, 4));
      if (Below(3) == 0) continue;
      mesh.push_back({name, size});
      devices /= size;
    }
    return mesh;
  }
  layout::Layout Layout(std::vector<int64_t> shape, const layout::Mesh& mesh) {
    layout::Layout layout = Whole(std::move(shape));
    for (const layout::Axis& axis : mesh) {
      const auto dim = static_cast<size_t>(Below(4));
      if (dim < layout.dims.size()) layout.dims[dim].push_back(axis.name);
    }
    return layout;
  }
  HostArray Values(proto::ElementType element, std::vector<int64_t> shape) {
    HostArray array{static_cast<ElementType>(element), std::move(shape), {}};
    array.data.resize(array.numElements() * elementBytes(array.element));
    for (char& byte : array.data) byte = static_cast<char>(Below(256));
    if (element == proto::I1) {
      for (char& byte : array.data) byte &= 1;
    }
    return array;
  }

 private:
  std::mt19937 random_;
};

TEST(CheckpointsPropertyTest, TheSameBitsWhateverTheLayouts) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(absl::StrCat("seed ", seed));
  Placements random(seed);
  TestFolder folder;
  const std::vector<std::string> topologies = {"1x1x8", "1x2x4", "1x4x2",
                                               "1x8x1"};
  // Messages may be doubled, late, or lost and sent again.
  const std::vector<std::string> faults = {"", "jumbled", "lossy"};
  const auto options = [&](unsigned of) {
    ClusterOptions options = Sim(of);
    options.faults = faults[random.Below(3)];
    return options;
  };
  auto from = Start(topologies[random.Below(4)], options(seed));
  auto to = Start(topologies[random.Below(4)], options(seed + 1));
  for (int round = 0; round < 60; ++round) {
    const std::vector<int64_t> shape = random.Shape();
    const auto element = std::vector{proto::F32, proto::F64,  proto::I1,
                                     proto::I8,  proto::BF16, proto::I16,
                                     proto::UI8, proto::UI64}[random.Below(8)];
    const layout::Mesh mesh = random.Mesh(8), other_mesh = random.Mesh(8);
    const layout::Layout layout = random.Layout(shape, mesh);
    const layout::Layout other = random.Layout(shape, other_mesh);
    SCOPED_TRACE(absl::StrCat(
        "round ", round, ": ",
        shapeString(static_cast<ElementType>(element), shape), " ",
        layout::ToString(layout), " on ", layout::ToString(mesh), " to ",
        layout::ToString(other), " on ", layout::ToString(other_mesh)));
    const HostArray values = random.Values(element, shape);
    const std::string path = folder / absl::StrCat(round);
    const ArrayHandle saved = Through(
        *from, PassPlan(layout, mesh, 0, false, element), *from->Put(values));
    ASSERT_TRUE(from->Save(saved, path).ok());
    const ArrayHandle loaded =
        Through(*to, PassPlan(other, other_mesh, 0, false, element),
                LoadFrom(*to, path));
    absl::StatusOr<HostArray> got = to->Get(loaded);
    ASSERT_TRUE(got.ok()) << got.status();
    ASSERT_TRUE(got->shape == values.shape && got->data == values.data);
    ASSERT_TRUE(from->Release(saved).ok() && to->Release(loaded).ok());
  }
}

}  // namespace
}  // namespace pathways::testing

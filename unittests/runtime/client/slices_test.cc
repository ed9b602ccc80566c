//===- slices_test.cc - Devices that are chosen when they are asked for ---===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <future>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "runtime/plan/testing/test_plans.h"
#include "unittests/runtime/client/runtime_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// Devices of 16384 bytes; a program of n floats a shard has there two buffers
// of two credits: 16 n bytes.
// Two numbers that go from two devices of the first island to another one's.
PlanData Two(uint32_t island, int64_t base) {
  return MakePlanData(
      TransferPlan({.name = "two"},
                   {.shards = 1, .island = island, .base = base}),
      {});
}

class SlicesTest : public ::testing::TestWithParam<ClusterOptions::WorldKind> {
 protected:
  static TestCluster StartSmall(const std::string& topology,
                                const std::vector<int64_t>& mesh = {}) {
    ClusterOptions options = Sim(2);
    options.world = GetParam();
    proto::Cluster cluster = MakeCluster(topology);
    for (proto::Island& island : *cluster.mutable_islands()) {
      for (int64_t size : mesh) island.add_shape(size);
      for (proto::Host& host : *island.mutable_hosts()) {
        for (proto::Device& device : *host.mutable_devices()) {
          device.set_memory_bytes(16384);
        }
      }
    }
    return StartTurnedOn(cluster, options);
  }
  // Returns a plan on the devices of an island from `device` on.
  static PlanData Copy(const std::string& name, int64_t floats,
                       int64_t shards = 1, int64_t device = 0,
                       uint32_t island = 0) {
    return MakePlanData(
        ChainBuilder(
            {.name = name,
             .slice = {.shards = shards, .island = island, .base = device},
             .layout = Rows({shards * floats})})
            .Feed("u")
            .MoveTo("copy", 0)
            .Fetch("v")
            .Finish(),
        {});
  }
  static LoadOptions Anywhere(int64_t wait_ns = -1) {
    LoadOptions options;
    options.place = LoadPlace::kAnywhere;
    options.wait_ns = wait_ns;
    return options;
  }
  static std::vector<int64_t> DevicesOf(Client& client, ProgramHandle program) {
    const absl::StatusOr<std::shared_ptr<const PreparedPlan>> plan =
        client.PlanOf(program);
    EXPECT_TRUE(plan.ok()) << plan.status();
    const std::vector<int32_t>& devices = (*plan)->bound(0).device_of;
    return {devices.begin(), devices.end()};
  }
  static void Runs(Client& client, ProgramHandle program, int64_t floats) {
    const std::vector<float> values = Ramp(floats);
    EXPECT_EQ(FetchValues(
                  client,
                  LaunchPlan(client, program, {Floats({floats}, values)}), "v"),
              values);
  }
  static std::string Refused(const absl::Status& status) {
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
    return std::string(status.message());
  }
  // A load, or a request for a slice, on another thread.
  template <typename T>
  struct Waiter {
    std::promise<std::string> told;
    std::future<std::string> why = told.get_future();
    std::future<absl::StatusOr<T>> result;
    bool first = true;
    std::function<void(const std::string&)> Notify() {
      return [this](const std::string& text) {
        if (std::exchange(first, false)) told.set_value(text);
      };
    }
  };
  static constexpr char kNoOther[] = "needs two threads";
};
INSTANTIATE_TEST_SUITE_P(Worlds, SlicesTest, BothWorlds(), WorldName);

TEST_P(SlicesTest, LoadsGoWhereLeastIs) {
  TestCluster runtime = StartSmall("2x1x4");
  const std::unique_ptr<Client> other = runtime.Connect("other");
  // All were compiled for the first devices of the first island.
  const ProgramHandle first = *runtime->Load(Copy("p", 64, 2), Anywhere());
  EXPECT_THAT(DevicesOf(*runtime, first), ElementsAre(0, 1));
  const ProgramHandle second = *other->Load(Copy("p", 64, 2), Anywhere());
  EXPECT_THAT(DevicesOf(*other, second), ElementsAre(2, 3));
  const ProgramHandle third = *runtime->Load(Copy("p", 64, 3), Anywhere());
  EXPECT_THAT(DevicesOf(*runtime, third), ElementsAre(4, 5, 6));
  // No island has three devices that are free: those with least beside it, and
  // of those with as much the one that has worked least.
  Runs(*runtime, first, 128);
  Runs(*other, second, 128);
  Runs(*runtime, third, 192);
  const ProgramHandle fourth = *runtime->Load(Copy("q", 64, 1), Anywhere());
  EXPECT_THAT(DevicesOf(*runtime, fourth), ElementsAre(7));
  ASSERT_TRUE(runtime->Unload(first).ok());
  const ProgramHandle fifth = *other->Load(Copy("q", 64, 2), Anywhere());
  EXPECT_THAT(DevicesOf(*other, fifth), ElementsAre(0, 1));
  Runs(*other, fifth, 128);
}

// Each of several islands behaves as the only one did.
TEST_P(SlicesTest, IslandsStayApart) {
  TestCluster runtime = StartSmall("3x1x2");
  const ProgramHandle held = *runtime->Load(Copy("held", 64, 2, 0, 0));
  const absl::StatusOr<ProgramHandle> two =
      runtime->Load(Two(1, 0), Anywhere());
  ASSERT_TRUE(two.ok()) << two.status();
  EXPECT_THAT(DevicesOf(*runtime, *two), ElementsAre(2, 3));
  EXPECT_THAT((*runtime->PlanOf(*two))->bound(1).device_of, ElementsAre(4));
  Runs(*runtime, *two, 2);
  EXPECT_TRUE(runtime->Unload(held).ok());
}

TEST_P(SlicesTest, WhatFitsNowhereIsRefusedOrWaits) {
  TestCluster runtime = StartSmall("1x1x2");
  const std::unique_ptr<Client> other = runtime.Connect("other");
  EXPECT_EQ(
      Refused(other->Load(Copy("large", 1056), Anywhere()).status()),
      "program 'large' needs 1 device, 16896 bytes of it; the cluster has too "
      "few devices even if every client releases all of its memory [PW3304]");
  EXPECT_EQ(runtime->Drain({"host0"}), absl::OkStatus());
  EXPECT_EQ(
      Refused(other->Load(Copy("small", 32), Anywhere()).status()),
      "program 'small' needs 1 device, 512 bytes of it; the cluster has too "
      "few devices even if every client releases all of its memory, while 2 of "
      "its devices are unavailable: island0/host0/device0 is drained [PW3304]");
  EXPECT_EQ(runtime->Undrain({"host0"}), absl::OkStatus());
  ASSERT_TRUE(runtime->Load(Copy("left", 768), Anywhere()).ok());
  const ProgramHandle right = *runtime->Load(Copy("right", 768), Anywhere());
  EXPECT_THAT(DevicesOf(*runtime, right), ElementsAre(1));
  const char kWhy[] =
      "program 'third' needs 1 device, 8192 bytes of it, held by program "
      "'left' of client 'client0' (12288), program 'right' of client 'client0' "
      "(12288)";
  EXPECT_EQ(Refused(other->Load(Copy("third", 512), Anywhere(0)).status()),
            absl::StrCat(kWhy, " [PW3301]"));
  // It waits for its own client.
  EXPECT_EQ(Refused(runtime->Load(Copy("third", 512), Anywhere()).status()),
            absl::StrCat(kWhy,
                         "; its own client holds that memory and cannot "
                         "release it while it waits [PW3204]"));
  const absl::Status late =
      other->Load(Copy("third", 512), Anywhere(2'000'000)).status();
  EXPECT_EQ(late.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(late.message()), HasSubstr(kWhy));
  if (GetParam() == ClusterOptions::kSim) return;
  Waiter<ProgramHandle> waiter;
  waiter.result = std::async(std::launch::async, [&] {
    LoadOptions options = Anywhere();
    options.on_waiting = waiter.Notify();
    return other->Load(Copy("third", 512), options);
  });
  EXPECT_EQ(waiter.why.get(), kWhy);
  ASSERT_TRUE(runtime->Unload(right).ok());
  const absl::StatusOr<ProgramHandle> third = waiter.result.get();
  ASSERT_TRUE(third.ok()) << third.status();
  EXPECT_THAT(DevicesOf(*other, *third), ElementsAre(1));
  Runs(*other, *third, 512);
}

// Whoever loads at the same time does not choose the same devices.
TEST_P(SlicesTest, EightAtOnceHaveADeviceEach) {
  if (GetParam() == ClusterOptions::kSim) GTEST_SKIP() << kNoOther;
  TestCluster runtime = StartSmall("2x2x2");
  std::vector<std::unique_ptr<Client>> clients;
  for (int c = 0; c < 8; ++c) {
    clients.push_back(runtime.Connect(absl::StrCat("c", c)));
  }
  std::vector<std::future<int64_t>> devices;
  for (int c = 0; c < 8; ++c) {
    devices.push_back(std::async(std::launch::async, [&, c] {
      const absl::StatusOr<ProgramHandle> program =
          clients[c]->Load(Copy("p", 768), Anywhere());
      EXPECT_TRUE(program.ok()) << program.status();
      Runs(*clients[c], *program, 768);
      return DevicesOf(*clients[c], *program)[0];
    }));
  }
  std::set<int64_t> different;
  for (std::future<int64_t>& device : devices) different.insert(device.get());
  EXPECT_THAT(different, SizeIs(8));
}

TEST_P(SlicesTest, ASliceIsItsClientsAlone) {
  TestCluster runtime = StartSmall("2x1x2");
  const std::unique_ptr<Client> other = runtime.Connect("other");
  const absl::StatusOr<SliceHandle> slice =
      runtime->ReserveSlice({.name = "mine", .shape = {2}});
  ASSERT_TRUE(slice.ok()) << slice.status();
  EXPECT_THAT(*runtime->DevicesOf(*slice),
              ElementsAre("island0/host0/device0", "island0/host0/device1"));
  EXPECT_THAT(
      Refused(other->Load(Copy("p", 1), {.wait_ns = 0}).status()),
      HasSubstr("16384 of 16384 bytes are used; held by slice 'mine' of client "
                "'client0' (16384)"));
  const ProgramHandle theirs = *other->Load(Copy("p", 64, 2), Anywhere());
  EXPECT_THAT(DevicesOf(*other, theirs), ElementsAre(2, 3));
  // Whole devices, of which there are none now.
  EXPECT_THAT(
      Refused(runtime->ReserveSlice({.shape = {2}, .wait_ns = 0}).status()),
      HasSubstr("slice 'slice' needs 2 devices of an island, used by nothing "
                "else, held by program 'p' of client 'other' (1024), slice "
                "'mine' of client 'client0' (16384) [PW3301]"));
  const proto::ControllerStatus status =
      *runtime.cluster().Describe(absl::Seconds(10));
  ASSERT_EQ(status.slices_size(), 1);
  EXPECT_EQ(status.slices(0).name(), "slice 'mine'");
  EXPECT_EQ(status.slices(0).client(), "client0");
  EXPECT_EQ(status.slices(0).device_bytes(), 32768u);
  // A program that was compiled for others goes there, and takes of it.
  const absl::StatusOr<ProgramHandle> program =
      runtime->Load(Copy("q", 512, 2, 0, 1), *slice);
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_THAT(DevicesOf(*runtime, *program), ElementsAre(0, 1));
  Runs(*runtime, *program, 1024);
  ASSERT_TRUE(runtime->Load(Copy("r", 512, 1), *slice).ok());
  const absl::Status full = runtime->Load(Copy("s", 8, 1), *slice).status();
  EXPECT_EQ(full.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(full.message(),
            "program 's' needs 512 bytes on island0/host0/device0, where slice "
            "'mine' has 0 of 16384 bytes left [PW3302]");
  EXPECT_EQ(other->Load(Copy("t", 8, 1), *slice).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(runtime->Load(Copy("t", 8, 3), *slice).status().code(),
            absl::StatusCode::kInvalidArgument);
  // A program that is loaded on the slice stays when the slice is released, and
  // keeps what it needs.
  ASSERT_TRUE(runtime->ReleaseSlice(*slice).ok());
  Runs(*runtime, *program, 1024);
  EXPECT_TRUE(other->Load(Copy("u", 512, 1, 1)).ok());
  EXPECT_THAT(Refused(other->Load(Copy("v", 8, 1, 1), {.wait_ns = 0}).status()),
              HasSubstr("16384 of 16384 bytes are used"));
  EXPECT_EQ(runtime->ReleaseSlice(*slice).code(),
            absl::StatusCode::kFailedPrecondition);
  const absl::Status gone = runtime->Load(Copy("t", 8, 1), *slice).status();
  EXPECT_EQ(gone.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(gone.message()), HasSubstr(" was released [PW3303]"));
}

// Nor of those that come back.
TEST_P(SlicesTest, ASliceIsNotInTheWayOfItsClient) {
  TestCluster runtime = StartSmall("1x1x2");
  const std::unique_ptr<Client> other = runtime.Connect("other");
  const std::unique_ptr<Client> owner =
      runtime.Connect("owner", {.quota_bytes = 24'000});
  ASSERT_TRUE(owner->ReserveSlice({.name = "mine", .shape = {1}}).ok());
  std::vector<PlanData> plans;
  plans.push_back(Copy("p", 512, 1));
  plans.push_back(Copy("q", 64, 1));
  const auto both = owner->Load(std::move(plans), {.wait_ns = 0});
  ASSERT_TRUE(both.ok()) << both.status();
  EXPECT_THAT(DevicesOf(*owner, both->front()), ElementsAre(0));
  EXPECT_THAT(Refused(owner->Load(Copy("r", 512), {.wait_ns = 0}).status()),
              HasSubstr("quota"));
  ASSERT_TRUE(owner->Suspend().ok());
  EXPECT_THAT(Refused(other->Load(Copy("r", 8), {.wait_ns = 0}).status()),
              HasSubstr("held by slice 'mine' of client 'owner' (16384)"));
  const absl::Status resumed = owner->Resume({});
  ASSERT_TRUE(resumed.ok()) << resumed;
  Runs(*owner, both->front(), 512);
  Runs(*owner, both->back(), 64);
}

TEST_P(SlicesTest, AClientThatLeavesHasNoSlices) {
  TestCluster runtime = StartSmall("1x1x1");
  std::unique_ptr<Client> other = runtime.Connect("other");
  ASSERT_TRUE(other->ReserveSlice({}).ok());
  EXPECT_FALSE(runtime->ReserveSlice({.wait_ns = 0}).ok());
  other.reset();
  EXPECT_TRUE(runtime->ReserveSlice({}).ok());
}

TEST_P(SlicesTest, SharedOnesHaveMemoryOfTheirOwn) {
  TestCluster runtime = StartSmall("1x1x2");
  const std::unique_ptr<Client> other = runtime.Connect("other");
  const SliceHandle one =
      *runtime->ReserveSlice({.shape = {2}, .device_bytes = 10000});
  const SliceHandle two =
      *other->ReserveSlice({.shape = {2}, .device_bytes = 6000});
  EXPECT_FALSE(other->ReserveSlice({.device_bytes = 6000, .wait_ns = 0}).ok());
  const ProgramHandle mine = *runtime->Load(Copy("p", 512, 2), one);
  const ProgramHandle theirs = *other->Load(Copy("p", 256, 2), two);
  Runs(*runtime, mine, 1024);
  Runs(*other, theirs, 512);
  EXPECT_EQ(runtime->Load(Copy("p", 512, 2), one).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_P(SlicesTest, IslandsShapesAndKinds) {
  TestCluster runtime = StartSmall("2x1x6", {2, 3});
  // 0 1 2
  // 3 4 5
  const SliceHandle corner = *runtime->ReserveSlice({.shape = {1}});
  const absl::StatusOr<SliceHandle> square =
      runtime->ReserveSlice({.shape = {2, 2}, .contiguous = true});
  ASSERT_TRUE(square.ok()) << square.status();
  EXPECT_THAT(*runtime->DevicesOf(*square),
              ElementsAre("island0/host0/device1", "island0/host0/device2",
                          "island0/host0/device4", "island0/host0/device5"));
  const absl::StatusOr<SliceHandle> apart =
      runtime->ReserveSlice({.shape = {2, 2}, .contiguous = true}, {*square});
  ASSERT_TRUE(apart.ok()) << apart.status();
  EXPECT_THAT(*runtime->DevicesOf(*apart),
              ElementsAre("island1/host1/device0", "island1/host1/device1",
                          "island1/host1/device3", "island1/host1/device4"));
  // Device 3 of one island, and 2 and 5 of the other, which are a column.
  const absl::StatusOr<SliceHandle> both =
      runtime->ReserveSlice({.shape = {2}, .islands = 2});
  ASSERT_TRUE(both.ok()) << both.status();
  EXPECT_THAT(*runtime->DevicesOf(*both),
              ElementsAre("island0/host0/device3", "island1/host1/device2"));
  ASSERT_TRUE(runtime->ReleaseSlice(*both).ok());
  EXPECT_THAT(*runtime->DevicesOf(
                  *runtime->ReserveSlice({.shape = {2}, .contiguous = true})),
              ElementsAre("island1/host1/device2", "island1/host1/device5"));
  ASSERT_TRUE(runtime->ReleaseSlice(corner).ok());
  for (const SliceOptions& wrong :
       {SliceOptions{.shape = {0}}, SliceOptions{.shape = {3}, .islands = 2},
        SliceOptions{.shape = {1 << 20, 1 << 20}}, SliceOptions{.shape = {13}},
        SliceOptions{.shape = {3}, .islands = 3},
        SliceOptions{.shape = {3, 2}, .islands = 2, .contiguous = true},
        SliceOptions{.kind = "tpu"}, SliceOptions{.islands = 0}}) {
    const absl::Status status = runtime->ReserveSlice(wrong).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  }
  EXPECT_THAT(
      Refused(
          runtime->ReserveSlice({.shape = {4}, .contiguous = true}).status()),
      HasSubstr("needs 4 devices of an island that are neighbors in a mesh of "
                "4, used by nothing else"));
}

TEST_P(SlicesTest, ASliceOverIslandsHoldsAProgramOfThem) {
  TestCluster runtime = StartSmall("3x1x2");
  const ProgramHandle held = *runtime->Load(Copy("held", 64, 2, 0, 0));
  const SliceHandle slice =
      *runtime->ReserveSlice({.shape = {4}, .islands = 2});
  const absl::StatusOr<ProgramHandle> two = runtime->Load(Two(2, 1), slice);
  ASSERT_TRUE(two.ok()) << two.status();
  EXPECT_THAT(DevicesOf(*runtime, *two), ElementsAre(2, 3));
  EXPECT_THAT((*runtime->PlanOf(*two))->bound(1).device_of, ElementsAre(4));
  Runs(*runtime, *two, 2);
  EXPECT_TRUE(runtime->Unload(held).ok());
}

TEST_P(SlicesTest, ASliceIsWaitedFor) {
  if (GetParam() == ClusterOptions::kSim) GTEST_SKIP() << kNoOther;
  TestCluster runtime = StartSmall("1x1x2");
  const std::unique_ptr<Client> other = runtime.Connect("other");
  const SliceHandle mine = *runtime->ReserveSlice({.name = "mine"});
  Waiter<SliceHandle> waiter;
  waiter.result = std::async(std::launch::async, [&] {
    return other->ReserveSlice(
        {.name = "theirs", .shape = {2}, .on_waiting = waiter.Notify()});
  });
  EXPECT_EQ(
      waiter.why.get(),
      "slice 'theirs' needs 2 devices of an island, used by nothing else, "
      "held by slice 'mine' of client 'client0' (16384)");
  // The waiting load passes the client that holds the devices.
  EXPECT_EQ(*runtime->DevicesOf(*runtime->ReserveSlice({.name = "more"})),
            std::vector<std::string>{"island0/host0/device1"});
  ASSERT_TRUE(runtime->ReleaseSlice(mine).ok());
  runtime.Reconnect();
  const absl::StatusOr<SliceHandle> theirs = waiter.result.get();
  ASSERT_TRUE(theirs.ok()) << theirs.status();
}

TEST_P(SlicesTest, AQuotaCountsSlicesAndNotWhatIsOnThem) {
  TestCluster runtime = StartSmall("1x1x2");
  const std::unique_ptr<Client> poor =
      runtime.Connect("poor", {.quota_bytes = 20'000});
  const absl::StatusOr<SliceHandle> slice =
      poor->ReserveSlice({.name = "one", .shape = {1}});
  ASSERT_TRUE(slice.ok()) << slice.status();
  ASSERT_TRUE(poor->Load(Copy("p", 512), *slice).ok());
  EXPECT_EQ(Refused(poor->ReserveSlice({.name = "two"}).status()),
            "device memory of slice 'two': 16384 bytes; client 'poor' has "
            "16384 of the 20000 bytes of its quota [PW3201]");
}

}  // namespace
}  // namespace pathways::testing

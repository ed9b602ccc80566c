//===- array_test.cpp - Arrays that outlive runs --------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/lib/API/api_test_support.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace pathways {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ApiTest, HandlesReleaseInAnyOrder) {
  auto compiled = take(compile(runningSum(), {.topology = "1x1x2"}));
  std::optional<pathways::Run> run;
  {
    auto session = take(Session::open({.topology = "1x1x2"}));
    auto executable = take(session.load(compiled.plan));
    run = take(executable.launch(
        {{"x", floats({1, 2}, {1, 2})}, {"start", floats({2}, {0, 0})}}));
  }
  // The run keeps its argument alive.
  EXPECT_THAT(values(take(run->fetch("total"))), ElementsAre(1, 2));
}

TEST(ApiTest, ArraysStayBetweenLaunches) {
  auto compiled = take(compile(runningSum(), {.topology = "1x2x1"}));
  for (auto world : {RunOptions::kThreads, RunOptions::kSim}) {
    auto session =
        take(Session::open({.topology = "1x2x1", .run = {.world = world}}));
    auto executable = take(session.load(compiled.plan));
    Array total = take(session.put(floats({2}, {10, 20})));
    EXPECT_TRUE(total.isReady());
    for (float i = 1; i <= 5; ++i) {
      // The argument is the result of a run that may still be in flight.
      auto run = take(executable.launch(
          {{"x", floats({1, 2}, {i, -i})}, {"start", total}}));
      total = take(run.take("total"));
    }
    EXPECT_EQ(total.element(), ElementType::kF32);
    EXPECT_THAT(total.shape(), ElementsAre(2));
    EXPECT_TRUE(total.await());
    EXPECT_TRUE(total.isReady());
    EXPECT_THAT(values(take(total.fetch())), ElementsAre(25, 5));
    EXPECT_TRUE(take(total.awaitFor(0)));
    float copied[2];
    EXPECT_TRUE(total.fetchInto({reinterpret_cast<char *>(copied), 8}));
    EXPECT_THAT(copied, ElementsAre(25, 5));
    const Status tooSmall =
        total.fetchInto({reinterpret_cast<char *>(copied), 4});
    ASSERT_FALSE(tooSmall);
    EXPECT_EQ(tooSmall.error().code, ErrorCode::kInvalidArgument);
  }
}

TEST(ApiTest, AnEmptyArrayHasNoValuesAnywhere) {
  const Array none;
  EXPECT_EQ(none.awaitFor(-1).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(none.fetchInto({}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(none.view().error().code, ErrorCode::kInvalidArgument);
}

/// Facts and costs of a plan, without machines and on them.
TEST(ApiTest, APlanTellsWhatItTakesAndCosts) {
  const Compiled compiled = take(compile(runningSum(), {.topology = "1x2x1"}));
  const Plan &plan = compiled.plan;
  const std::vector<PortInfo> arguments = take(plan.arguments());
  auto session = take(Session::open({.topology = "1x2x1"}));
  auto executable = take(session.load(plan));
  const std::vector<PortInfo> loaded = take(executable.arguments());
  ASSERT_EQ(arguments.size(), loaded.size());
  for (size_t i = 0; i < loaded.size(); ++i) {
    EXPECT_EQ(arguments[i].name, loaded[i].name);
    EXPECT_EQ(arguments[i].shape, loaded[i].shape);
    EXPECT_EQ(arguments[i].carried_from, loaded[i].carried_from);
    EXPECT_EQ(arguments[i].sharding.dims, loaded[i].sharding.dims);
    EXPECT_TRUE(arguments[i].sharding.devices.empty());
  }
  const PlanCosts costs = take(plan.costs({.topology = "1x2x1"}));
  const std::vector<DeviceMemory> memory = take(executable.memory());
  ASSERT_EQ(costs.devices.size(), memory.size());
  for (size_t i = 0; i < memory.size(); ++i) {
    EXPECT_EQ(costs.devices[i].device, memory[i].device);
    EXPECT_EQ(costs.devices[i].peak_bytes, memory[i].bytes);
  }
  EXPECT_GT(costs.step_ns, 0);
  EXPECT_EQ(Plan().costs().error().code, ErrorCode::kInvalidArgument);
}

/// acc' = acc + x, where both devices hold contributions, and the sum of these.
constexpr char kContributions[] = R"(
pw.slice @s mesh <"d" = 2>
!acc = !pw.array<3xf32, @s, [{}] partial add {"d"}>
!x = !pw.array<4x3xf32, @s, [{"d"}, {}]>
!sum = !pw.array<3xf32, @s, [{}]>
func.func private @add(%acc: tensor<3xf32>, %x: tensor<4x3xf32>) -> tensor<3xf32> {
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<4x3xf32>) outs(%acc : tensor<3xf32>) dimensions = [0]
  return %sum : tensor<3xf32>
}
pw.program @accumulate(%x: !x, %acc: !acc {pw.carried = 0 : i64}) -> (!acc {pw.name = "acc"}) {
  %0 = pw.call @add(%acc, %x) donate(%acc) : (!acc, !x) -> !acc
  pw.return %0 : !acc
}
pw.program @finish(%acc: !acc) -> (!sum {pw.name = "sum"}) {
  %0 = pw.reshard %acc : !acc -> !sum
  pw.return %0 : !sum
}
pw.program @whole(%acc: !sum) -> (!sum {pw.name = "sum"}) {
  pw.return %acc : !sum
})";

TEST(ApiTest, ArraysAreSavedAndLoadedElsewhere) {
  std::string folder = ::testing::TempDir() + "api_test_XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const Plan plan = take(compile(runningSum(), {.topology = "1x1x2"})).plan;
  {
    Session session = take(Session::open({.topology = "1x1x2"}));
    Executable sum = take(session.load(plan));
    auto run = take(sum.launch(
        {{"x", floats({1, 2}, {1, 2})}, {"start", floats({2}, {10, 20})}}));
    // Arrays of a run that is not finished can be saved, too.
    const Array total = take(run.take("total"));
    const Array trail = take(run.take("trail"));
    EXPECT_TRUE(total.save(folder + "/total"));
    EXPECT_TRUE(
        session.save({{"total", total}, {"trail", trail}}, folder + "/all"));
    EXPECT_EQ(total.save(folder + "/total").error().code,
              ErrorCode::kAlreadyExists);
    EXPECT_EQ(total.save(folder + "/total/index.json/total").error().code,
              ErrorCode::kUnwritable);
    EXPECT_EQ(session.save({{"a/b", total}}, folder + "/b").error().code,
              ErrorCode::kInvalidArgument);
    EXPECT_EQ(session.save({{"a", Array()}}, folder + "/b").error().code,
              ErrorCode::kInvalidArgument);
    Session other = take(session.another("other"));
    EXPECT_EQ(other.save({{"a", total}}, folder + "/b").error().code,
              ErrorCode::kInvalidArgument);
  }
  Session session = take(
      Session::open({.topology = "1x2x1", .run = {.world = RunOptions::kSim}}));
  Executable sum = take(
      session.load(take(compile(runningSum(), {.topology = "1x2x1"})).plan));
  Array total = take(session.loadArray(folder + "/total"));
  EXPECT_EQ(total.shape(), (std::vector<int64_t>{2}));
  auto run =
      take(sum.launch({{"x", floats({1, 2}, {1, 1})}, {"start", total}}));
  EXPECT_EQ(values(take(run.fetch("total"))), (std::vector<float>{12, 23}));
  auto all = take(session.loadArrays(folder + "/all"));
  EXPECT_EQ(all.size(), 2u);
  EXPECT_EQ(values(take(all["trail"].fetch())), (std::vector<float>{11, 22}));

  EXPECT_EQ(session.loadArray(folder + "/none").error().code,
            ErrorCode::kNotFound);
  EXPECT_EQ(session.loadArray(folder + "/all").error().code,
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(session.loadArrays(folder + "/total").error().code,
            ErrorCode::kInvalidArgument);
  std::filesystem::resize_file(folder + "/all/trail/block-0.npy", 10);
  EXPECT_EQ(session.loadArrays(folder + "/all").error().code,
            ErrorCode::kDamaged);
  // An array that was loaded from the changed file cannot be used any more and
  // reports it.
  run = take(sum.launch({{"x", all["trail"]}, {"start", total}}));
  const Error changed = run.await().error();
  EXPECT_EQ(changed.code, ErrorCode::kRunFailed);
  EXPECT_NE(changed.message.find("trail/block-0.npy"), std::string::npos)
      << changed.message;
  total.release();
  EXPECT_EQ(total.save(folder + "/b").error().code,
            ErrorCode::kInvalidArgument);
  EXPECT_FALSE(std::filesystem::exists(folder + "/b"));
  std::filesystem::remove_all(folder);
}

TEST(ApiTest, ContributionsStayBetweenLaunches) {
  for (const char *topology : {"1x1x2", "1x2x1"}) {
    auto session = take(Session::open({.topology = topology}));
    auto load = [&](const char *program) {
      return take(
          session.load(take(compile({kContributions},
                                    {.topology = topology, .program = program}))
                           .plan));
    };
    auto accumulate = load("accumulate"), finish = load("finish"),
         whole = load("whole");
    HostArray x = floats({4, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
    Array acc = take(session.put(floats({3}, {100, 200, 300})));
    for (int launch = 0; launch < 3; ++launch) {
      auto run = take(accumulate.launch({{"x", x}, {"acc", acc}}, 2));
      acc = take(run.take("acc"));
    }
    // Read as contributions, as the client's own array, and as a whole array.
    auto sums = ElementsAre(232, 356, 480);
    EXPECT_THAT(values(take(take(finish.launch({{"acc", acc}})).fetch("sum"))),
                sums);
    EXPECT_THAT(values(take(take(whole.launch({{"acc", acc}})).fetch("sum"))),
                sums);
    EXPECT_THAT(values(take(acc.fetch())), sums);
  }
}

/// Nothing happens in a simulation unless a caller waits.
TEST(ApiTest, ToDestroyWaitsForNothing) {
  auto compiled = take(compile(runningSum(), {.topology = "1x2x1"}));
  auto session = take(
      Session::open({.topology = "1x2x1", .run = {.world = RunOptions::kSim}}));
  Array total;
  {
    auto executable = take(session.load(compiled.plan));
    auto run = take(executable.launch(
        {{"x", floats({1, 2}, {1, 2})}, {"start", floats({2}, {0, 0})}}));
    total = take(run.take("total"));
    auto unseen = take(executable.launch(
        {{"x", floats({1, 2}, {1, 2})}, {"start", floats({2}, {0, 0})}}));
    EXPECT_FALSE(run.isReady());
  }
  EXPECT_FALSE(total.isReady());
  EXPECT_THAT(values(take(total.fetch())), ElementsAre(1, 2));
  // A dropped program is unloaded and frees its memory.
  for (int i = 0; i < 100; ++i)
    take(session.load(compiled.plan));
}

TEST(ApiTest, BorrowedValuesAreGivenBackOnce) {
  auto compiled = take(compile(runningSum(), {.topology = "1x2x1"}));
  for (auto world : {RunOptions::kThreads, RunOptions::kSim}) {
    const float start[2] = {10, 20};
    std::atomic<int> done{0};
    auto borrow = [&](std::vector<int64_t> shape) {
      return BorrowedArray{ElementType::kF32, std::move(shape),
                           reinterpret_cast<const char *>(start), sizeof start,
                           [&] { ++done; }};
    };
    auto session =
        take(Session::open({.topology = "1x2x1", .run = {.world = world}}));
    auto executable = take(session.load(compiled.plan));
    Array array = take(session.put(borrow({2})));
    EXPECT_THAT(values(take(array.fetch())), ElementsAre(10, 20));
    EXPECT_EQ(done, 0);
    auto run = take(
        executable.launch({{"x", floats({1, 2}, {1, 2})}, {"start", array}}));
    EXPECT_TRUE(run.await());
    // The devices have copies, so the array stays usable.
    EXPECT_EQ(done, 1);
    EXPECT_THAT(values(take(array.fetch())), ElementsAre(10, 20));
    EXPECT_THAT(values(take(run.fetch("total"))), ElementsAre(11, 22));
    array = take(session.put(borrow({2})));
    array = Array();
    EXPECT_EQ(done, 2);
    auto refused = session.put(borrow({3}));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(refused.error().message,
              "an array of 3xf32 has 8 bytes, expected 12");
    EXPECT_EQ(done, 3);
  }
}

constexpr char kEmpty[] = R"(
func.func private @none(%x: tensor<1xf32>) -> (tensor<1xf32>, tensor<0xf32>)
    attributes {pw.local_view} {
  %e = tensor.empty() : tensor<0xf32>
  return %x, %e : tensor<1xf32>, tensor<0xf32>
}
pw.slice @s mesh <"d" = 2>
pw.program @p(%x: !pw.array<2xf32, @s, [{"d"}]>)
    -> (!pw.array<2xf32, @s, [{"d"}]>, !pw.array<0xf32, @s, [{}]>) {
  %y, %e = pw.call @none(%x) : (!pw.array<2xf32, @s, [{"d"}]>)
      -> (!pw.array<2xf32, @s, [{"d"}]>, !pw.array<0xf32, @s, [{}]>)
  pw.return %y, %e : !pw.array<2xf32, @s, [{"d"}]>, !pw.array<0xf32, @s, [{}]>
})";

/// Nothing happens in a simulation unless a caller waits.
TEST(ApiTest, ToTakeAResultOfNoElementsWaits) {
  auto plan =
      take(compile(Program{kEmpty, "t.mlir"}, {.topology = "1x1x2"})).plan;
  auto session = take(
      Session::open({.topology = "1x1x2", .run = {.world = RunOptions::kSim}}));
  auto executable = take(session.load(plan));
  auto run = take(executable.launch({{"x", floats({2}, {1, 2})}}));
  auto some = take(run.take("result0"));
  EXPECT_FALSE(some.isReady());
  EXPECT_FALSE(run.isReady());
  auto none = take(run.take("result1"));
  EXPECT_TRUE(none.isReady());
  EXPECT_TRUE(run.isReady());
  EXPECT_THAT(none.shape(), ElementsAre(0));
  EXPECT_THAT(take(none.fetch()).data, IsEmpty());
  EXPECT_THAT(values(take(some.fetch())), ElementsAre(1, 2));
}

} // namespace
} // namespace pathways

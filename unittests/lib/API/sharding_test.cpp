//===- sharding_test.cpp - Devices, shardings and shards ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/lib/API/api_test_support.h"
#include "unittests/random_cases.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace pathways {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

template <typename T>
void isInvalid(const Result<T> &result, const std::string &what) {
  ASSERT_FALSE(result) << "expected an error with: " << what;
  EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(result.error().message, HasSubstr(what));
}

/// Returns 0, 1, 2, ... as an array of that shape.
HostArray counted(std::vector<int64_t> shape, float first = 0) {
  HostArray array{ElementType::kF32, std::move(shape), {}};
  std::vector<float> all(array.numElements());
  std::iota(all.begin(), all.end(), first);
  return floats(array.shape, all);
}

TEST(DevicesTest, DevicesAndHostsAreListedWithTheirMemory) {
  for (auto world : {RunOptions::kThreads, RunOptions::kSim}) {
    auto session =
        take(Session::open({.topology = "2x1x2", .run = {.world = world}}));
    const auto fresh = take(session.devices());
    ASSERT_EQ(fresh.size(), 4u);
    EXPECT_EQ(fresh[3].name, "island1/host1/device1");
    EXPECT_EQ(fresh[3].kind, "cpu");
    EXPECT_EQ(fresh[3].island, 1);
    EXPECT_EQ(fresh[3].host, 1);
    EXPECT_EQ(fresh[3].index, 1);
    EXPECT_THAT(fresh, Each(AllOf(Field(&DeviceInfo::memory_bytes, 1u << 30),
                                  Field(&DeviceInfo::used_bytes, 0u),
                                  Field(&DeviceInfo::is_available, true))));

    const Plan plan = take(compile(runningSum(), {.topology = "2x1x2"})).plan;
    auto executable = take(session.load(plan));
    ASSERT_TRUE(session.drain({"island1/host1/device0"}));
    const auto loaded = take(session.devices());
    for (const DeviceMemory &memory : take(executable.memory()))
      for (const DeviceInfo &device : loaded)
        if (device.name == memory.device) {
          EXPECT_EQ(device.used_bytes, memory.bytes);
          EXPECT_GE(device.peak_bytes, memory.bytes);
        }
    EXPECT_GT(loaded[0].used_bytes, 0u);
    EXPECT_EQ(loaded[3].used_bytes, 0u);
    EXPECT_FALSE(loaded[2].is_available);
    EXPECT_TRUE(loaded[3].is_available);

    auto run = take(executable.launch(
        {{"x", floats({1, 2}, {1, 2})}, {"start", floats({2}, {0, 0})}}));
    const Array total = take(run.take("total"));
    ASSERT_TRUE(total.await());
    const auto hosts = take(session.hosts());
    ASSERT_EQ(hosts.size(), 2u);
    EXPECT_EQ(hosts[0].name, "host0");
    EXPECT_GE(hosts[0].array_bytes, 8u);
    EXPECT_GE(hosts[0].used_bytes, hosts[0].array_bytes);
    EXPECT_GE(hosts[0].memory_bytes, hosts[0].used_bytes);
    EXPECT_EQ(hosts[1].array_bytes, 0u);
  }
}

TEST(ExecutableTest, SaysWhatItTakesAndReturns) {
  auto session = take(Session::open({.topology = "1x1x4"}));
  const Plan plan = take(compile(runningSum(), {.topology = "1x1x4"})).plan;
  auto executable = take(session.load(plan));
  EXPECT_EQ(executable.name(), "sum");
  const auto arguments = take(executable.arguments());
  ASSERT_EQ(arguments.size(), 2u);
  const Sharding there = {
      .mesh = {{"d", 2}},
      .devices = {"island0/host0/device0", "island0/host0/device1"},
      .dims = {{"d"}}};
  EXPECT_EQ(arguments[0].name, "x");
  EXPECT_EQ(arguments[0].element, ElementType::kF32);
  EXPECT_THAT(arguments[0].shape, ElementsAre(2));
  EXPECT_TRUE(arguments[0].stepped);
  EXPECT_EQ(arguments[0].carried_from, "");
  EXPECT_EQ(arguments[0].sharding, there);
  EXPECT_EQ(arguments[1].name, "start");
  EXPECT_FALSE(arguments[1].stepped);
  EXPECT_EQ(arguments[1].carried_from, "total");
  const auto results = take(executable.results());
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].name, "total");
  EXPECT_EQ(results[1].name, "trail");
  EXPECT_TRUE(results[1].stepped);

  ASSERT_TRUE(executable.rebind({.avoid = {"island0/host0/device1"}}));
  const Sharding now = take(executable.results())[0].sharding;
  EXPECT_EQ(now.devices[0], there.devices[0]);
  EXPECT_NE(now.devices[1], there.devices[1]);
  const auto memory = take(executable.memory());
  ASSERT_EQ(memory.size(), 2u);
  EXPECT_EQ(memory[1].device, now.devices[1]);
  EXPECT_GT(memory[1].bytes, 0u);

  Executable moved = std::move(executable);
  isInvalid(executable.arguments(), "the executable is empty");
  isInvalid(executable.results(), "the executable is empty");
  isInvalid(executable.memory(), "the executable is empty");
  isInvalid(executable.launchPositional({}), "the executable is empty");
  EXPECT_EQ(executable.name(), "");
}

TEST(ExecutableTest, LaunchesByPosition) {
  auto session = take(Session::open({.topology = "1x1x2"}));
  auto executable = take(
      session.load(take(compile(runningSum(), {.topology = "1x1x2"})).plan));
  Array start = take(session.put(floats({2}, {10, 20})));
  auto run = take(executable.launchPositional(
      {floats({2, 2}, {1, 2, 3, 4}), start}, /*steps=*/2));
  EXPECT_THAT(values(take(run.fetch(0))), ElementsAre(14, 26));
  EXPECT_THAT(values(take(take(run.take(1)).fetch())),
              ElementsAre(11, 22, 14, 26));
  isInvalid(run.fetch(2), "has 2 results");
  isInvalid(run.take(-1), "has 2 results");
  isInvalid(executable.launchPositional({start}), "takes 2 arguments, got 1");
  isInvalid(executable.launchPositional({floats({1, 2}, {1, 2}), Array()}),
            "the array of argument 1 is empty");
  isInvalid(executable.launchPositional({start, start}), "argument 'x'");
  start.release();
  isInvalid(executable.launchPositional({floats({1, 2}, {1, 2}), start}),
            "argument 'start'");
}

TEST(ShardingTest, ArraysSayWhereTheyAre) {
  auto session = take(Session::open({.topology = "1x2x1"}));
  auto executable = take(
      session.load(take(compile(runningSum(), {.topology = "1x2x1"})).plan));
  Array start = take(session.put(floats({2}, {10, 20})));
  EXPECT_FALSE(take(start.sharding()).has_value());
  EXPECT_THAT(take(start.shards()), IsEmpty());
  isInvalid(start.fetchShard(0), "has 0 shards");
  auto run = take(executable.launch(
      {{"x", floats({3, 2}, {1, 2, 3, 4, 5, 6})}, {"start", start}}, 3));
  // Known before the run has ended.
  const Array trail = take(run.take("trail"));
  const Sharding sharding = *take(trail.sharding());
  EXPECT_THAT(sharding.dims, ElementsAre(IsEmpty(), ElementsAre("d")));
  const auto shards = take(trail.shards());
  ASSERT_EQ(shards.size(), 2u);
  EXPECT_EQ(shards[1].device, "island0/host1/device0");
  EXPECT_THAT(shards[1].offset, ElementsAre(0, 1));
  EXPECT_THAT(shards[1].shape, ElementsAre(3, 1));
  const HostArray second = take(trail.fetchShard(1));
  EXPECT_THAT(second.shape, ElementsAre(3, 1));
  EXPECT_THAT(values(second), ElementsAre(22, 26, 32));
  isInvalid(trail.fetchShard(2), "has 2 shards, not shard 2");
  isInvalid(trail.fetchShard(-1), "has 2 shards, not shard -1");
  EXPECT_EQ(*take(start.sharding()), take(executable.arguments())[1].sharding);
  start.release();
  isInvalid(start.sharding(), "released");
  isInvalid(start.shards(), "released");
  isInvalid(Array().sharding(), "the array is empty");
  isInvalid(Array().shards(), "the array is empty");
  isInvalid(Array().fetchShard(0), "the array is empty");
}

TEST(ShardingTest, APutArrayIsWhereTheProgramWantsIt) {
  auto session = take(Session::open({.topology = "2x1x2"}));
  auto executable = take(
      session.load(take(compile(runningSum(), {.topology = "2x1x2"})).plan));
  const Sharding wanted = take(executable.arguments())[1].sharding;
  Array start = take(session.put(floats({2}, {10, 20}), wanted));
  EXPECT_EQ(*take(start.sharding()), wanted);
  auto run = take(
      executable.launch({{"x", floats({1, 2}, {1, 2})}, {"start", start}}));
  EXPECT_THAT(values(take(run.fetch("total"))), ElementsAre(11, 22));
  EXPECT_EQ(*take(start.sharding()), wanted);
  EXPECT_THAT(values(take(start.fetch())), ElementsAre(10, 20));
}

/// Returns a random sharding of an array of that shape, on some of the devices.
Sharding randomSharding(const std::vector<int64_t> &shape,
                        const std::vector<DeviceInfo> &devices,
                        std::minstd_rand &random) {
  auto below = [&](size_t bound) { return random() % bound; };
  Sharding sharding;
  sharding.dims.resize(shape.size());
  size_t shards = 1;
  for (const char *name : {"a", "b", "c"}) {
    const int64_t size = 1 + static_cast<int64_t>(below(3));
    if (shards * size > devices.size())
      break;
    shards *= size;
    sharding.mesh.push_back({name, size});
    const size_t use = below(shape.size() + 2);
    if (use < shape.size())
      sharding.dims[use].push_back(name);
    else if (use == shape.size())
      sharding.partial_axes.push_back(name);
  }
  if (!sharding.partial_axes.empty())
    sharding.reduction =
        below(2) ? Sharding::Reduction::kAdd : Sharding::Reduction::kMax;
  // All on one island, or one half on each of the two.
  const size_t half = devices.size() / 2;
  const bool spans = shards % 2 == 0 && below(2);
  const size_t first = below(2) ? half : 0;
  for (size_t s = 0; s < shards; ++s) {
    const size_t at = spans && s >= shards / 2 ? half - first : first;
    sharding.devices.push_back(devices[at + below(half)].name);
  }
  return sharding;
}

TEST(ShardingTest, RandomShardingsKeepEveryElement) {
  const auto seed = static_cast<uint32_t>(TestSeed(20261128));
  SCOPED_TRACE("PATHWAYS_TEST_SEED=" + std::to_string(seed));
  std::minstd_rand random(seed);
  for (auto world : {RunOptions::kThreads, RunOptions::kSim}) {
    auto session =
        take(Session::open({.topology = "2x2x2", .run = {.world = world}}));
    const auto devices = take(session.devices());
    for (int round = 0; round < 40; ++round) {
      std::vector<int64_t> shape(random() % 4);
      for (int64_t &size : shape)
        size = 1 + static_cast<int64_t>(random() % 7);
      const Sharding sharding = randomSharding(shape, devices, random);
      const HostArray whole = counted(shape, 1);
      Result<Array> put = session.put(whole, sharding);
      ASSERT_TRUE(put) << put.error().message;
      EXPECT_EQ(*take(put->sharding()), sharding);
      ASSERT_EQ(values(take(put->fetch())), values(whole));
      // Each shard has the elements of its box, or another contribution.
      std::vector<HostArray> parts;
      const auto shards = take(put->shards());
      ASSERT_EQ(shards.size(), sharding.devices.size());
      for (size_t s = 0; s < shards.size(); ++s) {
        parts.push_back(take(put->fetchShard(static_cast<int64_t>(s))));
        ASSERT_EQ(parts.back().shape, shards[s].shape);
        EXPECT_EQ(shards[s].device, sharding.devices[s]);
      }
      const Array again = take(session.putShards(shape, parts, sharding));
      ASSERT_EQ(values(take(again.fetch())), values(whole));
      for (size_t s = 0; s < shards.size(); ++s)
        ASSERT_EQ(values(take(again.fetchShard(static_cast<int64_t>(s)))),
                  values(parts[s]));
    }
  }
}

TEST(ShardingTest, PartialShardsAreContributions) {
  auto session = take(Session::open({.topology = "1x1x2"}));
  const auto devices = take(session.devices());
  const Sharding partial = {.mesh = {{"d", 2}},
                            .devices = {devices[0].name, devices[1].name},
                            .dims = {{}},
                            .partial_axes = {"d"},
                            .reduction = Sharding::Reduction::kAdd};
  const Array sum = take(session.putShards(
      {2}, {floats({2}, {1, 2}), floats({2}, {10, 20})}, partial));
  EXPECT_THAT(values(take(sum.fetch())), ElementsAre(11, 22));
  EXPECT_THAT(values(take(sum.fetchShard(1))), ElementsAre(10, 20));
  const Array one = take(session.put(floats({2}, {1, 2}), partial));
  EXPECT_THAT(values(take(one.fetch())), ElementsAre(1, 2));
  EXPECT_THAT(values(take(one.fetchShard(0))), ElementsAre(1, 2));
  EXPECT_THAT(values(take(one.fetchShard(1))), ElementsAre(0, 0));
}

TEST(ShardingTest, ArraysWithoutElementsCanBePut) {
  auto session = take(Session::open({.topology = "1x1x2"}));
  const auto devices = take(session.devices());
  const Sharding sharding = {.mesh = {{"d", 2}},
                             .devices = {devices[0].name, devices[1].name},
                             .dims = {{"d"}, {}}};
  const Array none = take(session.put(floats({0, 3}, {}), sharding));
  EXPECT_THAT(none.shape(), ElementsAre(0, 3));
  EXPECT_THAT(take(none.fetch()).data, IsEmpty());
  const Array joined = take(session.putShards(
      {0, 3}, {floats({0, 3}, {}), floats({0, 3}, {})}, sharding));
  EXPECT_THAT(take(joined.fetch()).data, IsEmpty());
}

TEST(ShardingTest, WhatDoesNotFitIsRefused) {
  auto session = take(Session::open({.topology = "2x1x2"}));
  const auto devices = take(session.devices());
  auto name = [&](int device) { return devices[device].name; };
  const HostArray four = floats({4}, {1, 2, 3, 4});
  const Sharding good = {
      .mesh = {{"d", 2}}, .devices = {name(0), name(1)}, .dims = {{"d"}}};
  ASSERT_TRUE(session.put(four, good));
  auto refuse = [&](auto change, const std::string &what) {
    Sharding bad = good;
    change(bad);
    isInvalid(session.put(four, bad), what);
    isInvalid(session.putShards({4}, {four, four}, bad), what);
  };
  refuse([](Sharding &s) { s.devices.clear(); }, "names no device");
  refuse([](Sharding &s) { s.devices.pop_back(); },
         "names 1 devices, expected 2");
  refuse([](Sharding &s) { s.devices[1] = "island7/host0/device0"; },
         "'island7/host0/device0'");
  refuse([](Sharding &s) { s.mesh[0].size = 0; }, "the sharding: ");
  refuse([](Sharding &s) { s.mesh[0].size = INT64_MAX; }, "the sharding: ");
  refuse([](Sharding &s) { s.mesh.push_back(s.mesh[0]); }, "the sharding: ");
  refuse([](Sharding &s) { s.dims[0][0] = "x"; }, "the sharding: ");
  refuse([](Sharding &s) { s.dims.clear(); }, "the sharding: ");
  refuse([](Sharding &s) { s.dims[0].push_back("d"); }, "the sharding: ");
  refuse([](Sharding &s) { s.partial_axes = {"d"}; }, "the sharding: ");
  refuse([](Sharding &s) { s.reduction = Sharding::Reduction::kMax; },
         "the sharding: ");
  refuse(
      [&](Sharding &s) {
        s.mesh[0].size = 3;
        s.devices = {name(0), name(2), name(3)};
      },
      "runs of equal size");
  refuse(
      [&](Sharding &s) {
        s.mesh[0].size = 4;
        s.devices = {name(0), name(2), name(1), name(3)};
      },
      "runs of equal size");

  HostArray short4 = four;
  short4.data.pop_back();
  isInvalid(session.put(short4, good), "15 bytes");
  isInvalid(session.put(HostArray{ElementType::kInvalid, {4}, {}}, good),
            "4xinvalid");
  isInvalid(session.put(HostArray{ElementType::kF32, {-4}, {}}, good),
            "-4xf32");
  isInvalid(session.putShards({4}, {}, good), "0 shards");
  isInvalid(session.putShards({4}, {four}, good), "1 shards");
  const HostArray half = floats({2}, {1, 2});
  isInvalid(session.putShards({4}, {half, four}, good),
            "shard 1 is 4xf32 with 16 bytes, expected 2xf32 with 8");
  isInvalid(
      session.putShards(
          {4}, {half, HostArray{ElementType::kI32, {2}, half.data}}, good),
      "shard 1 is 2xi32");
  // The session works as before.
  EXPECT_TRUE(session.putShards({4}, {half, half}, good));
  const Session gone = std::move(session);
  isInvalid(session.put(four, good), "the session is empty");
  isInvalid(session.putShards({4}, {half, half}, good), "the session is empty");
  isInvalid(session.devices(), "the session is empty");
  isInvalid(session.hosts(), "the session is empty");
}

TEST(ShardingTest, AnArrayThatDevicesCannotHoldIsRefused) {
  auto session = take(
      Session::open({.topology = "1x1x1", .client = {.quota_bytes = 1 << 10}}));
  const Sharding sharding = {.devices = {take(session.devices())[0].name},
                             .dims = {{}}};
  Result<Array> large = session.put(counted({1024}), sharding);
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code, ErrorCode::kRefused);
  EXPECT_TRUE(session.put(counted({8}), sharding));
}

} // namespace
} // namespace pathways

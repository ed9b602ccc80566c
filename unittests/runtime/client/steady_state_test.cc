//===- steady_state_test.cc - Launches that take no memory and no lock ----===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "runtime/plan/testing/test_plans.h"
#include "runtime/scheduler/grant_order.h"
#include "unittests/runtime/client/runtime_test_support.h"

namespace {
std::atomic<uint64_t> allocations{0}, locks{0};

void* Counted(void* memory) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
}  // namespace

void* operator new(size_t size) {
  return Counted(std::malloc(size == 0 ? 1 : size));
}
void* operator new(size_t size, std::align_val_t align) {
  const size_t unit = static_cast<size_t>(align);
  return Counted(std::aligned_alloc(unit, (size + unit - 1) / unit * unit));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t, std::align_val_t) noexcept {
  std::free(memory);
}

// The linker sends calls of our libraries here (-Wl,--wrap).
extern "C" {
int __real_pthread_mutex_lock(pthread_mutex_t* mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t* mutex) {
  locks.fetch_add(1, std::memory_order_relaxed);
  return __real_pthread_mutex_lock(mutex);
}
}

namespace pathways::testing {
namespace {

// Gangs in a chain between two slices on devices of two workers.
proto::Plan ChainPlan() {
  return ChainBuilder(
             {.name = "chain", .steps_in_flight = 4, .slice = {.shards = 1}})
      .Feed("u")
      .Run("g1", "add_one1")
      .Move("m2", {.shards = 1, .base = 1})
      .Run("g3", "add_one1")
      .MoveTo("m4", 0)
      .Run("g5", "add_one1")
      .MoveTo("m6", 1)
      .Fetch("out")
      .Finish();
}

struct Cost {
  uint64_t allocations, locks, messages;
};

TEST(SteadyStateTest, StepsTakeNoMemoryAndNoLock) {
  // On one host, and over a link between two hosts; traced or not.
  for (auto [topology, trace_events] :
       {std::make_pair("1x1x2", 0), std::make_pair("1x2x1", 0),
        std::make_pair("1x2x1", 1000)}) {
    SCOPED_TRACE(absl::StrCat(topology, ", ", trace_events));
    ClusterOptions options;
    options.trace_events = trace_events;
    // The timer of stalls, which costs messages, does not expire.
    auto runtime = Start(topology, options);
    const ProgramHandle program = LoadPlan(*runtime, ChainPlan());
    auto cost = [&](int64_t steps) {
      const uint64_t a = allocations.load(), l = locks.load();
      const uint64_t controller = StatsOf(*runtime).controller_messages;
      const TimeNs start = StatsOf(*runtime).now_ns;
      const RunHandle run =
          LaunchPlan(*runtime, program, {Floats({1}, {0})}, steps);
      EXPECT_TRUE(runtime->Await(run).ok());
      // The launch with its argument, an answer of each host, and the end of
      // each grant: these grow with time, not with steps.
      const ClusterStats stats = StatsOf(*runtime);
      const uint64_t messages = stats.controller_messages - controller;
      const uint64_t halves =
          static_cast<uint64_t>(stats.now_ns - start) / (kGrantHorizonNs / 2);
      EXPECT_LE(messages, 1 + stats.hosts.size() + 16 + 4 * halves);
      return Cost{allocations.load() - a, locks.load() - l, messages};
    };
    cost(1000);  // warm
    const Cost few = cost(1000);
    const Cost many = cost(11000);
    // Apart from grants both launches cost about the same, however many steps
    // they have; sleeping and waking workers takes a few locks.
    const uint64_t grants =
        many.messages - std::min(many.messages, few.messages);
    EXPECT_LE(many.allocations, few.allocations + 100 + 50 * grants);
    EXPECT_LE(many.locks, few.locks + 100 + 10 * grants);
    EXPECT_GT(few.allocations, 0u);  // the counter counts
    const ClusterStats stats = StatsOf(*runtime);
    EXPECT_EQ(stats.steps_done, 13000u);
  }
}

// y = u + v and u + v + 1 on two devices.
proto::Plan TwoResultsPlan() {
  ChainBuilder b({.name = "two"});
  b.Feed("u").Feed("v").Run("add", "add1");
  const uint32_t y = b.last();
  b.Run("add_one", "add_one1").AddFetch("y", y);
  return b.Fetch("z").Finish();
}

// From the call to the release of what it returned, in arrays that stay on the
// devices: neither who asks for it nor the workers take any.
TEST(SteadyStateTest, ALaunchTakesNoMemory) {
  for (const char* topology : {"1x1x2", "1x2x1"}) {
    SCOPED_TRACE(topology);
    auto runtime = Start(topology);
    const ProgramHandle program = LoadPlan(*runtime, TwoResultsPlan());
    const ArrayHandle u = *runtime->Put(Floats({2}, {1, 2}));
    ArrayHandle v = *runtime->Put(Floats({2}, {0, 0}));
    auto launch = [&](bool await) {
      const RunHandle run = *runtime->Launch(program, {u, v});
      const ArrayHandle early = *runtime->Keep(run, 0);
      if (await) EXPECT_TRUE(runtime->Await(run).ok());
      const ArrayHandle late = *runtime->Keep(run, 1);
      EXPECT_TRUE(runtime->ReleaseRun(run).ok());
      EXPECT_TRUE(runtime->Release(v).ok());
      EXPECT_TRUE(runtime->Release(late).ok());
      v = early;
    };
    EXPECT_GT(allocations.load(), 0u);  // the counter counts
    // So much at one time is never needed again.
    for (size_t i = 0; i < 4 * kMaxLaunches; ++i) launch(/*await=*/false);
    // Containers that are as long as ever may still grow now and then, but not
    // in each of several rounds.
    int launches = 4 * kMaxLaunches;
    uint64_t taken = 1;
    for (int round = 0; round < 10 && taken != 0; ++round) {
      const uint64_t before = allocations.load();
      for (int i = 0; i < 500; ++i) launch(/*await=*/true);
      taken = allocations.load() - before;
      launches += 500;
    }
    EXPECT_EQ(taken, 0u);
    EXPECT_THAT(Values(*runtime->Get(v)),
                ::testing::ElementsAre(launches, 2 * launches));
  }
}

}  // namespace
}  // namespace pathways::testing

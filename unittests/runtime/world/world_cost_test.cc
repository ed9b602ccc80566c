//===- world_cost_test.cc - No lock and no allocation -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tests that a hot message between actors on threads takes no lock and no
// allocation at any load that was reserved. This binary is linked so that
// operator new and pthread_mutex_lock are counted.
//
//===----------------------------------------------------------------------===//

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "runtime/world/mailbox.h"
#include "runtime/world/thread_world.h"
#include "unittests/runtime/world/test_actor.h"

namespace {
std::atomic<uint64_t> allocations{0};
std::atomic<uint64_t> locks{0};
}  // namespace

// The linker redirects all references of this binary's objects to these
// symbols, because a sanitizer brings its own operator new.
extern "C" {
void* __real__Znwm(std::size_t bytes);
void* __real__Znam(std::size_t bytes);
void* __real__ZnwmSt11align_val_t(std::size_t bytes, std::align_val_t align);
void* __real__ZnamSt11align_val_t(std::size_t bytes, std::align_val_t align);
void* __wrap__Znwm(std::size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __real__Znwm(bytes);
}
void* __wrap__Znam(std::size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __real__Znam(bytes);
}
void* __wrap__ZnwmSt11align_val_t(std::size_t bytes, std::align_val_t align) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __real__ZnwmSt11align_val_t(bytes, align);
}
void* __wrap__ZnamSt11align_val_t(std::size_t bytes, std::align_val_t align) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __real__ZnamSt11align_val_t(bytes, align);
}
int __real_pthread_mutex_lock(pthread_mutex_t* mutex);
int __real_pthread_mutex_trylock(pthread_mutex_t* mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t* mutex) {
  locks.fetch_add(1, std::memory_order_relaxed);
  return __real_pthread_mutex_lock(mutex);
}
int __wrap_pthread_mutex_trylock(pthread_mutex_t* mutex) {
  locks.fetch_add(1, std::memory_order_relaxed);
  return __real_pthread_mutex_trylock(mutex);
}
}

namespace pathways {
namespace {

// Tests the counters themselves: if they did not count, the tests below could
// not fail.
TEST(WorldCostCounters, CountersWork) {
  uint64_t before = allocations.load();
  // Direct calls of the operators may not be optimized away.
  ::operator delete(::operator new(8));
  ::operator delete[](::operator new[](8));
  constexpr std::align_val_t kAlign{64};
  ::operator delete(::operator new(64, kAlign), kAlign);
  ::operator delete[](::operator new[](64, kAlign), kAlign);
  EXPECT_EQ(allocations.load(), before + 4);
  before = locks.load();
  std::mutex mutex;
  mutex.lock();
  mutex.unlock();
  EXPECT_EQ(locks.load(), before + 1);
}

class WorldCostTest : public testing::TestWithParam<TimeNs> {
 protected:
  static std::unique_ptr<ThreadWorld> Make(int workers) {
    ThreadOptions options;
    options.workers = workers;
    options.spin_ns = GetParam();
    return *ThreadWorld::Create(std::move(options));
  }
};

// Actors on two workers pass kUnderWay messages around, some to their own
// worker and some to the other one, and at times all of them to one actor.
TEST_P(WorldCostTest, HotMessagesNeitherLockNorAllocate) {
  constexpr int kActors = 8, kUnderWay = 1000;
  constexpr uint64_t kMessages = 400'000;
  std::deque<TestActor> actors(kActors);
  const auto made = Make(2);
  auto& world = *made;
  std::atomic<uint64_t> handled{0};
  std::atomic<bool> start_seen{false}, end_seen{false};
  std::atomic<uint64_t> start_allocations{0}, end_allocations{0};
  std::atomic<uint64_t> start_locks{0}, end_locks{0};
  for (int i = 0; i < kActors; ++i) {
    // Two actors are on each host, so half of the messages may be local.
    actors[i].Join(world, i / 2, i);
    world.Reserve(actors[i].local_id(), kUnderWay);
    auto pass_on = [&, i](uint64_t step) {
      uint64_t number = handled.fetch_add(1) + 1;
      if (number == kMessages / 10) {
        start_allocations = allocations.load();
        start_locks = locks.load();
        start_seen = true;
      }
      if (number == kMessages) {
        end_allocations = allocations.load();
        end_locks = locks.load();
        end_seen = true;
        world.Notify();
      }
      if (number >= kMessages) return;
      // In some phases all messages go to one actor, which makes every queue
      // long.
      uint64_t to = (number >> 12) % 3 == 0 ? (number >> 14) % kActors
                                            : (i + step) % kActors;
      step = step * 5 + 3;
      if (to / 2 == static_cast<uint64_t>(i) / 2) {
        world.SendLocal(actors[i].local_id(), actors[to].local_id(),
                        LocalNumbered(step));
      } else {
        world.Send(actors[i].id, actors[to].id, Numbered(step), {&world, 1});
      }
    };
    actors[i].on_message = [pass_on](ActorId, const WireMessage& message) {
      pass_on(message.step);
    };
    actors[i].on_local = [pass_on](const LocalMessage& message) {
      pass_on(message.step);
    };
  }
  for (int i = 0; i < kUnderWay; ++i) {
    world.Send(kNoActor, actors[i % kActors].id, Numbered(i));
  }
  ASSERT_TRUE(world.RunUntil([&] { return end_seen.load(); }));
  ASSERT_TRUE(start_seen.load());
  EXPECT_EQ(end_allocations - start_allocations, 0u);
  EXPECT_EQ(end_locks - start_locks, 0u);
  EXPECT_GT(world.stats(0).remote, 1000u);
  EXPECT_GT(world.stats(0).messages, world.stats(0).remote + 1000);
  world.Stop();
}

// Timers take no lock and no allocation either, once their heap has grown.
TEST_P(WorldCostTest, TimersDoNeitherOnceWarm) {
  TestActor actor;
  const auto made = Make(1);
  auto& world = *made;
  actor.Join(world, 0, 0);
  std::atomic<bool> done{false};
  uint64_t start_allocations = 0, end_allocations = 0;
  uint64_t start_locks = 0, end_locks = 0;
  actor.on_local = [&](const LocalMessage& message) {
    if (message.step == 10) {
      start_allocations = allocations.load();
      start_locks = locks.load();
    }
    if (message.step == 2000) {
      end_allocations = allocations.load();
      end_locks = locks.load();
      done = true;
      return world.Notify();
    }
    world.SendAfter(actor.local_id(), actor.local_id(), 0,
                    LocalNumbered(message.step + 1));
  };
  world.SendLocal(kNobody, actor.local_id(), LocalNumbered(0));
  ASSERT_TRUE(world.RunUntil([&] { return done.load(); }));
  EXPECT_EQ(end_allocations - start_allocations, 0u);
  EXPECT_EQ(end_locks - start_locks, 0u);
  world.Stop();
}

// A worker that does not run for a while finds the messages that a client
// posted meanwhile.
TEST_P(WorldCostTest, PostsToABusyWorkerDoNotAllocate) {
  constexpr uint64_t kPosts = Mailbox::kPostedAtOnce;
  TestActor actor;
  const auto made = Make(1);
  auto& world = *made;
  actor.Join(world, 0, 0);
  world.Reserve(actor.local_id(), kPosts + 1);
  std::atomic<bool> is_busy{false}, sent{false};
  std::atomic<uint64_t> handled{0};
  actor.on_message = [&](ActorId, const WireMessage& message) {
    if (message.step == kPosts) {
      is_busy = true;
      while (!sent) std::this_thread::yield();
    }
    if (++handled == kPosts + 1) world.Notify();
  };
  world.Send(kNoActor, actor.id, Numbered(kPosts));
  while (!is_busy) std::this_thread::yield();
  const uint64_t before = allocations.load();
  for (uint64_t i = 0; i < kPosts; ++i) {
    world.Send(kNoActor, actor.id, Numbered(i));
  }
  const uint64_t after = allocations.load();
  sent = true;
  EXPECT_TRUE(world.RunUntil([&] { return handled == kPosts + 1; }));
  EXPECT_EQ(after - before, 0u);
  world.Stop();
}

INSTANTIATE_TEST_SUITE_P(Spin, WorldCostTest,
                         testing::Values(TimeNs{0}, TimeNs{30'000}),
                         [](const auto& info) {
                           return info.param == 0 ? "sleeping" : "spinning";
                         });

}  // namespace
}  // namespace pathways

//===- thread_world_followers_test.cc - Threads that work while they wait -===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/world/clock.h"
#include "runtime/world/thread_world.h"
#include "unittests/runtime/world/test_actor.h"

namespace pathways {
namespace {

constexpr TimeNs kAnHour = int64_t{3600} * 1'000'000'000;

// Calls `asked` when a worker that is about to sleep asks how long it may.
class AskedClock final : public Clock {
 public:
  std::function<void()> asked;

  TimeNs Now() override { return 0; }
  TimeNs RealDelay(TimeNs) override {
    if (asked) asked();
    return -1;
  }
  int AddListener(std::function<void()>) override { return 0; }
  void RemoveListener(int) override {}
};

struct FollowersTest : ::testing::Test {
  void Make(TimeNs spin_ns = -1, std::function<bool()> poll = nullptr) {
    ThreadOptions options;
    options.workers = 1;
    options.followers = true;
    options.spin_ns = spin_ns;
    options.clock = clock;
    if (poll) {
      options.remote_channel.poll = std::move(poll);
      options.remote_channel.on_idle = [this] {
        ++(std::this_thread::get_id() == tester ? own_rests : rests);
      };
    }
    auto made = ThreadWorld::Create(std::move(options));
    ASSERT_TRUE(made.ok()) << made.status();
    world = *std::move(made);
    actor.Join(*world, 0, 0);
    actor.on_local = [this](const LocalMessage& message) {
      EXPECT_EQ(inside.fetch_add(1), 0);
      ran_on = std::this_thread::get_id();
      last = message.step;
      ++handled;
      inside.fetch_sub(1);
      world->Notify();
    };
  }
  void Notify(uint64_t step) {
    world->SendLocal(kNobody, actor.local_id(), LocalNumbered(step));
  }
  bool RunTo(int64_t count) {
    return world->RunUntil([&, count] { return handled.load() >= count; });
  }
  bool SleepsOf(uint64_t count) { return world->stats(0).sleeps >= count; }
  void AwaitSleep() {
    while (!SleepsOf(1)) std::this_thread::yield();
  }

  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  TestActor actor;  // outlives the world
  const std::thread::id tester = std::this_thread::get_id();
  std::atomic<int64_t> handled{0};
  // On_idle calls: by other threads, by the tester.
  std::atomic<int64_t> rests{0}, own_rests{0};
  std::atomic<uint64_t> last{0};
  std::atomic<std::thread::id> ran_on{};
  std::atomic<int> inside{0};
  std::unique_ptr<ThreadWorld> world;
};

TEST_F(FollowersTest, TakeTurnsWithOneWorkerAlone) {
  ThreadOptions options;
  options.followers = true;
  for (int workers : {0, 2}) {
    options.workers = workers;
    const auto made = ThreadWorld::Create(options);
    EXPECT_EQ(made.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(made.status().message(), "followers need exactly 1 worker, got " +
                                           std::to_string(workers));
  }
}

TEST_F(FollowersTest, WhatACallSendsIsHandledAtItsEnd) {
  Make();
  AwaitSleep();
  world->batching().BeginCall();
  world->batching().BeginCall();
  Notify(1);
  world->batching().EndCall();
  EXPECT_EQ(handled.load(), 0);
  Notify(2);
  world->batching().EndCall();
  EXPECT_EQ(handled.load(), 2);
  EXPECT_EQ(last.load(), 2u);
  EXPECT_EQ(ran_on.load(), std::this_thread::get_id());
  // No thread waits, so the worker's own thread continues.
  Notify(3);
  while (handled.load() < 3) std::this_thread::yield();
  EXPECT_NE(ran_on.load(), std::this_thread::get_id());
}

TEST_F(FollowersTest, WhatFollowsFromACallGoesOnWithoutIt) {
  Make();
  AwaitSleep();
  constexpr uint64_t kChain = 10'000;
  actor.on_local = [&](const LocalMessage& message) {
    ++handled;
    if (message.step == kChain) return;
    world->SendLocal(actor.local_id(), actor.local_id(),
                     LocalNumbered(message.step + 1));
  };
  {
    WorldCall call(world.get());
    Notify(1);
  }
  while (handled.load() < int64_t{kChain}) std::this_thread::yield();
}

TEST_F(FollowersTest, AHandlersOwnCallIsNone) {
  Make();
  actor.on_local = [&](const LocalMessage& message) {
    WorldCall call(world.get());
    if (message.step == 1) {
      world->SendLocal(actor.local_id(), actor.local_id(), LocalNumbered(2));
    }
    ++handled;
    world->Notify();
  };
  Notify(1);
  EXPECT_TRUE(RunTo(2));
}

// The message comes only from the poll, so the waiting thread must poll.
TEST_F(FollowersTest, WhoWaitsPollsAndHandles) {
  std::atomic<bool> bring{false};
  Make(kAnHour, [&] {
    if (!bring.exchange(false)) return false;
    world->SendLocal(kNobody, actor.local_id(), LocalNumbered(1));
    return true;
  });
  // The own thread spins, and makes room for the waiting thread.
  int asked = 0;
  EXPECT_TRUE(world->RunUntil([&] {
    if (++asked == 3) bring = true;
    return handled.load() == 1;
  }));
  EXPECT_EQ(handled.load(), 1);
  EXPECT_EQ(rests.load(), 0);
  EXPECT_EQ(own_rests.load(), 0);
}

TEST_F(FollowersTest, WhoGivesUpSpinningLeavesItToTheTransports) {
  Make(/*spin_ns=*/100'000, [] { return false; });
  AwaitSleep();
  // If the message came before the follower stopped spinning, try again.
  for (int64_t round = 1; own_rests.load() == 0; ++round) {
    std::thread later([&] {
      for (int i = 0; i < 1000 && own_rests.load() == 0; ++i) {
        std::this_thread::yield();
      }
      Notify(round);
    });
    EXPECT_TRUE(RunTo(round));
    later.join();
  }
  EXPECT_NE(ran_on.load(), tester);
}

TEST_F(FollowersTest, TimersOfAGuestFireWithoutIt) {
  Make();
  AwaitSleep();
  actor.on_local = [&](const LocalMessage& message) {
    last = message.step;
    ++handled;
    if (message.step == 1) {
      world->SendAfter(actor.local_id(), actor.local_id(), 1000,
                       LocalNumbered(2));
    }
  };
  {
    WorldCall call(world.get());
    Notify(1);
  }
  EXPECT_EQ(last.load(), 1u);
  clock->Advance(1000);
  while (last.load() != 2) std::this_thread::yield();
}

TEST_F(FollowersTest, StopEndsAWait) {
  Make(kAnHour);
  std::thread follower(
      [&] { EXPECT_FALSE(world->RunUntil([] { return false; })); });
  while (ran_on.load() != follower.get_id()) {
    const int64_t before = handled.load();
    Notify(1);
    while (handled.load() == before) std::this_thread::yield();
  }
  world->Stop();
  follower.join();
  const int64_t before = handled.load();
  Notify(2);
  world->batching().BeginCall();
  Notify(3);
  world->batching().EndCall();
  EXPECT_EQ(handled.load(), before);
}

// The call comes when the own thread has looked for messages and still holds
// the leader token.
TEST_F(FollowersTest, ACallGetsUpWhoIsAboutToNap) {
  auto asked = std::make_shared<AskedClock>();
  std::atomic<int> times{0};
  asked->asked = [&] {
    if (++times != 1) return;
    std::thread([&] {
      WorldCall call(world.get());
      Notify(2);
    }).join();
    EXPECT_EQ(handled.load(), 0);
  };
  ThreadOptions options;
  options.workers = 1;
  options.followers = true;
  options.clock = asked;
  world = *ThreadWorld::Create(std::move(options));
  actor.Join(*world, 0, 0);
  actor.on_local = [&](const LocalMessage&) { ++handled; };
  world->SendAfter(kNobody, actor.local_id(), 1, {});
  while (handled.load() < 1) std::this_thread::yield();
  EXPECT_GE(times.load(), 1);
}

TEST_F(FollowersTest, AWaitInsideACallHandlesWhatThatHasSent) {
  for (TimeNs spin_ns : {TimeNs{0}, TimeNs{-1}}) {
    handled = 0;
    Make(spin_ns);
    AwaitSleep();
    WorldCall call(world.get());
    Notify(1);
    EXPECT_TRUE(RunTo(1));
    EXPECT_EQ(ran_on.load(), tester);
  }
}

// The call waits when the own thread has looked for messages. The own thread
// gives the token up only after the caller has failed to take it and waits
// without it.
TEST_F(FollowersTest, AWaitInsideACallGetsUpWhoIsAboutToNap) {
  auto asked = std::make_shared<AskedClock>();
  std::atomic<int> times{0}, looks{0};
  std::thread caller;
  asked->asked = [&] {
    if (++times != 1) return;
    caller = std::thread([&] {
      WorldCall call(world.get());
      Notify(2);
      EXPECT_TRUE(world->RunUntil([&] {
        ++looks;
        return handled.load() == 1;
      }));
    });
    while (looks.load() < 2) std::this_thread::yield();
    EXPECT_EQ(handled.load(), 0);
  };
  ThreadOptions options;
  options.workers = 1;
  options.followers = true;
  options.spin_ns = 0;
  options.clock = asked;
  world = *ThreadWorld::Create(std::move(options));
  actor.Join(*world, 0, 0);
  actor.on_local = [&](const LocalMessage&) {
    ++handled;
    world->Notify();
  };
  world->SendAfter(kNobody, actor.local_id(), 1, {});
  while (handled.load() < 1) std::this_thread::yield();
  caller.join();
}

// Calls, waits and sending threads meet, with and without pauses between them.
TEST_F(FollowersTest, NoWakeUpIsLost) {
  for (TimeNs spin_ns : {TimeNs{0}, TimeNs{2000}, TimeNs{-1}}) {
    handled = 0;
    Make(spin_ns);
    constexpr int kThreads = 3, kRounds = 2000;
    struct Caller {
      TestActor actor;
      std::atomic<int> answers{0};
    };
    std::vector<Caller> callers(kThreads);
    for (Caller& caller : callers) {
      caller.actor.Join(*world, 0, 0);
      caller.actor.on_local = [&](const LocalMessage&) {
        ++caller.answers;
        world->Notify();
      };
    }
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        Caller& caller = callers[t];
        for (int round = 1; round <= kRounds; ++round) {
          if (round % 2 == t % 2) {
            WorldCall call(world.get());
            world->SendLocal(kNobody, caller.actor.local_id(), {});
          } else {
            world->SendLocal(kNobody, caller.actor.local_id(), {});
          }
          ASSERT_TRUE(
              world->RunUntil([&] { return caller.answers.load() == round; }));
          if (round % 64 == 0) std::this_thread::yield();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    world->Stop();
    world.reset();
  }
}

}  // namespace
}  // namespace pathways

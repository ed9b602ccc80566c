//===- followers_test.cc - Threads that work while they wait --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/followers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

#include "unittests/runtime/world/test_actor.h"

namespace pathways {
namespace {

// The test's thread follows; `own` is the worker's own thread, which parks
// while it has no work.
struct FollowersObjectTest : ::testing::Test {
  FollowersObjectTest() {
    to = actors.Add(&actor, {}, "actor", kNoActor);
    actor.on_local = [this](const LocalMessage&) {
      ran_here = std::this_thread::get_id() == tester;
      handled.fetch_add(1);
    };
    own = std::thread([this] {
      const WorkerScope scope(&workers[0]);
      loop.Run(workers[0]);
    });
    // Wait until the own thread has parked.
    while (!token.TryTake()) std::this_thread::yield();
    token.Leave([](TimeNs) { return false; });
  }
  ~FollowersObjectTest() override {
    stopping = true;
    workers.WakeAll();
    own.join();
    workers.DropAll();
  }
  void Post() {
    router.Post(-1,
                Envelope::Of(Envelope::kLocal, LocalMessage(), kNoActor, to));
  }

  const std::thread::id tester = std::this_thread::get_id();
  TestActor actor;
  WorldClock clock{std::make_shared<ManualClock>()};
  ActorTable actors;
  WorkerSet workers{1, /*seed=*/1};
  OpenCalls calls;
  std::atomic<bool> stopping{false};
  Router router{&actors, &workers, &calls, &stopping};
  Uplink uplink{RemoteChannel()};
  Notifier notifier;
  LeaderToken token{&workers[0].mailbox};
  WorkerLoop loop{{/*spin_ns=*/0, /*rounds_per_clock=*/1},
                  &clock,
                  &actors,
                  &workers,
                  &router,
                  &uplink,
                  &notifier,
                  &token,
                  &stopping};
  Followers followers{/*spin_ns=*/1'000'000'000,
                      &clock,
                      &token,
                      &calls,
                      &workers,
                      &loop,
                      &uplink,
                      &notifier,
                      &stopping};
  LocalId to = kNobody;
  std::atomic<int> handled{0};
  std::atomic<bool> ran_here{false};
  std::thread own;
};

TEST_F(FollowersObjectTest, ACallHandlesItsMessagesAtItsEnd) {
  followers.BeginCall();
  Post();
  EXPECT_EQ(handled.load(), 0);
  followers.EndCall();
  EXPECT_EQ(handled.load(), 1);
  EXPECT_TRUE(ran_here.load());
  EXPECT_EQ(workers.Self(), nullptr);
}

TEST_F(FollowersObjectTest, AWaitInsideACallHandlesItsMessages) {
  followers.BeginCall();
  Post();
  EXPECT_TRUE(
      followers.Wait([&] { return handled.load() == 1; }, Notifier::kNever));
  EXPECT_TRUE(ran_here.load());
  EXPECT_EQ(workers.Self(), nullptr);
  followers.EndCall();
}

TEST_F(FollowersObjectTest, WorkAfterACallIsDoneByTheOwnThread) {
  Post();
  while (handled.load() == 0) std::this_thread::yield();
  EXPECT_FALSE(ran_here.load());
}

TEST_F(FollowersObjectTest, AWaitEndsAtItsTime) {
  EXPECT_FALSE(
      followers.Wait([] { return false; }, SteadyClock().Now() + 1'000'000));
}

}  // namespace
}  // namespace pathways

//===- conformance_driving_test.cc - Driving and stopping every world -----===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "unittests/runtime/world/world_conformance.h"

namespace pathways {

TEST_P(WorldConformance, AnyThreadSendsFromOutside) {
  Make();
  constexpr int kThreads = 4, kEach = 5000;
  std::atomic<int64_t> got{0};
  std::vector<uint64_t> next(kThreads, 0);
  int64_t wrong = 0;
  TestActor& actor = Add(0, 1);
  actor.on_message = [&](ActorId from, const WireMessage& message) {
    if (from != kNoActor || next[message.target]++ != message.step) ++wrong;
    if (got.fetch_add(1) + 1 == kThreads * kEach) world_->Notify();
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        WireMessage message = Numbered(i);
        message.target = t;
        world_->Send(kNoActor, actor.id, message);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(RunTo(got, kThreads * kEach));
  EXPECT_EQ(wrong, 0);
}

TEST_P(WorldConformance, RunUntilSeesEveryNotify) {
  Make();
  std::atomic<int64_t> count{0};
  TestActor& actor = Add(0, 0);
  actor.on_message = [&](ActorId, const WireMessage&) { Bump(count); };
  // The condition is true at once, without any event.
  EXPECT_TRUE(world_->RunUntil([] { return true; }));
  for (int i = 0; i < 5000; ++i) {
    world_->Send(kNoActor, actor.id, Numbered(i));
    ASSERT_TRUE(RunTo(count, i + 1));
  }
}

TEST_P(WorldConformance, SeveralThreadsWait) {
  Make();
  constexpr int kThreads = 3, kEach = 500;
  std::vector<std::atomic<int64_t>> counts(kThreads);
  std::atomic<int64_t> failed{0};
  TestActor& actor = Add(0, 0);
  actor.on_message = [&](ActorId, const WireMessage& message) {
    Bump(counts[message.target]);
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        WireMessage message = Numbered(i);
        message.target = t;
        world_->Send(kNoActor, actor.id, message);
        if (!RunTo(counts[t], i + 1)) failed.fetch_add(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed.load(), 0);
}

// Messages that were not delivered are released when the world stops.
TEST_P(WorldConformance, BodiesAreGivenBackAtTheStop) {
  Make();
  std::atomic<int64_t> stopped{0};
  TestActor& from = Add(0, 0);
  TestActor& to = Add(0, 1);
  to.on_control = [&](ActorId, std::string_view) { world_->Stop(); };
  from.on_local = [&](const LocalMessage&) {
    for (int i = 0; i < 100; ++i) {
      world_->PassControl(from.id, to.id, TestBody::New("stop"));
    }
    Bump(stopped);
  };
  world_->SendLocal(kNobody, from.local_id(), LocalNumbered(0));
  RunTo(stopped, 1);
  world_->Stop();
  world_.reset();
  EXPECT_EQ(TestBody::held.load(), 0);
}

TEST_P(WorldConformance, StopDropsWhatIsQueued) {
  Make();
  std::atomic<int64_t> started{0}, handled{0};
  std::atomic<bool> stopped{false};
  std::atomic<int64_t> after{0};
  // Two actors send to each other and to themselves without end, with strings
  // to free.
  TestActor& a = Add(0, 0);
  TestActor& b = Add(1, 1);
  auto feed = [&](TestActor& me, TestActor& other) {
    me.on_message = [&](ActorId, const WireMessage& message) {
      if (stopped.load()) after.fetch_add(1);
      handled.fetch_add(1);
      world_->SendControl(me.id, other.id, std::string(100, 'q'));
      world_->SendAfter(me.local_id(), me.local_id(), 1'000'000'000'000, {});
      world_->Send(me.id, other.id, message);
      Bump(started);
    };
  };
  feed(a, b);
  feed(b, a);
  for (int i = 0; i < 10; ++i) world_->Send(kNoActor, a.id, Numbered(i));
  ASSERT_TRUE(RunTo(started, 1000));
  world_->Stop();
  stopped = true;
  int64_t before = handled.load();
  world_->Send(kNoActor, a.id, Numbered(0));
  world_->SendControl(kNoActor, a.id, "late");
  world_->SendAfter(kNobody, a.local_id(), 0, LocalNumbered(0));
  world_->SendLocal(kNobody, a.local_id(), LocalNumbered(0));
  EXPECT_FALSE(RunTo(started, INT64_MAX));
  EXPECT_TRUE(world_->RunUntil([] { return true; }));
  world_->Stop();
  EXPECT_EQ(handled.load(), before);
  EXPECT_EQ(after.load(), 0);
}

TEST_P(WorldConformance, AHandlerMayStop) {
  Make();
  std::atomic<int64_t> handled{0};
  TestActor& actor = Add(0, 0);
  actor.on_control = [&](ActorId, std::string_view bytes) {
    EXPECT_EQ(bytes, "stop");
    world_->Send(actor.id, actor.id, Numbered(0));
    world_->Stop();
    // The message being handled outlives the queue that it came from.
    EXPECT_EQ(bytes, "stop");
  };
  actor.on_message = [&](ActorId, const WireMessage&) { handled.fetch_add(1); };
  world_->SendControl(kNoActor, actor.id, "stop");
  EXPECT_FALSE(world_->RunUntil([&] { return handled.load() > 0; }));
  world_->Stop();
  EXPECT_EQ(handled.load(), 0);
}

TEST_P(WorldConformance, StopsWithoutAnyMessage) { Make(); }

}  // namespace pathways

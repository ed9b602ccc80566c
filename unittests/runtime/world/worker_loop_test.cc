//===- worker_loop_test.cc - Order of a worker's work ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/worker_loop.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/protocol/wire_kind.h"
#include "unittests/runtime/world/test_actor.h"

namespace pathways {
namespace {

// Runs worker 0 of two on the test's thread. Worker 1 does nothing.
struct WorkerLoopTest : ::testing::Test {
  WorkerLoopTest() {
    to = actors.Add(&actor, {}, "actor", 4);
    actor.on_local = [this](const LocalMessage& message) {
      steps.push_back(message.step);
    };
    actor.on_message = [this](ActorId, const WireMessage& message) {
      steps.push_back(message.step);
    };
    Make({/*spin_ns=*/0, /*rounds_per_clock=*/1});
  }
  ~WorkerLoopTest() override { workers.DropAll(); }

  void Make(WorkerLoop::Times times, RemoteChannel channel = {}) {
    loop.reset();
    uplink = std::make_unique<Uplink>(std::move(channel));
    loop = std::make_unique<WorkerLoop>(times, &clock, &actors, &workers,
                                        &router, uplink.get(), &notifier,
                                        /*leader_token=*/nullptr, &stopping);
  }
  void Push(uint64_t step, uint16_t flags = 0) {
    LocalMessage message = LocalNumbered(step);
    message.flags = flags;
    const MailboxQueue queue = QueueOf(message);
    self.mailbox.PushOwn(queue, Envelope::kLocal, message, kNoActor, to);
  }
  void PushFromOther(uint64_t step) {
    self.mailbox.Push(kDirectQueue, 1, Envelope::kLocal, LocalNumbered(step),
                      kNoActor, to);
  }
  void PushBulk(uint64_t step) {
    const WireBody body{Numbered(step, kBlockMessage), {}};
    self.mailbox.Push(kBulkQueue, 1, Envelope::kWire, body, 3, to);
  }
  Envelope Local(uint64_t step) const {
    return Envelope::Of(Envelope::kLocal, LocalNumbered(step), kNoActor, to);
  }

  TestActor actor;
  std::shared_ptr<ManualClock> source = std::make_shared<ManualClock>();
  WorldClock clock{source};
  ActorTable actors;
  WorkerSet workers{2, /*seed=*/1};
  ThreadWorker& self = workers[0];
  OpenCalls calls;
  std::atomic<bool> stopping{false};
  Router router{&actors, &workers, &calls, &stopping};
  Notifier notifier;
  std::unique_ptr<Uplink> uplink;
  std::unique_ptr<WorkerLoop> loop;
  LocalId to = kNobody;
  std::vector<uint64_t> steps;  // of the messages handled
};

TEST_F(WorkerLoopTest, ARoundHandlesEachKindOfWork) {
  EXPECT_FALSE(loop->Round(self));
  Push(10, kTurn);
  Push(11, kTurn);
  PushFromOther(20);
  self.mailbox.AddTimer(5, Local(30));
  ASSERT_TRUE(self.mailbox.Post({-1, Local(40)}, stopping));
  Push(50);
  source->Advance(5);
  EXPECT_TRUE(loop->Round(self));
  // One turn comes after all other messages; the timer is due at the end.
  EXPECT_EQ(steps, (std::vector<uint64_t>{50, 20, 40, 10}));
  EXPECT_TRUE(loop->Round(self));
  EXPECT_EQ(steps, (std::vector<uint64_t>{50, 20, 40, 10, 30, 11}));
  EXPECT_FALSE(loop->Round(self));
  const WorkerStats stats = workers.stats(0);
  EXPECT_EQ(stats.messages, 6u);
  EXPECT_EQ(stats.remote, 1u);
  EXPECT_EQ(stats.outside, 1u);
  EXPECT_EQ(stats.timers, 1u);
}

TEST_F(WorkerLoopTest, ABulkMessageWaitsForQuietRounds) {
  PushBulk(1);
  PushBulk(2);
  int rounds = 0;
  while (steps.empty() && rounds < 1000) {
    loop->Round(self);
    ++rounds;
  }
  EXPECT_GE(rounds, 64);
  EXPECT_EQ(steps, std::vector<uint64_t>{1});
  // It stays quiet, so the next one comes at once.
  loop->Round(self);
  EXPECT_EQ(steps, (std::vector<uint64_t>{1, 2}));
}

TEST_F(WorkerLoopTest, ABulkMessageDoesNotStarve) {
  PushBulk(1);
  int rounds = 0;
  while ((steps.empty() || steps.back() != 1) && rounds < 1000) {
    PushFromOther(100);
    loop->Round(self);
    ++rounds;
  }
  EXPECT_EQ(rounds, 64);
}

TEST_F(WorkerLoopTest, SpinEndsWithWorkOrWhenItIsOver) {
  int looks = 0;
  EXPECT_FALSE(loop->Spin(self, [&] { return ++looks == 1; }));
  EXPECT_EQ(looks, 1);
  EXPECT_FALSE(loop->Spin(self, [] { return false; }));  // spin_ns is 0
  Push(1);
  EXPECT_TRUE(loop->Spin(self, [] { return false; }));
  bool polled = false;
  RemoteChannel channel;
  channel.poll = [&] { return polled = true; };
  Make({/*spin_ns=*/1'000'000'000, kRoundsPerClock}, std::move(channel));
  loop->Round(self);
  EXPECT_TRUE(loop->Spin(self, [] { return false; }));
  EXPECT_TRUE(polled);
}

TEST_F(WorkerLoopTest, AWorkerSleepsUntilItIsWokenOrStopped) {
  std::atomic<int> handled{0};
  actor.on_local = [&](const LocalMessage&) { handled.fetch_add(1); };
  std::thread thread([&] {
    const WorkerScope scope(&self);
    loop->Run(self);
  });
  while (workers.stats(0).sleeps == 0) std::this_thread::yield();
  ASSERT_TRUE(self.mailbox.Post({-1, Local(1)}, stopping));
  while (handled.load() == 0) std::this_thread::yield();
  ASSERT_TRUE(self.mailbox.Post({5, Local(2)}, stopping));
  while (workers.stats(0).outside < 2) std::this_thread::yield();
  source->Advance(5);
  self.mailbox.Wake();
  while (handled.load() == 1) std::this_thread::yield();
  stopping = true;
  self.mailbox.Wake();
  thread.join();
  EXPECT_EQ(workers.stats(0).timers, 1u);
}

}  // namespace
}  // namespace pathways

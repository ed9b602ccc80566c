//===- worker_set_test.cc - The workers of a world ------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/worker_set.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "unittests/runtime/world/test_actor.h"

namespace pathways {
namespace {

TEST(WorkerSetTest, PlacesAreTakenModuloTheNumberOfWorkers) {
  const WorkerSet set(3, /*seed=*/1);
  EXPECT_EQ(set.size(), 3);
  EXPECT_EQ(set.WorkerOf(2), 2);
  EXPECT_EQ(set.WorkerOf(3), 0);
  EXPECT_EQ(set.WorkerOf(7), 1);
  EXPECT_EQ(set.WorkerOf(-1), 2);
  EXPECT_EQ(set.WorkerOf(-3), 0);
}

TEST(WorkerSetTest, AThreadIsAWorkerOfOneSetWithinAScope) {
  WorkerSet set(2, 1), other(1, 1);
  EXPECT_EQ(set.Self(), nullptr);
  {
    const WorkerScope outer(&set[1]);
    EXPECT_EQ(set.Self(), &set[1]);
    EXPECT_EQ(other.Self(), nullptr);
    {
      const WorkerScope inner(&other[0]);
      EXPECT_EQ(set.Self(), nullptr);
      EXPECT_EQ(other.Self(), &other[0]);
    }
    EXPECT_EQ(set.Self(), &set[1]);
    std::thread([&] { EXPECT_EQ(set.Self(), nullptr); }).join();
  }
  EXPECT_EQ(set.Self(), nullptr);
}

TEST(WorkerSetTest, WorkersDrawDifferentNumbersOfOneSeed) {
  WorkerSet set(2, 1), same(2, 1), other(2, 2);
  const uint64_t first = set[0].random.Next();
  EXPECT_EQ(first, same[0].random.Next());
  EXPECT_NE(first, set[1].random.Next());
  EXPECT_NE(first, other[0].random.Next());
}

TEST(WorkerSetTest, RestsIfEachWorkerRestsAndWasNotWoken) {
  WorkerSet set(2, 1);
  EXPECT_FALSE(set.AtRest());
  for (ThreadWorker& worker : set.all()) {
    EXPECT_FALSE(set.AtRest());
    worker.mailbox.LieDown();
    worker.rests.fetch_add(1);
  }
  EXPECT_TRUE(set.AtRest());
  set[1].rests.fetch_add(1);
  EXPECT_FALSE(set.AtRest());
  set[1].rests.fetch_add(1);
  EXPECT_TRUE(set.AtRest());
  set.WakeAll();
  EXPECT_FALSE(set[0].mailbox.asleep());
  EXPECT_FALSE(set[1].mailbox.asleep());
  EXPECT_FALSE(set.AtRest());
}

TEST(WorkerSetTest, StatsAreOfOneWorker) {
  WorkerSet set(2, 1);
  set[1].stats.messages.Add(1);
  set[1].stats.controls.Add(2);
  set[1].stats.remote.Add(3);
  set[1].stats.outside.Add(4);
  set[1].stats.timers.Add(5);
  set[1].stats.spins.Add(6);
  set[1].stats.sleeps.Add(7);
  set[1].stats.wakes.Add(8);
  const WorkerStats stats = set.stats(1);
  EXPECT_EQ(stats.messages, 1u);
  EXPECT_EQ(stats.controls, 2u);
  EXPECT_EQ(stats.remote, 3u);
  EXPECT_EQ(stats.outside, 4u);
  EXPECT_EQ(stats.timers, 5u);
  EXPECT_EQ(stats.spins, 6u);
  EXPECT_EQ(stats.sleeps, 7u);
  EXPECT_EQ(stats.wakes, 8u);
  EXPECT_EQ(set.stats(0).messages, 0u);
}

TEST(WorkerSetTest, DropAllFreesTheMessagesOfAllMailboxes) {
  WorkerSet set(2, 1);
  ControlBody* const own = TestBody::New("own");
  ControlBody* const remote = TestBody::New("remote");
  set[0].mailbox.PushOwn(kDirectQueue, Envelope::kBody, own, kNoActor,
                         LocalId{0});
  set[1].mailbox.Push(kDirectQueue, 0, Envelope::kBody, remote, kNoActor,
                      LocalId{0});
  EXPECT_EQ(TestBody::held.load(), 2);
  set.DropAll();
  EXPECT_EQ(TestBody::held.load(), 0);
  for (ThreadWorker& worker : set.all()) EXPECT_TRUE(worker.mailbox.empty());
}

TEST(WorkerSetTest, AStageIsFlushedIfItHoldsMessages) {
  struct Stage final : UplinkStage {
    int flushes = 0;
    bool Send(ActorId, ActorId, const WireMessage&, Payload) override {
      return true;
    }
    bool SendControl(ActorId, ActorId, std::string) override { return true; }
    void Flush() override { ++flushes; }
  };
  WorkerSet set(1, 1);
  set[0].FlushStage();  // there is no stage
  auto stage = std::make_unique<Stage>();
  const Stage& flushed = *stage;
  set[0].stage = std::move(stage);
  set[0].FlushStage();
  EXPECT_EQ(flushed.flushes, 0);
  set[0].staged = true;
  set[0].FlushStage();
  set[0].FlushStage();
  EXPECT_EQ(flushed.flushes, 1);
}

}  // namespace
}  // namespace pathways

//===- entry_runner_test.cc - Tokens and firings of entries ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/entry_runner.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "runtime/world/testing/recording_world.h"

namespace pathways::testing {
namespace {

// Two sends of one action with a window of two firings, without their device.
// Each of them needs one token, which comes along the in-edge of its index.
class EntryRunnerTest : public ::testing::Test {
 protected:
  class Inbox final : public Actor {
   public:
    std::vector<LocalMessage> got;
    void OnLocal(const LocalMessage& message) override {
      got.push_back(message);
    }
  };

  EntryRunnerTest() {
    actors_.executor = world_.Register(&executor_, {}, "executor");
    actors_.devices = {world_.Register(&self_, {}, "device"),
                       world_.Register(&other_, {}, "device")};
    actors_.cohorts = {0, 1};
    program_.window = 2;
    program_.entries.resize(2);
    program_.sends.resize(2);
    for (uint32_t i : {0, 1}) {
      Entry& entry = program_.entries[i];
      entry.kind = proto::SEND;
      entry.need = 1;
      entry.op = i;
      entry.shard = 10 + i;
      program_.sends[i].away.resize(2);
      program_.in_edges.push_back({.entry = i, .edge = i, .expected = 1});
    }
    program_.first_entry = {0};
    program_.counts.resize(4, 1);
    program_.arrived.resize(4);
    program_.poison.resize(4);
    runner_.Reserve(2);
  }
  // Grants firings below `end`, which are the whole launch.
  void Grant(uint64_t end) {
    grant_.launch = &launch_;
    grant_.end = launch_.end = end;
    grant_.cohorts.resize(2);
    grant_.cohorts[0].left = 1;
    program_.active.Push() = {&grant_, end * program_.entries.size()};
    program_.granted = end;
    for (uint32_t i : {0, 1}) runner_.PushIfReady(&program_, i);
  }
  // Lets entry 0 pass a token at the end of each firing.
  void Pass(const OutToken& token) {
    program_.out = {token};
    program_.entries[0].out_end = program_.entries[0].poison_end = 1;
  }
  // Runs all entries that are ready, and returns how many.
  int RunAll() {
    int count = 0;
    while (runner_.RunNext()) ++count;
    return count;
  }
  std::vector<LocalMessage> Received(Inbox* inbox) {
    world_.DeliverAll();
    return std::exchange(inbox->got, {});
  }

  RecordingWorld world_;
  HostActors actors_;
  Inbox executor_, self_, other_;
  DeviceProgram program_;
  HostLaunch launch_;
  HostGrant grant_;
  HeadGang head_;
  DeviceCounters counters_;
  DeviceTrace trace_;
  Cohort cohort_{world_.kernels().kernel_gate(0)};
  DeviceWork work_{std::make_unique<NoBackend>(/*costs=*/false), &head_,
                   &counters_};
  DeviceSender sender_{&world_, &self_, &actors_, &counters_};
  EntryRunner runner_{0,        &actors_, &cohort_,  &work_,
                      &sender_, &trace_,  &counters_};
};

TEST_F(EntryRunnerTest, AnEntryFiresOnceItIsGrantedAndItsTokenHasCome) {
  Pass({.type = OutToken::kHostAction, .target = 7});
  runner_.Deliver(&program_, /*in_edge=*/0, /*firing=*/0, /*poison=*/false);
  EXPECT_EQ(RunAll(), 0);
  Grant(2);
  EXPECT_EQ(RunAll(), 1);
  std::vector<LocalMessage> got = Received(&executor_);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].kind, kActionFired);
  EXPECT_EQ(got[0].target, 7u);
  EXPECT_EQ(got[0].step, 0u);
  EXPECT_EQ(program_.counts[0], 1u);

  runner_.Deliver(&program_, 0, 1, false);
  runner_.Deliver(&program_, 0, 1, false);  // is not expected
  EXPECT_EQ(program_.arrived[program_.InEdgeAt(0, 1)], 1u);
  EXPECT_EQ(RunAll(), 1);
  EXPECT_EQ(Received(&executor_).size(), 1u);
  EXPECT_EQ(program_.entries[0].next, 2u);
  EXPECT_EQ(counters_.firings.get(), 2u);
}

TEST_F(EntryRunnerTest, TheLastFiringEndsTheGrant) {
  Grant(1);
  grant_.position = 5;
  LocalMessage enqueue;
  enqueue.target = enqueue.step = 0;
  runner_.Enqueue(&program_, enqueue);  // reaches both shards
  EXPECT_TRUE(runner_.RunNext());
  EXPECT_TRUE(Received(&executor_).empty());
  EXPECT_TRUE(runner_.RunNext());
  const std::vector<LocalMessage> got = Received(&executor_);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].kind, kDeviceDone);
  EXPECT_EQ(got[0].extra, 5u);
  EXPECT_TRUE(program_.active.empty());
  EXPECT_EQ(program_.fired, 2u);
}

// A token of the last firing is for the next launch, which it does not poison.
TEST_F(EntryRunnerTest, PoisonIsPassedUpToTheEndOfTheLaunch) {
  Pass({.type = OutToken::kSameDevice,
        .poisons = true,
        .tokens = 1,
        .target = 1});
  Grant(2);
  runner_.Deliver(&program_, 0, 0, /*poison=*/true);
  EXPECT_EQ(RunAll(), 1);
  EXPECT_EQ(program_.counts[program_.EntryAt(1, 1)], 0u);
  EXPECT_TRUE(program_.poison[program_.EntryAt(1, 1)]);
  EXPECT_FALSE(program_.poison[program_.EntryAt(0, 0)]);

  // The other entry frees the slot of firing 2.
  runner_.Deliver(&program_, 1, 0, /*poison=*/false);
  EXPECT_EQ(RunAll(), 2);
  runner_.Deliver(&program_, 0, 1, /*poison=*/true);
  EXPECT_EQ(RunAll(), 1);
  EXPECT_EQ(program_.counts[program_.EntryAt(1, 2)], 0u);
  EXPECT_FALSE(program_.poison[program_.EntryAt(1, 2)]);
}

TEST_F(EntryRunnerTest, TokensLeaveTheWorkerByMessage) {
  Grant(2);
  Pass({.type = OutToken::kSameHost,
        .poisons = true,
        .target = 3,
        .where = IndexOf(actors_.devices[1])});
  runner_.Deliver(&program_, 0, 0, /*poison=*/true);
  EXPECT_EQ(RunAll(), 1);
  std::vector<LocalMessage> got = Received(&other_);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].kind, kLocalToken);
  EXPECT_EQ(got[0].flags, kPoisoned);
  EXPECT_EQ(got[0].target, 3u);
  EXPECT_EQ(got[0].step, 0u);

  Pass({.type = OutToken::kOtherHost, .target = 3, .shard = 4, .where = 6});
  runner_.Deliver(&program_, 0, 1, /*poison=*/false);
  EXPECT_EQ(RunAll(), 1);
  got = Received(&executor_);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].kind, kForwardToken);
  EXPECT_EQ(got[0].flags, 0u);
  EXPECT_EQ(got[0].shard, 4u);
  EXPECT_EQ(got[0].item, 10u);
  EXPECT_EQ(got[0].step, 1u);
  EXPECT_EQ(got[0].extra, 6u);
  EXPECT_EQ(counters_.sent[kForwardToken].get(), 1u);
}

TEST_F(EntryRunnerTest, ASendPassesTokensOnceItsPieceIsNoLongerRead) {
  char memory[32];
  PieceOut piece;
  piece.token = {.type = OutToken::kOtherHost, .target = 3, .where = 6};
  piece.bytes = 16;
  piece.lent_offset = 4;
  piece.from.base = memory;
  program_.pieces.push_back(piece);
  program_.sends[0].end = 1;
  Pass({.type = OutToken::kHostAction, .target = 7});
  Grant(2);
  runner_.Deliver(&program_, 0, 0, false);
  EXPECT_EQ(RunAll(), 1);
  std::vector<LocalMessage> got = Received(&executor_);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].kind, kForwardPiece);
  EXPECT_EQ(got[0].flags, kInPlace);
  EXPECT_EQ(got[0].payload, memory + 4);
  EXPECT_EQ(got[0].payload_bytes, 16u);

  runner_.PieceReturned(&program_, /*index=*/1, 0);  // has sent nothing
  runner_.PieceReturned(&program_, /*index=*/2, 0);  // no such entry
  EXPECT_TRUE(Received(&executor_).empty());
  runner_.PieceReturned(&program_, 0, 0);
  runner_.PieceReturned(&program_, 0, 0);  // is not away any more
  got = Received(&executor_);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].kind, kActionFired);

  // A poisoned firing sends no bytes, so it waits for nothing.
  runner_.Deliver(&program_, 0, 1, /*poison=*/true);
  EXPECT_EQ(RunAll(), 1);
  got = Received(&executor_);
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[0].flags, kPoisoned);
  EXPECT_EQ(got[0].payload, nullptr);
  EXPECT_EQ(got[1].kind, kActionFired);
}

TEST_F(EntryRunnerTest, EntriesOfARemovedProgramDoNotRun) {
  Grant(1);
  runner_.Deliver(&program_, 0, 0, false);
  runner_.Remove(&program_);
  EXPECT_EQ(RunAll(), 0);
}

TEST_F(EntryRunnerTest, RecordsAreInFlightUntilTheExecutorReturnsThem) {
  RecordBatch batch;
  runner_.SendRecords(&batch);
  EXPECT_TRUE(batch.in_flight());
  const std::vector<LocalMessage> got = Received(&executor_);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].kind, kForwardRecords);
  EXPECT_EQ(got[0].payload, &batch);
}

}  // namespace
}  // namespace pathways::testing

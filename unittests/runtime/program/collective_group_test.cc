//===- collective_group_test.cc - Members of collectives on a host --------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/collective_group.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>
#include <vector>

namespace pathways {
namespace {

TEST(GroupMeetingTest, TheLastOneKnowsOfEveryPoison) {
  std::mt19937 random(11);
  GroupMeeting meeting({{0, 3}, {1}, {2, 4, 5}});
  for (uint64_t firing = 0; firing < 200; ++firing) {
    std::vector<uint32_t> arrivals = {0, 0, 1, 2, 2, 2};
    std::shuffle(arrivals.begin(), arrivals.end(), random);
    const size_t poisoned = random() % 12;
    for (size_t i = 0; i < arrivals.size(); ++i) {
      bool poison = i == poisoned;
      const bool last = meeting.Arrive(arrivals[i], firing, &poison);
      ASSERT_EQ(last, i + 1 == arrivals.size()) << firing;
      if (last) {
        ASSERT_EQ(poison, poisoned < arrivals.size()) << firing;
      }
    }
  }
}

// Each worker's device writes, arrives, and reads once it knows that all have.
TEST(GroupMeetingTest, WhatWasWrittenBeforeIsReadAfter) {
  constexpr int kWorkers = 3;
  constexpr uint64_t kFirings = 2000;
  GroupMeeting meeting({{0}, {1}, {2}});
  uint64_t written[2][kWorkers][16] = {};
  std::atomic<uint64_t> done{0};
  std::atomic<int> wrong{0};
  std::vector<std::thread> workers;
  for (uint32_t w = 0; w < kWorkers; ++w) {
    workers.emplace_back([&, w] {
      for (uint64_t firing = 0; firing < kFirings; ++firing) {
        written[firing & 1][w][0] = firing + 1;
        bool poison = false;
        if (meeting.Arrive(w, firing, &poison)) {
          done.store(firing + 1, std::memory_order_release);
        }
        while (done.load(std::memory_order_acquire) <= firing) {
          std::this_thread::yield();
        }
        for (int other = 0; other < kWorkers; ++other) {
          wrong += written[firing & 1][other][0] != firing + 1;
        }
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(wrong, 0);
}

// All shares together are what each member would make for itself.
TEST(CombineShareTest, SharesMakeTheWhole) {
  for (proto::CollectiveKind kind :
       {proto::ALL_REDUCE, proto::ALL_GATHER, proto::REDUCE_SCATTER,
        proto::ALL_TO_ALL, proto::PERMUTE}) {
    for (int64_t count : {5, 640, 1275}) {
      constexpr int64_t kSize = 5;
      CollectiveShape shape;
      shape.kind = kind;
      shape.element = proto::I32;
      shape.size = kSize;
      shape.sources = {3, 4, -1, 0, 1};
      shape.source = shape.result = {count};
      if (kind == proto::ALL_GATHER) shape.result[0] *= kSize;
      if (kind == proto::REDUCE_SCATTER) shape.result[0] /= kSize;
      shape.Complete(layout::ReductionTree({kSize}));
      HostGroup group;
      group.members = {0, 1, 2, 3, 4};
      group.locals = {{0, 0, 0, {1, 4}}, {1, 0, 0, {0}}, {2, 0, 0, {2, 3}}};
      group.in_place = std::make_unique<InPlaceGroup>();
      group.in_place->operands.resize(kSize);
      group.in_place->outputs.resize(kSize);
      std::vector<std::vector<int32_t>> in(kSize), out(kSize), expected(kSize);
      std::vector<const char*> contributions;
      for (int32_t rank = 0; rank < kSize; ++rank) {
        for (int32_t i = 0; i < count; ++i) in[rank].push_back(7 * i ^ rank);
        out[rank].resize(shape.result[0], -1);
        group.in_place->sources.push_back(
            {reinterpret_cast<char*>(in[rank].data()), 0, 1});
        group.in_place->results.push_back(
            {reinterpret_cast<char*>(out[rank].data()), 0, 1});
        contributions.push_back(reinterpret_cast<char*>(in[rank].data()));
      }
      BeginInPlace(group, /*firing=*/3);
      for (uint32_t local : {2, 0, 1}) {
        CombineShare(shape, group, local, /*firing=*/3);
      }
      for (int64_t rank = 0; rank < kSize; ++rank) {
        expected[rank].resize(shape.result[0]);
        CombineCollective(shape, rank, contributions.data(),
                          reinterpret_cast<char*>(expected[rank].data()));
        EXPECT_EQ(out[rank], expected[rank]) << kind << " " << count;
      }
    }
  }
}

}  // namespace
}  // namespace pathways

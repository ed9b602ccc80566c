//===- flag_barrier_test.cc - Collectives of small contributions ----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/flag_barrier.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/base/buffer_bytes.h"

namespace pathways {
namespace {

using Cohorts = std::vector<FlagBarrier::Members>;

TEST(FlagBarrierTest, TheLastOfEachCohortLeads) {
  const uint32_t cohort_of[] = {0, 1, 2, 0, 2, 2};
  std::mt19937 random(11);
  FlagBarrier meeting(
      Cohorts{{{0, 3}, {0, 3}}, {{1}, {1}}, {{2, 4, 5}, {2, 4, 5}}},
      /*bytes=*/4, /*result_bytes=*/4);
  ASSERT_EQ(meeting.cohorts(), 3u);
  for (int round = 0; round < 200; ++round) {
    std::vector<uint32_t> devices = {0, 1, 2, 3, 4, 5};
    std::shuffle(devices.begin(), devices.end(), random);
    const uint32_t poisoned = random() % 12;
    size_t left[] = {2, 1, 3};
    for (size_t i = 0; i < devices.size(); ++i) {
      const uint32_t device = devices[i], cohort = cohort_of[device];
      const bool leads = meeting.Arrive(cohort, device, device == poisoned);
      ASSERT_EQ(leads, --left[cohort] == 0) << round;
      if (!leads) continue;
      ASSERT_EQ(meeting.leader(cohort), device);
      ASSERT_EQ(meeting.Look(cohort), i + 1 == devices.size());
    }
    for (uint32_t cohort : {0, 1, 2}) {
      ASSERT_TRUE(meeting.Look(cohort));
      ASSERT_EQ(meeting.found_poison(cohort), poisoned < 6) << round;
    }
  }
}

TEST(FlagBarrierTest, WhoWaitsIsOwedAWordOnce) {
  FlagBarrier meeting(Cohorts{{{0}, {0}}, {{1}, {1}}}, 4, 4);
  for (int round = 0; round < 4; ++round) {
    ASSERT_TRUE(meeting.Arrive(0, 0, false));
    EXPECT_FALSE(meeting.Look(0));
    EXPECT_FALSE(meeting.Park(0));
    ASSERT_TRUE(meeting.Arrive(1, 1, false));
    ASSERT_TRUE(meeting.Look(1));
    EXPECT_TRUE(meeting.MustWake(1, 0));
    EXPECT_FALSE(meeting.MustWake(1, 0));
  }
  // A cohort that finds all others there does not wait.
  ASSERT_TRUE(meeting.Arrive(0, 0, false));
  ASSERT_TRUE(meeting.Arrive(1, 1, false));
  EXPECT_TRUE(meeting.Park(0));
  ASSERT_TRUE(meeting.Look(1));
  EXPECT_FALSE(meeting.MustWake(1, 0));
}

TEST(FlagBarrierTest, OperandsAreByRank) {
  const Cohorts cohorts = {{{0, 2, 3}, {3, 1, 0}}, {{1}, {2}}};
  std::vector<char> memory(4096);
  // In cells; and in memory, results as well.
  for (const auto& [bytes, result_bytes] :
       {std::pair<uint64_t, uint64_t>(16, 16), {16, 0}, {24, 24}}) {
    FlagBarrier meeting(cohorts, bytes, result_bytes);
    EXPECT_EQ(meeting.memory_bytes() == 0, bytes == 16);
    ASSERT_LE(meeting.memory_bytes(), memory.size());
    if (meeting.memory_bytes() > 0) meeting.SetMemory(memory.data());
    EXPECT_NE(meeting.result(0), meeting.result(1));
    for (int round = 0; round < 5; ++round) {
      const auto value = [&](uint32_t rank) {
        return std::string(bytes, static_cast<char>('a' + 4 * round + rank));
      };
      for (uint32_t c : {1, 0}) {
        for (uint32_t i = 0; i < cohorts[c].ranks.size(); ++i) {
          std::memcpy(meeting.contribution(c, i),
                      value(cohorts[c].ranks[i]).data(), bytes);
          meeting.Arrive(c, cohorts[c].devices[i], false);
        }
      }
      for (uint32_t reader : {0, 1}) {
        ASSERT_TRUE(meeting.Look(reader));
        for (uint32_t rank = 0; rank < 4; ++rank) {
          EXPECT_EQ(std::string(meeting.operands(reader)[rank], bytes),
                    value(rank));
        }
      }
    }
  }
}

// The next object in the host's memory begins where a buffer may begin.
TEST(FlagBarrierTest, ItsMemoryIsWholeAlignments) {
  for (uint64_t bytes : {20, 49, 65}) {
    const FlagBarrier one(Cohorts{{{0, 1}, {0, 1}}}, bytes, bytes);
    EXPECT_GT(one.memory_bytes(), 0u);
    EXPECT_EQ(one.memory_bytes() % kBufferAlignment, 0u) << bytes;
  }
}

// A member may compute from the contributions of others when a member of its
// cohort has left and contributes again.
TEST(FlagBarrierTest, WhatIsNotTheSameForAllStaysUntilAllHaveTakenIt) {
  FlagBarrier meeting(Cohorts{{{0, 1}, {0, 1}}}, 8, /*result_bytes=*/0);
  std::memcpy(meeting.contribution(0, 0), "first me", 8);
  meeting.Arrive(0, 0, false);
  std::memcpy(meeting.contribution(0, 1), "second m", 8);
  ASSERT_TRUE(meeting.Arrive(0, 1, false));
  ASSERT_TRUE(meeting.Look(0));
  std::memcpy(meeting.contribution(0, 1), "too soon", 8);
  meeting.Arrive(0, 1, false);
  EXPECT_EQ(std::string(meeting.operands(0)[1], 8), "second m");
}

// Each worker's device writes, arrives, looks now and then for longer than at
// other times, and reads what all have written; nobody is forgotten, and who
// was told is told once.
TEST(FlagBarrierTest, WhatWasWrittenBeforeIsReadAfter) {
  constexpr uint32_t kWorkers = 3;
  constexpr uint64_t kRounds = 4000;
  FlagBarrier meeting(Cohorts{{{0}, {0}}, {{1}, {1}}, {{2}, {2}}},
                      sizeof(uint64_t), sizeof(uint64_t));
  std::atomic<uint64_t> words[kWorkers] = {};  // to each
  std::atomic<uint64_t> awaited[kWorkers] = {};
  std::atomic<int> wrong{0};
  std::vector<std::thread> workers;
  for (uint32_t w = 0; w < kWorkers; ++w) {
    workers.emplace_back([&, w] {
      std::mt19937 random(w);
      for (uint64_t round = 0; round < kRounds; ++round) {
        const uint64_t value = 8 * round + w;
        std::memcpy(meeting.contribution(w, 0), &value, sizeof(value));
        wrong += !meeting.Arrive(w, w, value % 7 == 0);
        bool there = false;
        for (uint32_t looks = random() % 50; looks > 0 && !there; --looks) {
          there = meeting.Look(w);
          if (!there) std::this_thread::yield();
        }
        if (!there && !meeting.Park(w)) {
          const uint64_t words_before = awaited[w]++;
          while (words[w].load() == words_before) std::this_thread::yield();
        }
        // Also after a word.
        wrong += !meeting.Look(w);
        bool poison = false;
        for (uint32_t other = 0; other < kWorkers; ++other) {
          if (other != w && meeting.MustWake(w, other)) ++words[other];
          uint64_t found = 0;
          std::memcpy(&found, meeting.operands(w)[other], sizeof(found));
          wrong += found != 8 * round + other;
          poison |= (8 * round + other) % 7 == 0;
        }
        wrong += meeting.found_poison(w) != poison;
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(wrong, 0);
  for (uint32_t w = 0; w < kWorkers; ++w) EXPECT_EQ(words[w], awaited[w]);
}

}  // namespace
}  // namespace pathways

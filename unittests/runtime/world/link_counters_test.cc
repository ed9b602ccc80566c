//===- link_counters_test.cc - Counters of messages on links --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/link_counters.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace pathways {
namespace {

TEST(LinkCountersTest, SumsWhatAllThreadsCount) {
  LinkCounters counters;
  // Each thread may get the id of an earlier thread that has ended.
  for (int round = 0; round < 3; ++round) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 1000; ++i) {
          counters.CountSent(/*messages=*/2, /*bytes=*/30, /*frames=*/1);
          counters.CountReceived(/*messages=*/1, /*bytes=*/5, /*frames=*/3);
        }
        counters.CountForeign();
        counters.CountUnlinked();
      });
    }
    (void)counters.Sum();  // concurrently
    for (std::thread& thread : threads) thread.join();
  }
  const LinkStats sum = counters.Sum();
  EXPECT_EQ(sum.messages_sent, 24'000u);
  EXPECT_EQ(sum.bytes_sent, 360'000u);
  EXPECT_EQ(sum.frames_sent, 12'000u);
  EXPECT_EQ(sum.messages_received, 12'000u);
  EXPECT_EQ(sum.bytes_received, 60'000u);
  EXPECT_EQ(sum.frames_received, 36'000u);
  EXPECT_EQ(sum.foreign, 12u);
  EXPECT_EQ(sum.unlinked, 12u);
}

TEST(LinkCountersTest, EachHasItsOwn) {
  LinkCounters first;
  {
    LinkCounters second;
    for (int i = 0; i < 3; ++i) {
      first.CountSent(1, 0, 0);
      second.CountSent(10, 0, 0);
    }
    EXPECT_EQ(second.Sum().messages_sent, 30u);
  }
  LinkCounters third;  // may have the address of the second one
  EXPECT_EQ(third.Sum().messages_sent, 0u);
  third.CountSent(5, 0, 0);
  EXPECT_EQ(third.Sum().messages_sent, 5u);
  EXPECT_EQ(first.Sum().messages_sent, 3u);
}

}  // namespace
}  // namespace pathways

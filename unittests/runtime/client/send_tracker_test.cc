//===- send_tracker_test.cc - Waiting for a moment without senders --------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/send_tracker.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace pathways {
namespace {

TEST(SendTrackerTest, NobodyWaitsForNobody) {
  SendTracker gate;
  gate.AwaitNobody();
  {
    SendTracker::Sender sender(&gate);
  }
  gate.AwaitNobody();
}

TEST(SendTrackerTest, WaitsForAllWhoAreInside) {
  SendTracker gate;
  std::atomic<int> inside{0}, left{0};
  std::atomic<bool> go{false};
  std::vector<std::thread> senders;
  for (int i = 0; i < 4; ++i) {
    senders.emplace_back([&] {
      SendTracker::Sender sender(&gate);
      ++inside;
      while (!go.load()) std::this_thread::yield();
      ++left;
    });
  }
  while (inside.load() != 4) std::this_thread::yield();
  std::thread waiter([&] {
    gate.AwaitNobody();
    EXPECT_EQ(left.load(), 4);
  });
  go = true;
  waiter.join();
  for (std::thread& sender : senders) sender.join();
}

// One that sends may do so again and again: nobody who asks holds it up.
TEST(SendTrackerTest, SendersNeverWait) {
  SendTracker gate;
  std::atomic<bool> stop{false};
  std::thread asker([&] {
    while (!stop.load()) gate.AwaitNobody();
  });
  for (int i = 0; i < 10000; ++i) {
    SendTracker::Sender outer(&gate);
    SendTracker::Sender inner(&gate);
  }
  stop = true;
  asker.join();
}

}  // namespace
}  // namespace pathways

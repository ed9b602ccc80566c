//===- completion_test.cc - Notification that something has ended ---------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/completion.h"

#include <gtest/gtest.h>

#include <thread>

namespace pathways {
namespace {

TEST(CompletionTest, WakesNobodyWhenNobodyWaits) {
  Completion done;
  EXPECT_FALSE(done.load());
  EXPECT_FALSE(done.Set());
  EXPECT_TRUE(done.load());
}

TEST(CompletionTest, SaysThatSomebodyWaits) {
  Completion done;
  done.Await();
  EXPECT_FALSE(done.load());
  EXPECT_TRUE(done.Set());
}

// Either the one who sets sees the waiter, or the waiter sees that it is set;
// and what was written before it.
TEST(CompletionTest, NobodyIsForgotten) {
  for (int i = 0; i < 1000; ++i) {
    Completion done;
    int value = 0;
    bool notified = false, seen = false;
    std::thread setter([&] {
      value = 7;
      notified = done.Set();
    });
    done.Await();
    seen = done.load();
    if (seen) EXPECT_EQ(value, 7);
    setter.join();
    EXPECT_TRUE(seen || notified);
  }
}

}  // namespace
}  // namespace pathways

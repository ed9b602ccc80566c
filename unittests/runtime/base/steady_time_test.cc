//===- steady_time_test.cc - Times that no one can set --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/steady_time.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

namespace pathways {
namespace {

TEST(SteadyTimeTest, TimesHaveAnOrderAndNeverIsTheLast) {
  const SteadyTime now = SteadyTime::Now();
  const SteadyTime later = now + absl::Seconds(2);
  EXPECT_LT(now, later);
  EXPECT_GE(later, now);
  EXPECT_EQ(later - now, absl::Seconds(2));
  EXPECT_LE(now, SteadyTime::Now());
  EXPECT_LT(later, SteadyTime::Never());
  EXPECT_EQ(std::min(SteadyTime::Never(), later), later);
  EXPECT_TRUE((now + absl::InfiniteDuration()).is_never());
  EXPECT_FALSE(later.is_never());
  EXPECT_GT(now, SteadyTime());
}

TEST(SteadyTimeTest, AWaitEndsWhenItsTimeHasCome) {
  Mutex mutex;
  std::condition_variable_any changed;
  MutexLock lock(&mutex);
  for (const SteadyTime until : {SteadyTime(), SteadyTime::Now(),
                                 SteadyTime::Now() + absl::Milliseconds(1)}) {
    while (WaitUntil(&changed, &mutex, until) != std::cv_status::timeout) {
    }
    EXPECT_GE(SteadyTime::Now(), until);
  }
}

TEST(SteadyTimeTest, AWaitWithoutAnEndEndsWhenItIsNotified) {
  for (const SteadyTime until :
       {SteadyTime::Never(), SteadyTime::Now() + absl::Hours(1'000'000'000)}) {
    Mutex mutex;
    std::condition_variable_any changed;
    bool done = false;
    std::thread other;
    {
      MutexLock lock(&mutex);
      other = std::thread([&] {
        MutexLock lock(&mutex);
        done = true;
        changed.notify_all();
      });
      while (!done) {
        ASSERT_EQ(WaitUntil(&changed, &mutex, until),
                  std::cv_status::no_timeout);
      }
    }
    other.join();
  }
}

}  // namespace
}  // namespace pathways

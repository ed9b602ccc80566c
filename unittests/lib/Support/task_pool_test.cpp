//===- task_pool_test.cpp - Pools with missing or crashing threads --------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Support/TaskPool.h"

#include "unittests/runtime/base/process_limits.h"
#include "gtest/gtest.h"
#include <atomic>
#include <cstdlib>

using llvm::ThreadPoolTaskGroup;
using mlir::pathways::runWithCrashRecovery;
using mlir::pathways::TaskPool;

namespace {

TEST(TaskPoolTest, RunsAllTasks) {
  for (unsigned most : {0u, 1u, 2u, 7u}) {
    TaskPool pool(most);
    std::atomic<int> count = 0;
    for (int round = 0; round < 3; ++round) {
      ThreadPoolTaskGroup group(pool);
      for (int i = 0; i < 100; ++i)
        group.async([&] { ++count; });
      group.wait();
      EXPECT_EQ(count, 100 * (round + 1));
    }
    pool.async([&] { ++count; }); // belongs to no group
    pool.wait();
    EXPECT_EQ(count, 301);
    EXPECT_FALSE(pool.getCrash());
  }
}

TEST(TaskPoolTest, TheDestructorRunsWhatIsLeft) {
  std::atomic<int> count = 0;
  {
    TaskPool pool(3);
    for (int i = 0; i < 50; ++i)
      pool.async([&] { ++count; });
  }
  EXPECT_EQ(count, 50);
}

/// There are more waits than threads, so waiting threads run tasks.
TEST(TaskPoolTest, TasksMayWaitForTasks) {
  for (unsigned most : {1u, 2u, 4u}) {
    TaskPool pool(most);
    std::atomic<int> count = 0;
    ThreadPoolTaskGroup outer(pool);
    for (int i = 0; i < 8; ++i)
      outer.async([&] {
        ThreadPoolTaskGroup inner(pool);
        for (int j = 0; j < 8; ++j)
          inner.async([&] { ++count; });
      });
    outer.wait();
    EXPECT_EQ(count, 64);
  }
}

/// The other tasks run; then the waiting call ends with the crash of the task.
TEST(TaskPoolTest, ACrashOfATaskEndsWhoWaits) {
  for (unsigned most : {1u, 2u, 4u}) {
    TaskPool pool(most);
    std::atomic<int> count = 0;
    auto crash = runWithCrashRecovery([&] {
      ThreadPoolTaskGroup outer(pool);
      for (int i = 0; i < 4; ++i)
        outer.async([&, i] {
          ThreadPoolTaskGroup inner(pool);
          for (int j = 0; j < 4; ++j)
            inner.async([&, i, j] {
              if (i == 2 && j == 2)
                std::abort();
              ++count;
            });
        });
      outer.wait();
      ADD_FAILURE() << "the wait returned";
    });
    ASSERT_TRUE(crash);
    EXPECT_EQ(crash->what, "abort");
    ASSERT_TRUE(pool.getCrash());
    EXPECT_EQ(pool.getCrash()->what, "abort");
    EXPECT_EQ(count, 15);
  }
}

/// Runs in a process of its own that must not start another thread.
void runWithoutThreads() {
  pathways::testing::LeaveNoThreads();
  TaskPool pool(4);
  std::atomic<int> count = 0;
  ThreadPoolTaskGroup group(pool);
  for (int i = 0; i < 100; ++i)
    group.async([&] { ++count; });
  group.wait();
  _Exit(count == 100 ? 7 : 1);
}

TEST(TaskPoolDeathTest, WithoutThreadsTheTasksRunAllTheSame) {
  EXPECT_EXIT(runWithoutThreads(), testing::ExitedWithCode(7), "");
}

} // namespace

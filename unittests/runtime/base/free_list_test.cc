//===- free_list_test.cc - Reused blocks of one size ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/free_list.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace pathways {
namespace {

TEST(FreeListTest, WhatWasGivenBackIsTakenAgain) {
  FreeList pool;
  void* const block = pool.Take(48);
  pool.Give(block, 48);
  void* const other = pool.Take(64);  // of another size
  EXPECT_NE(other, block);
  pool.Give(other, 64);
  EXPECT_EQ(pool.Take(48), block);
  pool.Give(block, 48);
}

TEST(FreeListTest, MoreThanItKeepsMayGo) {
  FreeList pool;
  std::vector<void*> blocks;
  for (size_t i = 0; i < FreeList::kMaxSpare + 10; ++i) {
    blocks.push_back(pool.Take(16));
  }
  for (void* block : blocks) pool.Give(block, 16);
}

struct Number {
  explicit Number(int v) : value(v) {}
  int value;
};

TEST(FreeListTest, ObjectsAreMadeAndEndedOnAnyThread) {
  FreeList pool;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&pool, t] {
      std::vector<std::shared_ptr<Number>> kept;
      for (int i = 0; i < 1000; ++i) {
        kept.push_back(
            std::allocate_shared<Number>(FreeListAllocator<Number>(&pool), t));
        EXPECT_EQ(kept.back()->value, t);
        if (i % 3 == 0) kept.erase(kept.begin());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace pathways

//===- record_pool_test.cc - Records by number, used again ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/record_pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace pathways {
namespace {

struct Record {
  std::vector<int> values;
  void Reset() { values.clear(); }
};

TEST(RecordPoolTest, RecordsStayAndAreFound) {
  RecordPool<Record> pool;
  Record& first = pool.Insert(7);
  first.values = {1};
  for (uint64_t id = 100; id < 1100; ++id) pool.Insert(id);
  EXPECT_EQ(pool.Find(7), &first);
  EXPECT_EQ(pool.Find(8), nullptr);
  EXPECT_EQ(pool.size(), 1001u);
}

TEST(RecordPoolTest, ErasedRecordsAreUsedAgainWithTheirMemory) {
  RecordPool<Record> pool;
  Record& first = pool.Insert(1);
  first.values.assign(100, 5);
  pool.Erase(1);
  pool.Erase(1);  // is not there
  EXPECT_EQ(pool.Find(1), nullptr);
  Record& second = pool.Insert(2);
  EXPECT_EQ(&second, &first);
  EXPECT_TRUE(second.values.empty());
  EXPECT_GE(second.values.capacity(), 100u);
}

TEST(RecordPoolTest, ANumberThatIsThereBeginsAnew) {
  RecordPool<Record> pool;
  Record& first = pool.Insert(1);
  first.values = {1};
  EXPECT_EQ(&pool.Insert(1), &first);
  EXPECT_TRUE(first.values.empty());
  EXPECT_EQ(pool.size(), 1u);
}

TEST(RecordPoolTest, IdsAreAscending) {
  RecordPool<Record> pool;
  for (uint64_t id : {9u, 2u, 70u, 5u}) pool.Insert(id);
  pool.Erase(70);
  EXPECT_EQ(pool.Ids(), (std::vector<uint64_t>{2, 5, 9}));
}

}  // namespace
}  // namespace pathways

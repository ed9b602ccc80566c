//===- record_pool_test.cc - Records by number, used again ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/record_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
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

// Against a map: numbers in a row and far apart, of several clients.
TEST(NumberTableTest, FindsWhatIsThere) {
  std::mt19937_64 random(1);
  NumberTable<int> table;
  std::map<uint64_t, int*> expected;
  std::vector<int> values(1 << 12);
  std::vector<uint64_t> numbers;
  for (uint64_t i = 0; i < values.size(); ++i) {
    numbers.push_back(i % 3 == 0 ? i : i % 3 == 1 ? i << 44 : random());
  }
  for (int round = 0; round < 100'000; ++round) {
    const size_t i = random() % (round < 50'000 ? 40 : numbers.size());
    const uint64_t number = numbers[i];
    if (expected.count(number) != 0) {
      table.Erase(number);
      expected.erase(number);
    } else {
      table.Add(number, &values[i]);
      expected[number] = &values[i];
    }
    ASSERT_EQ(table.size(), expected.size());
    const uint64_t other = numbers[random() % numbers.size()];
    const auto found = expected.find(other);
    ASSERT_EQ(table.Find(other),
              found == expected.end() ? nullptr : found->second)
        << other << " in round " << round;
  }
  std::vector<uint64_t> all;
  table.ForEachNumber([&](uint64_t number) { all.push_back(number); });
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all.size(), expected.size());
  for (size_t i = 0; const auto& [number, value] : expected) {
    EXPECT_EQ(all[i++], number);
    EXPECT_EQ(table.Find(number), value);
  }
}

}  // namespace
}  // namespace pathways

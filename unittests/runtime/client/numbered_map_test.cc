//===- numbered_map_test.cc - Values by ascending number ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/numbered_map.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

namespace pathways {
namespace {

TEST(NumberedMapTest, AValueIsThereUntilItIsErased) {
  NumberedMap<int> map;
  map.Add(3) = 30;
  map.Add(7) = 70;
  int* const third = map.Find(3);
  ASSERT_NE(third, nullptr);
  EXPECT_EQ(map.Find(5), nullptr);
  EXPECT_EQ(*map.Find(7), 70);
  map.Erase(7);
  EXPECT_EQ(map.Find(7), nullptr);
  EXPECT_EQ(map.size(), 1u);
  EXPECT_EQ(map.Find(3), third);
  EXPECT_EQ(*std::as_const(map).Find(3), 30);
}

TEST(NumberedMapTest, ANewOneIsEmptyWhateverWasThereBefore) {
  NumberedMap<std::shared_ptr<int>> map;
  auto value = std::make_shared<int>(1);
  map.Add(1) = value;
  const std::shared_ptr<int>* const place = map.Find(1);
  map.Erase(1);
  EXPECT_EQ(value.use_count(), 1);  // what waits holds nothing
  EXPECT_EQ(map.Add(2), nullptr);
  EXPECT_EQ(map.Find(2), place);  // the same memory
}

TEST(NumberedMapTest, MoreThanItKeepsSpareMayGo) {
  NumberedMap<int> map;
  for (int round = 0; round < 2; ++round) {
    for (uint64_t i = 1; i <= 1000; ++i) map.Add(1000 * round + i) = 1;
    EXPECT_EQ(map.size(), 1000u);
    for (uint64_t i = 1000; i >= 1; --i) map.Erase(1000 * round + i);
  }
  EXPECT_EQ(map.size(), 0u);
}

}  // namespace
}  // namespace pathways

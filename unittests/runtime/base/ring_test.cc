//===- ring_test.cc - First in, first out, in memory used again -----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/ring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <random>
#include <set>
#include <vector>

namespace pathways {
namespace {

using ::testing::ElementsAre;

TEST(RingTest, IsAQueue) {
  Ring<int> ring;
  std::deque<int> expected;
  const uint32_t seed = 7;
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 2000; ++i) {
    if (const uint32_t what = random() % 9; what < 4 || expected.empty()) {
      ring.Push() = i;
      expected.push_back(i);
    } else if (what < 7) {
      ring.Pop();
      expected.pop_front();
    } else if (what == 7) {
      ring.PopBack();
      expected.pop_back();
    } else if (random() % 50 == 0) {
      ring.Clear();
      expected.clear();
    }
    ASSERT_EQ(std::vector<int>(ring.begin(), ring.end()),
              std::vector<int>(expected.begin(), expected.end()));
    ASSERT_EQ(ring.size(), expected.size());
    if (expected.empty()) continue;
    ASSERT_EQ(ring.front(), expected.front());
    ASSERT_EQ(ring.back(), expected.back());
  }
}

TEST(RingTest, FindsElements) {
  Ring<int> ring;
  for (int i : {1, 2, 3}) ring.Push() = i;
  ring.Pop();
  ring.Push() = 4;
  ring.Push() = 5;
  EXPECT_THAT(std::vector<int>(ring.begin(), ring.end()),
              ElementsAre(2, 3, 4, 5));
  const auto found = std::find(ring.begin(), ring.end(), 4);
  ASSERT_NE(found, ring.end());
  EXPECT_EQ(*found, 4);
  EXPECT_EQ(std::find(ring.begin(), ring.end(), 1), ring.end());
}

TEST(RingTest, RoomThatWasReservedKeepsElementsInPlace) {
  Ring<int> ring;
  ring.Push() = 1;
  ring.Push() = 2;
  ring.Pop();
  ring.Push() = 3;
  ring.Reserve(5);
  EXPECT_THAT(std::vector<int>(ring.begin(), ring.end()), ElementsAre(2, 3));
  const int* const second = &ring.front();
  for (int i : {4, 5, 6}) ring.Push() = i;
  EXPECT_EQ(&ring.front(), second);  // nothing was allocated
  EXPECT_THAT(std::vector<int>(ring.begin(), ring.end()),
              ElementsAre(2, 3, 4, 5, 6));
}

TEST(RingTest, RemovesElementsFromTheMiddle) {
  Ring<int> ring;
  ring.RemoveIf([](int) { return true; });
  for (int i = 0; i < 6; ++i) ring.Push() = i;
  ring.Pop();
  ring.RemoveIf([](int i) { return i % 2 == 0; });
  EXPECT_THAT(std::vector<int>(ring.begin(), ring.end()), ElementsAre(1, 3, 5));
}

TEST(RingTest, WhatWasTakenOffIsFoundAgain) {
  Ring<std::unique_ptr<int>> ring;
  std::set<int*> made;
  for (int i = 0; i < 100; ++i) {
    std::unique_ptr<int>& slot = ring.Push();
    if (slot == nullptr) made.insert((slot = std::make_unique<int>(i)).get());
    if (ring.size() == 3) ring.Pop();
  }
  EXPECT_EQ(made.size(), 4u);
}

}  // namespace
}  // namespace pathways

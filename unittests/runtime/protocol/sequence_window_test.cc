//===- sequence_window_test.cc - Each number counts once ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/protocol/sequence_window.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace pathways {
namespace {

TEST(SequenceWindowTest, EachNumberOnceInAnyOrder) {
  constexpr uint32_t kSeed = 5;
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  SequenceWindow window;
  std::vector<uint64_t> numbers;
  for (uint64_t n = 1; n <= 20000; ++n) {
    numbers.push_back(n);
    if (n % 3 == 0) numbers.push_back(n);
  }
  // Each moves by less than the window.
  for (size_t i = 0; i + 1000 < numbers.size(); ++i) {
    std::swap(numbers[i], numbers[i + random() % 1000]);
  }
  std::vector<int> accepted(20001);
  for (uint64_t n : numbers) accepted[n] += window.Accept(n);
  int once = 0;
  for (uint64_t n = 1; n <= 20000; ++n) {
    ASSERT_LE(accepted[n], 1);
    once += accepted[n];
  }
  EXPECT_GT(once, 19900);  // a swap chain may carry one far
  EXPECT_FALSE(window.Accept(0));
  EXPECT_FALSE(window.Accept(1));  // too old
  EXPECT_TRUE(window.Accept(uint64_t{1} << 60));
  EXPECT_FALSE(window.Accept(20001));
}

TEST(SequenceWindowTest, TheLargestNumberIsOneLikeOthers) {
  SequenceWindow window;
  EXPECT_TRUE(window.Accept(UINT64_MAX - 2));
  EXPECT_TRUE(window.Accept(UINT64_MAX));
  EXPECT_FALSE(window.Accept(UINT64_MAX));
  EXPECT_TRUE(window.Accept(UINT64_MAX - 1));
}

}  // namespace
}  // namespace pathways

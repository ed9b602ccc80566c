//===- linked_sequence_test.cc - Messages that name the one before --------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/protocol/linked_sequence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <random>
#include <utility>
#include <vector>

namespace pathways {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class LinkedSequenceTest : public ::testing::Test {
 protected:
  // The numbers of what is handled when that message has come; negative: it is
  // given up.
  std::vector<int64_t> Take(uint64_t own, uint64_t previous,
                            bool skip = false) {
    std::vector<int64_t> handled;
    ControlRef control = controls_.New();
    control->set_sequence(own);
    control->mutable_grant()->set_skip(skip);
    was_new_ = sequence_.Take(
        {own, previous, skip}, std::move(control), [&](ControlRef next) {
          const int64_t number = static_cast<int64_t>(next->sequence());
          handled.push_back(next->grant().skip() ? -number : number);
        });
    return handled;
  }

  ControlPool controls_;
  LinkedSequence sequence_;
  bool was_new_ = false;
};

TEST_F(LinkedSequenceTest, WaitsForTheNumberBefore) {
  EXPECT_THAT(Take(7, 4), IsEmpty());
  EXPECT_THAT(Take(20, 9), IsEmpty());
  EXPECT_THAT(Take(4, 0), ElementsAre(4, 7));
  EXPECT_THAT(Take(9, 7), ElementsAre(9, 20));
  EXPECT_THAT(Take(21, 20), ElementsAre(21));
}

TEST_F(LinkedSequenceTest, DropsSecondCopies) {
  EXPECT_THAT(Take(4, 0), ElementsAre(4));
  EXPECT_TRUE(was_new_);
  EXPECT_THAT(Take(4, 0), IsEmpty());
  EXPECT_FALSE(was_new_);
  EXPECT_THAT(Take(8, 6), IsEmpty());
  EXPECT_THAT(Take(8, 6), IsEmpty());
  EXPECT_TRUE(was_new_);
  EXPECT_THAT(Take(6, 4), ElementsAre(6, 8));
  EXPECT_THAT(Take(8, 6), IsEmpty());
  EXPECT_FALSE(was_new_);
}

TEST_F(LinkedSequenceTest, WhatIsGivenUpEarlyStaysGivenUp) {
  EXPECT_THAT(Take(6, 4), IsEmpty());
  EXPECT_THAT(Take(6, 4, /*skip=*/true), IsEmpty());
  EXPECT_THAT(Take(6, 4), IsEmpty());
  EXPECT_THAT(Take(4, 0), ElementsAre(4, -6));
}

// Against a table of what has come.
TEST_F(LinkedSequenceTest, AnyOrderOfArrival) {
  const uint64_t seed = std::random_device()();
  std::cout << "seed " << seed << "\n";
  std::mt19937_64 random(seed);
  for (int round = 0; round < 200; ++round) {
    sequence_ = LinkedSequence();
    std::vector<uint64_t> numbers = {0};
    while (numbers.size() < 12) {
      numbers.push_back(numbers.back() + 1 + random() % 3);
    }
    size_t next = 1;
    std::map<size_t, bool> came;  // true if it is given up, by position
    while (next < numbers.size()) {
      const size_t at = 1 + random() % (numbers.size() - 1);
      const bool skip = random() % 4 == 0;
      const std::vector<int64_t> handled =
          Take(numbers[at], numbers[at - 1], skip);
      ASSERT_EQ(was_new_, at >= next);
      if (at >= next) came[at] |= skip;
      std::vector<int64_t> expected;
      for (; came.contains(next); ++next) {
        const int64_t number = static_cast<int64_t>(numbers[next]);
        expected.push_back(came[next] ? -number : number);
      }
      ASSERT_EQ(handled, expected);
    }
  }
}

}  // namespace
}  // namespace pathways

//===- grant_sequencer_test.cc - Order in which a host applies its grants -===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/executor/grant_sequencer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <random>
#include <utility>
#include <vector>

namespace pathways {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class GrantSequencerTest : public ::testing::Test {
 protected:
  // Positions that are applied; negative: as a skip.
  std::vector<int64_t> Take(uint64_t position, uint64_t previous,
                            uint64_t store, bool skip = false) {
    ControlRef control = controls_.New();
    proto::Grant* grant = control->mutable_grant();
    grant->set_position(position);
    grant->set_previous_position(previous);
    grant->set_store(store);
    grant->set_skip(skip);
    std::vector<int64_t> applied;
    grants_.Take(std::move(control), staged_, [&](const proto::Grant& next) {
      applied.push_back(Text(next));
    });
    return applied;
  }
  std::vector<int64_t> Stage(uint64_t number) {
    staged_ = number;
    std::vector<int64_t> applied;
    grants_.Release(staged_, [&](const proto::Grant& next) {
      applied.push_back(Text(next));
    });
    return applied;
  }

  ControlPool controls_;
  GrantSequencer grants_;
  uint64_t staged_ = 0;

 private:
  static int64_t Text(const proto::Grant& grant) {
    const int64_t position = static_cast<int64_t>(grant.position());
    return grant.skip() ? -position : position;
  }
};

TEST_F(GrantSequencerTest, AppliesThemByPlace) {
  EXPECT_THAT(Take(5, 3, 0), IsEmpty());
  EXPECT_THAT(Take(3, 0, 0), ElementsAre(3, 5));
  EXPECT_THAT(Take(3, 0, 0), IsEmpty());
  EXPECT_THAT(Take(5, 3, 0), IsEmpty());
  EXPECT_THAT(Take(6, 5, 0), ElementsAre(6));
}

TEST_F(GrantSequencerTest, HoldsThemUntilTheirLaunchIsStaged) {
  EXPECT_THAT(Take(1, 0, 2), IsEmpty());
  EXPECT_THAT(Take(2, 1, 0), IsEmpty());  // though it waits for nothing
  EXPECT_THAT(Take(3, 2, 3), IsEmpty());
  EXPECT_THAT(Stage(1), IsEmpty());
  EXPECT_THAT(Stage(2), ElementsAre(1, 2));
  EXPECT_THAT(Take(4, 3, 0), IsEmpty());
  EXPECT_THAT(Stage(5), ElementsAre(3, 4));
  EXPECT_THAT(Take(5, 4, 5), ElementsAre(5));
}

TEST_F(GrantSequencerTest, WhatIsHeldMayBeGivenUp) {
  EXPECT_THAT(Take(1, 0, 1), IsEmpty());
  EXPECT_THAT(Take(2, 1, 1), IsEmpty());
  EXPECT_THAT(Take(2, 1, 1, /*skip=*/true), IsEmpty());
  EXPECT_THAT(Take(2, 1, 1), IsEmpty());
  EXPECT_THAT(Stage(1), ElementsAre(1, -2));
  // A grant is never taken back.
  EXPECT_THAT(Take(1, 0, 1, /*skip=*/true), IsEmpty());
}

// Against a table of what has come: a grant is applied when all before it are,
// it has come, and the store has come as far as it says.
TEST_F(GrantSequencerTest, AnyOrderOfArrival) {
  struct Known {
    uint64_t position, store;
    bool came, skip;
  };
  const uint64_t seed = std::random_device()();
  std::cout << "seed " << seed << "\n";
  std::mt19937_64 random(seed);
  for (int round = 0; round < 300; ++round) {
    grants_ = GrantSequencer();
    staged_ = 0;
    // The first one stands for none.
    std::vector<Known> known = {{0, 0, true, false}};
    while (known.size() < 12) {
      known.push_back({known.back().position + 1 + random() % 3,
                       random() % 2 * (random() % 8), false, false});
    }
    size_t next = 1;
    while (next < known.size()) {
      std::vector<int64_t> applied;
      if (random() % 4 == 0) {
        applied = Stage(staged_ + random() % 2);
      } else {
        const size_t at = 1 + random() % (known.size() - 1);
        const bool skip = random() % 4 == 0;
        applied = Take(known[at].position, known[at - 1].position,
                       known[at].store, skip);
        known[at].came = true;
        known[at].skip |= skip;
      }
      std::vector<int64_t> expected;
      for (; next < known.size() && known[next].came &&
             known[next].store <= staged_;
           ++next) {
        const int64_t position = static_cast<int64_t>(known[next].position);
        expected.push_back(known[next].skip ? -position : position);
      }
      ASSERT_EQ(applied, expected);
    }
  }
}

}  // namespace
}  // namespace pathways

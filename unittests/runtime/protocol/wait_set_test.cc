//===- wait_set_test.cc - Members that have not answered yet --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/protocol/wait_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pathways {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(WaitSetTest, EachMemberAnswersOnce) {
  WaitSet set;
  EXPECT_TRUE(set.empty());
  set.Assign({3, 64, 200});
  EXPECT_EQ(set.size(), 3u);
  EXPECT_THAT(set.Members(), ElementsAre(3, 64, 200));
  EXPECT_EQ(set.First(), 3);
  EXPECT_TRUE(set.Erase(64));
  EXPECT_FALSE(set.Erase(64));
  EXPECT_FALSE(set.Contains(64));
  EXPECT_TRUE(set.Contains(200));
  EXPECT_TRUE(set.Erase(3));
  EXPECT_FALSE(set.empty());
  EXPECT_TRUE(set.Erase(200));
  EXPECT_TRUE(set.empty());
}

TEST(WaitSetTest, StrangersAreNoMembers) {
  WaitSet set;
  set.Assign({1});
  for (int32_t stranger : {-1, 0, 2, 65, 1 << 30}) {
    EXPECT_FALSE(set.Erase(stranger)) << stranger;
  }
  EXPECT_EQ(set.size(), 1u);
}

TEST(WaitSetTest, IsFilledAgain) {
  WaitSet set;
  set.Assign({1, 130});
  set.Assign({2});
  EXPECT_THAT(set.Members(), ElementsAre(2));
  set.Clear();
  EXPECT_THAT(set.Members(), IsEmpty());
}

TEST(WaitSetTest, MeetsWhatHasAMemberInCommon) {
  WaitSet one, other;
  one.Insert(1);
  one.Insert(1);
  one.Insert(100);
  EXPECT_EQ(one.size(), 2u);
  other.Assign({2, 101});
  EXPECT_FALSE(one.Meets(other));
  EXPECT_FALSE(other.Meets(WaitSet()));
  other.Insert(100);
  EXPECT_TRUE(one.Meets(other));
  EXPECT_TRUE(other.Meets(one));
  one.Erase(100);
  EXPECT_FALSE(one.Meets(other));
}

}  // namespace
}  // namespace pathways

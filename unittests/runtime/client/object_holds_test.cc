//===- object_holds_test.cc - Holders of values on hosts within a client --===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/object_holds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pathways {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ObjectHoldsTest, TheLastOneGivesItUp) {
  ObjectHolds holds;
  holds.Hold(7);
  holds.Hold(7);
  holds.Hold(9);
  EXPECT_THAT(holds.Unhold({7, 9}), ElementsAre(9));
  EXPECT_TRUE(holds.Holds(7));
  EXPECT_THAT(holds.Unhold({7, 7}), ElementsAre(7));
  EXPECT_FALSE(holds.Holds(7));
  EXPECT_EQ(holds.size(), 0u);
}

TEST(ObjectHoldsTest, NoObjectIsNeverHeld) {
  ObjectHolds holds;
  holds.Hold(0);
  EXPECT_THAT(holds.Unhold({0, 3}), IsEmpty());
}

TEST(ObjectHoldsTest, AllGoInOrder) {
  ObjectHolds holds;
  for (uint64_t object : {8, 3, 5, 3}) holds.Hold(object);
  EXPECT_THAT(holds.Clear(), ElementsAre(3, 5, 8));
  EXPECT_THAT(holds.Clear(), IsEmpty());
}

}  // namespace
}  // namespace pathways

//===- policy_test.cc - Policies by name ----------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/scheduler/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pathways {
namespace {

using ::testing::HasSubstr;

TEST(PolicyTest, EachNameHasOne) {
  for (const char* name : kPolicyNames) {
    EXPECT_TRUE(MakePolicy(name).ok()) << name;
  }
}

TEST(PolicyTest, ANameThatNoneHas) {
  const absl::Status status = MakePolicy("lottery").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(
      std::string(status.message()),
      HasSubstr("'lottery', expected one of priority, fair, fifo, deadline"));
}

TEST(ClaimTest, InheritsWhatIsMoreUrgent) {
  Claim claim{.weight = 2, .priority = 3, .deadline = 70};
  EXPECT_FALSE(claim.Inherit({.weight = 9, .priority = 3, .deadline = 70}));
  EXPECT_TRUE(claim.Inherit({.weight = 9, .priority = 1, .deadline = 60}));
  EXPECT_TRUE(claim.Inherit({.weight = 9, .priority = 4, .deadline = 99}));
  EXPECT_EQ(claim.weight, 2);
  EXPECT_EQ(claim.priority, 4);
  EXPECT_EQ(claim.deadline, 60);
}

}  // namespace
}  // namespace pathways

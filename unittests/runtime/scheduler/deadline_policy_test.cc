//===- deadline_policy_test.cc - The earliest deadline is next ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/scheduler/deadline_policy.h"

#include <gtest/gtest.h>

namespace pathways {
namespace {

TEST(DeadlinePolicyTest, TheEarliestIsNextAlsoWhenItHasPassed) {
  DeadlinePolicy policy;
  const Candidate none{.order = 1};
  const Candidate late{.deadline = 90, .order = 2};
  const Candidate soon{.deadline = 20, .order = 3};
  EXPECT_EQ(policy.Choose(0, 50, {none, late, soon}), 2u);
  EXPECT_EQ(policy.Choose(0, 50, {late, none}), 0u);
}

TEST(DeadlinePolicyTest, OfEqualsTheOldestIs) {
  DeadlinePolicy policy;
  EXPECT_EQ(policy.Choose(0, 0, {{.order = 8}, {.order = 4}, {.order = 6}}),
            1u);
  EXPECT_EQ(
      policy.Choose(0, 0,
                    {{.deadline = 9, .order = 8}, {.deadline = 9, .order = 4}}),
      1u);
}

}  // namespace
}  // namespace pathways

//===- priority_policy_test.cc - The highest priority is next -------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/scheduler/priority_policy.h"

#include <gtest/gtest.h>

namespace pathways {
namespace {

constexpr TimeNs kAge = PriorityPolicy::kAgeNs;

TEST(PriorityPolicyTest, TheHighestIsNext) {
  PriorityPolicy policy;
  EXPECT_EQ(
      policy.Choose(0, 0, {{.priority = -1}, {.priority = 2}, {.priority = 1}}),
      1u);
}

TEST(PriorityPolicyTest, EqualsShare) {
  PriorityPolicy policy;
  for (uint32_t client : {0, 1, 2}) policy.Begin(0, client);
  policy.Charge(0, 0, 1, 50);
  policy.Charge(0, 1, 1, 20);
  const Candidate a{.client = 0, .priority = 1};
  const Candidate b{.client = 1, .priority = 1};
  const Candidate low{.client = 2};
  EXPECT_EQ(policy.Choose(0, 0, {low, a, b}), 2u);
  policy.Charge(0, 1, 1, 50);
  EXPECT_EQ(policy.Choose(0, 0, {low, a, b}), 1u);
}

// However long equals wait, the share decides.
TEST(PriorityPolicyTest, EqualsDoNotAge) {
  PriorityPolicy policy;
  for (uint32_t client : {0, 1}) policy.Begin(0, client);
  policy.Charge(0, 0, 1, 50);
  EXPECT_EQ(policy.Choose(0, 9 * kAge,
                          {{.client = 0, .since = 0, .order = 1},
                           {.client = 1, .since = 8 * kAge, .order = 2}}),
            1u);
}

TEST(PriorityPolicyTest, WhoWaitsPassesThoseAboveIt) {
  PriorityPolicy policy;
  const Candidate top{.priority = 2, .since = 0, .order = 1};
  const Candidate low{.priority = 0, .since = 10, .order = 2};
  const Candidate lower{.priority = -1, .since = 0, .order = 3};
  EXPECT_EQ(policy.Choose(0, 3 * kAge, {top, low, lower}), 0u);
  EXPECT_EQ(policy.Choose(0, 3 * kAge + 10, {top, low, lower}), 1u);
  EXPECT_EQ(policy.Choose(0, 4 * kAge, {top, lower}), 1u);
}

}  // namespace
}  // namespace pathways

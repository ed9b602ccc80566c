//===- fifo_policy_test.cc - The longest wait is next ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/scheduler/fifo_policy.h"

#include <gtest/gtest.h>

namespace pathways {
namespace {

TEST(FifoPolicyTest, TheOldestIsNextWhateverItClaims) {
  FifoPolicy policy;
  const Candidate old{.client = 1, .since = 5, .order = 10};
  const Candidate urgent{
      .client = 2, .priority = 9, .deadline = 1, .since = 7, .order = 12};
  EXPECT_EQ(policy.Choose(0, 100, {urgent, old}), 1u);
  EXPECT_EQ(policy.Choose(0, 100, {old, urgent}), 0u);
}

}  // namespace
}  // namespace pathways

//===- local_kind_test.cc - Names of messages inside a host ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/local_kind.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace pathways {
namespace {

TEST(LocalKindTest, EachHasItsOwnName) {
  std::set<std::string> names;
  for (int kind = 1; kind < kNumMessageKinds; ++kind) {
    names.insert(MessageKindName(kind));
  }
  EXPECT_EQ(names.size(), kNumMessageKinds - 1u);
  EXPECT_EQ(names.count("unknown"), 0u);
  EXPECT_STREQ(MessageKindName(kTokenMessage), "token");
  EXPECT_STREQ(MessageKindName(kNumMessageKinds), "unknown");
}

}  // namespace
}  // namespace pathways

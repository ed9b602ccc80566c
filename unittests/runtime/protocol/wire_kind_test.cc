//===- wire_kind_test.cc - Kinds and their names --------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/protocol/wire_kind.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace pathways {
namespace {

TEST(WireKindTest, EachHasItsOwnName) {
  std::set<std::string> names;
  for (int kind = 1; kind < kNumWireKinds; ++kind) {
    EXPECT_TRUE(names.insert(WireKindName(kind)).second) << kind;
  }
  EXPECT_EQ(names.count("unknown"), 0u);
  EXPECT_STREQ(WireKindName(0), "unknown");
  EXPECT_STREQ(WireKindName(kNumWireKinds), "unknown");
}

}  // namespace
}  // namespace pathways

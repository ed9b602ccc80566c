//===- closest_test.cc - Suggestions for misspelled names -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/flags/closest.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pathways::flags {
namespace {

TEST(ClosestTest, TakesTheNameWithTheFewestEdits) {
  const std::vector<std::string> names = {"weights", "weight", "bias"};
  EXPECT_EQ(Closest("wieghts", names), "weights");
  EXPECT_EQ(Closest("weigt", names), "weight");
  EXPECT_EQ(Closest("bias", names), "bias");
}

TEST(ClosestTest, NothingIsCloseToAnotherWord) {
  EXPECT_EQ(Closest("momentum", {"weights", "bias"}), "");
  EXPECT_EQ(Closest("x", {"y"}), "");
  EXPECT_EQ(Closest("anything", {}), "");
  EXPECT_EQ(Closest(std::string(1000, 'a'), {std::string(1000, 'a')}), "");
}

TEST(ClosestTest, SaysWhatMayBeMeant) {
  EXPECT_EQ(DidYouMean("--inptu", {"--input", "--output"}),
            "; did you mean '--input'?");
  EXPECT_EQ(DidYouMean("--zzz", {"--input"}), "");
}

}  // namespace
}  // namespace pathways::flags

//===- plan_hash_test.cc - Identity of a plan -----------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/plan_hash.h"

#include <string>

#include "gtest/gtest.h"

namespace pathways {
namespace {

// From FIPS 180.
TEST(PlanHashTest, IsASha256) {
  EXPECT_EQ(HashOf(absl::string_view("abc")).Text(), "ba7816bf8f01cfea");
  EXPECT_EQ(HashOf(absl::string_view()).Text(), "e3b0c44298fc1c14");
}

TEST(PlanHashTest, PartsAreOneWhole) {
  PlanHasher hasher;
  const uint8_t bytes[] = {'a', 'b', 'c'};
  hasher.Add({bytes, 1});
  hasher.Add({bytes, 0});
  hasher.Add({bytes + 1, 2});
  EXPECT_EQ(hasher.Finish(), HashOf(absl::string_view("abc")));
}

TEST(PlanHashTest, IsReadAsItWasSent) {
  const PlanHash hash = HashOf(absl::string_view("abc"));
  PlanHash read;
  EXPECT_TRUE(read.Read(hash.view()));
  EXPECT_EQ(read, hash);
  EXPECT_FALSE(read.Read(""));
  EXPECT_FALSE(read.Read(std::string(33, 'x')));
  EXPECT_EQ(read, hash);
}

}  // namespace
}  // namespace pathways

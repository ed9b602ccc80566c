//===- unique_names_test.cpp - Names that differ --------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Lowering/UniqueNames.h"

#include "gtest/gtest.h"

namespace mlir::pathways {
namespace {

TEST(UniqueNamesTest, ANumberIsAppendedWhereANameIsTaken) {
  UniqueNames names;
  EXPECT_EQ(names.get("x"), "x");
  EXPECT_EQ(names.get("x"), "x.1");
  EXPECT_EQ(names.get("y"), "y");
  EXPECT_EQ(names.get("x"), "x.2");
}

TEST(UniqueNamesTest, ANameThatLooksNumberedIsNotGivenTwice) {
  UniqueNames names;
  EXPECT_EQ(names.get("x.1"), "x.1");
  EXPECT_EQ(names.get("x"), "x");
  EXPECT_EQ(names.get("x"), "x.2");
  EXPECT_EQ(names.get("x.1"), "x.1.1");
}

} // namespace
} // namespace mlir::pathways

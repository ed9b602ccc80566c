//===- array_value_test.cc - Values in the memory of this process ---------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/array_value.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace pathways {
namespace {

TEST(ArrayValueTest, KeepsItsOwn) {
  const ArrayValue value(HostArray{ElementType::kI8, {3}, {1, 2, 3}});
  EXPECT_EQ(value.type().element, ElementType::kI8);
  EXPECT_EQ(value.type().shape, std::vector<int64_t>{3});
  EXPECT_EQ(value.data(), absl::string_view("\1\2\3"));
  EXPECT_FALSE(value.borrowed());
  EXPECT_EQ(value.Copy().data, (ArrayBytes{1, 2, 3}));
}

TEST(ArrayValueTest, TheLastOwnerGivesBack) {
  const char bytes[2] = {7, 8};
  int done = 0;
  SharedValue one = std::make_shared<const ArrayValue>(
      BorrowedArray{ElementType::kI8, {2}, bytes, 2, [&] { ++done; }});
  SharedValue two = one;
  EXPECT_TRUE(one->borrowed());
  EXPECT_EQ(one->data().data(), bytes);
  one.reset();
  EXPECT_EQ(done, 0);
  EXPECT_EQ(two->Copy().data, (ArrayBytes{7, 8}));
  two.reset();
  EXPECT_EQ(done, 1);
}

TEST(ArrayValueTest, NobodyNeedsToBeTold) {
  const char byte = 7;
  ArrayValue value(BorrowedArray{ElementType::kI8, {}, &byte, 1, nullptr});
  EXPECT_EQ(value.Copy().data, ArrayBytes{7});
}

}  // namespace
}  // namespace pathways

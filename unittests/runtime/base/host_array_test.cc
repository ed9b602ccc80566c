//===- host_array_test.cc - Names and shapes of elements ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/host_array.h"

#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace pathways {
namespace {

TEST(HostArrayTest, NamesAndSizes) {
  struct {
    ElementType element;
    const char* name;
    int64_t bytes;
  } const expected[] = {
      {ElementType::kF32, "f32", 4}, {ElementType::kF64, "f64", 8},
      {ElementType::kI1, "i1", 1},   {ElementType::kI8, "i8", 1},
      {ElementType::kI32, "i32", 4}, {ElementType::kI64, "i64", 8},
      {ElementType::kF16, "f16", 2}, {ElementType::kBF16, "bf16", 2}};
  for (const auto& [element, name, bytes] : expected) {
    EXPECT_EQ(std::string(ElementName(element)), name);
    EXPECT_EQ(ElementBytes(element), bytes);
    EXPECT_EQ(ElementFromName(name), element);
  }
}

TEST(HostArrayTest, ValuesThatAreNoTypes) {
  for (auto element : {ElementType::kInvalid, static_cast<ElementType>(9),
                       static_cast<ElementType>(255)}) {
    EXPECT_EQ(std::string(ElementName(element)), "invalid");
    EXPECT_EQ(ElementBytes(element), 0);
  }
  for (const char* name : {"", "f", "F32", "f32 ", "invalid", "i128"}) {
    EXPECT_EQ(ElementFromName(name), ElementType::kInvalid);
  }
}

TEST(HostArrayTest, Shapes) {
  EXPECT_EQ(ShapeString(ElementType::kF32, {}), "f32");
  EXPECT_EQ(ShapeString(ElementType::kBF16, {64, 0, 3}), "64x0x3xbf16");
  HostArray array;
  EXPECT_EQ(array.num_elements(), 1);
  array.shape = {2, 3};
  EXPECT_EQ(array.num_elements(), 6);
  array.shape = {2, 0};
  EXPECT_EQ(array.num_elements(), 0);
}

}  // namespace
}  // namespace pathways

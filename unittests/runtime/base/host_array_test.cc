//===- host_array_test.cc - Names and shapes of elements ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "pathways/HostArray.h"

namespace pathways {
namespace {

TEST(HostArrayTest, NamesAndSizes) {
  struct {
    ElementType element;
    const char* name;
    int64_t bytes;
  } const expected[] = {
      {ElementType::kF32, "f32", 4},   {ElementType::kF64, "f64", 8},
      {ElementType::kI1, "i1", 1},     {ElementType::kI8, "i8", 1},
      {ElementType::kI32, "i32", 4},   {ElementType::kI64, "i64", 8},
      {ElementType::kF16, "f16", 2},   {ElementType::kBF16, "bf16", 2},
      {ElementType::kI16, "i16", 2},   {ElementType::kUI8, "ui8", 1},
      {ElementType::kUI16, "ui16", 2}, {ElementType::kUI32, "ui32", 4},
      {ElementType::kUI64, "ui64", 8}};
  for (const auto& [element, name, bytes] : expected) {
    EXPECT_EQ(std::string(elementName(element)), name);
    EXPECT_EQ(elementBytes(element), bytes);
    EXPECT_EQ(elementFromName(name), element);
  }
}

TEST(HostArrayTest, ValuesThatAreNoTypes) {
  for (auto element : {ElementType::kInvalid, static_cast<ElementType>(14),
                       static_cast<ElementType>(255)}) {
    EXPECT_EQ(std::string(elementName(element)), "invalid");
    EXPECT_EQ(elementBytes(element), 0);
  }
  for (const char* name : {"", "f", "F32", "f32 ", "invalid", "i128"}) {
    EXPECT_EQ(elementFromName(name), ElementType::kInvalid);
  }
}

TEST(HostArrayTest, Shapes) {
  EXPECT_EQ(shapeString(ElementType::kF32, {}), "f32");
  EXPECT_EQ(shapeString(ElementType::kBF16, {64, 0, 3}), "64x0x3xbf16");
  HostArray array;
  EXPECT_EQ(array.numElements(), 1);
  array.shape = {2, 3};
  EXPECT_EQ(array.numElements(), 6);
  array.shape = {2, 0};
  EXPECT_EQ(array.numElements(), 0);
}

TEST(HostArrayTest, ValuesOfCppTypes) {
  const std::vector<float> floats = {1, 2, 3, 4, 5, 6};
  const HostArray matrix = HostArray::of<float>(floats, {2, 3});
  EXPECT_EQ(matrix.element, ElementType::kF32);
  EXPECT_EQ(matrix.shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(matrix.data.size(), 24u);
  EXPECT_TRUE(std::equal(floats.begin(), floats.end(),
                         matrix.values<float>().begin(),
                         matrix.values<float>().end()));
  EXPECT_TRUE(matrix.values<int32_t>().empty());

  const int64_t longs[] = {-1, 1};
  EXPECT_EQ(HostArray::of<int64_t>(longs).shape, (std::vector<int64_t>{2}));
  EXPECT_EQ(HostArray::of<int64_t>(longs).values<int64_t>()[0], -1);
  const bool flags[] = {true, false};
  EXPECT_EQ(HostArray::of<bool>(flags).element, ElementType::kI1);
  EXPECT_EQ(HostArray::of<double>({}).numElements(), 0);
  const int8_t scalar[] = {7};
  EXPECT_EQ(HostArray::of<int8_t>(scalar, {}).values<int8_t>()[0], 7);
}

template <typename T>
void ExpectType(ElementType element) {
  const T values[] = {std::numeric_limits<T>::min(),
                      std::numeric_limits<T>::max()};
  const HostArray array = HostArray::of<T>(values);
  EXPECT_EQ(array.element, element);
  ASSERT_EQ(array.values<T>().size(), 2u);
  EXPECT_EQ(array.values<T>()[0], values[0]);
  EXPECT_EQ(array.values<T>()[1], values[1]);
  EXPECT_TRUE(array.values<float>().empty());
}

TEST(HostArrayTest, IntegersOfCppTypes) {
  ExpectType<int8_t>(ElementType::kI8);
  ExpectType<int16_t>(ElementType::kI16);
  ExpectType<int32_t>(ElementType::kI32);
  ExpectType<int64_t>(ElementType::kI64);
  ExpectType<uint8_t>(ElementType::kUI8);
  ExpectType<uint16_t>(ElementType::kUI16);
  ExpectType<uint32_t>(ElementType::kUI32);
  ExpectType<uint64_t>(ElementType::kUI64);
  // The sign is part of the type.
  const uint32_t one[] = {1};
  EXPECT_TRUE(HostArray::of<uint32_t>(one).values<int32_t>().empty());
}

TEST(HostArrayTest, ValuesThatDoNotFillTheShape) {
  const std::vector<float> floats = {1, 2, 3};
  EXPECT_EQ(HostArray::of<float>(floats, {2, 2}).element,
            ElementType::kInvalid);
  EXPECT_TRUE(HostArray::of<float>(floats, {2, 2}).values<float>().empty());
  HostArray torn = HostArray::of<float>(floats);
  torn.data.pop_back();
  EXPECT_TRUE(torn.values<float>().empty());
}

}  // namespace
}  // namespace pathways

//===- values_test.cc -----------------------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/pw-run/values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace pathways::pw_run {
namespace {

using ::testing::HasSubstr;

double Through(ElementType element, double value) {
  char data[8];
  StoreFloat(element, value, data);
  return LoadFloat(element, data);
}

// Every value of both 16-bit types survives both conversions and its text.
TEST(ValuesTest, SixteenBitFloatsRoundTrip) {
  for (ElementType element : {ElementType::kF16, ElementType::kBF16}) {
    for (uint32_t bits = 0; bits < 65536; ++bits) {
      auto in = static_cast<uint16_t>(bits);
      char data[2], back[2], text[2];
      std::memcpy(data, &in, 2);
      double value = LoadFloat(element, data);
      StoreFloat(element, value, back);
      if (std::isnan(value)) {
        ASSERT_TRUE(std::isnan(LoadFloat(element, back))) << bits;
        continue;
      }
      ASSERT_EQ(std::memcmp(data, back, 2), 0) << bits;
      ASSERT_TRUE(StoreText(element, ElementText(element, data), text).ok())
          << bits;
      ASSERT_EQ(std::memcmp(data, text, 2), 0) << bits;
    }
  }
}

TEST(ValuesTest, RoundsToNearestEven) {
  EXPECT_EQ(Through(ElementType::kF16, 2049), 2048);
  EXPECT_EQ(Through(ElementType::kF16, 2051), 2052);
  EXPECT_EQ(Through(ElementType::kF16, 65504), 65504);
  EXPECT_EQ(Through(ElementType::kF16, 65519.9), 65504);
  EXPECT_TRUE(std::isinf(Through(ElementType::kF16, 65520)));
  EXPECT_EQ(Through(ElementType::kF16, std::ldexp(1, -24)), std::ldexp(1, -24));
  EXPECT_EQ(Through(ElementType::kF16, std::ldexp(1, -25)), 0);
  EXPECT_EQ(Through(ElementType::kF16, std::ldexp(1.5, -25)),
            std::ldexp(1, -24));
  // Rounding carries out of the mantissa, also from subnormal numbers.
  EXPECT_EQ(Through(ElementType::kF16, std::ldexp(1, -14) * (1 - 1e-9)),
            std::ldexp(1, -14));
  EXPECT_EQ(Through(ElementType::kBF16, 257), 256);
  EXPECT_EQ(Through(ElementType::kBF16, 259), 260);
  EXPECT_TRUE(std::isinf(Through(ElementType::kBF16, 3.4e38)));
  EXPECT_EQ(Through(ElementType::kBF16, -1e-50), 0);
}

std::string Reprinted(ElementType element, const std::string& text) {
  char data[8] = {};
  absl::Status status = StoreText(element, text, data);
  if (!status.ok()) return std::string(status.message());
  return ElementText(element, data);
}

TEST(ValuesTest, PrintsTheShortestText) {
  EXPECT_EQ(Reprinted(ElementType::kF32, "0.1"), "0.1");
  EXPECT_EQ(Reprinted(ElementType::kF32, "16777217"), "16777216");
  EXPECT_EQ(Reprinted(ElementType::kF64, "0.1"), "0.1");
  EXPECT_EQ(Reprinted(ElementType::kF16, "0.1"), "0.1");
  EXPECT_EQ(Reprinted(ElementType::kBF16, "3.14159"), "3.14");
  EXPECT_EQ(Reprinted(ElementType::kF32, "+1e3"), "1000");
  EXPECT_EQ(Reprinted(ElementType::kF32, "-inf"), "-inf");
  EXPECT_EQ(Reprinted(ElementType::kF32, "-nan"), "nan");
  EXPECT_EQ(Reprinted(ElementType::kF32, "-0"), "-0");
  EXPECT_EQ(Reprinted(ElementType::kI64, "-9223372036854775808"),
            "-9223372036854775808");
  EXPECT_EQ(Reprinted(ElementType::kI16, "-32768"), "-32768");
  EXPECT_EQ(Reprinted(ElementType::kUI8, "255"), "255");
  EXPECT_EQ(Reprinted(ElementType::kUI16, "65535"), "65535");
  EXPECT_EQ(Reprinted(ElementType::kUI32, "+4294967295"), "4294967295");
  EXPECT_EQ(Reprinted(ElementType::kUI64, "18446744073709551615"),
            "18446744073709551615");
  EXPECT_EQ(Reprinted(ElementType::kI1, "true"), "true");
  EXPECT_EQ(Reprinted(ElementType::kI1, "0"), "false");
}

// Whole numbers are printed exactly if that is not longer: 2.05e+03 reads as
// 2050.
TEST(ValuesTest, PrintsWholeNumbersOfSixteenBitsExactly) {
  for (const char* text : {"2048", "260", "1000", "0", "-0", "65280", "-384"}) {
    EXPECT_EQ(Reprinted(ElementType::kBF16, text), text);
  }
  for (const char* text : {"2048", "65504", "2.5", "0.25"}) {
    EXPECT_EQ(Reprinted(ElementType::kF16, text), text);
  }
  EXPECT_EQ(Reprinted(ElementType::kBF16, "1e30"), "1e+30");
  EXPECT_EQ(Reprinted(ElementType::kBF16, "0.001"), "0.001");
  EXPECT_EQ(Reprinted(ElementType::kBF16, "0.0001"), "1e-04");
  EXPECT_EQ(Reprinted(ElementType::kBF16, "0.0123"), "0.0123");
  EXPECT_EQ(Reprinted(ElementType::kBF16, "123.5"), "123.5");
  EXPECT_EQ(Reprinted(ElementType::kBF16, "inf"), "inf");
}

// 2^-119 and the lower bound of the numbers that round to it are so close that
// no number of three digits lies between; 1.51e-36 is on the other side.
TEST(ValuesTest, PrintsTheFewestDigitsAbovePowersOfTwo) {
  EXPECT_EQ(Reprinted(ElementType::kBF16, "1.504632769052528e-36"), "1.51e-36");
  EXPECT_EQ(Reprinted(ElementType::kBF16, "1.8446744073709552e+19"),
            "1.85e+19");
}

TEST(ValuesTest, RefusesWhatDoesNotFit) {
  EXPECT_EQ(Reprinted(ElementType::kF32, "1e39"), "'1e39' does not fit f32");
  EXPECT_EQ(Reprinted(ElementType::kF16, "65520"), "'65520' does not fit f16");
  EXPECT_EQ(Reprinted(ElementType::kF64, "1e999"), "'1e999' does not fit f64");
  EXPECT_EQ(Reprinted(ElementType::kI8, "128"), "'128' does not fit i8");
  EXPECT_EQ(Reprinted(ElementType::kI1, "2"), "'2' does not fit i1");
  EXPECT_EQ(Reprinted(ElementType::kI1, "-1"), "'-1' does not fit i1");
  EXPECT_EQ(Reprinted(ElementType::kI64, "9223372036854775808"),
            "'9223372036854775808' does not fit i64");
  EXPECT_EQ(Reprinted(ElementType::kI16, "32768"), "'32768' does not fit i16");
  EXPECT_EQ(Reprinted(ElementType::kUI8, "256"), "'256' does not fit ui8");
  EXPECT_EQ(Reprinted(ElementType::kUI32, "-1"), "'-1' does not fit ui32");
  EXPECT_EQ(Reprinted(ElementType::kUI64, "-1"), "'-1' does not fit ui64");
  EXPECT_EQ(Reprinted(ElementType::kUI64, "18446744073709551616"),
            "'18446744073709551616' does not fit ui64");
  EXPECT_EQ(Reprinted(ElementType::kI32, "1.5"),
            "'1.5' is not a number of type i32");
  EXPECT_EQ(Reprinted(ElementType::kF32, "one"),
            "'one' is not a number of type f32");
  EXPECT_EQ(Reprinted(ElementType::kF32, ""), "'' is not a number of type f32");
  EXPECT_EQ(Reprinted(ElementType::kI32, "true"),
            "'true' is not a number of type i32");
}

HostArray Bytes(const std::vector<int64_t>& shape) {
  HostArray array;
  array.element = ElementType::kI8;
  array.shape = shape;
  array.data.resize(array.numElements());
  for (size_t i = 0; i < array.data.size(); ++i) array.data[i] = i % 100;
  return array;
}

TEST(ValuesTest, PrintsArrays) {
  EXPECT_EQ(ArrayText(Bytes({}), 10), "0");
  EXPECT_EQ(ArrayText(Bytes({2, 3}), 10), "[[0, 1, 2], [3, 4, 5]]");
  EXPECT_EQ(ArrayText(Bytes({2, 0}), 10), "[[], []]");
  EXPECT_EQ(ArrayText(Bytes({0}), 10), "[]");
  EXPECT_EQ(ArrayText(Bytes({8}), 7), "[0, 1, 2, ..., 5, 6, 7]");
  EXPECT_EQ(ArrayText(Bytes({8}), 8), "[0, 1, 2, 3, 4, 5, 6, 7]");
  EXPECT_EQ(ArrayText(Bytes({7, 2}), 10),
            "[[0, 1], [2, 3], [4, 5], ..., [8, 9], [10, 11], [12, 13]]");
}

// Printing terminates for every shape.
TEST(ValuesTest, PrintsLittleOfLargeArrays) {
  EXPECT_EQ(ArrayText(Bytes({int64_t{1} << 40, 0}), 10), "[...]");
  EXPECT_EQ(ArrayText(Bytes(std::vector<int64_t>(20, 2)), 1000), "[...]");
  EXPECT_LT(ArrayText(Bytes({100, 100, 100}), 1000).size(), 2000);
}

TEST(ValuesTest, NamesAPlace) {
  EXPECT_EQ(IndexText({}, 0), "");
  EXPECT_EQ(IndexText({2, 3}, 5), "[1][2]");
  EXPECT_EQ(IndexText({4, 2, 3}, 13), "[2][0][1]");
}

}  // namespace
}  // namespace pathways::pw_run

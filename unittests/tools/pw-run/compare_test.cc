//===- compare_test.cc ----------------------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/pw-run/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace pathways::pw_run {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

HostArray F64(std::vector<double> values) {
  HostArray array{ElementType::kF64,
                  {static_cast<int64_t>(values.size())},
                  ArrayBytes(values.size() * 8, 0)};
  std::memcpy(array.data.data(), values.data(), array.data.size());
  return array;
}

int64_t Mismatches(double got, double expected, Tolerance tolerance = {}) {
  return Compare(F64({got}), F64({expected}), tolerance).mismatches;
}

TEST(CompareTest, ToleranceIsAbsolutePlusRelative) {
  Tolerance tolerance{.rtol = 0.1, .atol = 1};
  EXPECT_EQ(Mismatches(111.9, 100, tolerance), 1);
  EXPECT_EQ(Mismatches(110.9, 100, tolerance), 0);
  EXPECT_EQ(Mismatches(89.1, 100, tolerance), 0);
  EXPECT_EQ(Mismatches(88.9, 100, tolerance), 1);
  // The tolerance is relative to the expected value, not to the actual one.
  EXPECT_EQ(Mismatches(-110.9, -100, tolerance), 0);
  EXPECT_EQ(Mismatches(1, 1, {0, 0}), 0);
  EXPECT_EQ(Mismatches(1, 1 + 1e-15, {0, 0}), 1);
}

// A difference of atol + rtol * |expected| is accepted, the next larger one is
// not. All numbers here are exact.
TEST(CompareTest, TheBorderBelongsToTheTolerance) {
  Tolerance tolerance{.rtol = 0.5, .atol = 1};
  EXPECT_EQ(Mismatches(7, 4, tolerance), 0);
  EXPECT_EQ(Mismatches(std::nextafter(7, kInf), 4, tolerance), 1);
  EXPECT_EQ(Mismatches(1, 4, tolerance), 0);
  EXPECT_EQ(Mismatches(1 - std::ldexp(1, -50), 4, tolerance), 1);
  EXPECT_EQ(Mismatches(-7, -4, tolerance), 0);
  EXPECT_EQ(Mismatches(std::nextafter(-7, -kInf), -4, tolerance), 1);
  EXPECT_EQ(Mismatches(6, 4, {.rtol = 0.5, .atol = 0}), 0);
  EXPECT_EQ(Mismatches(std::nextafter(6, kInf), 4, {.rtol = 0.5, .atol = 0}),
            1);
  EXPECT_EQ(Mismatches(5, 4, {.rtol = 0, .atol = 1}), 0);
  EXPECT_EQ(Mismatches(std::nextafter(5, kInf), 4, {.rtol = 0, .atol = 1}), 1);
}

TEST(CompareTest, SpecialValuesMatchThemselvesOnly) {
  EXPECT_EQ(Mismatches(kNan, kNan), 0);
  EXPECT_EQ(Mismatches(kNan, 0), 1);
  EXPECT_EQ(Mismatches(0, kNan), 1);
  EXPECT_EQ(Mismatches(kInf, kInf), 0);
  EXPECT_EQ(Mismatches(kInf, -kInf), 1);
  EXPECT_EQ(Mismatches(1, kInf), 1);
  EXPECT_EQ(Mismatches(kInf, 1), 1);
  EXPECT_EQ(Mismatches(0.0, -0.0, {0, 0}), 0);
}

TEST(CompareTest, IntegersIgnoreTolerances) {
  HostArray got{ElementType::kI8, {2}, {1, 2}};
  HostArray expected{ElementType::kI8, {2}, {1, 3}};
  Tolerance wide{.rtol = 1, .atol = 100};
  Comparison comparison = Compare(got, expected, wide);
  EXPECT_EQ(comparison.mismatches, 1);
  EXPECT_EQ(MismatchText("y", got, expected, wide, comparison),
            "y[1]: got 2, expected 3; 1 of 2 elements differ");
}

TEST(CompareTest, NamesTheFirstMismatchAndCounts) {
  HostArray got = F64({1, 2, 3, 4, 5, 6}), expected = F64({1, 2, 3, 4, 6, 7});
  got.shape = expected.shape = {2, 3};
  Comparison comparison = Compare(got, expected, {});
  EXPECT_EQ(MismatchText("y", got, expected, {}, comparison),
            "y[1][1]: got 5, expected 6 (rtol 1e-05, atol 1e-06); "
            "2 of 6 elements differ");
}

TEST(CompareTest, ScalarsAndEmptyArrays) {
  HostArray got = F64({1}), expected = F64({2});
  got.shape = expected.shape = {};
  EXPECT_EQ(
      MismatchText("y", got, expected, {0, 0}, Compare(got, expected, {0, 0})),
      "y: got 1, expected 2 (rtol 0, atol 0); 1 of 1 element differs");
  EXPECT_EQ(Compare(F64({}), F64({}), {}).mismatches, 0);
}

}  // namespace
}  // namespace pathways::pw_run

//===- checks_test.cc -----------------------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/pw-run/checks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace pathways::pw_run {
namespace {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <typename T>
HostArray ArrayOf(ElementType element, std::vector<T> values) {
  HostArray array{element,
                  {static_cast<int64_t>(values.size())},
                  ArrayBytes(values.size() * sizeof(T), 0)};
  std::memcpy(array.data.data(), values.data(), array.data.size());
  return array;
}

uint64_t Distance(double a, double b) {
  return UlpDistance(ElementType::kF64, reinterpret_cast<const char*>(&a),
                     reinterpret_cast<const char*>(&b));
}

proto::Expectation Close(uint64_t min_ulp, uint64_t max_ulp) {
  proto::Expectation expect;
  expect.set_kind(proto::Expectation::CLOSE);
  expect.set_min_ulp(min_ulp);
  expect.set_max_ulp(max_ulp);
  return expect;
}

proto::Expectation AlmostEq(double tolerance) {
  proto::Expectation expect;
  expect.set_kind(proto::Expectation::ALMOST_EQ);
  expect.set_tolerance(tolerance);
  return expect;
}

proto::Expectation Eq() {
  proto::Expectation expect;
  expect.set_kind(proto::Expectation::EQ);
  return expect;
}

std::string WhyF64(double got, double want, const proto::Expectation& expect) {
  return WhyCheckFails("y", ArrayOf<double>(ElementType::kF64, {got}),
                       ArrayOf<double>(ElementType::kF64, {want}), expect);
}

TEST(ChecksTest, DistanceCountsFloatsAcrossZero) {
  const double least = std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(Distance(1, 1), 0);
  EXPECT_EQ(Distance(1, std::nextafter(1, 2)), 1);
  EXPECT_EQ(Distance(std::nextafter(1, 0), std::nextafter(1, 2)), 2);
  EXPECT_EQ(Distance(0.0, -0.0), 0);
  EXPECT_EQ(Distance(least, -least), 2);
}

TEST(ChecksTest, NansAndInfinitiesAreCloseToThemselvesOnly) {
  const double most = std::numeric_limits<double>::max();
  EXPECT_EQ(Distance(kNotANumber, -kNotANumber), 0);
  EXPECT_EQ(Distance(kInfinity, kInfinity), 0);
  EXPECT_EQ(Distance(kInfinity, most), UINT64_MAX);
  EXPECT_EQ(Distance(kInfinity, -kInfinity), UINT64_MAX);
  EXPECT_EQ(Distance(kNotANumber, 1), UINT64_MAX);
  EXPECT_EQ(Distance(most, -most), 2 * uint64_t{0x7fefffffffffffff});
}

TEST(ChecksTest, DistanceIsOfTheElementType) {
  const uint16_t one = 0x3c00, next = 0x3c01, minus = 0xbc00;
  const auto distance = [](ElementType element, uint16_t a, uint16_t b) {
    return UlpDistance(element, reinterpret_cast<const char*>(&a),
                       reinterpret_cast<const char*>(&b));
  };
  EXPECT_EQ(distance(ElementType::kF16, one, next), 1);
  EXPECT_EQ(distance(ElementType::kF16, one, minus), 2 * 0x3c00);
  EXPECT_EQ(distance(ElementType::kBF16, one, next), 1);
  const float a = 1, b = std::nextafter(1.0f, 2.0f);
  EXPECT_EQ(UlpDistance(ElementType::kF32, reinterpret_cast<const char*>(&a),
                        reinterpret_cast<const char*>(&b)),
            1);
}

TEST(ChecksTest, ClosePassesWithinItsBounds) {
  const double next = std::nextafter(1, 2);
  EXPECT_EQ(WhyF64(1, 1, Close(0, 0)), "");
  EXPECT_EQ(WhyF64(1, next, Close(0, 1)), "");
  EXPECT_EQ(WhyF64(1, next, Close(0, 0)),
            "y[0]: got 1, expected 1.0000000000000002, 1 units in the last "
            "place apart, expected at most 0; 1 of 1 element differs");
  EXPECT_NE(WhyF64(1, 1, Close(1, 3)), "");
  EXPECT_EQ(WhyF64(1, next, Close(1, 3)), "");
}

TEST(ChecksTest, AlmostEqIsAbsolute) {
  EXPECT_EQ(WhyF64(1000, 1000.5, AlmostEq(0.5)), "");
  EXPECT_EQ(WhyF64(1000, 1001, AlmostEq(0.5)),
            "y[0]: got 1000, expected 1001, 1 apart, expected at most 0.5; 1 "
            "of 1 element differs");
  EXPECT_EQ(WhyF64(kNotANumber, kNotANumber, AlmostEq(0)), "");
  EXPECT_EQ(WhyF64(kInfinity, kInfinity, AlmostEq(0)), "");
  EXPECT_NE(WhyF64(kInfinity, 1, AlmostEq(1)), "");
  EXPECT_NE(WhyF64(kNotANumber, 1, AlmostEq(1)), "");
}

TEST(ChecksTest, EqNamesTheFirstDifferenceAndCountsAll) {
  const auto ints = [](std::vector<int32_t> values) {
    return ArrayOf<int32_t>(ElementType::kI32, std::move(values));
  };
  EXPECT_EQ(WhyCheckFails("y", ints({1, 2}), ints({1, 2}), Eq()), "");
  EXPECT_EQ(WhyCheckFails("y", ints({1, 2, 3}), ints({1, -2, -3}), Eq()),
            "y[1]: got 2, expected -2; 2 of 3 elements differ");
  EXPECT_EQ(WhyF64(0.0, -0.0, Eq()), "");
  EXPECT_EQ(WhyF64(kNotANumber, kNotANumber, Eq()), "");
  EXPECT_NE(WhyF64(1, 2, Eq()), "");
}

TEST(ChecksTest, EmptyArraysPass) {
  EXPECT_EQ(WhyCheckFails("y", ArrayOf<double>(ElementType::kF64, {}),
                          ArrayOf<double>(ElementType::kF64, {}), Eq()),
            "");
}

TEST(ChecksTest, ResultsOfChecksAreBothSides) {
  proto::Interface interface;
  interface.add_results();
  *interface.add_results()->mutable_expect() = Eq();
  interface.mutable_results(1)->mutable_expect()->set_result(2);
  interface.add_results();
  EXPECT_EQ(NumChecks(interface), 1);
  EXPECT_EQ(ResultsOfChecks(interface), (std::vector<bool>{false, true, true}));
}

}  // namespace
}  // namespace pathways::pw_run

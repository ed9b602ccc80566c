//===- narrow_float_test.cc - f16 and bf16 as bits ------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/narrow_float.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "gtest/gtest.h"

namespace pathways {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A format by its definition.
struct Format {
  int mantissa_bits, min_exponent, max_exponent;
  float (*from)(uint16_t);
  uint16_t (*to)(float);

  double Value(uint16_t bits) const {
    const int exponents = 1 << (15 - mantissa_bits);
    const int exponent = bits >> mantissa_bits & (exponents - 1);
    const int mantissa = bits & ((1 << mantissa_bits) - 1);
    double value;
    if (exponent == exponents - 1) {
      value = mantissa == 0 ? kInfinity : std::nan("");
    } else if (exponent == 0) {
      value = std::ldexp(mantissa, min_exponent - mantissa_bits);
    } else {
      value = std::ldexp(mantissa + (1 << mantissa_bits),
                         exponent - 1 + min_exponent - mantissa_bits);
    }
    return bits >> 15 ? -value : value;
  }
  uint16_t infinity() const {
    return static_cast<uint16_t>(0x7fff >> mantissa_bits << mantissa_bits);
  }
  // The largest number whose bits, counted up, lie above it is infinity's.
  double ValueOrEnd(uint16_t bits) const {
    return bits == infinity() ? std::ldexp(1.0, max_exponent + 1) : Value(bits);
  }
  // The nearest of the two around |value|, found by halves.
  uint16_t Nearest(double value) const {
    const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
    const double size = std::fabs(value);
    uint16_t below = 0, above = infinity();
    if (size >= ValueOrEnd(above)) return sign | above;
    while (above - below > 1) {
      const uint16_t middle = static_cast<uint16_t>((below + above) / 2);
      (ValueOrEnd(middle) <= size ? below : above) = middle;
    }
    const double down = size - ValueOrEnd(below);
    const double up = ValueOrEnd(above) - size;
    const bool takes_below = down < up || (down == up && below % 2 == 0);
    return sign | (takes_below ? below : above);
  }
};

constexpr Format kFormats[] = {{10, -14, 15, FromF16, ToF16},
                               {7, -126, 127, FromBF16, ToBF16}};

TEST(NarrowFloatTest, WidensEveryNumber) {
  for (const Format& format : kFormats) {
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      const uint16_t narrow = static_cast<uint16_t>(bits);
      const double expected = format.Value(narrow);
      const float value = format.from(narrow);
      ASSERT_EQ(std::signbit(value), bits >= 0x8000) << bits;
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(value)) << bits;
        ASSERT_TRUE(std::isnan(format.from(format.to(value)))) << bits;
        continue;
      }
      ASSERT_EQ(value, expected) << bits;
      ASSERT_EQ(format.to(value), narrow) << bits;
    }
  }
}

TEST(NarrowFloatTest, RoundsToNearestEven) {
  for (const Format& format : kFormats) {
    // Half way to the next number, and just beside.
    for (uint16_t bits = 0; bits < format.infinity(); ++bits) {
      const double half =
          (format.ValueOrEnd(bits) + format.ValueOrEnd(bits + 1)) / 2;
      const float at = static_cast<float>(half);
      ASSERT_EQ(at, half);
      for (float value : {at, std::nextafterf(at, 0.0f),
                          std::nextafterf(at, static_cast<float>(kInfinity))}) {
        ASSERT_EQ(format.to(value), format.Nearest(value)) << value;
        ASSERT_EQ(format.to(-value), format.Nearest(-value)) << value;
      }
      // A double that a float in between would take for the half itself.
      for (double value :
           {std::nextafter(half, 0.0), std::nextafter(half, kInfinity)}) {
        ASSERT_EQ(format.to(RoundToOdd(value)), format.Nearest(value)) << value;
      }
    }
  }
}

TEST(NarrowFloatTest, AnyBits) {
  std::mt19937_64 random(7);
  for (const Format& format : kFormats) {
    for (int i = 0; i < 200000; ++i) {
      const float value = std::bit_cast<float>(static_cast<uint32_t>(random()));
      const double wide = std::bit_cast<double>(random());
      if (!std::isnan(value)) {
        ASSERT_EQ(format.to(value), format.Nearest(value)) << value;
      }
      if (!std::isnan(wide)) {
        ASSERT_EQ(format.to(RoundToOdd(wide)), format.Nearest(wide)) << wide;
      }
    }
    for (double value : {0.0, 1e-320, 1e300, kInfinity}) {
      EXPECT_EQ(format.to(RoundToOdd(value)), format.Nearest(value)) << value;
      EXPECT_EQ(format.to(RoundToOdd(-value)), format.Nearest(-value)) << value;
    }
    EXPECT_TRUE(std::isnan(RoundToOdd(std::nan(""))));
    EXPECT_TRUE(std::isnan(format.from(format.to(std::nanf("1")))));
    EXPECT_TRUE(std::isnan(format.from(
        format.to(std::bit_cast<float>(0x7f800001)))));  // payload in no bit
  }
}

}  // namespace
}  // namespace pathways

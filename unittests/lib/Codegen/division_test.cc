//===- division_test.cc - Many divisions by one number --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Quotients have the bits of the machine's division, whichever way they are
// computed.
//
//===----------------------------------------------------------------------===//

#include "codegen_harness.h"
#include "gtest/gtest.h"
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

using namespace kernel_test;

namespace {

constexpr int kRows = 128, kColumns = 8192 + 5;

/// Returns a function that divides each row of %x by its number of %s.
std::string divideRows() {
  const std::string row = "tensor<" + std::to_string(kRows) + "xf32>",
                    all = "tensor<" + std::to_string(kRows) + "x" +
                          std::to_string(kColumns) + "xf32>";
  return "func.func @f(%x: " + all + ", %s: " + row + ") -> " + all +
         " {\n  %e = tensor.empty() : " + all +
         "\n  %w = linalg.broadcast ins(%s : " + row + ") outs(%e : " + all +
         ") dimensions = [1]\n  %r = arith.divf %x, %w : " + all +
         "\n  return %r : " + all + "\n}";
}

/// Returns how many elements of `got` differ from `x` / `s`, by rows.
int countOthers(const std::vector<float> &x, const std::vector<float> &s,
                const std::vector<float> &got) {
  int others = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    volatile float quotient = x[i] / s[i / kColumns];
    const float expected = quotient;
    const bool isSame = std::isnan(expected)
                            ? std::isnan(got[i])
                            : std::bit_cast<uint32_t>(expected) ==
                                  std::bit_cast<uint32_t>(got[i]);
    if (!isSame && others++ == 0)
      ADD_FAILURE() << x[i] << " / " << s[i / kColumns] << " is " << got[i]
                    << ", expected " << expected;
  }
  return others;
}

void expectQuotients(Kernel &kernel, const std::vector<float> &x,
                     const std::vector<float> &s) {
  Buffer xs = Buffer::of(x), ss = Buffer::of(s), r(x.size() * 4);
  ASSERT_EQ(kernel.run(0, {&xs, &ss, &r}), 0);
  EXPECT_EQ(countOthers(x, s, r.as<float>()), 0);
}

/// Returns 1 + mantissa 2^-23.
float ofMantissa(uint32_t mantissa) {
  return std::bit_cast<float>(0x3f800000u | mantissa);
}

TEST(KernelDivision, AnyNumbers) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(divideRows())) << kernel.errors();
  const std::vector<uint32_t> bits =
      numbers<uint32_t>(kRows * kColumns, 1, 0, 4294967296.0);
  std::vector<float> x, s;
  for (uint32_t each : bits)
    x.push_back(std::bit_cast<float>(each));
  const float specials[] = {0.0f,     -0.0f,     INFINITY,        -INFINITY,
                            NAN,      0x1p-149f, -0x1p-149f,      0x1p-126f,
                            0x1p-90f, 0x1p90f,   0x1.fffffep-91f, 0x1p127f};
  for (int row = 0; row < kRows; ++row) {
    for (int i = 0; i < 12; ++i)
      x[row * kColumns + 8 * i] = specials[i];
    // Include vectors with nothing but zeros.
    for (int i = 0; i < 64; ++i)
      x[row * kColumns + 256 + i] = i % 3 == 0 ? -0.0f : 0.0f;
    // Divisors from 2^-40 to 2^39, which leave the fast range at both ends, and
    // arbitrary ones.
    const float any = std::bit_cast<float>(bits[row] * 2654435761u);
    s.push_back(row < 12 ? specials[row]
                : row < 92
                    ? std::ldexp(ofMantissa(bits[row] & 0x7fffff), row - 52)
                : row < 94 ? std::ldexp(1.0f, row == 92 ? -30 : 30)
                           : any);
  }
  expectQuotients(kernel, x, s);
}

// Tests dividends of all exponents whose quotients are normal numbers.
TEST(KernelDivision, AllExponents) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(divideRows())) << kernel.errors();
  const std::vector<uint32_t> bits =
      numbers<uint32_t>(kRows * kColumns, 2, 0, 4294967296.0);
  std::vector<float> x, s;
  for (size_t i = 0; i < bits.size(); ++i)
    x.push_back(
        std::ldexp(ofMantissa(bits[i] & 0x7fffff), int(i / 64 % 200) - 100) *
        (bits[i] >> 31 ? 1 : -1));
  for (int row = 0; row < kRows; ++row)
    s.push_back(
        std::ldexp(ofMantissa(bits[row * kColumns] >> 9), row % 61 - 30));
  expectQuotients(kernel, x, s);
}

// Tests all dividends from 1 to 2 with the largest divisors, for which the
// proof has the least margin, and with some others.
TEST(KernelDivision, AllMantissas) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(divideRows())) << kernel.errors();
  std::vector<float> x(kRows * kColumns);
  const std::vector<uint32_t> others = numbers<uint32_t>(4, 3, 0, 0x800000);
  for (uint32_t divisor : {0x7fffffu, 0x7ffffeu, 0x7ffffdu, 0u, 1u, others[0],
                           others[1], others[2], others[3]}) {
    for (uint32_t first = 0; first < 0x800000; first += kRows * kColumns) {
      for (size_t i = 0; i < x.size(); ++i)
        x[i] = ofMantissa((first + i) & 0x7fffff);
      expectQuotients(kernel, x,
                      std::vector<float>(kRows, ofMantissa(divisor)));
    }
  }
}

TEST(KernelDivision, ByConstants) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
    func.func @f(%x: tensor<999xf32>) -> (tensor<999xf32>, tensor<999xf32>, tensor<999xf32>) {
      %three = arith.constant dense<3.0> : tensor<999xf32>
      %eight = arith.constant dense<-8.0> : tensor<999xf32>
      %zero = arith.constant dense<0.0> : tensor<999xf32>
      %0 = arith.divf %x, %three : tensor<999xf32>
      %1 = arith.divf %x, %eight : tensor<999xf32>
      %2 = arith.divf %x, %zero : tensor<999xf32>
      return %0, %1, %2 : tensor<999xf32>, tensor<999xf32>, tensor<999xf32>
    })"))
      << kernel.errors();
  auto xs = numbers<float>(999, 4);
  xs[0] = 0.0f, xs[1] = -0.0f, xs[2] = INFINITY, xs[3] = NAN, xs[4] = 0x1p-149f;
  Buffer x = Buffer::of(xs), a(999 * 4), b(999 * 4), c(999 * 4);
  ASSERT_EQ(kernel.run(0, {&x, &a, &b, &c}), 0);
  auto check = [&](const Buffer &got, float divisor) {
    const std::vector<float> values = got.as<float>();
    for (int i = 0; i < 999; ++i) {
      volatile float quotient = xs[i] / divisor;
      const float value = values[i];
      if (std::isnan(quotient))
        EXPECT_TRUE(std::isnan(value)) << xs[i] << " / " << divisor;
      else
        EXPECT_EQ(std::bit_cast<uint32_t>(value),
                  std::bit_cast<uint32_t>(float(quotient)))
            << xs[i] << " / " << divisor;
    }
  };
  check(a, 3), check(b, -8), check(c, 0);
}

} // namespace

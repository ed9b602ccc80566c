//===- elementwise_test.cc - Elementwise kernels --------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles, loads and runs kernels and compares them with plain C++.
//
//===----------------------------------------------------------------------===//

#include "codegen_harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

using namespace kernel_test;
using testing::Each;
using testing::ElementsAre;

namespace {

TEST(KernelElementwise, Float) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
    func.func @f(%x: tensor<37xf32>, %y: tensor<37xf32>) -> tensor<37xf32> {
      %0 = arith.mulf %x, %y : tensor<37xf32>
      %1 = arith.addf %0, %x : tensor<37xf32>
      return %1 : tensor<37xf32>
    })"))
      << kernel.errors();
  auto xs = numbers<float>(37, 1), ys = numbers<float>(37, 2);
  Buffer x = Buffer::of(xs), y = Buffer::of(ys), z(37 * 4);
  ASSERT_EQ(kernel.run(0, {&x, &y, &z}), 0);
  auto zs = z.as<float>();
  for (int i = 0; i < 37; ++i) {
    volatile float product = xs[i] * ys[i]; // not contracted
    EXPECT_EQ(zs[i], product + xs[i]) << i;
  }
}

// Rows of one element are adjacent in two dimensions, but not in memory.
TEST(KernelElementwise, SlicesOfOneColumn) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
    func.func @squares(%x: tensor<33x2xf32>) -> tensor<29x1xf32> {
      %0 = tensor.extract_slice %x[3, 1] [29, 1] [1, 1]
          : tensor<33x2xf32> to tensor<29x1xf32>
      %1 = arith.mulf %0, %0 : tensor<29x1xf32>
      return %1 : tensor<29x1xf32>
    }
    func.func @sum(%x: tensor<33x2xi32>) -> tensor<i32> {
      %0 = tensor.extract_slice %x[3, 1] [29, 1] [1, 1]
          : tensor<33x2xi32> to tensor<29x1xi32>
      %z = arith.constant dense<0> : tensor<i32>
      %r = linalg.reduce { arith.addi } ins(%0 : tensor<29x1xi32>)
             outs(%z : tensor<i32>) dimensions = [0, 1]
      return %r : tensor<i32>
    })"))
      << kernel.errors();
  auto xs = numbers<float>(66, 1);
  Buffer x = Buffer::of(xs), squares(29 * 4);
  ASSERT_EQ(kernel.run(0, {&x, &squares}), 0);
  auto is = numbers<int32_t>(66, 2, -1000, 1000);
  Buffer y = Buffer::of(is), sum(4);
  ASSERT_EQ(kernel.run(1, {&y, &sum}), 0);
  int32_t expected = 0;
  for (int i = 0; i < 29; ++i) {
    const int at = (i + 3) * 2 + 1;
    EXPECT_EQ(squares.as<float>()[i], xs[at] * xs[at]) << i;
    expected += is[at];
  }
  EXPECT_EQ(sum.as<int32_t>()[0], expected);
}

TEST(KernelElementwise, IntegersAndDoubles) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
    func.func @i8(%x: tensor<19xi8>) -> tensor<19xi8> {
      %0 = arith.addi %x, %x : tensor<19xi8>
      return %0 : tensor<19xi8>
    }
    func.func @i32(%x: tensor<5x7xi32>) -> tensor<5x7xi32> {
      %c = arith.constant dense<3> : tensor<5x7xi32>
      %0 = arith.muli %x, %c : tensor<5x7xi32>
      return %0 : tensor<5x7xi32>
    }
    func.func @i64(%x: tensor<3xi64>) -> tensor<3xi64> {
      %0 = arith.subi %x, %x : tensor<3xi64>
      %1 = arith.subi %0, %x : tensor<3xi64>
      return %1 : tensor<3xi64>
    }
    func.func @f64(%x: tensor<9xf64>) -> tensor<9xf64> {
      %0 = math.sqrt %x : tensor<9xf64>
      return %0 : tensor<9xf64>
    })"))
      << kernel.errors();
  auto bytes = numbers<int8_t>(19, 3, -100, 100);
  Buffer x8 = Buffer::of(bytes), y8(19);
  ASSERT_EQ(kernel.run(0, {&x8, &y8}), 0);
  for (int i = 0; i < 19; ++i)
    EXPECT_EQ(y8.as<int8_t>()[i], int8_t(2 * bytes[i]));
  auto words = numbers<int32_t>(35, 4, -1e9, 1e9);
  Buffer x32 = Buffer::of(words), y32(35 * 4);
  ASSERT_EQ(kernel.run(1, {&x32, &y32}), 0);
  for (int i = 0; i < 35; ++i)
    EXPECT_EQ(y32.as<int32_t>()[i], int32_t(3u * uint32_t(words[i])));
  Buffer x64 = Buffer::of(std::vector<int64_t>{1, -5, INT64_MIN}), y64(24);
  ASSERT_EQ(kernel.run(2, {&x64, &y64}), 0);
  EXPECT_THAT(y64.as<int64_t>(), ElementsAre(-1, 5, INT64_MIN));
  auto doubles = numbers<double>(9, 5, 0, 100);
  Buffer xd = Buffer::of(doubles), yd(72);
  ASSERT_EQ(kernel.run(3, {&xd, &yd}), 0);
  for (int i = 0; i < 9; ++i)
    EXPECT_EQ(yd.as<double>()[i], std::sqrt(doubles[i]));
}

TEST(KernelElementwise, TestsOfInfinity) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
    func.func @f(%x: tensor<6xf32>, %y: tensor<6xf64>, %z: tensor<f16>)
        -> (tensor<6xi1>, tensor<6xi1>, tensor<i1>) {
      %0 = math.isinf %x : tensor<6xf32>
      %e = tensor.empty() : tensor<6xi1>
      %1 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
          ins(%y : tensor<6xf64>) outs(%e : tensor<6xi1>) {
      ^bb0(%v: f64, %o: i1):
        %i = math.isinf %v : f64
        linalg.yield %i : i1
      } -> tensor<6xi1>
      %s = tensor.extract %z[] : tensor<f16>
      %i = math.isinf %s : f16
      %2 = tensor.from_elements %i : tensor<i1>
      return %0, %1, %2 : tensor<6xi1>, tensor<6xi1>, tensor<i1>
    })"))
      << kernel.errors();
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> values = {infinity, -infinity,     NAN,
                                     0,        3.4028235e38f, -1};
  Buffer x = Buffer::of(values),
         y = Buffer::of(std::vector<double>(values.begin(), values.end())),
         z = Buffer::of(std::vector<uint16_t>{0xfc00}), a(6), b(6), c(1);
  ASSERT_EQ(kernel.run(0, {&x, &y, &z, &a, &b, &c}), 0);
  EXPECT_THAT(a.as<int8_t>(), ElementsAre(1, 1, 0, 0, 0, 0));
  EXPECT_THAT(b.as<int8_t>(), ElementsAre(1, 1, 0, 0, 0, 0));
  EXPECT_THAT(c.as<int8_t>(), ElementsAre(1));
}

TEST(KernelElementwise, Booleans) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
    func.func @f(%x: tensor<67xf32>, %y: tensor<67xf32>, %m: tensor<67xi1>)
        -> (tensor<67xi1>, tensor<67xf32>, tensor<67xi1>, tensor<i1>) {
      %less = arith.cmpf olt, %x, %y : tensor<67xf32>
      %both = arith.andi %less, %m : tensor<67xi1>
      %pick = arith.select %both, %x, %y : tensor<67xi1>, tensor<67xf32>
      %c = arith.constant dense<true> : tensor<67xi1>
      %not = arith.xori %m, %c : tensor<67xi1>
      %i = arith.constant 3 : index
      %j = arith.constant 4 : index
      %b = tensor.extract %less[%i] : tensor<67xi1>
      %n = tensor.insert %b into %not[%j] : tensor<67xi1>
      %e = tensor.from_elements %b : tensor<i1>
      return %both, %pick, %n, %e : tensor<67xi1>, tensor<67xf32>, tensor<67xi1>, tensor<i1>
    })"))
      << kernel.errors();
  auto xs = numbers<float>(67, 1), ys = numbers<float>(67, 2);
  std::vector<uint8_t> ms;
  for (int i = 0; i < 67; ++i)
    ms.push_back(i % 3 == 0);
  Buffer x = Buffer::of(xs), y = Buffer::of(ys), m = Buffer::of(ms), both(67),
         pick(67 * 4), n(67), e(1);
  ASSERT_EQ(kernel.run(0, {&x, &y, &m, &both, &pick, &n, &e}), 0);
  for (int i = 0; i < 67; ++i) {
    bool expected = xs[i] < ys[i] && ms[i];
    EXPECT_EQ(both.as<uint8_t>()[i], expected);
    EXPECT_EQ(pick.as<float>()[i], expected ? xs[i] : ys[i]);
    EXPECT_EQ(n.as<uint8_t>()[i], i == 4 ? xs[3] < ys[3] : !ms[i]);
  }
  EXPECT_EQ(e.as<uint8_t>()[0], xs[3] < ys[3]);
}

TEST(KernelElementwise, FillOfBooleans) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
    func.func @f(%b: tensor<i1>) -> (tensor<5xi1>, tensor<2x3xi1>) {
      %yes = arith.constant true
      %e = tensor.empty() : tensor<5xi1>
      %all = linalg.fill ins(%yes : i1) outs(%e : tensor<5xi1>) -> tensor<5xi1>
      %one = tensor.extract %b[] : tensor<i1>
      %e2 = tensor.empty() : tensor<2x3xi1>
      %same = linalg.fill ins(%one : i1) outs(%e2 : tensor<2x3xi1>) -> tensor<2x3xi1>
      return %all, %same : tensor<5xi1>, tensor<2x3xi1>
    })"))
      << kernel.errors();
  for (uint8_t one : {0, 1}) {
    Buffer b = Buffer::of(std::vector<uint8_t>{one}), all(5), same(6);
    ASSERT_EQ(kernel.run(0, {&b, &all, &same}), 0);
    EXPECT_THAT(all.as<uint8_t>(), Each(1));
    EXPECT_THAT(same.as<uint8_t>(), Each(one));
  }
}

/// Approximations of C library functions stay close to them, also at the ends
/// of the range, and give the same in vector bodies and tails.
TEST(KernelMath, Functions) {
  struct Case {
    const char *op;
    double (*reference)(double);
    double low, high;
    float tolerance; // relative, in units of 2^-23
  };
  auto rsqrt = [](double x) { return 1 / std::sqrt(x); };
  const Case cases[] = {
      {"exp", std::exp, -80, 80, 4},     {"tanh", std::tanh, -9, 9, 8},
      {"log", std::log, 1e-3, 1e4, 4},   {"erf", std::erf, -4, 4, 8},
      {"sin", std::sin, -1e3, 1e3, 4},   {"cos", std::cos, -1e3, 1e3, 4},
      {"sqrt", std::sqrt, 0, 1e6, 1},    {"rsqrt", rsqrt, 1e-6, 1e6, 4},
      {"atan", std::atan, -50, 50, 4},   {"expm1", std::expm1, -5, 5, 4},
      {"log1p", std::log1p, 0, 100, 4},  {"floor", std::floor, -50, 50, 0},
      {"ceil", std::ceil, -50, 50, 0},   {"absf", std::fabs, -50, 50, 0},
      {"round", std::round, -50, 50, 0}, {"tan", std::tan, -1, 1, 4},
      {"sinh", std::sinh, -5, 5, 8}};
  std::string text;
  for (const Case &c : cases)
    text += std::string("func.func @k_") + c.op +
            "(%x: tensor<1003xf32>) -> tensor<1003xf32> {\n  %0 = math." +
            c.op +
            " %x : tensor<1003xf32>\n  return %0 : tensor<1003xf32>\n}\n";
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(text)) << kernel.errors();
  for (size_t s = 0; s < std::size(cases); ++s) {
    const Case &c = cases[s];
    SCOPED_TRACE(c.op);
    auto xs = numbers<float>(1003, 7 + s, c.low, c.high);
    for (int i = 0; i < 3; ++i)
      xs[1000 + i] = xs[i]; // the tail repeats the body
    Buffer x = Buffer::of(xs), y(1003 * 4);
    ASSERT_EQ(kernel.run(s, {&x, &y}), 0);
    auto ys = y.as<float>();
    double worst = 0;
    for (int i = 0; i < 1003; ++i) {
      double expected = c.reference(xs[i]);
      double scale = std::max(std::fabs(expected), 1e-6);
      worst = std::max(worst, std::fabs(ys[i] - expected) / scale * 8388608);
    }
    EXPECT_LE(worst, c.tolerance);
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(ys[1000 + i], ys[i]);
  }
  const float inf = INFINITY;
  std::vector<float> ends(1003, 0.0f);
  ends[0] = inf, ends[1] = -inf, ends[2] = NAN;
  Buffer x = Buffer::of(ends), y(1003 * 4);
  ASSERT_EQ(kernel.run(0, {&x, &y}), 0);
  auto ys = y.as<float>();
  EXPECT_EQ(ys[0], inf);
  EXPECT_EQ(ys[1], 0.0f);
  EXPECT_TRUE(std::isnan(ys[2]));
  EXPECT_EQ(ys[3], 1.0f);
  ASSERT_EQ(kernel.run(2, {&x, &y}), 0);
  ys = y.as<float>();
  EXPECT_EQ(ys[0], inf);
  EXPECT_TRUE(std::isnan(ys[1]));
  EXPECT_EQ(ys[3], -inf);
}

/// The error is within 1.03 units in the last place for floats of all sizes,
/// also for subnormal results.
TEST(KernelMath, ExpIsRightToTheLastPlace) {
  constexpr int kCount = 1 << 20;
  Kernel kernel;
  ASSERT_TRUE(kernel.compile("func.func @f(%x: tensor<1048576xf32>) -> "
                             "tensor<1048576xf32> {\n"
                             "  %r = math.exp %x : tensor<1048576xf32>\n"
                             "  return %r : tensor<1048576xf32>\n}\n"))
      << kernel.errors();
  std::vector<float> xs(kCount);
  for (int i = 0; i < kCount; ++i) {
    uint32_t bits = uint32_t(i) * 4096 + 77;
    std::memcpy(&xs[i], &bits, 4);
  }
  // Half of the numbers have results other than 1, 0 and infinity.
  for (int i = 0; i < kCount / 2; ++i)
    xs[2 * i] = -104.5f + 194.0f * i / (kCount / 2);
  Buffer x = Buffer::of(xs), y(kCount * 4);
  ASSERT_EQ(kernel.run(0, {&x, &y}), 0);
  auto ys = y.as<float>();
  double worst = 0;
  for (int i = 0; i < kCount; ++i) {
    if (std::isnan(xs[i])) {
      ASSERT_TRUE(std::isnan(ys[i])) << i;
      continue;
    }
    double expected = std::exp(double(xs[i]));
    float rounded = static_cast<float>(expected);
    if (std::isinf(rounded)) {
      ASSERT_EQ(ys[i], rounded) << xs[i];
      continue;
    }
    double unit = std::ldexp(
        1.0, std::max(std::ilogb(std::max(rounded, 1e-45f)), -126) - 23);
    worst = std::max(worst, std::fabs(ys[i] - expected) / unit);
  }
  EXPECT_LE(worst, 1.03);
}

/// The result is the second of two zeros, for any number of elements.
TEST(KernelElementwise, ZerosOfMaxnum) {
  for (int n : {1, 2, 4, 17})
    for (const char *op : {"maxnumf", "minnumf"}) {
      const std::string type = "tensor<" + std::to_string(n) + "xf32>";
      Kernel kernel;
      ASSERT_TRUE(kernel.compile("func.func @k(%a: " + type + ", %b: " + type +
                                 ") -> " + type + " {\n  %r = arith." + op +
                                 " %a, %b : " + type +
                                 "\n  return %r : " + type + "\n}"))
          << kernel.errors();
      for (float second : {0.0f, -0.0f}) {
        Buffer a = Buffer::of(std::vector<float>(n, -second)),
               b = Buffer::of(std::vector<float>(n, second)), out(n * 4);
        ASSERT_EQ(kernel.run(0, {&a, &b, &out}), 0);
        for (float value : out.as<float>())
          EXPECT_EQ(std::signbit(value), std::signbit(second))
              << op << " " << n;
      }
    }
}

} // namespace

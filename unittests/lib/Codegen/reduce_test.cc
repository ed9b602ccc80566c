//===- reduce_test.cc - Kernels of sums and maxima ------------------------===//
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
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

using namespace kernel_test;

namespace {

// The sum of products of bytes may be an instruction that adds four products.
TEST(KernelReduce, ProductsOfBytes) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
    func.func @f(%x: tensor<17xi8>, %y: tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>) {
      %w = arith.constant dense<[1, 0, 3, 0, 3, 0, 1, 0, 2, 0, 1, 2, 2, 1, 2, 2, 2]> : tensor<17xi8>
      %z = arith.constant dense<0> : tensor<i32>
      %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>],
          iterator_types = ["reduction"]} ins(%x, %w : tensor<17xi8>, tensor<17xi8>) outs(%z : tensor<i32>) {
      ^bb0(%a: i8, %b: i8, %c: i32):
        %d = arith.extui %a : i8 to i32
        %e = arith.extui %b : i8 to i32
        %f = arith.muli %d, %e : i32
        %g = arith.addi %c, %f : i32
        linalg.yield %g : i32
      } -> tensor<i32>
      %s = arith.addf %y, %y : tensor<4xf32>
      return %r, %s : tensor<i32>, tensor<4xf32>
    })"))
      << kernel.errors();
  std::vector<int8_t> xs(17);
  for (int i = 0; i < 17; ++i)
    xs[i] = int8_t(i + 1);
  auto ys = numbers<float>(4, 1);
  Buffer x = Buffer::of(xs), y = Buffer::of(ys), sum(4), twice(16);
  ASSERT_EQ(kernel.run(0, {&x, &y, &sum, &twice}), 0);
  const int weights[] = {1, 0, 3, 0, 3, 0, 1, 0, 2, 0, 1, 2, 2, 1, 2, 2, 2};
  int want = 0;
  for (int i = 0; i < 17; ++i)
    want += weights[i] * (i + 1);
  EXPECT_EQ(sum.as<int32_t>()[0], want);
}

TEST(KernelReduce, RowsColumnsAll) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
    func.func @rows(%x: tensor<9x131xf32>) -> tensor<9xf32> {
      %z = arith.constant dense<0.0> : tensor<9xf32>
      %r = linalg.reduce { arith.addf } ins(%x : tensor<9x131xf32>)
             outs(%z : tensor<9xf32>) dimensions = [1]
      return %r : tensor<9xf32>
    }
    func.func @columns(%x: tensor<9x131xf32>) -> tensor<131xf32> {
      %z = arith.constant dense<0xFF800000> : tensor<131xf32>
      %r = linalg.reduce { arith.maximumf } ins(%x : tensor<9x131xf32>)
             outs(%z : tensor<131xf32>) dimensions = [0]
      return %r : tensor<131xf32>
    }
    func.func @all(%x: tensor<9x131xi32>) -> tensor<i32> {
      %z = arith.constant dense<0> : tensor<i32>
      %r = linalg.reduce { arith.addi } ins(%x : tensor<9x131xi32>)
             outs(%z : tensor<i32>) dimensions = [0, 1]
      return %r : tensor<i32>
    })"))
      << kernel.errors();
  auto xs = numbers<float>(9 * 131, 1);
  Buffer x = Buffer::of(xs), rows(9 * 4), columns(131 * 4);
  ASSERT_EQ(kernel.run(0, {&x, &rows}), 0);
  for (int i = 0; i < 9; ++i) {
    double sum = 0;
    for (int j = 0; j < 131; ++j)
      sum += xs[i * 131 + j];
    EXPECT_NEAR(rows.as<float>()[i], sum, 1e-4);
  }
  ASSERT_EQ(kernel.run(1, {&x, &columns}), 0);
  for (int j = 0; j < 131; ++j) {
    float most = -INFINITY;
    for (int i = 0; i < 9; ++i)
      most = std::max(most, xs[i * 131 + j]);
    EXPECT_EQ(columns.as<float>()[j], most);
  }
  auto is = numbers<int32_t>(9 * 131, 2, -1000, 1000);
  int32_t total = 0;
  for (int32_t i : is)
    total += i;
  Buffer y = Buffer::of(is), all(4);
  ASSERT_EQ(kernel.run(2, {&y, &all}), 0);
  EXPECT_EQ(all.as<int32_t>()[0], total);
}

/// Equal rows have equal sums: one order applies to all rows.
TEST(KernelReduce, OneOrderForAllRows) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
    func.func @rows(%x: tensor<21x203xf32>) -> tensor<21xf32> {
      %z = arith.constant dense<0.0> : tensor<21xf32>
      %r = linalg.reduce { arith.addf } ins(%x : tensor<21x203xf32>)
             outs(%z : tensor<21xf32>) dimensions = [1]
      return %r : tensor<21xf32>
    })"))
      << kernel.errors();
  auto row = numbers<float>(203, 9);
  std::vector<float> xs;
  for (int i = 0; i < 21; ++i)
    xs.insert(xs.end(), row.begin(), row.end());
  Buffer x = Buffer::of(xs), y(84);
  ASSERT_EQ(kernel.run(0, {&x, &y}), 0);
  for (float value : y.as<float>())
    EXPECT_EQ(value, y.as<float>()[0]);
}

/// Returns targets that this machine can run, with the bytes of a vector.
std::vector<std::pair<std::string, int>> targetsHere() {
  std::vector<std::pair<std::string, int>> targets;
#if defined(__x86_64__)
  targets.push_back({"x86-64", 16});
  if (__builtin_cpu_supports("x86-64-v3"))
    targets.push_back({"x86-64-v3", 32});
  if (__builtin_cpu_supports("x86-64-v4"))
    targets.push_back({"x86-64-v4", 64});
#endif
  return targets;
}

/// Returns the sum of terms x[i], or x[i] * y[i], in the order that
/// docs/kernels.md promises.
float orderedSum(const std::vector<float> &x, const std::vector<float> *y,
                 int bytes, float before) {
  size_t n = x.size(), lanes = bytes / 4, sums = 8;
  bool hasFma = bytes > 16;
  while (lanes > n)
    lanes /= 2;
  while (sums > n / lanes)
    sums /= 2;
  auto add = [&](float sum, size_t i) {
    if (!y)
      return sum + x[i];
    return hasFma ? std::fma(x[i], (*y)[i], sum) : sum + x[i] * (*y)[i];
  };
  std::vector<std::vector<float>> partial(sums, std::vector<float>(lanes));
  size_t full = n / lanes * lanes;
  for (size_t i = 0; i < full; ++i) {
    float &sum = partial[i / lanes % sums][i % lanes];
    sum = i < sums * lanes ? (y ? x[i] * (*y)[i] : x[i]) : add(sum, i);
  }
  for (size_t count = sums / 2; count > 0; count /= 2)
    for (size_t i = 0; i < count; ++i)
      for (size_t lane = 0; lane < lanes; ++lane)
        partial[i][lane] += partial[i + count][lane];
  std::vector<float> &left = partial[0];
  for (size_t width = lanes / 2, at = full; width > 0; width /= 2) {
    for (size_t lane = 0; lane < width; ++lane)
      left[lane] += left[lane + width];
    if (n - at >= width) {
      for (size_t lane = 0; lane < width; ++lane)
        left[lane] = add(left[lane], at + lane);
      at += width;
    }
  }
  return before + left[0];
}

void expectSameBits(float expected, float got) {
  if (std::isnan(expected))
    EXPECT_TRUE(std::isnan(got)) << got;
  else
    EXPECT_EQ(std::bit_cast<uint32_t>(expected), std::bit_cast<uint32_t>(got))
        << expected << " " << got;
}

/// Tests rows, whole arrays whose rows are shorter, and products, with all
/// kinds of floats.
TEST(KernelReduce, SumsInTheWrittenOrder) {
  const float specials[] = {-0.0f,    0.0f,      1e-45f, -1e-40f,
                            INFINITY, -INFINITY, NAN,    3e38f};
  const std::vector<int> lengths = {4,  5,   7,   8,   15,  16,  17,  31,  33,
                                    64, 100, 127, 128, 129, 255, 300, 1001};
  std::string text;
  for (int n : lengths) {
    std::string x = "tensor<" + std::to_string(n) + "xf32>",
                wide = "tensor<3x" + std::to_string(n) + "xf32>",
                id = std::to_string(n);
    text += "func.func @rows" + id + "(%x: " + wide +
            R"() -> tensor<3xf32> {
      %z = arith.constant dense<0.5> : tensor<3xf32>
      %r = linalg.reduce { arith.addf } ins(%x : )" +
            wide + R"() outs(%z : tensor<3xf32>) dimensions = [1]
      return %r : tensor<3xf32>
    }
    func.func @all)" +
            id + "(%x: " + wide + R"() -> tensor<f32> {
      %z = arith.constant dense<-0.0> : tensor<f32>
      %r = linalg.reduce { arith.addf } ins(%x : )" +
            wide + R"() outs(%z : tensor<f32>) dimensions = [0, 1]
      return %r : tensor<f32>
    }
    func.func @dot)" +
            id + "(%x: " + x + ", %y: " + x + R"() -> tensor<f32> {
      %z = arith.constant dense<-0.0> : tensor<f32>
      %r = linalg.dot ins(%x, %y : )" +
            x + ", " + x + R"() outs(%z : tensor<f32>) -> tensor<f32>
      return %r : tensor<f32>
    }
)";
  }
  for (auto [cpu, bytes] : targetsHere()) {
    SCOPED_TRACE(cpu);
    pathways::proto::Target target;
    target.set_triple(pathways::HostTarget().triple());
    target.set_cpu(cpu);
    Kernel kernel;
    ASSERT_TRUE(kernel.compile(text, {target})) << kernel.errors();
    for (size_t l = 0; l < lengths.size(); ++l)
      // Use usual numbers alone, then with one special number somewhere, then
      // with two.
      for (int round = 0; round < 25; ++round) {
        const int n = lengths[l];
        SCOPED_TRACE(testing::Message() << n << ", round " << round);
        auto xs = numbers<float>(3 * n, 100 + round, -2, 2);
        if (round > 0) {
          xs[(round * 37) % n] = specials[round % 8];
          xs[n + (round * 11) % n] = specials[round / 8];
          xs[n + (round * 7) % n] = specials[round % 8];
        }
        if (round == 24) // a sum that is -0
          std::fill(xs.begin(), xs.end(), -0.0f);
        auto row = [&](int i) {
          return std::vector<float>(xs.begin() + i * n,
                                    xs.begin() + (i + 1) * n);
        };
        std::vector<float> first = row(0), second = row(1);
        Buffer x = Buffer::of(xs), a = Buffer::of(first),
               b = Buffer::of(second), rows(12), all(4), dot(4);
        ASSERT_EQ(kernel.run(3 * l, {&x, &rows}), 0);
        for (int i = 0; i < 3; ++i)
          expectSameBits(orderedSum(row(i), nullptr, bytes, 0.5f),
                         rows.as<float>()[i]);
        ASSERT_EQ(kernel.run(3 * l + 1, {&x, &all}), 0);
        expectSameBits(orderedSum(xs, nullptr, bytes, -0.0f),
                       all.as<float>()[0]);
        ASSERT_EQ(kernel.run(3 * l + 2, {&a, &b, &dot}), 0);
        expectSameBits(orderedSum(first, &second, bytes, -0.0f),
                       dot.as<float>()[0]);
      }
  }
}

/// Lanes must not lose a NaN, nor return one that maxnum must ignore.
void checkMaxima(const std::string &cpu) {
  SCOPED_TRACE(cpu);
  const int n = 517;
  pathways::proto::Target target;
  if (!cpu.empty()) {
    target.set_triple(pathways::HostTarget().triple());
    target.set_cpu(cpu);
  }
  Kernel kernel;
  std::string text;
  for (const char *op : {"maximumf", "maxnumf", "minimumf", "minnumf"})
    text += std::string("func.func @r_") + op +
            R"((%x: tensor<4x517xf32>) -> tensor<4xf32> {
      %z = arith.constant dense<0.25> : tensor<4xf32>
      %r = linalg.reduce { arith.)" +
            op + R"( } ins(%x : tensor<4x517xf32>)
             outs(%z : tensor<4xf32>) dimensions = [1]
      return %r : tensor<4xf32>
    }
)";
  ASSERT_TRUE(kernel.compile(text, {target})) << kernel.errors();
  auto xs = numbers<float>(4 * n, 21, -3, 3);
  xs[1 * n + 0] = xs[2 * n + 300] = xs[3 * n + n - 1] = NAN;
  Buffer x = Buffer::of(xs), y(16);
  for (int segment = 0; segment < 4; ++segment) {
    SCOPED_TRACE(segment);
    bool isMax = segment < 2, keepsNaN = segment % 2 == 0;
    ASSERT_EQ(kernel.run(segment, {&x, &y}), 0);
    for (int i = 0; i < 4; ++i) {
      float expected = 0.25f;
      for (int j = 0; j < n; ++j)
        expected = isMax ? std::fmax(expected, xs[i * n + j])
                         : std::fmin(expected, xs[i * n + j]);
      if (i > 0 && keepsNaN)
        EXPECT_TRUE(std::isnan(y.as<float>()[i])) << i;
      else
        EXPECT_EQ(y.as<float>()[i], expected) << i;
    }
  }
}

TEST(KernelReduce, MaximaWithNaN) {
  checkMaxima("");
#if defined(__x86_64__)
  // No single instruction of this target computes the maximum.
  checkMaxima("x86-64");
#endif
}

/// A softmax along any but the last dimension begins with this: all rows count,
/// also those after the last full vector of them.
TEST(KernelReduce, MaximaOfColumnsBeginWithNaN) {
  for (int columns : {1, 2, 8, 15, 16, 17, 40})
    for (int rows : {8, 9, 10, 23}) {
      SCOPED_TRACE(testing::Message() << rows << "x" << columns);
      const std::string n = std::to_string(columns),
                        of = "tensor<" + std::to_string(rows) + "x6x" + n +
                             "xf32>",
                        to = "tensor<6x" + n + "xf32>";
      std::string text;
      for (const char *op : {"maxnumf", "minnumf"})
        text += std::string("func.func @") + op + "(%x: " + of + ") -> " + to +
                " {\n  %n = arith.constant dense<0xFFC00000> : " + to +
                "\n  %r = linalg.reduce { arith." + op + " } ins(%x : " + of +
                ") outs(%n : " + to +
                ") dimensions = [0]\n  return %r : " + to + "\n}\n";
      Kernel kernel;
      ASSERT_TRUE(kernel.compile(text)) << kernel.errors();
      const int count = 6 * columns;
      auto xs = numbers<float>(rows * count, 5);
      Buffer x = Buffer::of(xs), most(count * 4), least(count * 4);
      ASSERT_EQ(kernel.run(0, {&x, &most}), 0);
      ASSERT_EQ(kernel.run(1, {&x, &least}), 0);
      for (int i = 0; i < count; ++i) {
        float up = xs[i], down = xs[i];
        for (int row = 1; row < rows; ++row) {
          up = std::max(up, xs[row * count + i]);
          down = std::min(down, xs[row * count + i]);
        }
        ASSERT_EQ(most.as<float>()[i], up) << i;
        ASSERT_EQ(least.as<float>()[i], down) << i;
      }
    }
}

/// Tests every pair of kinds of floats, one in each lane: -0 is less than 0,
/// and NaN propagates.
TEST(KernelReduce, MaximaOfPairs) {
  const std::vector<float> all = {0.0f,    -0.0f,    1.0f,      -1.0f, 1e-45f,
                                  -1e-45f, INFINITY, -INFINITY, NAN,   3e38f};
  Kernel kernel;
  std::string text;
  for (const char *op : {"max", "min"})
    text += std::string("func.func @") + op +
            R"((%x: tensor<1x1x2x100xf32>) -> tensor<1x1x1x100xf32> {
      %w = tensor.empty() : tensor<1x2xf32>
      %z = arith.constant dense<)" +
            (op == std::string("max") ? "0xFF800000" : "0x7F800000") +
            R"(> : tensor<1x1x1x100xf32>
      %r = linalg.pooling_nhwc_)" +
            op + R"( ins(%x, %w : tensor<1x1x2x100xf32>, tensor<1x2xf32>)
             outs(%z : tensor<1x1x1x100xf32>) -> tensor<1x1x1x100xf32>
      return %r : tensor<1x1x1x100xf32>
    }
)";
  ASSERT_TRUE(kernel.compile(text)) << kernel.errors();
  std::vector<float> first, second;
  for (float a : all)
    for (float b : all)
      first.push_back(a), second.push_back(b);
  std::vector<float> xs = first;
  xs.insert(xs.end(), second.begin(), second.end());
  Buffer x = Buffer::of(xs), y(400);
  for (bool isMax : {true, false}) {
    ASSERT_EQ(kernel.run(isMax ? 0 : 1, {&x, &y}), 0);
    for (int i = 0; i < 100; ++i) {
      float a = first[i], b = second[i];
      bool takesFirst = a == b ? std::signbit(a) != isMax : (a > b) == isMax;
      float expected = std::isnan(a) || std::isnan(b) ? NAN
                       : takesFirst                   ? a
                                                      : b;
      SCOPED_TRACE(testing::Message() << isMax << " " << a << ", " << b);
      expectSameBits(expected, y.as<float>()[i]);
    }
  }
}

TEST(KernelModels, SoftmaxAndLayerNorm) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
    func.func @softmax(%x: tensor<6x50xf32>) -> tensor<6x50xf32> {
      %e = tensor.empty() : tensor<6x50xf32>
      %r = linalg.softmax dimension(1) ins(%x : tensor<6x50xf32>)
             outs(%e : tensor<6x50xf32>) -> tensor<6x50xf32>
      return %r : tensor<6x50xf32>
    }
    #row = affine_map<(i, j) -> (i)>
    #all = affine_map<(i, j) -> (i, j)>
    func.func @norm(%x: tensor<6x50xf32>) -> tensor<6x50xf32> {
      %zero = arith.constant dense<0.0> : tensor<6xf32>
      %n = arith.constant 50.0 : f32
      %eps = arith.constant 1.0e-5 : f32
      %sum = linalg.reduce { arith.addf } ins(%x : tensor<6x50xf32>)
               outs(%zero : tensor<6xf32>) dimensions = [1]
      %squares = arith.mulf %x, %x : tensor<6x50xf32>
      %sum2 = linalg.reduce { arith.addf } ins(%squares : tensor<6x50xf32>)
               outs(%zero : tensor<6xf32>) dimensions = [1]
      %e = tensor.empty() : tensor<6x50xf32>
      %r = linalg.generic {indexing_maps = [#all, #row, #row, #all],
                           iterator_types = ["parallel", "parallel"]}
          ins(%x, %sum, %sum2 : tensor<6x50xf32>, tensor<6xf32>, tensor<6xf32>)
          outs(%e : tensor<6x50xf32>) {
        ^bb0(%v: f32, %s: f32, %q: f32, %o: f32):
          %mean = arith.divf %s, %n : f32
          %q1 = arith.divf %q, %n : f32
          %mm = arith.mulf %mean, %mean : f32
          %var = arith.subf %q1, %mm : f32
          %ve = arith.addf %var, %eps : f32
          %inv = math.rsqrt %ve : f32
          %d = arith.subf %v, %mean : f32
          %res = arith.mulf %d, %inv : f32
          linalg.yield %res : f32
      } -> tensor<6x50xf32>
      return %r : tensor<6x50xf32>
    })"))
      << kernel.errors();
  auto xs = numbers<float>(300, 8, -4, 4);
  Buffer x = Buffer::of(xs), y(1200);
  ASSERT_EQ(kernel.run(0, {&x, &y}), 0);
  for (int i = 0; i < 6; ++i) {
    double sum = 0;
    for (int j = 0; j < 50; ++j)
      sum += std::exp(double(xs[i * 50 + j]));
    for (int j = 0; j < 50; ++j)
      EXPECT_NEAR(y.as<float>()[i * 50 + j],
                  std::exp(double(xs[i * 50 + j])) / sum, 1e-6);
  }
  ASSERT_EQ(kernel.run(1, {&x, &y}), 0);
  for (int i = 0; i < 6; ++i) {
    double sum = 0, sum2 = 0;
    for (int j = 0; j < 50; ++j)
      sum += xs[i * 50 + j], sum2 += double(xs[i * 50 + j]) * xs[i * 50 + j];
    double mean = sum / 50, variance = sum2 / 50 - mean * mean;
    for (int j = 0; j < 50; ++j)
      EXPECT_NEAR(y.as<float>()[i * 50 + j],
                  (xs[i * 50 + j] - mean) / std::sqrt(variance + 1e-5), 1e-4);
  }
}

/// A sum of no terms is its initial value, even if its body uses neither that
/// nor the terms.
TEST(KernelReduce, OfNoTerms) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
    func.func @f(%x: tensor<3x0xi8>) -> tensor<3xi8> {
      %two = arith.constant 2 : i8
      %e = tensor.empty() : tensor<3xi8>
      %begin = linalg.fill ins(%two : i8) outs(%e : tensor<3xi8>) -> tensor<3xi8>
      %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>,
                                            affine_map<(i, j) -> (i, j)>,
                                            affine_map<(i, j) -> (i)>],
                           iterator_types = ["parallel", "reduction"]}
             ins(%x, %x : tensor<3x0xi8>, tensor<3x0xi8>)
             outs(%begin : tensor<3xi8>) {
      ^bb0(%a: i8, %b: i8, %s: i8):
        %none = arith.xori %a, %b : i8
        %p = arith.muli %s, %none : i8
        linalg.yield %p : i8
      } -> tensor<3xi8>
      return %r : tensor<3xi8>
    })"))
      << kernel.errors();
  Buffer x(0), r(3);
  ASSERT_EQ(kernel.run(0, {&x, &r}), 0);
  EXPECT_EQ(r.as<uint8_t>(), std::vector<uint8_t>(3, 2));
}

} // namespace

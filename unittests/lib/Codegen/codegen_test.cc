//===- codegen_test.cc ----------------------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels are compiled, loaded, run and compared with plain C++.
//
//===----------------------------------------------------------------------===//

#include "codegen_harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <chrono>
#include <cmath>
#include <cstdio>

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
    volatile float product = xs[i] * ys[i]; // Not contracted.
    EXPECT_EQ(zs[i], product + xs[i]) << i;
  }
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

/// Whatever approximates a function of the C library stays close to it, also at
/// the ends, and gives the same in vector bodies and tails.
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
      xs[1000 + i] = xs[i]; // The tail repeats the body.
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

/// All over the floats: within one unit in the last place, subnormal results
/// too.
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
  // Where the result is not simply 1, 0 or infinity.
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
  EXPECT_LE(worst, 1.0);
}

std::string matmulText(int m, int k, int n, const char *type, const char *op) {
  auto shape = [&](int a, int b) {
    return "tensor<" + std::to_string(a) + "x" + std::to_string(b) + "x" +
           type + ">";
  };
  bool ta = std::string(op) == "ta", tb = std::string(op) == "tb";
  std::string A = ta ? shape(k, m) : shape(m, k),
              B = tb ? shape(n, k) : shape(k, n), C = shape(m, n);
  std::string maps = ta   ? "indexing_maps = [affine_map<(m,n,k)->(k,m)>, "
                            "affine_map<(m,n,k)->(k,n)>, "
                            "affine_map<(m,n,k)->(m,n)>]"
                     : tb ? "indexing_maps = [affine_map<(m,n,k)->(m,k)>, "
                            "affine_map<(m,n,k)->(n,k)>, "
                            "affine_map<(m,n,k)->(m,n)>]"
                          : "";
  return "func.func @mm(%a: " + A + ", %b: " + B + ") -> " + C +
         " {\n  %z = arith.constant 0.0 : " + type +
         "\n  %e = tensor.empty() : " + C +
         "\n  %f = linalg.fill ins(%z : " + type + ") outs(%e : " + C +
         ") -> " + C + "\n  %r = linalg.matmul " + maps + " ins(%a, %b : " + A +
         ", " + B + ") outs(%f : " + C + ") -> " + C + "\n  return %r : " + C +
         "\n}\n";
}

template <typename T>
void checkMatmul(int m, int k, int n, const char *type, const char *op) {
  SCOPED_TRACE(testing::Message()
               << m << "x" << k << "x" << n << " " << type << " " << op);
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(matmulText(m, k, n, type, op))) << kernel.errors();
  auto as = numbers<T>(size_t(m) * k, 11), bs = numbers<T>(size_t(k) * n, 12);
  Buffer a = Buffer::of(as), b = Buffer::of(bs), c(size_t(m) * n * sizeof(T));
  ASSERT_EQ(kernel.run(0, {&a, &b, &c}), 0);
  auto cs = c.as<T>();
  bool ta = std::string(op) == "ta", tb = std::string(op) == "tb";
  double worst = 0;
  // All elements of small ones, a sample of large ones.
  int step = size_t(m) * n * k > 4000000 ? 7 : 1;
  for (int i = 0; i < m; i += step)
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int l = 0; l < k; ++l)
        sum += double(ta ? as[l * m + i] : as[i * k + l]) *
               double(tb ? bs[j * k + l] : bs[l * n + j]);
      worst = std::max(worst, std::fabs(sum - cs[size_t(i) * n + j]));
    }
  EXPECT_LE(worst, (sizeof(T) == 4 ? 2e-6 : 1e-14) * (k + 1));
}

TEST(KernelMatmul, Shapes) {
  for (const char *op : {"", "ta", "tb"}) {
    checkMatmul<float>(1, 1, 1, "f32", op);
    checkMatmul<float>(7, 13, 5, "f32", op);
    checkMatmul<float>(64, 64, 64, "f32", op);
    checkMatmul<float>(1, 300, 63, "f32", op);
    checkMatmul<float>(129, 3, 1, "f32", op);
  }
  // Operands that are turned first: tiles of that, whole and cut.
  checkMatmul<float>(5, 47, 33, "f32", "tb");
  checkMatmul<float>(8, 16, 160, "f32", "tb");
  checkMatmul<double>(33, 258, 47, "f64", "");
  checkMatmul<double>(9, 4, 17, "f64", "tb");
  checkMatmul<float>(511, 509, 507, "f32", "");
}

/// An element does not depend on where in the matrix it is.
TEST(KernelMatmul, TilesAgree) {
  const int k = 513, n = 61, m = 19;
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(matmulText(m, k, n, "f32", "")))
      << kernel.errors();
  auto row = numbers<float>(k, 3), column = numbers<float>(k, 4);
  std::vector<float> as, bs;
  for (int i = 0; i < m; ++i)
    as.insert(as.end(), row.begin(), row.end());
  for (int l = 0; l < k; ++l)
    bs.insert(bs.end(), n, column[l]);
  Buffer a = Buffer::of(as), b = Buffer::of(bs), c(m * n * 4);
  ASSERT_EQ(kernel.run(0, {&a, &b, &c}), 0);
  for (float value : c.as<float>())
    ASSERT_EQ(value, c.as<float>()[0]);
}

TEST(KernelMatmul, BatchesAndVectors) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
    func.func @batch(%a: tensor<3x5x7xf32>, %b: tensor<3x7x9xf32>) -> tensor<3x5x9xf32> {
      %z = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<3x5x9xf32>
      %f = linalg.fill ins(%z : f32) outs(%e : tensor<3x5x9xf32>) -> tensor<3x5x9xf32>
      %r = linalg.batch_matmul ins(%a, %b : tensor<3x5x7xf32>, tensor<3x7x9xf32>)
             outs(%f : tensor<3x5x9xf32>) -> tensor<3x5x9xf32>
      return %r : tensor<3x5x9xf32>
    }
    func.func @vec(%a: tensor<65x33xf32>, %x: tensor<33xf32>) -> tensor<65xf32> {
      %z = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<65xf32>
      %f = linalg.fill ins(%z : f32) outs(%e : tensor<65xf32>) -> tensor<65xf32>
      %r = linalg.matvec ins(%a, %x : tensor<65x33xf32>, tensor<33xf32>)
             outs(%f : tensor<65xf32>) -> tensor<65xf32>
      return %r : tensor<65xf32>
    }
    func.func @dot(%x: tensor<33xf32>, %y: tensor<33xf32>) -> tensor<f32> {
      %z = arith.constant dense<1.0> : tensor<f32>
      %r = linalg.dot ins(%x, %y : tensor<33xf32>, tensor<33xf32>)
             outs(%z : tensor<f32>) -> tensor<f32>
      return %r : tensor<f32>
    })"))
      << kernel.errors();
  auto as = numbers<float>(105, 1), bs = numbers<float>(189, 2);
  Buffer a = Buffer::of(as), b = Buffer::of(bs), c(135 * 4);
  ASSERT_EQ(kernel.run(0, {&a, &b, &c}), 0);
  for (int t = 0; t < 3; ++t)
    for (int i = 0; i < 5; ++i)
      for (int j = 0; j < 9; ++j) {
        double sum = 0;
        for (int l = 0; l < 7; ++l)
          sum += double(as[t * 35 + i * 7 + l]) * bs[t * 63 + l * 9 + j];
        EXPECT_NEAR(c.as<float>()[t * 45 + i * 9 + j], sum, 1e-5);
      }
  auto ms = numbers<float>(65 * 33, 5), vs = numbers<float>(33, 6);
  Buffer mat = Buffer::of(ms), v = Buffer::of(vs), w(65 * 4), d(4);
  ASSERT_EQ(kernel.run(1, {&mat, &v, &w}), 0);
  for (int i = 0; i < 65; ++i) {
    double sum = 0;
    for (int l = 0; l < 33; ++l)
      sum += double(ms[i * 33 + l]) * vs[l];
    EXPECT_NEAR(w.as<float>()[i], sum, 1e-5);
  }
  ASSERT_EQ(kernel.run(2, {&v, &v, &d}), 0);
  double sum = 1;
  for (float value : vs)
    sum += double(value) * value;
  EXPECT_NEAR(d.as<float>()[0], sum, 1e-4);
}

/// Each of several inner dimensions adds to what the others began, from the
/// number that the result is filled with: also one that only one operand has.
TEST(KernelMatmul, SeveralInnerDimensions) {
  const int m = 5, n = 9, k = 3, l = 6;
  for (bool isInBoth : {true, false}) {
    SCOPED_TRACE(isInBoth);
    std::string type = isInBoth ? "tensor<3x6x9xf32>" : "tensor<6x9xf32>";
    Kernel kernel;
    ASSERT_TRUE(kernel.compile(R"(
      func.func @f(%a: tensor<5x3x6xf32>, %b: )" +
                               type + R"() -> tensor<5x9xf32> {
        %e = tensor.empty() : tensor<5x9xf32>
        %c = arith.constant 2.0 : f32
        %f = linalg.fill ins(%c : f32) outs(%e : tensor<5x9xf32>) -> tensor<5x9xf32>
        %r = linalg.generic {
               indexing_maps = [affine_map<(m, n, k, l) -> (m, k, l)>,
                                affine_map<(m, n, k, l) -> ()" +
                               (isInBoth ? "k, l, n" : "l, n") + R"()>,
                                affine_map<(m, n, k, l) -> (m, n)>],
               iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
               ins(%a, %b : tensor<5x3x6xf32>, )" +
                               type + R"()
               outs(%f : tensor<5x9xf32>) {
        ^bb0(%x: f32, %y: f32, %sum: f32):
          %p = arith.mulf %x, %y : f32
          %s = arith.addf %sum, %p : f32
          linalg.yield %s : f32
        } -> tensor<5x9xf32>
        return %r : tensor<5x9xf32>
      })"))
        << kernel.errors();
    auto as = numbers<float>(m * k * l, 1),
         bs = numbers<float>((isInBoth ? k : 1) * l * n, 2);
    Buffer a = Buffer::of(as), b = Buffer::of(bs), c(m * n * 4);
    ASSERT_EQ(kernel.run(0, {&a, &b, &c}), 0);
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        double sum = 2;
        for (int p = 0; p < k; ++p)
          for (int q = 0; q < l; ++q)
            sum += double(as[(i * k + p) * l + q]) *
                   bs[((isInBoth ? p * l : 0) + q) * n + j];
        ASSERT_NEAR(c.as<float>()[i * n + j], sum, 1e-5) << i << ", " << j;
      }
  }
}

TEST(KernelMatmul, SpeedOfOneCore) {
  const int n = 512;
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(matmulText(n, n, n, "f32", "")))
      << kernel.errors();
  Buffer a = Buffer::of(numbers<float>(n * n, 1)),
         b = Buffer::of(numbers<float>(n * n, 2)), c(n * n * 4);
  double best = 1e9;
  for (int i = 0; i < 20; ++i) {
    auto start = std::chrono::steady_clock::now();
    ASSERT_EQ(kernel.run(0, {&a, &b, &c}), 0);
    std::chrono::duration<double> time =
        std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count());
  }
  std::printf("matmul f32 512: %.0f GFLOP/s on one core\n",
              2e-9 * n * n * n / best);
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

/// Rows that are equal have equal sums: there is one rule for all of them.
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

/// Lanes may not lose a NaN, nor find one that maxnum is to pass over.
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
  checkMaxima("x86-64"); // Where no one instruction does it.
#endif
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

TEST(KernelTensor, MoveThingsAround) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
    func.func @transpose(%x: tensor<5x7xf32>) -> tensor<7x5xf32> {
      %e = tensor.empty() : tensor<7x5xf32>
      %r = linalg.transpose ins(%x : tensor<5x7xf32>) outs(%e : tensor<7x5xf32>)
             permutation = [1, 0]
      return %r : tensor<7x5xf32>
    }
    func.func @pad(%x: tensor<3xi32>) -> tensor<6xi32> {
      %c = arith.constant 9 : i32
      %r = tensor.pad %x low[1] high[2] {
        ^bb0(%i: index):
          tensor.yield %c : i32
      } : tensor<3xi32> to tensor<6xi32>
      return %r : tensor<6xi32>
    }
    func.func @concat(%x: tensor<2x2xi32>, %y: tensor<2x3xi32>) -> tensor<2x5xi32> {
      %r = tensor.concat dim(1) %x, %y : (tensor<2x2xi32>, tensor<2x3xi32>) -> tensor<2x5xi32>
      return %r : tensor<2x5xi32>
    }
    func.func @slices(%x: tensor<4x6xi32>, %at: tensor<i64>) -> tensor<4x6xi32> {
      %i = tensor.extract %at[] : tensor<i64>
      %j = arith.index_cast %i : i64 to index
      %s = tensor.extract_slice %x[0, %j] [4, 2] [1, 1] : tensor<4x6xi32> to tensor<4x2xi32>
      %d = arith.addi %s, %s : tensor<4x2xi32>
      %r = tensor.insert_slice %d into %x[0, 1] [4, 2] [1, 2]
             : tensor<4x2xi32> into tensor<4x6xi32>
      return %r : tensor<4x6xi32>
    }
    func.func @reshape(%x: tensor<2x3x4xi32>) -> (tensor<6x4xi32>, tensor<2x12xi32>) {
      %a = tensor.collapse_shape %x [[0, 1], [2]] : tensor<2x3x4xi32> into tensor<6x4xi32>
      %b = tensor.collapse_shape %x [[0], [1, 2]] : tensor<2x3x4xi32> into tensor<2x12xi32>
      return %a, %b : tensor<6x4xi32>, tensor<2x12xi32>
    })"))
      << kernel.errors();
  std::vector<float> xs = numbers<float>(35, 1);
  Buffer x = Buffer::of(xs), t(140);
  ASSERT_EQ(kernel.run(0, {&x, &t}), 0);
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 7; ++j)
      EXPECT_EQ(t.as<float>()[j * 5 + i], xs[i * 7 + j]);
  Buffer p = Buffer::of(std::vector<int32_t>{1, 2, 3}), q(24);
  ASSERT_EQ(kernel.run(1, {&p, &q}), 0);
  EXPECT_THAT(q.as<int32_t>(), ElementsAre(9, 1, 2, 3, 9, 9));
  Buffer a = Buffer::of(std::vector<int32_t>{1, 2, 3, 4}),
         b = Buffer::of(std::vector<int32_t>{5, 6, 7, 8, 9, 10}), c(40);
  ASSERT_EQ(kernel.run(2, {&a, &b, &c}), 0);
  EXPECT_THAT(c.as<int32_t>(), ElementsAre(1, 2, 5, 6, 7, 3, 4, 8, 9, 10));
  std::vector<int32_t> values(24);
  for (int i = 0; i < 24; ++i)
    values[i] = i;
  for (int64_t at : {0, 3, 4}) {
    Buffer v = Buffer::of(values), where = Buffer::of(std::vector<int64_t>{at}),
           w(96);
    ASSERT_EQ(kernel.run(3, {&v, &where, &w}), 0);
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 6; ++j) {
        int expected = i * 6 + j;
        if (j == 1 || j == 3)
          expected = 2 * (i * 6 + int(at) + (j == 3));
        EXPECT_EQ(w.as<int32_t>()[i * 6 + j], expected);
      }
  }
  for (int64_t at : {int64_t(-1), int64_t(5), INT64_MAX, INT64_MIN}) {
    Buffer v = Buffer::of(values), where = Buffer::of(std::vector<int64_t>{at}),
           w(96);
    ASSERT_GT(kernel.run(3, {&v, &where, &w}), 0);
  }
  Buffer v = Buffer::of(values), r1(96), r2(96);
  ASSERT_EQ(kernel.run(4, {&v, &r1, &r2}), 0);
  EXPECT_EQ(r1.as<int32_t>(), values);
  EXPECT_EQ(r2.as<int32_t>(), values);
}

TEST(KernelTensor, RankZeroEmptyAndUnused) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
    func.func @scalar(%x: tensor<f64>, %unused: tensor<4xf32>) -> tensor<f64> {
      %r = arith.addf %x, %x : tensor<f64>
      return %r : tensor<f64>
    }
    func.func @empty(%x: tensor<0x4xf32>) -> (tensor<0x4xf32>, tensor<4xf32>) {
      %r = arith.addf %x, %x : tensor<0x4xf32>
      %z = arith.constant dense<0.0> : tensor<4xf32>
      %s = linalg.reduce { arith.addf } ins(%x : tensor<0x4xf32>)
             outs(%z : tensor<4xf32>) dimensions = [0]
      return %r, %s : tensor<0x4xf32>, tensor<4xf32>
    }
    func.func @same(%x: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>) {
      return %x, %x : tensor<5xf32>, tensor<5xf32>
    }
    func.func @matmul(%a: tensor<3x0xf32>, %b: tensor<0x2xf32>, %c: tensor<3x2xf32>) -> tensor<3x2xf32> {
      %r = linalg.matmul ins(%a, %b : tensor<3x0xf32>, tensor<0x2xf32>)
             outs(%c : tensor<3x2xf32>) -> tensor<3x2xf32>
      return %r : tensor<3x2xf32>
    }
    func.func @nothing() {
      return
    })"))
      << kernel.errors();
  Buffer x = Buffer::of(std::vector<double>{1.5}), u(16), y(8);
  ASSERT_EQ(kernel.run(0, {&x, &u, &y}), 0);
  EXPECT_EQ(y.as<double>()[0], 3.0);
  Buffer e(0), f(0), s(16);
  ASSERT_EQ(kernel.run(1, {&e, &f, &s}), 0);
  EXPECT_THAT(s.as<float>(), ElementsAre(0, 0, 0, 0));
  Buffer v = Buffer::of(std::vector<float>{1, 2, 3, 4, 5}), v1(20), v2(20);
  ASSERT_EQ(kernel.run(2, {&v, &v1, &v2}), 0);
  EXPECT_THAT(v1.as<float>(), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(v2.as<float>(), ElementsAre(1, 2, 3, 4, 5));
  Buffer c = Buffer::of(std::vector<float>{1, 2, 3, 4, 5, 6}), d(24);
  ASSERT_EQ(kernel.run(3, {&e, &f, &c, &d}), 0);
  EXPECT_THAT(d.as<float>(), ElementsAre(1, 2, 3, 4, 5, 6));
  ASSERT_EQ(kernel.run(4, {}), 0);
}

TEST(KernelTensor, Constants) {
  std::string list;
  std::vector<int32_t> expected;
  for (int i = 0; i < 3000; ++i) {
    list += (i ? ", " : "") + std::to_string(i * i - 7);
    expected.push_back(i * i - 7);
  }
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(
      "func.func @c() -> (tensor<3000xi32>, tensor<3xf32>, tensor<3xi1>, "
      "tensor<100000xf32>) {\n"
      "  %0 = arith.constant dense<[" +
      list +
      "]> : tensor<3000xi32>\n"
      "  %1 = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>\n"
      "  %2 = arith.constant dense<[true, false, true]> : tensor<3xi1>\n"
      "  %3 = arith.constant dense<2.5> : tensor<100000xf32>\n"
      "  return %0, %1, %2, %3 : tensor<3000xi32>, tensor<3xf32>, "
      "tensor<3xi1>, "
      "tensor<100000xf32>\n}\n"))
      << kernel.errors();
  Buffer a(12000), b(12), c(3), d(400000);
  ASSERT_EQ(kernel.run(0, {&a, &b, &c, &d}), 0);
  EXPECT_EQ(a.as<int32_t>(), expected);
  EXPECT_THAT(b.as<float>(), ElementsAre(1, 2, 3));
  EXPECT_THAT(c.as<uint8_t>(), ElementsAre(1, 0, 1));
  EXPECT_THAT(d.as<float>(), testing::Each(2.5f));
  // A splat is not spelled out in the code.
  EXPECT_LT(kernel.code().objects[0].size(), 40000u);
}

/// Whole tiles, what is left over on either side, and dimensions around.
template <typename T> void checkTranspose(const std::string &type) {
  SCOPED_TRACE(type);
  const int a = 3, b = 37, c = 50;
  auto shape = [&](int x, int y, int z) {
    return "tensor<" + std::to_string(x) + "x" + std::to_string(y) + "x" +
           std::to_string(z) + "x" + type + ">";
  };
  std::string in = shape(a, b, c), out = shape(c, a, b);
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(
      "func.func @f(%x: " + in + ") -> " + out +
      " {\n  %e = tensor.empty() : " + out +
      "\n  %r = linalg.transpose ins(%x : " + in + ") outs(%e : " + out +
      ") permutation = [2, 0, 1]\n  return %r : " + out + "\n}\n"))
      << kernel.errors();
  auto xs = numbers<T>(a * b * c, 1, -100, 100);
  Buffer x = Buffer::of(xs), y(xs.size() * sizeof(T));
  ASSERT_EQ(kernel.run(0, {&x, &y}), 0);
  auto ys = y.as<T>();
  for (int i = 0; i < a; ++i)
    for (int j = 0; j < b; ++j)
      for (int k = 0; k < c; ++k)
        ASSERT_EQ(ys[(k * a + i) * b + j], xs[(i * b + j) * c + k]);
}

TEST(KernelTranspose, AllWidths) {
  checkTranspose<int8_t>("i8");
  checkTranspose<int32_t>("i32");
  checkTranspose<float>("f32");
  checkTranspose<double>("f64");
}

/// Of two operands one is turned around: tile by tile, with the work in
/// between.
TEST(KernelTranspose, AmongOtherOperands) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
    func.func @f(%x: tensor<45x70xf32>, %y: tensor<70x45xf32>) -> tensor<45x70xf32> {
      %e = tensor.empty() : tensor<45x70xf32>
      %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>,
                                            affine_map<(i, j) -> (j, i)>,
                                            affine_map<(i, j) -> (i, j)>],
                           iterator_types = ["parallel", "parallel"]}
             ins(%x, %y : tensor<45x70xf32>, tensor<70x45xf32>)
             outs(%e : tensor<45x70xf32>) {
      ^bb0(%a: f32, %b: f32, %out: f32):
        %i = linalg.index 1 : index
        %n = arith.index_cast %i : index to i32
        %f = arith.sitofp %n : i32 to f32
        %s = arith.subf %a, %b : f32
        %t = arith.addf %s, %f : f32
        linalg.yield %t : f32
      } -> tensor<45x70xf32>
      return %r : tensor<45x70xf32>
    })"))
      << kernel.errors();
  auto xs = numbers<float>(45 * 70, 1), ys = numbers<float>(45 * 70, 2);
  Buffer x = Buffer::of(xs), y = Buffer::of(ys), z(45 * 70 * 4);
  ASSERT_EQ(kernel.run(0, {&x, &y, &z}), 0);
  auto zs = z.as<float>();
  for (int i = 0; i < 45; ++i)
    for (int j = 0; j < 70; ++j)
      ASSERT_EQ(zs[i * 70 + j], xs[i * 70 + j] - ys[j * 45 + i] + j);
}

} // namespace

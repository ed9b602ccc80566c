//===- matmul_test.cc - Kernels of products -------------------------------===//
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
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

using namespace kernel_test;

namespace {

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
  // Compare all elements of small results, a sample of large ones.
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
  // Operands that are transposed first, with full and partial tiles.
  checkMatmul<float>(5, 47, 33, "f32", "tb");
  checkMatmul<float>(8, 16, 160, "f32", "tb");
  checkMatmul<double>(33, 258, 47, "f64", "");
  checkMatmul<double>(9, 4, 17, "f64", "tb");
  checkMatmul<float>(511, 509, 507, "f32", "");
  // Distant rows are packed: those of B, of A, of both; with several blocks of
  // all three dimensions, and edges of each.
  checkMatmul<float>(37, 401, 801, "f32", "");
  checkMatmul<float>(135, 770, 131, "f32", "");
  checkMatmul<float>(801, 9, 131, "f32", "ta");
  checkMatmul<float>(139, 801, 523, "f32", "tb");
  // Operands that are transposed in blocks, whose length is or is not a
  // multiple of the unrolling.
  checkMatmul<float>(530, 1000, 300, "f32", "tb");
  checkMatmul<float>(8, 756, 64, "f32", "tb");
  checkMatmul<float>(37, 768, 130, "f32", "tb");
  checkMatmul<double>(35, 500, 70, "f64", "tb");
  checkMatmul<double>(45, 389, 401, "f64", "");
  checkMatmul<double>(401, 197, 129, "f64", "ta");
}

/// An element does not depend on its position in the matrix.
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

/// Each of several inner dimensions adds to the sums of the others, starting
/// from the number that the result is filled with. This also holds for an inner
/// dimension of only one operand.
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

/// Products of integers wrap, and are the same in any order and with any
/// instruction.
template <typename In, typename Out>
void checkIntegers(int m, int k, int n, const char *in, const char *out,
                   bool turnsA, bool turnsB, bool isUnsigned,
                   const std::string &cpu) {
  SCOPED_TRACE(testing::Message()
               << m << "x" << k << "x" << n << " " << in << " to " << out
               << (turnsA ? " ta" : "") << (turnsB ? " tb" : "")
               << (isUnsigned ? " unsigned " : " ") << cpu);
  auto shape = [](int a, int b, const char *type) {
    return "tensor<" + std::to_string(a) + "x" + std::to_string(b) + "x" +
           type + ">";
  };
  std::string A = turnsA ? shape(k, m, in) : shape(m, k, in),
              B = turnsB ? shape(n, k, in) : shape(k, n, in),
              C = shape(m, n, out);
  std::string text =
      "func.func @mm(%a: " + A + ", %b: " + B + ") -> " + C +
      " {\n  %z = arith.constant dense<7> : " + C +
      "\n  %r = linalg.matmul indexing_maps = [affine_map<(m,n,k)->(" +
      (turnsA ? "k,m" : "m,k") + ")>, affine_map<(m,n,k)->(" +
      (turnsB ? "n,k" : "k,n") + ")>, affine_map<(m,n,k)->(m,n)>]" +
      (isUnsigned ? " {cast = #linalg.type_fn<cast_unsigned>}" : "") +
      " ins(%a, %b : " + A + ", " + B + ") outs(%z : " + C + ") -> " + C +
      "\n  return %r : " + C + "\n}\n";
  pathways::proto::Target target;
  if (!cpu.empty()) {
    target.set_triple(pathways::HostTarget().triple());
    target.set_cpu(cpu);
  }
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(text, {target})) << kernel.errors();
  auto low = static_cast<double>(std::numeric_limits<In>::min()),
       high = static_cast<double>(std::numeric_limits<In>::max());
  auto as = numbers<In>(size_t(m) * k, 31, low, high),
       bs = numbers<In>(size_t(k) * n, 32, low, high);
  // Use the ends of the range, also in both operands of a product.
  for (int i = 0; i < std::min(k, 5); ++i)
    as[turnsA ? i * m : i] = bs[turnsB ? i : i * n] =
        std::numeric_limits<In>::min();
  Buffer a = Buffer::of(as), b = Buffer::of(bs), c(size_t(m) * n * sizeof(Out));
  ASSERT_EQ(kernel.run(0, {&a, &b, &c}), 0);
  auto cs = c.as<Out>();
  auto widened = [&](In value) -> uint64_t {
    if (isUnsigned)
      return std::make_unsigned_t<In>(value);
    return int64_t(value);
  };
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      uint64_t sum = 7;
      for (int l = 0; l < k; ++l)
        sum += widened(turnsA ? as[l * m + i] : as[i * k + l]) *
               widened(turnsB ? bs[j * k + l] : bs[l * n + j]);
      ASSERT_EQ(Out(sum), cs[size_t(i) * n + j]) << i << ", " << j;
    }
}

TEST(KernelMatmul, Integers) {
  std::vector<std::string> cpus = {""};
#if defined(__x86_64__)
  cpus.push_back("x86-64");
#endif
  for (const std::string &cpu : cpus) {
    for (bool turnsA : {false, true})
      for (bool turnsB : {false, true}) {
        checkIntegers<int8_t, int32_t>(13, 37, 41, "i8", "i32", turnsA, turnsB,
                                       false, cpu);
        checkIntegers<int32_t, int32_t>(9, 6, 37, "i32", "i32", turnsA, turnsB,
                                        false, cpu);
      }
    // Several blocks of k, of rows and of columns; edges.
    checkIntegers<int8_t, int32_t>(133, 1031, 70, "i8", "i32", false, false,
                                   false, cpu);
    checkIntegers<int8_t, int32_t>(1, 5, 8, "i8", "i32", false, false, false,
                                   cpu);
    checkIntegers<int8_t, int32_t>(3, 3, 17, "i8", "i32", false, false, false,
                                   cpu);
    checkIntegers<int8_t, int32_t>(5, 24, 19, "i8", "i32", false, false, true,
                                   cpu);
    checkIntegers<int8_t, int8_t>(6, 20, 35, "i8", "i8", false, false, false,
                                  cpu);
    checkIntegers<int64_t, int64_t>(7, 9, 21, "i64", "i64", false, true, false,
                                    cpu);
    checkIntegers<int32_t, int64_t>(39, 8, 801, "i32", "i64", false, false,
                                    false, cpu);
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

} // namespace

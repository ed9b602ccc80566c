//===- rounding_test.cc - Rounding of kernels -----------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compares the bits of kernels with scalar code, for each rounding that
// docs/kernels.md describes.
//
//===----------------------------------------------------------------------===//

#include "codegen_harness.h"
#include "runtime/kernel/target.h"
#include "tile_order.h"
#include "window_cases.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <vector>

using namespace kernel_test;
using mlir::pathways::Rounding;

namespace {

constexpr Rounding kAll[] = {Rounding::EachOp, Rounding::Strict,
                             Rounding::Excess};

/// Compiles `text`, runs its first function and returns its only result.
template <typename T, typename Operand>
std::vector<T> resultOf(const std::string &text, Rounding rounding,
                        const std::vector<std::vector<Operand>> &operands,
                        size_t count) {
  Kernel kernel;
  kernel.setRounding(rounding);
  EXPECT_TRUE(kernel.compile(text)) << kernel.errors();
  std::vector<Buffer> memory;
  for (const auto &operand : operands)
    memory.push_back(Buffer::of(operand));
  memory.push_back(Buffer(count * sizeof(T)));
  std::vector<Buffer *> buffers;
  for (Buffer &buffer : memory)
    buffers.push_back(&buffer);
  EXPECT_EQ(kernel.run(0, buffers), 0);
  return memory.back().as<T>();
}

/// Returns a float of `value` in memory: the compiler of the test must not use
/// more precision or fuse operations.
float rounded(float value) {
  volatile float stored = value;
  return stored;
}

/// Adds terms one by one.
float sumInOrder(size_t count, const std::function<float(size_t)> &term) {
  float sum = 0;
  for (size_t i = 0; i < count; ++i)
    sum = rounded(sum + rounded(term(i)));
  return sum;
}

/// Returns the sum of five products in lanes; the fifth may be fused.
float sumOfFive(const float *x, const float *y, bool isFused) {
  const float low = rounded(rounded(x[0] * y[0]) + rounded(x[2] * y[2])),
              high = rounded(rounded(x[1] * y[1]) + rounded(x[3] * y[3]));
  const float four = rounded(low + high);
  return isFused ? std::fma(x[4], y[4], four)
                 : rounded(four + rounded(x[4] * y[4]));
}

constexpr int kRows = 200;

constexpr char kProductAndSum[] = R"(
  func.func @f(%x: tensor<200x5xf32>, %y: tensor<200x5xf32>) -> tensor<200xf32> {
    %z = arith.constant dense<0.0> : tensor<200xf32>
    %p = arith.mulf %x, %y : tensor<200x5xf32>
    %r = linalg.reduce { arith.addf } ins(%p : tensor<200x5xf32>)
           outs(%z : tensor<200xf32>) dimensions = [1]
    return %r : tensor<200xf32>
  })";

constexpr char kProductsOfRows[] = R"(
  #in = affine_map<(i, j) -> (i, j)>
  #out = affine_map<(i, j) -> (i)>
  func.func @f(%x: tensor<200x5xf32>, %y: tensor<200x5xf32>) -> tensor<200xf32> {
    %z = arith.constant dense<0.0> : tensor<200xf32>
    %r = linalg.generic {indexing_maps = [#in, #in, #out],
                         iterator_types = ["parallel", "reduction"]}
        ins(%x, %y : tensor<200x5xf32>, tensor<200x5xf32>)
        outs(%z : tensor<200xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %c, %p : f32
      linalg.yield %s : f32
    } -> tensor<200xf32>
    return %r : tensor<200xf32>
  })";

/// A multiplication before a sum is rounded, although both are one loop. The
/// product of a contraction need not be.
TEST(Rounding, ProductsOfSumsAreFusedOnlyInContractions) {
  const auto x = numbers<float>(kRows * 5, 1), y = numbers<float>(kRows * 5, 2);
  for (Rounding rounding : kAll)
    for (const bool isContraction : {false, true}) {
      const auto z = resultOf<float, float>(isContraction ? kProductsOfRows
                                                          : kProductAndSum,
                                            rounding, {x, y}, kRows);
      const bool isFused =
          hasFma() && (isContraction ? rounding != Rounding::Strict
                                     : rounding == Rounding::Excess);
      int others = 0;
      for (int i = 0; i < kRows; ++i) {
        const float *xs = &x[i * 5], *ys = &y[i * 5];
        const float expected =
            rounding == Rounding::Strict
                ? sumInOrder(5, [&](size_t j) { return xs[j] * ys[j]; })
                : sumOfFive(xs, ys, isFused);
        ASSERT_EQ(z[i], expected) << "row " << i;
        others += sumOfFive(xs, ys, !isFused) != expected;
      }
      EXPECT_GT(others, 0) << "the test cannot tell one rounding from two";
    }
}

/// Multiplications whose operands are broadcast look like a product of matrices
/// once they are in the loop of the sum.
TEST(Rounding, BroadcastProductsAreNotContractions) {
  const std::string text = R"(
    func.func @f(%x: tensor<7x9xf32>, %y: tensor<9x33xf32>) -> tensor<7x33xf32> {
      %e = tensor.empty() : tensor<7x9x33xf32>
      %z = arith.constant dense<0.0> : tensor<7x33xf32>
      %a = linalg.broadcast ins(%x : tensor<7x9xf32>) outs(%e : tensor<7x9x33xf32>) dimensions = [2]
      %b = linalg.broadcast ins(%y : tensor<9x33xf32>) outs(%e : tensor<7x9x33xf32>) dimensions = [0]
      %p = arith.mulf %a, %b : tensor<7x9x33xf32>
      %r = linalg.reduce { arith.addf } ins(%p : tensor<7x9x33xf32>)
             outs(%z : tensor<7x33xf32>) dimensions = [1]
      return %r : tensor<7x33xf32>
    })";
  const auto x = numbers<float>(7 * 9, 1), y = numbers<float>(9 * 33, 2);
  for (Rounding rounding : {Rounding::EachOp, Rounding::Strict}) {
    const auto z = resultOf<float, float>(text, rounding, {x, y}, 7 * 33);
    for (int i = 0; i < 7; ++i)
      for (int j = 0; j < 33; ++j)
        ASSERT_EQ(z[i * 33 + j], sumInOrder(9, [&](size_t k) {
                    return x[i * 9 + k] * y[k * 33 + j];
                  }));
  }
}

/// Strict products add term by term: with several rows, with one, with one
/// result, and with transposed operands.
TEST(Rounding, StrictProductsAddTermByTerm) {
  struct Case {
    int m, n, k;
    bool turnsB;
  };
  for (const Case &c : {Case{37, 41, 129, false}, Case{13, 70, 300, true},
                        Case{1, 50, 64, false}, Case{50, 1, 333, false},
                        Case{1, 1, 1000, true}}) {
    auto type = [](int rows, int columns) {
      return "tensor<" + std::to_string(rows) + "x" + std::to_string(columns) +
             "xf32>";
    };
    const std::string a = type(c.m, c.k),
                      b = c.turnsB ? type(c.n, c.k) : type(c.k, c.n),
                      out = type(c.m, c.n), map = "affine_map<(m, n, k) -> ";
    const std::string text =
        "func.func @f(%a: " + a + ", %b: " + b + ") -> " + out +
        " {\n  %z = arith.constant dense<0.0> : " + out +
        "\n  %r = linalg.matmul indexing_maps = [" + map + "(m, k)>, " + map +
        (c.turnsB ? "(n, k)>, " : "(k, n)>, ") + map +
        "(m, n)>] ins(%a, %b : " + a + ", " + b + ") outs(%z : " + out +
        ") -> " + out + "\n  return %r : " + out + "\n}";
    const auto x = numbers<float>(c.m * c.k, 1),
               y = numbers<float>(c.n * c.k, 2);
    const auto z =
        resultOf<float, float>(text, Rounding::Strict, {x, y}, c.m * c.n);
    for (int i = 0; i < c.m; ++i)
      for (int j = 0; j < c.n; ++j)
        ASSERT_EQ(z[i * c.n + j],
                  sumInOrder(c.k,
                             [&](size_t k) {
                               return x[i * c.k + k] *
                                      y[c.turnsB ? j * c.k + k : k * c.n + j];
                             }))
            << "at " << i << ", " << j << " of " << out;
  }
}

/// Strict products of bf16 use no matrix unit, which would add in another order
/// and flush subnormal numbers.
TEST(Rounding, StrictProductsOfBf16AddTermByTerm) {
  const std::string text = R"(
    func.func @f(%a: tensor<32x64xbf16>, %b: tensor<64x48xbf16>) -> tensor<32x48xf32> {
      %z = arith.constant dense<0.0> : tensor<32x48xf32>
      %r = linalg.matmul ins(%a, %b : tensor<32x64xbf16>, tensor<64x48xbf16>)
             outs(%z : tensor<32x48xf32>) -> tensor<32x48xf32>
      return %r : tensor<32x48xf32>
    })";
  auto wide = [](uint16_t bits) {
    const uint32_t word = uint32_t(bits) << 16;
    float value;
    std::memcpy(&value, &word, 4);
    return value;
  };
  const auto x = brains(32 * 64, 1), y = brains(64 * 48, 2);
  const auto z =
      resultOf<float, uint16_t>(text, Rounding::Strict, {x, y}, 32 * 48);
  for (int i = 0; i < 32; ++i)
    for (int j = 0; j < 48; ++j)
      ASSERT_EQ(z[i * 48 + j], sumInOrder(64, [&](size_t k) {
                  return wide(x[i * 64 + k]) * wide(y[k * 48 + j]);
                }));
  Kernel kernel;
  ASSERT_TRUE(kernel.parse(text));
  auto function = *kernel.module().getOps<mlir::func::FuncOp>().begin();
  for (auto [rounding, path] :
       {std::pair(Rounding::EachOp, "product of tiles"),
        std::pair(Rounding::Strict, "product"),
        std::pair(Rounding::Excess, "product of tiles")}) {
    auto paths =
        mlir::pathways::explainKernel({function}, tileTarget(), rounding);
    ASSERT_TRUE(mlir::succeeded(paths)) << kernel.errors();
    for (const auto &op : *paths)
      if (op.op == "linalg.matmul")
        EXPECT_EQ(op.path.substr(0, op.path.find(',')), path);
  }
}

TEST(Rounding, StrictConvolutionsAddTermByTerm) {
  const Sizes sizes = {{'n', 2},  {'c', 27}, {'f', 23}, {'y', 4},
                       {'x', 15}, {'k', 3},  {'l', 2}};
  for (const Layout &layout : {kNhwc, kNchw, kDepthwise, kSum})
    check(layout, sizes,
          {.strides = {2, 1},
           .low = {1, 1},
           .isFused = false,
           .rounding = Rounding::Strict});
}

TEST(Rounding, StrictSumsAddInTheOrderOfTheirOperand) {
  const auto x = numbers<float>(6 * 300 * 5, 1);
  for (const bool isMiddle : {false, true}) {
    const std::string out = isMiddle ? "tensor<6x5xf32>" : "tensor<300xf32>";
    const std::string text =
        "func.func @f(%x: tensor<6x300x5xf32>) -> " + out +
        " {\n  %z = arith.constant dense<0.0> : " + out +
        "\n  %r = linalg.reduce { arith.addf } ins(%x : tensor<6x300x5xf32>) "
        "outs(%z : " +
        out + ") dimensions = " + (isMiddle ? "[1]" : "[0, 2]") +
        "\n  return %r : " + out + "\n}";
    const size_t count = isMiddle ? 30 : 300;
    const auto z = resultOf<float, float>(text, Rounding::Strict, {x}, count);
    for (size_t i = 0; i < count; ++i)
      ASSERT_EQ(z[i], isMiddle
                          ? sumInOrder(300,
                                       [&](size_t j) {
                                         return x[i / 5 * 1500 + j * 5 + i % 5];
                                       })
                          : sumInOrder(30, [&](size_t j) {
                              return x[j / 5 * 1500 + i * 5 + j % 5];
                            }));
  }
}

/// Sums of windows add term by term with any rounding, however long they are.
TEST(Rounding, WindowsAddTermByTerm) {
  const std::string text = R"(
    func.func @f(%x: tensor<340xf32>) -> tensor<41xf32> {
      %w = tensor.empty() : tensor<300xf32>
      %z = arith.constant dense<0.0> : tensor<41xf32>
      %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i + j)>,
                                            affine_map<(i, j) -> (j)>,
                                            affine_map<(i, j) -> (i)>],
                           iterator_types = ["parallel", "reduction"]}
          ins(%x, %w : tensor<340xf32>, tensor<300xf32>) outs(%z : tensor<41xf32>) {
      ^bb0(%a: f32, %b: f32, %c: f32):
        %three = arith.constant 3.0 : f32
        %d = arith.divf %a, %three : f32
        %s = arith.addf %c, %d : f32
        linalg.yield %s : f32
      } -> tensor<41xf32>
      return %r : tensor<41xf32>
    })";
  const auto x = numbers<float>(340, 1);
  for (Rounding rounding : kAll) {
    const auto z = resultOf<float, float>(text, rounding, {x}, 41);
    for (int i = 0; i < 41; ++i)
      ASSERT_EQ(z[i], sumInOrder(300, [&](size_t j) { return x[i + j] / 3; }));
  }
}

float toBrain(float value) {
  uint32_t word;
  std::memcpy(&word, &value, 4);
  word = (word + 0x7fff + (word >> 16 & 1)) & 0xffff0000;
  std::memcpy(&value, &word, 4);
  return value;
}

/// Roundings that the program wrote between ops are dropped only in excess
/// precision; the result is rounded always.
TEST(Rounding, ExcessPrecisionDropsRoundingsBetweenOps) {
  const std::string text = R"(
    func.func @f(%x: tensor<1000xf32>, %y: tensor<1000xf32>) -> tensor<1000xf32> {
      %p = arith.mulf %x, %y : tensor<1000xf32>
      %n = arith.truncf %p : tensor<1000xf32> to tensor<1000xbf16>
      %w = arith.extf %n : tensor<1000xbf16> to tensor<1000xf32>
      %s = arith.addf %w, %x : tensor<1000xf32>
      %m = arith.truncf %s : tensor<1000xf32> to tensor<1000xbf16>
      %r = arith.extf %m : tensor<1000xbf16> to tensor<1000xf32>
      %q = arith.negf %y : tensor<1000xf32>
      %t = arith.subf %r, %q : tensor<1000xf32>
      return %t : tensor<1000xf32>
    })";
  const auto x = numbers<float>(1000, 1), y = numbers<float>(1000, 2);
  for (Rounding rounding : kAll) {
    const auto z = resultOf<float, float>(text, rounding, {x, y}, 1000);
    for (int i = 0; i < 1000; ++i) {
      const float product = rounded(x[i] * y[i]);
      const float once =
          hasFma() ? std::fma(x[i], y[i], x[i]) : rounded(product + x[i]);
      ASSERT_EQ(z[i],
                rounding == Rounding::Excess
                    ? rounded(once + y[i])
                    : rounded(toBrain(rounded(toBrain(product) + x[i])) + y[i]))
          << i;
    }
  }
}

TEST(Rounding, ExcessPrecisionFusesProductsAndSums) {
  const auto x = numbers<float>(77, 1), y = numbers<float>(77, 2),
             z = numbers<float>(77, 3);
  for (const std::string kind : {"sum", "minus", "rest"}) {
    const std::string type = "tensor<77xf32>";
    const std::string text = "func.func @f(%x: " + type + ", %y: " + type +
                             ", %z: " + type + ") -> " + type +
                             " {\n  %p = arith.mulf %x, %y : " + type +
                             "\n  %r = " +
                             (kind == "sum"     ? "arith.addf %p, %z"
                              : kind == "minus" ? "arith.subf %p, %z"
                                                : "arith.subf %z, %p") +
                             " : " + type + "\n  return %r : " + type + "\n}";
    for (Rounding rounding : kAll) {
      const auto r = resultOf<float, float>(text, rounding, {x, y, z}, 77);
      for (int i = 0; i < 77; ++i) {
        const float a = kind == "rest" ? -x[i] : x[i],
                    c = kind == "minus" ? -z[i] : z[i];
        ASSERT_EQ(r[i], rounding == Rounding::Excess && hasFma()
                            ? std::fma(a, y[i], c)
                            : rounded(rounded(a * y[i]) + c))
            << kind << " " << i;
      }
    }
  }
}

/// The hash of a kernel contains the rounding even if the code is the same.
TEST(Rounding, HashesDiffer) {
  std::set<std::string> hashes, objects;
  for (Rounding rounding : kAll) {
    Kernel kernel;
    kernel.setRounding(rounding);
    ASSERT_TRUE(kernel.compile("func.func @f(%x: tensor<4xf32>) -> "
                               "tensor<4xf32> { return %x : tensor<4xf32> }"))
        << kernel.errors();
    EXPECT_TRUE(kernel.load()) << kernel.errors();
    hashes.insert(kernel.code().hash);
    objects.insert(kernel.code().objects[0]);
    kernel.proto().set_rounding(pathways::proto::ROUND_EACH_OP);
    EXPECT_EQ(kernel.load(), rounding == Rounding::EachOp);
  }
  EXPECT_EQ(hashes.size(), 3u);
  EXPECT_EQ(objects.size(), 1u);
}

} // namespace

//===- tiles_test.cc - Kernels of products on matrix units ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks on any machine which products use matrix units. Runs them if this
// machine has AMX and Linux grants access.
//
//===----------------------------------------------------------------------===//

#include "codegen_harness.h"
#include "tile_order.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

using namespace kernel_test;

namespace {

/// Storage and reading of the operands of a product.
struct Form {
  bool turnsA = false, turnsB = false;
  bool isUnsignedA = false, isUnsignedB = false;
  int start = 0; ///< initial value of the sums
  int batch = 1;
};

std::string tensor(std::vector<int> shape, const char *type) {
  std::string text = "tensor<";
  for (int size : shape)
    text += std::to_string(size) + "x";
  return text + type + ">";
}

/// Returns a batch of products, as the body of @mm.
std::string productText(int m, int k, int n, const Form &form) {
  std::string A = tensor({form.batch, form.turnsA ? k : m, form.turnsA ? m : k},
                         "i8"),
              B = tensor({form.batch, form.turnsB ? n : k, form.turnsB ? k : n},
                         "i8"),
              C = tensor({form.batch, m, n}, "i32");
  auto extend = [](bool isUnsigned) {
    return isUnsigned ? "arith.extui" : "arith.extsi";
  };
  return "func.func @mm(%a: " + A + ", %b: " + B + ") -> " + C +
         " {\n  %z = arith.constant dense<" + std::to_string(form.start) +
         "> : " + C +
         "\n  %r = linalg.generic {indexing_maps = [affine_map<(b,m,n,k)->(b," +
         (form.turnsA ? "k,m" : "m,k") + ")>, affine_map<(b,m,n,k)->(b," +
         (form.turnsB ? "n,k" : "k,n") +
         ")>, affine_map<(b,m,n,k)->(b,m,n)>], iterator_types = [\"parallel\", "
         "\"parallel\", \"parallel\", \"reduction\"]} ins(%a, %b : " +
         A + ", " + B + ") outs(%z : " + C +
         ") {\n  ^bb0(%x: i8, %y: i8, %s: i32):\n    %xw = " +
         extend(form.isUnsignedA) +
         " %x : i8 to i32\n    %yw = " + extend(form.isUnsignedB) +
         " %y : i8 to i32\n    %p = arith.muli %xw, %yw : i32\n    %t = "
         "arith.addi %s, %p : i32\n    linalg.yield %t : i32\n  } -> " +
         C + "\n  return %r : " + C + "\n}\n";
}

void checkProduct(int m, int k, int n, const Form &form) {
  SCOPED_TRACE(testing::Message()
               << form.batch << "x" << m << "x" << k << "x" << n
               << (form.turnsA ? " ta" : "") << (form.turnsB ? " tb" : "")
               << (form.isUnsignedA ? " ua" : "")
               << (form.isUnsignedB ? " ub" : "") << " from " << form.start);
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(productText(m, k, n, form))) << kernel.errors();
  auto as = numbers<int8_t>(size_t(form.batch) * m * k, 31, -128, 128),
       bs = numbers<int8_t>(size_t(form.batch) * k * n, 32, -128, 128);
  for (int i = 0; i < std::min(k, 5); ++i)
    as[form.turnsA ? i * m : i] = bs[form.turnsB ? i : i * n] = -128;
  Buffer a = Buffer::of(as), b = Buffer::of(bs),
         c(size_t(form.batch) * m * n * 4);
  ASSERT_EQ(kernel.run(0, {&a, &b, &c}), 0);
  auto cs = c.as<int32_t>();
  auto widened = [](int8_t value, bool isUnsigned) {
    return isUnsigned ? int32_t(uint8_t(value)) : int32_t(value);
  };
  for (int p = 0; p < form.batch; ++p)
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        uint32_t sum = form.start;
        for (int l = 0; l < k; ++l)
          sum += widened(as[p * m * k + (form.turnsA ? l * m + i : i * k + l)],
                         form.isUnsignedA) *
                 widened(bs[p * k * n + (form.turnsB ? j * k + l : l * n + j)],
                         form.isUnsignedB);
        ASSERT_EQ(int32_t(sum), cs[(size_t(p) * m + i) * n + j])
            << p << ", " << i << ", " << j;
      }
}

TEST(KernelTiles, Bytes) {
  if (!hasTiles())
    GTEST_SKIP() << "no matrix unit for us";
  for (bool turnsA : {false, true})
    for (bool turnsB : {false, true}) {
      // A partial tile; edges of all kinds; k less than a step, a step without
      // remainder, remainders of each size of a group; blocks of steps.
      for (int k : {17, 19, 64, 102, 1095}) {
        checkProduct(9, k, 11, {turnsA, turnsB});
        checkProduct(37, k, 70, {turnsA, turnsB, false, false, 7});
      }
      checkProduct(16, 64, 16, {turnsA, turnsB});
      checkProduct(32, 1024, 64, {turnsA, turnsB});
      // Several blocks of k, and of rows.
      checkProduct(35, 4170, 40, {turnsA, turnsB});
      checkProduct(293, 130, 45, {turnsA, turnsB});
      checkProduct(21, 67, 39, {turnsA, turnsB, false, false, 3, 5});
    }
}

TEST(KernelTiles, Signs) {
  if (!hasTiles())
    GTEST_SKIP() << "no matrix unit for us";
  for (bool isUnsignedA : {false, true})
    for (bool isUnsignedB : {false, true})
      checkProduct(35, 70, 33, {false, false, isUnsignedA, isUnsignedB});
}

/// `a`, `b` and `c` are the maps of both operands and the result, in terms of
/// (m, n, k).
void checkOrder(int m, int k, int n, const std::string &a, const std::string &b,
                const std::string &c, const std::string &iterators) {
  SCOPED_TRACE(testing::Message() << m << "x" << k << "x" << n << ": (" << a
                                  << ") * (" << b << ") to (" << c << ")");
  auto sizeOf = [&](char dim) { return dim == 'm' ? m : dim == 'n' ? n : k; };
  auto shapeOf = [&](const std::string &dims) {
    std::vector<int> shape;
    for (char dim : dims)
      if (dim != ',')
        shape.push_back(sizeOf(dim));
    return shape;
  };
  auto count = [](const std::vector<int> &shape) {
    size_t all = 1;
    for (int size : shape)
      all *= size;
    return all;
  };
  auto place = [&](const std::string &dims, int mv, int nv, int kv) {
    size_t at = 0;
    for (char dim : dims)
      if (dim != ',')
        at = at * sizeOf(dim) + (dim == 'm' ? mv : dim == 'n' ? nv : kv);
    return at;
  };
  std::string A = tensor(shapeOf(a), "bf16"), B = tensor(shapeOf(b), "bf16"),
              C = tensor(shapeOf(c), "f32");
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(
      "func.func @mm(%a: " + A + ", %b: " + B + ", %c: " + C + ") -> " + C +
      " {\n  %r = linalg.generic {indexing_maps = [affine_map<(m,n,k)->(" + a +
      ")>, affine_map<(m,n,k)->(" + b + ")>, affine_map<(m,n,k)->(" + c +
      ")>], iterator_types = [" + iterators + "]} ins(%a, %b : " + A + ", " +
      B + ") outs(%c : " + C +
      ") {\n  ^bb0(%x: bf16, %y: bf16, %s: f32):\n    %xw = arith.extf %x : "
      "bf16 to f32\n    %yw = arith.extf %y : bf16 to f32\n    %p = arith.mulf "
      "%xw, %yw : f32\n    %t = arith.addf %s, %p : f32\n    linalg.yield %t "
      ": f32\n  } -> " +
      C + "\n  return %r : " + C + "\n}\n"))
      << kernel.errors();
  auto as = brains(count(shapeOf(a)), 41), bs = brains(count(shapeOf(b)), 42);
  auto cs = numbers<float>(count(shapeOf(c)), 43);
  cs.front() = 1e-40f;
  Buffer x = Buffer::of(as), y = Buffer::of(bs), z = Buffer::of(cs),
         r(cs.size() * 4);
  ASSERT_EQ(kernel.run(0, {&x, &y, &z, &r}), 0);
  auto rs = r.as<float>();
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float want = sumOf(
          cs[place(c, i, j, 0)], k,
          [&](int l) { return as[place(a, i, j, l)]; },
          [&](int l) { return bs[place(b, i, j, l)]; });
      float got = rs[place(c, i, j, 0)];
      ASSERT_EQ(std::memcmp(&got, &want, 4), 0)
          << got << " instead of " << want << " at " << i << ", " << j;
    }
}

TEST(KernelTiles, OrderOfBf16) {
  if (!hasTiles("+amx-bf16"))
    GTEST_SKIP() << "no matrix unit for us";
  const std::string p = "\"parallel\"", s = "\"reduction\"",
                    all = p + "," + p + "," + s;
  for (int k : {1, 3, 32, 65, 601})
    for (const char *a : {"m,k", "k,m"})
      for (const char *b : {"n,k", "k,n"}) {
        checkOrder(1, k, 1, a, b, "m,n", all);
        checkOrder(1, k, 37, a, b, "m,n", all);
        checkOrder(41, k, 1, a, b, "m,n", all);
        checkOrder(45, k, 19, a, b, "m,n", all);
        checkOrder(18, k, 35, a, b, "n,m", all);
      }
  checkOrder(293, 70, 75, "m,k", "k,n", "m,n", all);
  checkOrder(37, 2120, 50, "m,k", "k,n", "m,n", all);
}

TEST(KernelTiles, OrderOfBf16InAnyForm) {
  if (!hasTiles("+amx-bf16"))
    GTEST_SKIP() << "no matrix unit for us";
  const std::string p = "\"parallel\"", s = "\"reduction\"",
                    all = p + "," + p + "," + s;
  for (int k : {1, 7, 40, 200}) {
    // A batch of dot products, whose dimension is innermost or outermost, and
    // matrices times vectors.
    checkOrder(1, k, 21, "m,n,k", "m,n,k", "m,n", all);
    checkOrder(3, k, 21, "k,m,n", "n,m,k", "n,m", all);
    checkOrder(13, k, 21, "n,m,k", "n,k", "n,m", all);
    checkOrder(13, k, 21, "m,k,n", "n,k", "m,n", all);
    checkOrder(13, k, 21, "m,k,n", "k,n", "m,n", all);
  }
}

TEST(KernelTiles, AreTakenWhereTheyPayOff) {
  EXPECT_EQ(pathOf(productText(64, 64, 64, {}), tileTarget()),
            "product of tiles");
  EXPECT_EQ(pathOf(productText(64, 64, 64, {true, true}), tileTarget()),
            "product of tiles");
  EXPECT_EQ(pathOf(productText(4, 64, 64, {}), tileTarget()), "product");
  EXPECT_EQ(pathOf(productText(64, 8, 64, {}), tileTarget()), "product");
  pathways::proto::Target lesser = tileTarget();
  lesser.add_features("-amx-int8");
  EXPECT_EQ(pathOf(productText(64, 64, 64, {}), lesser), "product");
}

/// Returns a product of 4 rows with the ops before it and the types of its
/// operands.
std::string brainText(const std::string &arguments, const std::string &before,
                      const std::string &lhs, const std::string &rhs,
                      const char *sum) {
  std::string C = tensor({4, 8}, sum);
  return "func.func @f(" + arguments + ") -> " + C +
         " {\n  %z = arith.constant dense<0.0> : " + C + "\n" + before +
         "  %r = linalg.matmul ins(%x, %y : tensor<4x40x" + lhs +
         ">, tensor<40x8x" + rhs + ">) outs(%z : " + C + ") -> " + C +
         "\n  return %r : " + C + "\n}\n";
}

TEST(KernelTiles, ProductsOfBf16AreThoseOfArraysOfIt) {
  const std::string x = "%x: tensor<4x40xbf16>", y = "%y: tensor<40x8xbf16>";
  auto path = [&](const std::string &text) {
    return pathOf(text, tileTarget(), "linalg.matmul");
  };
  EXPECT_EQ(path(brainText(x + ", " + y, "", "bf16", "bf16", "bf16")),
            "product of tiles");
  EXPECT_EQ(path(brainText(x + ", " + y, "", "bf16", "bf16", "f32")),
            "product of tiles");
  // The operand is transposed and cut.
  EXPECT_EQ(path(brainText(x + ", %w: tensor<9x40xbf16>",
                           "  %c = tensor.extract_slice %w[1, 0] [8, 40] [1, "
                           "1] : tensor<9x40xbf16> to tensor<8x40xbf16>\n"
                           "  %e = tensor.empty() : tensor<40x8xbf16>\n"
                           "  %y = linalg.transpose ins(%c : "
                           "tensor<8x40xbf16>) outs(%e : tensor<40x8xbf16>) "
                           "permutation = [1, 0]\n",
                           "bf16", "bf16", "bf16")),
            "product of tiles");
  // The operand is computed and rounded.
  const std::string twice = "  %d = arith.addf %w, %w : tensor<4x40xf32>\n";
  EXPECT_EQ(path(brainText("%w: tensor<4x40xf32>, " + y,
                           twice + "  %x = arith.truncf %d : tensor<4x40xf32> "
                                   "to tensor<4x40xbf16>\n",
                           "bf16", "bf16", "f32")),
            "product of tiles");
  // One operand is computed but not rounded; then f32; then f16.
  EXPECT_EQ(path(brainText("%w: tensor<4x40xbf16>, " + y,
                           "  %x = arith.addf %w, %w : tensor<4x40xbf16>\n",
                           "bf16", "bf16", "f32")),
            "product");
  EXPECT_EQ(path(brainText("%x: tensor<4x40xf32>, %y: tensor<40x8xf32>", "",
                           "f32", "f32", "f32")),
            "product");
  EXPECT_EQ(path(brainText("%x: tensor<4x40xf16>, %y: tensor<40x8xf16>", "",
                           "f16", "f16", "f16")),
            "product");
  pathways::proto::Target lesser = tileTarget();
  lesser.add_features("-amx-bf16");
  EXPECT_EQ(pathOf(brainText(x + ", " + y, "", "bf16", "bf16", "bf16"), lesser,
                   "linalg.matmul"),
            "product");
}

/// Ops after a product are computed row by row with it and change no bit of it.
TEST(KernelTiles, FusedProductsOfBf16) {
  if (!hasTiles("+amx-bf16"))
    GTEST_SKIP() << "no matrix unit for us";
  const int m = 301, k = 70, n = 90;
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
    func.func @f(%a: tensor<301x70xbf16>, %b: tensor<70x90xbf16>) -> tensor<301x90xf32> {
      %z = arith.constant dense<0.0> : tensor<301x90xf32>
      %p = linalg.matmul ins(%a, %b : tensor<301x70xbf16>, tensor<70x90xbf16>)
          outs(%z : tensor<301x90xf32>) -> tensor<301x90xf32>
      %r = arith.maximumf %p, %z : tensor<301x90xf32>
      return %r : tensor<301x90xf32>
    })"))
      << kernel.errors();
  // Scratch memory holds blocks of rows, not the whole product.
  EXPECT_LT(kernel.code().segments[0].scratchBytes, 301u * 90 * 4);
  auto as = brains(m * k, 51), bs = brains(k * n, 52);
  Buffer a = Buffer::of(as), b = Buffer::of(bs), r(m * n * 4);
  ASSERT_EQ(kernel.run(0, {&a, &b, &r}), 0);
  auto rs = r.as<float>();
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float want = sumOf(
          0, k, [&](int l) { return as[i * k + l]; },
          [&](int l) { return bs[l * n + j]; });
      ASSERT_EQ(std::max(want, 0.0f), rs[i * n + j]) << i << ", " << j;
    }
}

/// Returns a loop whose sums on tiles are an operand of the next product, which
/// transposes them again in each iteration.
std::string sumsAndTheirProduct(const std::string &from,
                                const std::string &to) {
  const bool areFloats = to == "f32";
  return "func.func @k(%a: tensor<32x64x" + from + ">, %b: tensor<64x48x" +
         from + ">, %x: tensor<16x48x" + to + ">, %s0: tensor<32x48x" + to +
         ">, %o0: tensor<16x32x" + to + ">) -> tensor<16x32x" + to +
         R"(> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %s0, %o = %o0)
      -> (tensor<32x48x)" +
         to + ">, tensor<16x32x" + to + R"(>) {
    %next = linalg.matmul ins(%a, %b : tensor<32x64x)" +
         from + ">, tensor<64x48x" + from + ">) outs(%s : tensor<32x48x" + to +
         ">) -> tensor<32x48x" + to + R"(>
    %sum = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
               affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
           iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %next : tensor<16x48x)" +
         to + ">, tensor<32x48x" + to + ">) outs(%o : tensor<16x32x" + to +
         R"(>) {
    ^bb0(%p: )" +
         to + ", %q: " + to + ", %t: " + to + "):\n      %u = arith.mul" +
         (areFloats ? "f" : "i") + " %p, %q : " + to +
         "\n      %v = arith.add" + (areFloats ? "f" : "i") +
         " %t, %u : " + to + "\n      linalg.yield %v : " + to +
         "\n    } -> tensor<16x32x" + to +
         ">\n    scf.yield %next, %sum : tensor<32x48x" + to +
         ">, tensor<16x32x" + to + ">\n  }\n  return %r#1 : tensor<16x32x" +
         to + ">\n}";
}

TEST(KernelTiles, SumsAreOperandsOfOthersInALoop) {
  if (!hasTiles())
    GTEST_SKIP() << "no AMX here";
  {
    Kernel kernel;
    ASSERT_TRUE(kernel.compile(sumsAndTheirProduct("i8", "i32")))
        << kernel.errors();
    Buffer a = Buffer::of(std::vector<int8_t>(32 * 64, 1)),
           b = Buffer::of(std::vector<int8_t>(64 * 48, 1)),
           x = Buffer::of(std::vector<int32_t>(16 * 48, 1)),
           s = Buffer::of(std::vector<int32_t>(32 * 48)),
           o = Buffer::of(std::vector<int32_t>(16 * 32)), out(16 * 32 * 4);
    ASSERT_EQ(kernel.run(0, {&a, &b, &x, &s, &o, &out}), 0);
    EXPECT_EQ(out.as<int32_t>(),
              std::vector<int32_t>(16 * 32, 48 * 64 * (1 + 2 + 3)));
  }
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(sumsAndTheirProduct("bf16", "f32")))
      << kernel.errors();
  constexpr uint16_t kOne = 0x3f80;
  Buffer a = Buffer::of(std::vector<uint16_t>(32 * 64, kOne)),
         b = Buffer::of(std::vector<uint16_t>(64 * 48, kOne)),
         x = Buffer::of(std::vector<float>(16 * 48, 1)),
         s = Buffer::of(std::vector<float>(32 * 48)),
         o = Buffer::of(std::vector<float>(16 * 32)), out(16 * 32 * 4);
  ASSERT_EQ(kernel.run(0, {&a, &b, &x, &s, &o, &out}), 0);
  EXPECT_EQ(out.as<float>(),
            std::vector<float>(16 * 32, 48 * 64 * (1 + 2 + 3)));
}

/// The sums are one of two slices, so their strides are known only at run time.
TEST(KernelTiles, SumsInOneOfTwoSlices) {
  if (!hasTiles("+amx-bf16"))
    GTEST_SKIP() << "no AMX here";
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
func.func @k(%x: tensor<32x256xf32>, %y: tensor<40x70xf32>, %a: tensor<32x64xbf16>, %b: tensor<64x48xbf16>, %c: tensor<1xi32>) -> tensor<32x48xf32> {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %which = tensor.extract %c[%c0] : tensor<1xi32>
  %is = arith.cmpi eq, %which, %one : i32
  %x2 = arith.addf %x, %x : tensor<32x256xf32>
  %y2 = arith.addf %y, %y : tensor<40x70xf32>
  %s = scf.if %is -> tensor<32x48xf32> {
    %p = tensor.extract_slice %x2[0, 5] [32, 48] [1, 1] : tensor<32x256xf32> to tensor<32x48xf32>
    scf.yield %p : tensor<32x48xf32>
  } else {
    %q = tensor.extract_slice %y2[3, 2] [32, 48] [1, 1] : tensor<40x70xf32> to tensor<32x48xf32>
    scf.yield %q : tensor<32x48xf32>
  }
  %r = linalg.matmul ins(%a, %b : tensor<32x64xbf16>, tensor<64x48xbf16>) outs(%s : tensor<32x48xf32>) -> tensor<32x48xf32>
  return %r : tensor<32x48xf32>
})")) << kernel.errors();
  std::vector<float> xs = numbers<float>(32 * 256, 1),
                     ys = numbers<float>(40 * 70, 2);
  for (int32_t which : {0, 1}) {
    Buffer x = Buffer::of(xs), y = Buffer::of(ys),
           a = Buffer::of(std::vector<uint16_t>(32 * 64, 0x3f80)),
           b = Buffer::of(std::vector<uint16_t>(64 * 48, 0x3f80)),
           c = Buffer::of(std::vector<int32_t>{which}), out(32 * 48 * 4);
    ASSERT_EQ(kernel.run(0, {&x, &y, &a, &b, &c, &out}), 0);
    std::vector<float> got = out.as<float>();
    for (int i = 0; i < 32; ++i)
      for (int j = 0; j < 48; ++j) {
        float from =
            which == 1 ? xs[i * 256 + j + 5] : ys[(i + 3) * 70 + j + 2];
        // Two blocks of 32 terms.
        ASSERT_EQ(got[i * 48 + j], from + from + 32.0f + 32.0f)
            << which << " " << i << " " << j;
      }
  }
}

} // namespace

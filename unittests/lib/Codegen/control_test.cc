//===- control_test.cc - Loops and branches -------------------------------===//
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

#include <cmath>

using namespace kernel_test;
using testing::Each;
using testing::ElementsAre;
using testing::FloatNear;
using testing::Pointwise;

namespace {

TEST(KernelControl, LoopsAndBranches) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
    func.func @loop(%x: tensor<8xf32>, %n: tensor<i32>) -> tensor<8xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %k = tensor.extract %n[] : tensor<i32>
      %end = arith.index_cast %k : i32 to index
      %r = scf.for %i = %c0 to %end step %c1 iter_args(%v = %x) -> tensor<8xf32> {
        %d = arith.addf %v, %x : tensor<8xf32>
        scf.yield %d : tensor<8xf32>
      }
      return %r : tensor<8xf32>
    }
    func.func @fibonacci(%n: tensor<i64>) -> tensor<2xi64> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %k = tensor.extract %n[] : tensor<i64>
      %end = arith.index_cast %k : i64 to index
      %a = arith.constant dense<[0, 0]> : tensor<2xi64>
      %b = arith.constant dense<[1, 10]> : tensor<2xi64>
      %r:2 = scf.for %i = %c0 to %end step %c1 iter_args(%u = %a, %v = %b)
          -> (tensor<2xi64>, tensor<2xi64>) {
        %s = arith.addi %u, %v : tensor<2xi64>
        scf.yield %v, %s : tensor<2xi64>, tensor<2xi64>
      }
      return %r#0 : tensor<2xi64>
    }
    func.func @branch(%x: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {
      %b = tensor.extract %c[] : tensor<i1>
      %r = scf.if %b -> tensor<4xf32> {
        %d = arith.addf %x, %x : tensor<4xf32>
        scf.yield %d : tensor<4xf32>
      } else {
        scf.yield %x : tensor<4xf32>
      }
      return %r : tensor<4xf32>
    }
    func.func @while(%x: tensor<i32>) -> tensor<i32> {
      %limit = arith.constant 100 : i32
      %r = scf.while (%v = %x) : (tensor<i32>) -> tensor<i32> {
        %s = tensor.extract %v[] : tensor<i32>
        %go = arith.cmpi slt, %s, %limit : i32
        scf.condition(%go) %v : tensor<i32>
      } do {
      ^bb0(%v: tensor<i32>):
        %d = arith.addi %v, %v : tensor<i32>
        scf.yield %d : tensor<i32>
      }
      return %r : tensor<i32>
    })"))
      << kernel.errors();
  Buffer x = Buffer::of(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}), y(32);
  for (int n : {0, 1, 5}) {
    Buffer count = Buffer::of(std::vector<int32_t>{n});
    ASSERT_EQ(kernel.run(0, {&x, &count, &y}), 0);
    for (int i = 0; i < 8; ++i)
      EXPECT_EQ(y.as<float>()[i], (i + 1) * (n + 1));
  }
  Buffer ten = Buffer::of(std::vector<int64_t>{10}), f(16);
  ASSERT_EQ(kernel.run(1, {&ten, &f}), 0);
  EXPECT_THAT(f.as<int64_t>(), ElementsAre(55, 550));
  for (uint8_t c : {0, 1}) {
    Buffer condition = Buffer::of(std::vector<uint8_t>{c}), z(16);
    ASSERT_EQ(kernel.run(2, {&x, &condition, &z}), 0);
    EXPECT_EQ(z.as<float>()[3], c ? 8 : 4);
  }
  Buffer three = Buffer::of(std::vector<int32_t>{3}), w(4);
  ASSERT_EQ(kernel.run(3, {&three, &w}), 0);
  EXPECT_EQ(w.as<int32_t>()[0], 192);
}

/// A value that returns to two places is copied to one of them.
TEST(KernelControl, LoopsThatReturnOneValueTwice) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
    func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>)
        -> (tensor<4xf32>, tensor<4xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x, %b = %y)
          -> (tensor<4xf32>, tensor<4xf32>) {
        %s = arith.addf %a, %y : tensor<4xf32>
        scf.yield %s, %s : tensor<4xf32>, tensor<4xf32>
      }
      return %r#1, %r#0 : tensor<4xf32>, tensor<4xf32>
    })"))
      << kernel.errors();
  Buffer x = Buffer::of(std::vector<float>{1, 2, 3, 4}),
         y = Buffer::of(std::vector<float>{10, 20, 30, 40}), a(16), b(16);
  ASSERT_EQ(kernel.run(0, {&x, &y, &a, &b}), 0);
  EXPECT_THAT(a.as<float>(), ElementsAre(31, 62, 93, 124));
  EXPECT_EQ(a.as<float>(), b.as<float>());
}

/// The new rows do not depend on the carried value.
TEST(KernelControl, LoopsThatReturnNewRows) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
    func.func @f(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %s = arith.addf %x, %x : tensor<64x64xf32>
      %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %s)
          -> tensor<64x64xf32> {
        %e = tensor.empty() : tensor<64x64xf32>
        %m = linalg.softmax dimension(1) ins(%s : tensor<64x64xf32>)
            outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
        scf.yield %m : tensor<64x64xf32>
      }
      return %r : tensor<64x64xf32>
    })"))
      << kernel.errors();
  // The value is twice a half of the logarithm of 63, beside 63 zeros.
  std::vector<float> values(64 * 64), expected(64 * 64, 0.5f / 63);
  for (size_t row = 0; row < 64; ++row) {
    values[row * 64 + row] = 0.5f * std::log(63.0f);
    expected[row * 64 + row] = 0.5f;
  }
  Buffer x = Buffer::of(values), out(4 * values.size());
  ASSERT_EQ(kernel.run(0, {&x, &out}), 0);
  EXPECT_THAT(out.as<float>(), Pointwise(FloatNear(1e-6f), expected));
}

/// Carried values may be exchanged, be updated in part, or come from a loop or
/// branch inside.
TEST(KernelControl, LoopsThatMoveTheirValues) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
    func.func @swap(%x: tensor<4xi32>, %y: tensor<4xi32>, %n: tensor<i64>)
        -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %k = tensor.extract %n[] : tensor<i64>
      %end = arith.index_cast %k : i64 to index
      %z = arith.constant dense<7> : tensor<4xi32>
      %r:3 = scf.for %i = %c0 to %end step %c1 iter_args(%a = %x, %b = %y, %c = %z)
          -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
        scf.yield %b, %c, %a : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
      }
      return %r#0, %r#1, %r#2 : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
    }
    func.func @scan(%x: tensor<9xi32>) -> tensor<9xi32> {
      %c1 = arith.constant 1 : index
      %c9 = arith.constant 9 : index
      %r = scf.for %i = %c1 to %c9 step %c1 iter_args(%a = %x) -> tensor<9xi32> {
        %j = arith.subi %i, %c1 : index
        %p = tensor.extract %a[%j] : tensor<9xi32>
        %q = tensor.extract %a[%i] : tensor<9xi32>
        %s = arith.addi %p, %q : i32
        %t = tensor.insert %s into %a[%i] : tensor<9xi32>
        scf.yield %t : tensor<9xi32>
      }
      return %r : tensor<9xi32>
    }
    func.func @cross(%x: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %one = arith.constant 1 : i32
      %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x, %b = %x)
          -> (tensor<4xi32>, tensor<4xi32>) {
        %v = tensor.extract %a[%i] : tensor<4xi32>
        %w = arith.addi %v, %one : i32
        %u = tensor.insert %w into %a[%i] : tensor<4xi32>
        scf.yield %b, %u : tensor<4xi32>, tensor<4xi32>
      }
      return %r#0, %r#1 : tensor<4xi32>, tensor<4xi32>
    }
    func.func @nested(%x: tensor<4xi32>) -> tensor<4xi32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> tensor<4xi32> {
        %even = arith.remui %i, %c2 : index
        %is = arith.cmpi eq, %even, %c0 : index
        %in = scf.for %j = %c0 to %c2 step %c1 iter_args(%b = %a) -> tensor<4xi32> {
          %d = arith.addi %b, %a : tensor<4xi32>
          scf.yield %d : tensor<4xi32>
        }
        %out = scf.if %is -> tensor<4xi32> {
          scf.yield %in : tensor<4xi32>
        } else {
          %e = arith.addi %in, %x : tensor<4xi32>
          scf.yield %e : tensor<4xi32>
        }
        scf.yield %out : tensor<4xi32>
      }
      return %r : tensor<4xi32>
    }
    func.func @gcd(%x: tensor<i32>, %y: tensor<i32>) -> tensor<i32> {
      %zero = arith.constant 0 : i32
      %r:2 = scf.while (%a = %x, %b = %y) : (tensor<i32>, tensor<i32>)
          -> (tensor<i32>, tensor<i32>) {
        %s = tensor.extract %b[] : tensor<i32>
        %go = arith.cmpi ne, %s, %zero : i32
        scf.condition(%go) %a, %b : tensor<i32>, tensor<i32>
      } do {
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %m = arith.remsi %a, %b : tensor<i32>
        scf.yield %b, %m : tensor<i32>, tensor<i32>
      }
      return %r#0 : tensor<i32>
    })"))
      << kernel.errors();
  for (int n : {0, 1, 2, 3, 7}) {
    std::vector<int32_t> values[3] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {7, 7, 7, 7}};
    Buffer x = Buffer::of(values[0]), y = Buffer::of(values[1]), a(16), b(16),
           c(16), count = Buffer::of(std::vector<int64_t>{n});
    ASSERT_EQ(kernel.run(0, {&x, &y, &count, &a, &b, &c}), 0);
    EXPECT_EQ(a.as<int32_t>(), values[n % 3]);
    EXPECT_EQ(b.as<int32_t>(), values[(n + 1) % 3]);
    EXPECT_EQ(c.as<int32_t>(), values[(n + 2) % 3]);
    EXPECT_EQ(x.as<int32_t>(), values[0]); // inputs do not change
  }
  Buffer ones = Buffer::of(std::vector<int32_t>(9, 1)), sums(36);
  ASSERT_EQ(kernel.run(1, {&ones, &sums}), 0);
  EXPECT_THAT(sums.as<int32_t>(), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT_THAT(ones.as<int32_t>(), testing::Each(1));
  Buffer four = Buffer::of(std::vector<int32_t>{10, 20, 30, 40}), a(16), b(16);
  ASSERT_EQ(kernel.run(2, {&four, &a, &b}), 0);
  // a, b -> b, a+e0 -> a+e0, b+e1 -> b+e1, a+e0+e2.
  EXPECT_THAT(a.as<int32_t>(), ElementsAre(10, 21, 30, 40));
  EXPECT_THAT(b.as<int32_t>(), ElementsAre(11, 20, 31, 40));
  ASSERT_EQ(kernel.run(3, {&four, &a}), 0);
  // 3x; 9x + x; 30x.
  EXPECT_THAT(a.as<int32_t>(), ElementsAre(300, 600, 900, 1200));
  Buffer p = Buffer::of(std::vector<int32_t>{84}),
         q = Buffer::of(std::vector<int32_t>{36}), g(4);
  ASSERT_EQ(kernel.run(4, {&p, &q, &g}), 0);
  EXPECT_EQ(g.as<int32_t>()[0], 12);
}

/// A value chosen among computed and given values is kept until it is written
/// to its output, although the buffer it was computed in has other uses in
/// between.
TEST(KernelBranches, ChosenValuesAreKept) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
    func.func @f(%x: tensor<8x8xi32>, %c: tensor<i1>)
        -> (tensor<8x8xi32>, tensor<8x8xi32>, tensor<8x8xi32>) {
      %z = arith.constant dense<0> : tensor<8x8xi32>
      %twice = arith.addi %x, %x : tensor<8x8xi32>
      %flag = tensor.extract %c[] : tensor<i1>
      %v = scf.if %flag -> tensor<8x8xi32> {
        scf.yield %twice : tensor<8x8xi32>
      } else {
        scf.yield %x : tensor<8x8xi32>
      }
      %p = linalg.matmul ins(%x, %x : tensor<8x8xi32>, tensor<8x8xi32>)
             outs(%z : tensor<8x8xi32>) -> tensor<8x8xi32>
      %q = linalg.matmul ins(%p, %x : tensor<8x8xi32>, tensor<8x8xi32>)
             outs(%z : tensor<8x8xi32>) -> tensor<8x8xi32>
      return %q, %v, %v : tensor<8x8xi32>, tensor<8x8xi32>, tensor<8x8xi32>
    })"))
      << kernel.errors();
  auto xs = numbers<int32_t>(64, 1, -99, 99);
  for (uint8_t flag : {0, 1}) {
    Buffer x = Buffer::of(xs), c = Buffer::of(std::vector<uint8_t>{flag}),
           q(256), v(256), w(256);
    ASSERT_EQ(kernel.run(0, {&x, &c, &q, &v, &w}), 0);
    for (int i = 0; i < 64; ++i) {
      EXPECT_EQ(v.as<int32_t>()[i], (flag ? 2 : 1) * xs[i]);
      EXPECT_EQ(w.as<int32_t>()[i], (flag ? 2 : 1) * xs[i]);
    }
  }
}

/// A loop may continue with a value from before the loop or with a carried one.
TEST(KernelBranches, ChooseWhatWasThereBefore) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
    func.func @f(%x: tensor<4xf32>, %y: tensor<6xf32>, %c: tensor<3xi1>)
        -> (tensor<4xf32>, tensor<4xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %s = tensor.extract_slice %y[0] [4] [1] : tensor<6xf32> to tensor<4xf32>
      %t = tensor.extract_slice %y[1] [4] [1] : tensor<6xf32> to tensor<4xf32>
      %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %s) -> tensor<4xf32> {
        %k = tensor.extract %c[%i] : tensor<3xi1>
        %b = scf.if %k -> tensor<4xf32> {
          scf.yield %t : tensor<4xf32>
        } else {
          scf.yield %a : tensor<4xf32>
        }
        scf.yield %b : tensor<4xf32>
      }
      %u = arith.addf %r, %x : tensor<4xf32>
      return %r, %u : tensor<4xf32>, tensor<4xf32>
    })"))
      << kernel.errors();
  Buffer x = Buffer::of(std::vector<float>{10, 20, 30, 40}),
         y = Buffer::of(std::vector<float>{1, 2, 3, 4, 5, 6}), r(16), u(16);
  Buffer never = Buffer::of(std::vector<uint8_t>{0, 0, 0}),
         once = Buffer::of(std::vector<uint8_t>{0, 1, 0});
  ASSERT_EQ(kernel.run(0, {&x, &y, &never, &r, &u}), 0);
  EXPECT_THAT(r.as<float>(), ElementsAre(1, 2, 3, 4));
  ASSERT_EQ(kernel.run(0, {&x, &y, &once, &r, &u}), 0);
  EXPECT_THAT(r.as<float>(), ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(u.as<float>(), ElementsAre(12, 23, 34, 45));
}

/// A tensor that a branch makes is inserted into itself.
TEST(KernelBranches, WhatTheyMakeGoesIntoItself) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
    func.func @f(%x: tensor<1xi64>, %c: tensor<i1>) -> tensor<1xi64> {
      %k = tensor.extract %c[] : tensor<i1>
      %v = scf.if %k -> tensor<1xi64> {
        %e = tensor.empty() : tensor<1xi64>
        %m = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
            ins(%x : tensor<1xi64>) outs(%e : tensor<1xi64>) {
        ^bb0(%a: i64, %o: i64):
          %p = arith.muli %a, %a : i64
          linalg.yield %p : i64
        } -> tensor<1xi64>
        scf.yield %m : tensor<1xi64>
      } else {
        %n = arith.addi %x, %x : tensor<1xi64>
        scf.yield %n : tensor<1xi64>
      }
      %w = tensor.insert_slice %v into %v[0] [1] [2] : tensor<1xi64> into tensor<1xi64>
      return %w : tensor<1xi64>
    })"))
      << kernel.errors();
  Buffer x = Buffer::of(std::vector<int64_t>{5}), w(8);
  Buffer yes = Buffer::of(std::vector<uint8_t>{1}),
         no = Buffer::of(std::vector<uint8_t>{0});
  ASSERT_EQ(kernel.run(0, {&x, &yes, &w}), 0);
  EXPECT_THAT(w.as<int64_t>(), ElementsAre(25));
  ASSERT_EQ(kernel.run(0, {&x, &no, &w}), 0);
  EXPECT_THAT(w.as<int64_t>(), ElementsAre(10));
}

} // namespace

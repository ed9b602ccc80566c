//===- control_test.cc - Control flow, checks, results --------------------===//
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
#include <cmath>
#include <map>

using namespace kernel_test;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

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

/// A value that comes back to two places is copied to one of them.
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

/// What goes around a loop may change places, be updated in part, or come from
/// a loop or branch inside.
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
    EXPECT_EQ(x.as<int32_t>(), values[0]); // Inputs stay.
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

TEST(KernelChecks, Asserts) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
    func.func @f(%x: tensor<4xi32>) -> tensor<4xi32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0 : i32
      %a = tensor.extract %x[%c0] : tensor<4xi32>
      %b = tensor.extract %x[%c1] : tensor<4xi32>
      %pa = arith.cmpi sgt, %a, %zero : i32
      cf.assert %pa, "first must be positive"
      %pb = arith.cmpi sgt, %b, %zero : i32
      cf.assert %pb, "second must be positive"
      return %x : tensor<4xi32>
    })"))
      << kernel.errors();
  auto status = [&](int a, int b) {
    Buffer x = Buffer::of(std::vector<int32_t>{a, b, 0, 0}), y(16);
    return kernel.run(0, {&x, &y});
  };
  EXPECT_EQ(status(1, 1), 0);
  EXPECT_EQ(status(0, 1), 1);
  EXPECT_EQ(status(1, 0), 2);
  EXPECT_EQ(status(0, 0), 1); // The first that fails.
  const auto &locations = kernel.code().segments[0].locations;
  ASSERT_EQ(locations.size(), 2u);
  EXPECT_EQ(locations[0].message, "first must be positive");
  EXPECT_EQ(locations[0].where, "test.mlir:9:7");
  EXPECT_EQ(locations[1].where, "test.mlir:11:7");
}

TEST(KernelChecks, Divisions) {
  const char *ops[] = {"divsi", "remsi", "ceildivsi", "floordivsi",
                       "divui", "remui", "ceildivui"};
  std::string text;
  for (const char *op : ops)
    text += std::string("func.func @k_") + op +
            "(%x: tensor<33xi32>, %y: tensor<33xi32>) -> tensor<33xi32> {\n"
            "  %0 = arith." +
            op +
            " %x, %y : tensor<33xi32>\n"
            "  return %0 : tensor<33xi32>\n}\n";
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(text)) << kernel.errors();
  for (size_t s = 0; s < std::size(ops); ++s) {
    SCOPED_TRACE(ops[s]);
    bool isSigned = s < 4;
    auto xs = numbers<int32_t>(33, 1, -1000, 1000),
         ys = numbers<int32_t>(33, 2, 1, 20);
    if (isSigned)
      for (int i = 0; i < 33; i += 2)
        ys[i] = -ys[i];
    if (!isSigned)
      for (int32_t &x : xs)
        x = std::abs(x);
    Buffer x = Buffer::of(xs), y = Buffer::of(ys), z(132);
    ASSERT_EQ(kernel.run(s, {&x, &y, &z}), 0);
    for (int i = 0; i < 33; ++i) {
      int a = xs[i], b = ys[i];
      double q = double(a) / b;
      int expected[] = {a / b, a % b, int(std::ceil(q)), int(std::floor(q)),
                        a / b, a % b, int(std::ceil(q))};
      EXPECT_EQ(z.as<int32_t>()[i], expected[s]) << a << " " << b;
    }
    ys[32] = 0;
    Buffer zero = Buffer::of(ys);
    int32_t status = kernel.run(s, {&x, &zero, &z});
    ASSERT_GT(status, 0);
    EXPECT_EQ(kernel.code().segments[s].locations[status - 1].message,
              "integer division by zero");
    EXPECT_THAT(kernel.code().segments[s].locations[status - 1].where,
                HasSubstr("test.mlir:"));
    if (!isSigned)
      continue;
    xs[7] = INT32_MIN, ys[7] = -1, ys[32] = 1;
    Buffer least = Buffer::of(xs), minus = Buffer::of(ys);
    status = kernel.run(s, {&least, &minus, &z});
    if (s == 1) {
      EXPECT_EQ(status, 0); // The remainder exists.
      EXPECT_EQ(z.as<int32_t>()[7], 0);
    } else {
      ASSERT_GT(status, 0);
      EXPECT_EQ(kernel.code().segments[s].locations[status - 1].message,
                "integer division overflows");
    }
  }
}

TEST(KernelChecks, PowersIndicesSteps) {
  Kernel good;
  ASSERT_TRUE(good.compile(R"(
    func.func @power(%x: tensor<3xi32>, %y: tensor<3xi32>) -> tensor<3xi32> {
      %0 = math.ipowi %x, %y : tensor<3xi32>
      return %0 : tensor<3xi32>
    }
    func.func @gather(%x: tensor<5xf32>, %i: tensor<7xi64>) -> tensor<7xf32> {
      %e = tensor.empty() : tensor<7xf32>
      %r = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>],
                           iterator_types = ["parallel"]}
          ins(%i : tensor<7xi64>) outs(%e : tensor<7xf32>) {
        ^bb0(%k: i64, %o: f32):
          %j = arith.index_cast %k : i64 to index
          %v = tensor.extract %x[%j] : tensor<5xf32>
          linalg.yield %v : f32
      } -> tensor<7xf32>
      return %r : tensor<7xf32>
    }
    func.func @step(%n: tensor<i64>) -> tensor<i64> {
      %c0 = arith.constant 0 : index
      %c10 = arith.constant 10 : index
      %one = arith.constant 1 : i64
      %zero = arith.constant 0 : i64
      %k = tensor.extract %n[] : tensor<i64>
      %s = arith.index_cast %k : i64 to index
      %r = scf.for %i = %c0 to %c10 step %s iter_args(%v = %zero) -> i64 {
        %d = arith.addi %v, %one : i64
        scf.yield %d : i64
      }
      %t = tensor.from_elements %r : tensor<i64>
      return %t : tensor<i64>
    }
    func.func @put(%x: tensor<0xf32>, %n: tensor<3xf32>, %i: tensor<i64>) -> (tensor<f32>, tensor<3xf32>) {
      %k = tensor.extract %i[] : tensor<i64>
      %j = arith.index_cast %k : i64 to index
      %v = tensor.extract %x[%j] : tensor<0xf32>
      %r = tensor.insert %v into %n[%j] : tensor<3xf32>
      %t = tensor.from_elements %v : tensor<f32>
      return %t, %r : tensor<f32>, tensor<3xf32>
    })"))
      << good.errors();
  Buffer x = Buffer::of(std::vector<int32_t>{2, -3, 1}),
         y = Buffer::of(std::vector<int32_t>{10, 3, -4}), z(12);
  ASSERT_EQ(good.run(0, {&x, &y, &z}), 0);
  EXPECT_THAT(z.as<int32_t>(), ElementsAre(1024, -27, 1));
  Buffer zero = Buffer::of(std::vector<int32_t>{0, 0, 0});
  EXPECT_GT(good.run(0, {&zero, &y, &z}), 0);

  Buffer t = Buffer::of(std::vector<float>{0, 10, 20, 30, 40}), g(28);
  Buffer in = Buffer::of(std::vector<int64_t>{4, 0, 1, 1, 3, 2, 0});
  ASSERT_EQ(good.run(1, {&t, &in, &g}), 0);
  EXPECT_THAT(g.as<float>(), ElementsAre(40, 0, 10, 10, 30, 20, 0));
  for (int64_t bad : {int64_t(5), int64_t(-1), INT64_MIN, INT64_MAX}) {
    Buffer out = Buffer::of(std::vector<int64_t>{0, 0, 0, bad, 0, 0, 0});
    int32_t status = good.run(1, {&t, &out, &g});
    ASSERT_EQ(status, 1);
    EXPECT_EQ(good.code().segments[1].locations[0].message,
              "index out of bounds");
  }
  for (auto [step, count] : {std::pair{1, 10}, {3, 4}, {0, -1}, {-2, -1}}) {
    Buffer s = Buffer::of(std::vector<int64_t>{step}), r(8);
    int32_t status = good.run(2, {&s, &r});
    EXPECT_EQ(status > 0, count < 0) << step;
    if (count >= 0) {
      EXPECT_EQ(r.as<int64_t>()[0], count);
    }
  }
  Buffer nothing(0), three = Buffer::of(std::vector<float>{1, 2, 3}), v(4),
                     w(12), at = Buffer::of(std::vector<int64_t>{0});
  EXPECT_GT(good.run(3, {&nothing, &three, &at, &v, &w}), 0);
}

TEST(KernelShards, CoordinatesAndAliases) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
    func.func @where() -> tensor<2xi64>
        attributes {pw.local_view, segment_mesh = #pw.mesh<"data" = 4, "model" = 8>} {
      %m = pw.shard_index "model" : index
      %d = pw.shard_index "data" : index
      %a = arith.index_cast %m : index to i64
      %b = arith.index_cast %d : index to i64
      %t = tensor.from_elements %a, %b : tensor<2xi64>
      return %t : tensor<2xi64>
    }
    func.func @reverse(%x: tensor<64xf32>) -> tensor<64xf32>
        attributes {segment_may_alias = array<i64: 0, 0>} {
      %e = tensor.empty() : tensor<64xf32>
      %r = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>],
                           iterator_types = ["parallel"]} outs(%e : tensor<64xf32>) {
        ^bb0(%o: f32):
          %i = linalg.index 0 : index
          %c = arith.constant 63 : index
          %j = arith.subi %c, %i : index
          %v = tensor.extract %x[%j] : tensor<64xf32>
          linalg.yield %v : f32
      } -> tensor<64xf32>
      return %r : tensor<64xf32>
    }
    func.func @swap(%x: tensor<5xf32>, %y: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>)
        attributes {segment_may_alias = array<i64: 0, 0, 1, 1>} {
      return %y, %x : tensor<5xf32>, tensor<5xf32>
    })"))
      << kernel.errors();
  Buffer t(16);
  ASSERT_EQ(kernel.run(0, {&t}, {3, 5}), 0);
  EXPECT_THAT(t.as<int64_t>(), ElementsAre(5, 3));
  auto xs = numbers<float>(64, 1);
  Buffer x = Buffer::of(xs);
  ASSERT_EQ(kernel.run(1, {&x, &x}), 0); // In place.
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(x.as<float>()[i], xs[63 - i]);
  Buffer a = Buffer::of(std::vector<float>{1, 2, 3, 4, 5}),
         b = Buffer::of(std::vector<float>{6, 7, 8, 9, 10});
  ASSERT_EQ(kernel.run(2, {&a, &b, &a, &b}), 0);
  EXPECT_THAT(a.as<float>(), ElementsAre(6, 7, 8, 9, 10));
  EXPECT_THAT(b.as<float>(), ElementsAre(1, 2, 3, 4, 5));
}

/// An output in the memory of an input is written there where that is read for
/// the last time, element by element, and takes no scratch; where other
/// elements are read later it is computed aside.
TEST(KernelShards, UpdatesInPlace) {
  struct Case {
    const char *body;
    bool isInPlace;
    std::vector<float> expected;
  };
  const Case cases[] = {
      {"%r = arith.subf %x, %y : tensor<2x2xf32>", true, {-9, -18, -27, -36}},
      {"%a = arith.mulf %x, %y : tensor<2x2xf32>\n"
       "%r = arith.addf %a, %x : tensor<2x2xf32>",
       true,
       {11, 42, 93, 164}},
      {"%e = tensor.empty() : tensor<2x2xf32>\n"
       "%r = linalg.transpose ins(%x : tensor<2x2xf32>) outs(%e : "
       "tensor<2x2xf32>) permutation = [1, 0]",
       false,
       {1, 3, 2, 4}},
      {"%e = tensor.empty() : tensor<2x2xf32>\n"
       "%t = linalg.transpose ins(%x : tensor<2x2xf32>) outs(%e : "
       "tensor<2x2xf32>) permutation = [1, 0]\n"
       "%r = arith.addf %x, %t : tensor<2x2xf32>",
       false,
       {2, 5, 5, 8}},
      {"%e = tensor.empty() : tensor<2x2xf32>\n"
       "%c = arith.constant 0.0 : f32\n"
       "%z = linalg.fill ins(%c : f32) outs(%e : tensor<2x2xf32>) -> "
       "tensor<2x2xf32>\n"
       "%r = linalg.matmul ins(%x, %y : tensor<2x2xf32>, tensor<2x2xf32>) "
       "outs(%z : tensor<2x2xf32>) -> tensor<2x2xf32>",
       false,
       {70, 100, 150, 220}},
  };
  for (const Case &one : cases) {
    SCOPED_TRACE(one.body);
    Kernel kernel;
    ASSERT_TRUE(kernel.compile(
        "func.func @f(%x: tensor<2x2xf32>, %y: tensor<2x2xf32>) -> "
        "tensor<2x2xf32> attributes {segment_may_alias = array<i64: 0, 0>} "
        "{\n" +
        std::string(one.body) + "\nreturn %r : tensor<2x2xf32>\n}"))
        << kernel.errors();
    Buffer x = Buffer::of(std::vector<float>{1, 2, 3, 4}),
           y = Buffer::of(std::vector<float>{10, 20, 30, 40});
    ASSERT_EQ(kernel.run(0, {&x, &y, &x}), 0);
    EXPECT_EQ(x.as<float>(), one.expected);
    EXPECT_EQ(kernel.code().segments[0].scratchBytes == 0, one.isInPlace);
  }
}

/// Results may come from one beginning, or one from the other, in any order:
/// none is computed where another still lies.
TEST(KernelResults, OfOneBeginning) {
  auto sum = [](std::string from, std::string to) {
    return "  %" + to + " = linalg.reduce { arith.addf } ins(%" + to[0] +
           " : tensor<4x8xf32>) outs(%" + from +
           " : tensor<8xf32>) dimensions = [0]\n";
  };
  struct Case {
    std::string body;
    std::vector<std::string> results;
  };
  std::vector<Case> cases;
  for (bool swap : {false, true}) {
    auto inOrder = [&](std::string first, std::string second) {
      if (swap)
        std::swap(first, second);
      return std::vector<std::string>{first, second};
    };
    cases.push_back(
        {sum("zero", "x1") + sum("zero", "y1"), inOrder("x1", "y1")});
    cases.push_back({sum("zero", "x1") + sum("x1", "y2"), inOrder("x1", "y2")});
    cases.push_back({sum("zero", "x1"), inOrder("x1", "zero")});
    cases.push_back({sum("zero", "x1") + sum("x1", "y2") + sum("x1", "x3"),
                     inOrder("y2", "x3")});
  }
  cases.push_back({sum("zero", "x1"), {"x1", "x1"}});
  cases.push_back({sum("zero", "x1") + sum("x1", "y2") + sum("y2", "x4"),
                   {"x4", "y2", "x1"}});
  Buffer x = Buffer::of(std::vector<float>(32, 1)),
         y = Buffer::of(std::vector<float>(32, 10));
  // Four rows of ones or tens, on top of what a value starts from.
  const std::map<std::string, float> values = {
      {"zero", 0}, {"x1", 4}, {"y1", 40}, {"y2", 44}, {"x3", 8}, {"x4", 48}};
  for (const Case &test : cases) {
    std::string types, names;
    for (const std::string &result : test.results) {
      types += (types.empty() ? "" : ", ") + std::string("tensor<8xf32>");
      names += (names.empty() ? "%" : ", %") + result;
    }
    std::string text =
        "func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> (" + types +
        ") {\n  %c = arith.constant 0.0 : f32\n"
        "  %e = tensor.empty() : tensor<8xf32>\n"
        "  %zero = linalg.fill ins(%c : f32) outs(%e : tensor<8xf32>)"
        " -> tensor<8xf32>\n" +
        test.body + "  return " + names + " : " + types + "\n}\n";
    SCOPED_TRACE(text);
    Kernel kernel;
    ASSERT_TRUE(kernel.compile(text)) << kernel.errors();
    std::vector<Buffer> outputs;
    for (size_t i = 0; i < test.results.size(); ++i)
      outputs.emplace_back(8 * 4);
    std::vector<Buffer *> buffers = {&x, &y};
    for (Buffer &output : outputs)
      buffers.push_back(&output);
    ASSERT_EQ(kernel.run(0, buffers), 0);
    for (auto [result, output] : llvm::zip_equal(test.results, outputs))
      EXPECT_THAT(output.as<float>(), Each(values.at(result))) << result;
  }
}

/// A chain of matrices needs temporaries, but only as many as live together.
TEST(KernelScratch, SharedByThoseNotLiveTogether) {
  std::string body, last = "%x";
  for (int i = 0; i < 12; ++i) {
    std::string n = std::to_string(i);
    body += "  %e" + n + " = tensor.empty() : tensor<64x64xf32>\n  %f" + n +
            " = linalg.fill ins(%z : f32) outs(%e" + n +
            " : tensor<64x64xf32>) -> tensor<64x64xf32>\n  %r" + n +
            " = linalg.matmul ins(" + last +
            ", %y : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f" + n +
            " : tensor<64x64xf32>) -> tensor<64x64xf32>\n";
    last = "%r" + n;
  }
  Kernel kernel;
  ASSERT_TRUE(kernel.compile("func.func @chain(%x: tensor<64x64xf32>, %y: "
                             "tensor<64x64xf32>) -> tensor<64x64xf32> {\n"
                             "  %z = arith.constant 0.0 : f32\n" +
                             body + "  return " + last +
                             " : tensor<64x64xf32>\n}\n"))
      << kernel.errors();
  EXPECT_LE(kernel.code().segments[0].scratchBytes, 2u * 64 * 64 * 4);
  // y shifts columns by one: twelve times.
  std::vector<float> xs = numbers<float>(4096, 1), ys(4096, 0.0f);
  for (int i = 0; i < 64; ++i)
    ys[i * 64 + (i + 1) % 64] = 1;
  Buffer x = Buffer::of(xs), y = Buffer::of(ys), z(4096 * 4);
  ASSERT_EQ(kernel.run(0, {&x, &y, &z}), 0);
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j < 64; ++j)
      ASSERT_EQ(z.as<float>()[i * 64 + (j + 12) % 64], xs[i * 64 + j]);
}

TEST(KernelRefusals, SayWhat) {
  struct Case {
    const char *text, *error;
  };
  const Case cases[] = {
      {"func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> { return %x : "
       "tensor<?xf32> }",
       "argument 0 cannot be passed to a kernel: it has tensor<?xf32>, whose "
       "shape is not known"},
      {"func.func @f(%x: tensor<4xf8E5M2>) -> tensor<4xf8E5M2> { return %x : "
       "tensor<4xf8E5M2> }",
       "has elements of f8E5M2, expected one of f16, bf16, f32, f64, i1, i8, "
       "i32, i64"},
      {"func.func @f(%x: tensor<4xf64>) -> tensor<4xf16> {\n"
       "  %r = arith.truncf %x : tensor<4xf64> to tensor<4xf16>\n"
       "  return %r : tensor<4xf16> }",
       "rounds f64 to 'f16', which a kernel does not support; round to f32 "
       "first"},
      {"func.func @f(%x: tensor<bf16>) -> tensor<bf16> {\n"
       "  %v = tensor.extract %x[] : tensor<bf16>\n"
       "  %b = arith.bitcast %v : bf16 to i16\n"
       "  return %x : tensor<bf16> }",
       "looks at the bits of f16 or bf16, which a kernel does not support"},
      {"func.func @f(%x: tensor<4xui32>) { return }", "has elements of ui32"},
      {"func.func @f(%x: tensor<4xf32>) -> tensor<4xi32> {\n"
       "  %r = tensor.bitcast %x : tensor<4xf32> to tensor<4xi32>\n"
       "  return %r : tensor<4xi32> }",
       "'tensor.bitcast' op is not supported in a kernel"},
      {"func.func @f(%x: tensor<6xf32>) -> tensor<4xf32> {\n"
       "  %c = arith.constant 0.0 : f32\n"
       "  %r = tensor.pad %x low[-1] high[-1] { ^bb0(%i: index): tensor.yield "
       "%c : f32 }\n"
       "    : tensor<6xf32> to tensor<4xf32>\n"
       "  return %r : tensor<4xf32> }",
       "expected padding of at least 0, got -1"},
      {"func.func @f(%x: tensor<2xi64>) -> tensor<2xi64> {\n"
       "  %w = arith.extsi %x : tensor<2xi64> to tensor<2xi128>\n"
       "  return %x : tensor<2xi64> }",
       "has elements of i128"},
      {"func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
       "  cf.br ^next\n^next:\n  return %x : tensor<4xf32> }",
       "expected a body of one block, got 2"},
      {"func.func @f(%x: f32) -> f32 { return %x : f32 }",
       "argument 0 cannot be passed to a kernel: expected a tensor"},
      {"func.func @f(%x: tensor<4xindex>) -> tensor<4xindex> { return %x : "
       "tensor<4xindex> }",
       "argument 0 cannot be passed to a kernel: expected a tensor"},
      {"func.func @f(%x: tensor<9223372036854775807xf32>) { return }",
       "larger than 2^48 bytes"},
      {"func.func @f(%x: memref<4xf32>) { return }",
       "argument 0 cannot be passed"},
      {"func.func @f(%n: tensor<i64>) -> tensor<i64> {\n"
       "  %k = tensor.extract %n[] : tensor<i64>\n"
       "  %i = arith.index_cast %k : i64 to index\n"
       "  %e = tensor.empty(%i) : tensor<?xf32>\n"
       "  return %n : tensor<i64> }",
       "'tensor.empty' op has tensor<?xf32>, whose shape is not known"},
      {"func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
       "  %v = arith.constant dense<0.0> : vector<4xf32>\n"
       "  return %x : tensor<2xf32> }",
       "has a value of type vector<4xf32>"},
      {"func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
       "  %m = memref.alloc() : memref<4xf32>\n"
       "  return %x : tensor<2xf32> }",
       "'memref.alloc' op is not supported in a kernel"},
      {"func.func @f(%x: tensor<2xf32>) -> tensor<2xf32>\n"
       "    attributes {segment_may_alias = array<i64: 0, 4>} { return %x : "
       "tensor<2xf32> }",
       "may share memory between input 0 and output 4, but has 1 inputs and 1 "
       "outputs"},
      {"func.func @f() -> tensor<i64> attributes {pw.local_view, segment_mesh "
       "= #pw.mesh<\"a\" = 2>} {\n"
       "  %m = pw.shard_index \"b\" : index\n"
       "  %k = arith.index_cast %m : index to i64\n"
       "  %t = tensor.from_elements %k : tensor<i64>\n"
       "  return %t : tensor<i64> }",
       "names axis 'b', which the mesh of the segment lacks"},
  };
  for (const Case &c : cases) {
    Kernel kernel;
    EXPECT_FALSE(kernel.compile(c.text)) << c.text;
    EXPECT_THAT(kernel.errors(), HasSubstr(c.error)) << c.text;
  }
}

/// What is chosen among computed and given values is kept until it is written
/// out, though the place where it was computed has other uses in between.
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

/// A loop may go on with what was there before it or with what goes around.
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

/// A tensor that a branch makes goes into itself.
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

TEST(KernelTargets, OthersAndUnknown) {
  const char *text = R"(
    func.func @f(%x: tensor<37x41xf32>, %y: tensor<41x29xf32>) -> tensor<37x29xf32> {
      %z = arith.constant dense<0.0> : tensor<37x29xf32>
      %r = linalg.matmul ins(%x, %y : tensor<37x41xf32>, tensor<41x29xf32>)
             outs(%z : tensor<37x29xf32>) -> tensor<37x29xf32>
      return %r : tensor<37x29xf32>
    })";
  auto target = [](const char *triple, const char *cpu) {
    pathways::proto::Target target;
    target.set_triple(triple);
    target.set_cpu(cpu);
    return target;
  };
  Kernel kernel;
  ASSERT_TRUE(
      kernel.compile(text, {target("x86_64-unknown-linux-gnu", "x86-64"),
                            target("x86_64-unknown-linux-gnu", "x86-64-v3"),
                            target("aarch64-unknown-linux-gnu", "neoverse-n1"),
                            target("x86_64-unknown-linux-gnu", "x86-64-v3")}))
      << kernel.errors();
  EXPECT_EQ(kernel.code().targets.size(), 3u);
  Kernel again;
  ASSERT_TRUE(again.compile(text, kernel.code().targets)) << again.errors();
  EXPECT_EQ(again.code().objects, kernel.code().objects);
  EXPECT_EQ(again.code().hash, kernel.code().hash);

  Kernel unknown;
  EXPECT_FALSE(unknown.compile(text, {target("pdp11-dec-unix", "")}));
  EXPECT_THAT(unknown.errors(),
              HasSubstr("no code can be made for target 'pdp11-dec-unix'"));
  Kernel cpu;
  EXPECT_FALSE(
      cpu.compile(text, {target("x86_64-unknown-linux-gnu", "abacus")}));
  EXPECT_THAT(cpu.errors(), HasSubstr("has no CPU called 'abacus'"));
}

} // namespace

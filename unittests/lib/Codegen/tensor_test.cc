//===- tensor_test.cc - Kernels that move elements ------------------------===//
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
#include <cstdint>
#include <string>
#include <vector>

using namespace kernel_test;
using testing::Each;
using testing::ElementsAre;

namespace {

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
  // A splat is not written out in the code.
  EXPECT_LT(kernel.code().objects[0].size(), 40000u);
}

/// Tests blocks of whole tiles, the remainder on either side, and dimensions
/// around them.
template <typename T>
void checkTranspose(const std::string &type, int a = 3, int b = 149,
                    int c = 50) {
  SCOPED_TRACE(type);
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

/// Tests results that bypass the caches: whole lines, also with remaining rows
/// and columns, and rows that begin in the middle of a line.
TEST(KernelTranspose, LargeResults) {
  checkTranspose<float>("f32", 2, 520, 1010);
  checkTranspose<double>("f64", 1, 724, 725);
  checkTranspose<int32_t>("i32", 1, 1030, 1031);
}

/// One of two operands is transposed tile by tile, with the work in between.
TEST(KernelTranspose, Indices) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
func.func @k(%a: tensor<8xi64>) -> tensor<8xi64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %e = tensor.empty() : tensor<8x8xindex>
  %f = linalg.fill ins(%c1 : index) outs(%e : tensor<8x8xindex>) -> tensor<8x8xindex>
  %i = scf.for %j = %c0 to %c8 step %c1 iter_args(%t = %f) -> (tensor<8x8xindex>) {
    %n = tensor.insert %j into %t[%c1, %j] : tensor<8x8xindex>
    scf.yield %n : tensor<8x8xindex>
  }
  %turned = linalg.transpose ins(%i : tensor<8x8xindex>) outs(%e : tensor<8x8xindex>) permutation = [1, 0]
  %r = scf.for %j = %c0 to %c8 step %c1 iter_args(%t = %a) -> (tensor<8xi64>) {
    %v = tensor.extract %turned[%j, %c1] : tensor<8x8xindex>
    %w = arith.index_cast %v : index to i64
    %n = tensor.insert %w into %t[%j] : tensor<8xi64>
    scf.yield %n : tensor<8xi64>
  }
  return %r : tensor<8xi64>
})")) << kernel.errors();
  Buffer a(64), out(64);
  ASSERT_EQ(kernel.run(0, {&a, &out}), 0);
  EXPECT_EQ(out.as<int64_t>(), (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
}

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

/// A part without elements begins where the other one ends, after the last
/// place.
TEST(KernelTensor, PartsWithoutElements) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
    func.func @ends(%x: tensor<2x3xi32>, %none: tensor<2x0xi32>) -> tensor<2x3xi32> {
      %r = tensor.concat dim(1) %none, %x, %none : (tensor<2x0xi32>, tensor<2x3xi32>, tensor<2x0xi32>) -> tensor<2x3xi32>
      return %r : tensor<2x3xi32>
    }
    func.func @rows(%x: tensor<2x0xi32>) -> tensor<4x0xi32> {
      %r = tensor.concat dim(0) %x, %x : (tensor<2x0xi32>, tensor<2x0xi32>) -> tensor<4x0xi32>
      return %r : tensor<4x0xi32>
    }
    func.func @border(%x: tensor<0x3xi32>) -> tensor<0x5xi32> {
      %c = arith.constant 7 : i32
      %r = tensor.pad %x low[0, 1] high[0, 1] {
      ^bb0(%i: index, %j: index):
        tensor.yield %c : i32
      } : tensor<0x3xi32> to tensor<0x5xi32>
      return %r : tensor<0x5xi32>
    })"))
      << kernel.errors();
  Buffer x = Buffer::of(std::vector<int32_t>{1, 2, 3, 4, 5, 6}), none(0), r(24),
         nothing(0);
  ASSERT_EQ(kernel.run(0, {&x, &none, &r}), 0);
  EXPECT_EQ(r.as<int32_t>(), x.as<int32_t>());
  EXPECT_EQ(kernel.run(1, {&none, &nothing}), 0);
  EXPECT_EQ(kernel.run(2, {&none, &nothing}), 0);
}

/// The offset of a slice is checked even if it extracts nothing. (The offset of
/// an insertion of nothing is not checked.)
TEST(KernelTensor, PlacesOfPartsWithoutElements) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
    func.func @taken(%x: tensor<4xi32>, %at: tensor<i64>) -> tensor<0xi32> {
      %i = tensor.extract %at[] : tensor<i64>
      %j = arith.index_cast %i : i64 to index
      %r = tensor.extract_slice %x[%j] [0] [1] : tensor<4xi32> to tensor<0xi32>
      return %r : tensor<0xi32>
    }
    func.func @put(%x: tensor<4xi32>, %none: tensor<0xi32>, %at: tensor<i64>) -> tensor<4xi32> {
      %i = tensor.extract %at[] : tensor<i64>
      %j = arith.index_cast %i : i64 to index
      %r = tensor.insert_slice %none into %x[%j] [0] [1] : tensor<0xi32> into tensor<4xi32>
      return %r : tensor<4xi32>
    })"))
      << kernel.errors();
  Buffer x = Buffer::of(std::vector<int32_t>{1, 2, 3, 4}), none(0), r(16),
         nothing(0);
  for (int64_t at : {0, 4}) {
    Buffer place = Buffer::of(std::vector<int64_t>{at});
    EXPECT_EQ(kernel.run(0, {&x, &place, &nothing}), 0) << at;
    EXPECT_EQ(kernel.run(1, {&x, &none, &place, &r}), 0) << at;
    EXPECT_EQ(r.as<int32_t>(), x.as<int32_t>()) << at;
  }
  for (int64_t at : {-1, 5}) {
    Buffer place = Buffer::of(std::vector<int64_t>{at});
    EXPECT_NE(kernel.run(0, {&x, &place, &nothing}), 0) << at;
  }
}

} // namespace

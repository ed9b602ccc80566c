//===- gather_test.cc - Lookups and scatters ------------------------------===//
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
#include <numeric>
#include <vector>

using namespace kernel_test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

TEST(KernelGather, WhatTheOpAllows) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
    func.func @rows(%t: tensor<5x3xi32>, %i: tensor<2x2x1xi32>) -> tensor<2x2x3xi32> {
      %r = tensor.gather %t[%i] gather_dims([0]) : (tensor<5x3xi32>, tensor<2x2x1xi32>) -> tensor<2x2x3xi32>
      return %r : tensor<2x2x3xi32>
    }
    func.func @middle(%t: tensor<2x5x3xi32>, %i: tensor<2x1xi8>) -> tensor<2x2x1x3xi32> {
      %r = tensor.gather %t[%i] gather_dims([1]) : (tensor<2x5x3xi32>, tensor<2x1xi8>) -> tensor<2x2x1x3xi32>
      return %r : tensor<2x2x1x3xi32>
    }
    func.func @elements(%t: tensor<5x3xi32>, %i: tensor<4x2xi64>) -> tensor<4xi32> {
      %r = tensor.gather %t[%i] gather_dims([0, 1]) unique : (tensor<5x3xi32>, tensor<4x2xi64>) -> tensor<4xi32>
      return %r : tensor<4xi32>
    }
    func.func @outer(%t: tensor<2x3x2xi32>, %i: tensor<3x2xi32>) -> tensor<3x3xi32> {
      %r = tensor.gather %t[%i] gather_dims([0, 2]) : (tensor<2x3x2xi32>, tensor<3x2xi32>) -> tensor<3x3xi32>
      return %r : tensor<3x3xi32>
    }
    func.func @one(%t: tensor<5x3xi32>, %i: tensor<1xi32>) -> tensor<3xi32> {
      %r = tensor.gather %t[%i] gather_dims([0]) : (tensor<5x3xi32>, tensor<1xi32>) -> tensor<3xi32>
      return %r : tensor<3xi32>
    }
    func.func @bits(%t: tensor<2x3xi1>, %i: tensor<4x1xi1>) -> tensor<4x3xi1> {
      %r = tensor.gather %t[%i] gather_dims([0]) : (tensor<2x3xi1>, tensor<4x1xi1>) -> tensor<4x3xi1>
      return %r : tensor<4x3xi1>
    }
    func.func @none(%t: tensor<0x3xi32>, %i: tensor<0x1xi32>) -> tensor<0x3xi32> {
      %r = tensor.gather %t[%i] gather_dims([0]) : (tensor<0x3xi32>, tensor<0x1xi32>) -> tensor<0x3xi32>
      return %r : tensor<0x3xi32>
    })"))
      << kernel.errors();
  std::vector<int32_t> table(30);
  for (int i = 0; i < 30; ++i)
    table[i] = i;
  Buffer t = Buffer::of(table);
  {
    Buffer i = Buffer::of(std::vector<int32_t>{4, 0, 2, 2}), r(48);
    ASSERT_EQ(kernel.run(0, {&t, &i, &r}), 0);
    EXPECT_THAT(r.as<int32_t>(),
                ElementsAre(12, 13, 14, 0, 1, 2, 6, 7, 8, 6, 7, 8));
  }
  {
    Buffer i = Buffer::of(std::vector<int8_t>{3, 1}), r(48);
    ASSERT_EQ(kernel.run(1, {&t, &i, &r}), 0);
    EXPECT_THAT(r.as<int32_t>(),
                ElementsAre(9, 10, 11, 24, 25, 26, 3, 4, 5, 18, 19, 20));
  }
  {
    Buffer i = Buffer::of(std::vector<int64_t>{4, 2, 0, 0, 1, 2, 3, 1}), r(16);
    ASSERT_EQ(kernel.run(2, {&t, &i, &r}), 0);
    EXPECT_THAT(r.as<int32_t>(), ElementsAre(14, 0, 5, 10));
  }
  {
    Buffer i = Buffer::of(std::vector<int32_t>{1, 0, 0, 1, 1, 1}), r(36);
    ASSERT_EQ(kernel.run(3, {&t, &i, &r}), 0);
    EXPECT_THAT(r.as<int32_t>(), ElementsAre(6, 8, 10, 1, 3, 5, 7, 9, 11));
  }
  {
    Buffer i = Buffer::of(std::vector<int32_t>{3}), r(12);
    ASSERT_EQ(kernel.run(4, {&t, &i, &r}), 0);
    EXPECT_THAT(r.as<int32_t>(), ElementsAre(9, 10, 11));
  }
  {
    Buffer bits = Buffer::of(std::vector<uint8_t>{0, 1, 0, 1, 0, 1});
    Buffer i = Buffer::of(std::vector<uint8_t>{1, 0, 0, 1}), r(12);
    ASSERT_EQ(kernel.run(5, {&bits, &i, &r}), 0);
    EXPECT_THAT(r.as<uint8_t>(),
                ElementsAre(1, 0, 1, 0, 1, 0, 0, 1, 0, 1, 0, 1));
  }
  Buffer i(0), r(0);
  EXPECT_EQ(kernel.run(6, {&t, &i, &r}), 0);
}

/// An index out of bounds fails at the lookup, not at the ops around it.
TEST(KernelGather, IndicesThatAreNotThere) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
    func.func @rows(%t: tensor<5x16xf32>, %i: tensor<3x1xi32>) -> tensor<3x16xf32> {
      %r = tensor.gather %t[%i] gather_dims([0]) : (tensor<5x16xf32>, tensor<3x1xi32>) -> tensor<3x16xf32> loc("table.mlir":7:3)
      %s = arith.addf %r, %r : tensor<3x16xf32>
      return %s : tensor<3x16xf32>
    })"))
      << kernel.errors();
  Buffer t = Buffer::of(numbers<float>(80, 1)), r(192);
  for (int bad : {-1, 5, INT32_MAX, INT32_MIN})
    for (int at = 0; at < 3; ++at) {
      std::vector<int32_t> indices = {0, 1, 4};
      Buffer good = Buffer::of(indices);
      EXPECT_EQ(kernel.run(0, {&t, &good, &r}), 0);
      indices[at] = bad;
      Buffer i = Buffer::of(indices);
      int32_t failed = kernel.run(0, {&t, &i, &r});
      ASSERT_GT(failed, 0) << bad << " at " << at;
      const auto &entry = kernel.code().segments[0].locations[failed - 1];
      EXPECT_THAT(entry.where, HasSubstr("table.mlir:7:3"));
      EXPECT_EQ(entry.message, "index out of bounds");
    }
}

/// A table of narrow numbers is not widened, and neither are constants.
TEST(KernelGather, NarrowTables) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
    func.func @rows(%t: tensor<100x4xbf16>, %i: tensor<2x1xi32>) -> tensor<2x4xf32> {
      %r = tensor.gather %t[%i] gather_dims([0]) : (tensor<100x4xbf16>, tensor<2x1xi32>) -> tensor<2x4xbf16>
      %w = arith.extf %r : tensor<2x4xbf16> to tensor<2x4xf32>
      return %w : tensor<2x4xf32>
    }
    func.func @known(%i: tensor<2x1xi32>) -> tensor<2xf16> {
      %t = arith.constant dense<[1.0, 2.5, -4.0]> : tensor<3xf16>
      %r = tensor.gather %t[%i] gather_dims([0]) : (tensor<3xf16>, tensor<2x1xi32>) -> tensor<2xf16>
      return %r : tensor<2xf16>
    })"))
      << kernel.errors();
  EXPECT_EQ(kernel.code().segments[0].scratchBytes, 0u);
  std::vector<uint16_t> table(400, 0x3f80); // 1
  table[99 * 4 + 2] = 0xc000;               // -2
  Buffer t = Buffer::of(table), i = Buffer::of(std::vector<int32_t>{99, 1}),
         r(32);
  ASSERT_EQ(kernel.run(0, {&t, &i, &r}), 0);
  EXPECT_THAT(r.as<float>(), ElementsAre(1, 1, -2, 1, 1, 1, 1, 1));
  Buffer j = Buffer::of(std::vector<int32_t>{2, 1}), s(4);
  ASSERT_EQ(kernel.run(1, {&j, &s}), 0);
  EXPECT_THAT(s.as<uint16_t>(), ElementsAre(0xc400, 0x4100));
}

/// The gradient of a lookup adds rows to a table in place, the same row more
/// than once.
TEST(KernelGather, GradientsInPlace) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
    func.func @gradient(%i: tensor<64xi32>, %dy: tensor<64x16xf32>) -> tensor<500x16xf32> {
      %zero = arith.constant dense<0.0> : tensor<500x16xf32>
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = arith.constant 64 : index
      %r = scf.for %k = %c0 to %n step %c1 iter_args(%g = %zero) -> tensor<500x16xf32> {
        %id = tensor.extract %i[%k] : tensor<64xi32>
        %row = arith.index_cast %id : i32 to index
        %old = tensor.extract_slice %g[%row, 0] [1, 16] [1, 1] : tensor<500x16xf32> to tensor<16xf32>
        %d = tensor.extract_slice %dy[%k, 0] [1, 16] [1, 1] : tensor<64x16xf32> to tensor<16xf32>
        %new = arith.addf %old, %d : tensor<16xf32>
        %next = tensor.insert_slice %new into %g[%row, 0] [1, 16] [1, 1] : tensor<16xf32> into tensor<500x16xf32>
        scf.yield %next : tensor<500x16xf32>
      }
      return %r : tensor<500x16xf32>
    })"))
      << kernel.errors();
  // Scratch memory holds a row, but not the table.
  EXPECT_LE(kernel.code().segments[0].scratchBytes, 128u);
  std::vector<int32_t> indices(64);
  std::vector<float> rows = numbers<float>(64 * 16, 3), expected(500 * 16);
  for (int k = 0; k < 64; ++k) {
    indices[k] = k * k % 50 * 10;
    for (int j = 0; j < 16; ++j)
      expected[indices[k] * 16 + j] += rows[k * 16 + j];
  }
  Buffer i = Buffer::of(indices), dy = Buffer::of(rows), g(500 * 64);
  ASSERT_EQ(kernel.run(0, {&i, &dy, &g}), 0);
  EXPECT_EQ(g.as<float>(), expected);
  indices[5] = 500;
  Buffer bad = Buffer::of(indices);
  ASSERT_GT(kernel.run(0, {&bad, &dy, &g}), 0);
}

TEST(KernelScatter, WhatTheOpAllows) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
    func.func @rows(%d: tensor<4x3xi32>, %s: tensor<2x3xi32>, %i: tensor<2x1xi64>) -> tensor<4x3xi32> {
      %r = tensor.scatter %s into %d[%i] scatter_dims([0]) unique : (tensor<2x3xi32>, tensor<4x3xi32>, tensor<2x1xi64>) -> tensor<4x3xi32>
      return %r : tensor<4x3xi32>
    }
    func.func @middle(%d: tensor<2x4x2xi32>, %s: tensor<2x2x1x2xi32>, %i: tensor<2x1xi8>) -> tensor<2x4x2xi32> {
      %r = tensor.scatter %s into %d[%i] scatter_dims([1]) unique : (tensor<2x2x1x2xi32>, tensor<2x4x2xi32>, tensor<2x1xi8>) -> tensor<2x4x2xi32>
      return %r : tensor<2x4x2xi32>
    }
    func.func @elements(%d: tensor<2x3xi32>, %s: tensor<2x2xi32>, %i: tensor<2x2x2xi32>) -> tensor<2x3xi32> {
      %r = tensor.scatter %s into %d[%i] scatter_dims([0, 1]) unique : (tensor<2x2xi32>, tensor<2x3xi32>, tensor<2x2x2xi32>) -> tensor<2x3xi32>
      return %r : tensor<2x3xi32>
    }
    func.func @one(%d: tensor<2x3xi32>, %s: tensor<3xi32>, %i: tensor<1xi32>) -> tensor<2x3xi32> {
      %r = tensor.scatter %s into %d[%i] scatter_dims([0]) unique : (tensor<3xi32>, tensor<2x3xi32>, tensor<1xi32>) -> tensor<2x3xi32>
      return %r : tensor<2x3xi32>
    }
    func.func @none(%d: tensor<2x2xi32>, %s: tensor<0x2xi32>, %i: tensor<0x1xi32>) -> tensor<2x2xi32> {
      %r = tensor.scatter %s into %d[%i] scatter_dims([0]) unique : (tensor<0x2xi32>, tensor<2x2xi32>, tensor<0x1xi32>) -> tensor<2x2xi32>
      return %r : tensor<2x2xi32>
    })"))
      << kernel.errors();
  auto count = [](int32_t from, int32_t size) {
    std::vector<int32_t> values(size);
    std::iota(values.begin(), values.end(), from);
    return Buffer::of(values);
  };
  {
    Buffer d = count(0, 12), s = count(20, 6),
           i = Buffer::of(std::vector<int64_t>{3, 1}), r(48);
    ASSERT_EQ(kernel.run(0, {&d, &s, &i, &r}), 0);
    EXPECT_THAT(r.as<int32_t>(),
                ElementsAre(0, 1, 2, 23, 24, 25, 6, 7, 8, 20, 21, 22));
    for (int64_t wrong : {4, -1}) {
      Buffer bad = Buffer::of(std::vector<int64_t>{0, wrong});
      EXPECT_GT(kernel.run(0, {&d, &s, &bad, &r}), 0);
    }
  }
  {
    Buffer d = count(0, 16), s = count(20, 8),
           i = Buffer::of(std::vector<int8_t>{2, 0}), r(64);
    ASSERT_EQ(kernel.run(1, {&d, &s, &i, &r}), 0);
    EXPECT_THAT(r.as<int32_t>(), ElementsAre(24, 25, 2, 3, 20, 21, 6, 7, 26, 27,
                                             10, 11, 22, 23, 14, 15));
  }
  {
    Buffer d = count(0, 6), s = count(20, 4),
           i = Buffer::of(std::vector<int32_t>{1, 2, 0, 0, 0, 1, 1, 0}), r(24);
    ASSERT_EQ(kernel.run(2, {&d, &s, &i, &r}), 0);
    EXPECT_THAT(r.as<int32_t>(), ElementsAre(21, 22, 2, 23, 4, 20));
  }
  {
    Buffer d = count(0, 6), s = count(20, 3),
           i = Buffer::of(std::vector<int32_t>{1}), r(24);
    ASSERT_EQ(kernel.run(3, {&d, &s, &i, &r}), 0);
    EXPECT_THAT(r.as<int32_t>(), ElementsAre(0, 1, 2, 20, 21, 22));
  }
  {
    Buffer d = count(0, 4), s(0), i(0), r(16);
    ASSERT_EQ(kernel.run(4, {&d, &s, &i, &r}), 0);
    EXPECT_THAT(r.as<int32_t>(), ElementsAre(0, 1, 2, 3));
  }
}

} // namespace

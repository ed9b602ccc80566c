//===- result_test.cc - Placement of results and temporaries --------------===//
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
#include <map>

using namespace kernel_test;
using testing::Each;
using testing::ElementsAre;

namespace {

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
  ASSERT_EQ(kernel.run(1, {&x, &x}), 0); // in place
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(x.as<float>()[i], xs[63 - i]);
  Buffer a = Buffer::of(std::vector<float>{1, 2, 3, 4, 5}),
         b = Buffer::of(std::vector<float>{6, 7, 8, 9, 10});
  ASSERT_EQ(kernel.run(2, {&a, &b, &a, &b}), 0);
  EXPECT_THAT(a.as<float>(), ElementsAre(6, 7, 8, 9, 10));
  EXPECT_THAT(b.as<float>(), ElementsAre(1, 2, 3, 4, 5));
}

/// An output that shares memory with an input is written in place, without
/// scratch memory, if the input is read for the last time there, element by
/// element. If other elements are read later, the output is computed in a
/// separate buffer.
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

/// Results may start from one value, or one from the other, in any order: none
/// is computed where another is still live.
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
  // Four rows of ones or tens are added to the initial value.
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

/// A chain of matrices needs only as many temporaries as are live together.
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
  // y shifts columns by one, and twelve products do so twelve times.
  std::vector<float> xs = numbers<float>(4096, 1), ys(4096, 0.0f);
  for (int i = 0; i < 64; ++i)
    ys[i * 64 + (i + 1) % 64] = 1;
  Buffer x = Buffer::of(xs), y = Buffer::of(ys), z(4096 * 4);
  ASSERT_EQ(kernel.run(0, {&x, &y, &z}), 0);
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j < 64; ++j)
      ASSERT_EQ(z.as<float>()[i * 64 + (j + 12) % 64], xs[i * 64 + j]);
}

} // namespace

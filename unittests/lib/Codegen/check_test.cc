//===- check_test.cc - Checks in kernels and refused programs -------------===//
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
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

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
  EXPECT_EQ(status(0, 0), 1); // the first that fails
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
      EXPECT_EQ(status, 0); // the remainder exists
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
       "has elements of f8E5M2, expected f16, bf16, f32, f64, i1, i8, i16, i32 "
       "or i64"},
      {"func.func @f(%x: tensor<4xf64>) -> tensor<4xf16> {\n"
       "  %r = arith.truncf %x : tensor<4xf64> to tensor<4xf16>\n"
       "  return %r : tensor<4xf16> }",
       "rounds f64 to 'f16', which a kernel does not support; round to f32 "
       "first"},
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
              HasSubstr("cannot generate code for target 'pdp11-dec-unix'"));
  Kernel cpu;
  EXPECT_FALSE(
      cpu.compile(text, {target("x86_64-unknown-linux-gnu", "abacus")}));
  EXPECT_THAT(cpu.errors(), HasSubstr("has no CPU called 'abacus'"));
}

} // namespace

//===- outline_test.cc - Kernels that are cut into parts ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen_harness.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace kernel_test;

namespace {

std::string replaceAll(std::string text, const std::string &from,
                       const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
       at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

/// Returns v[i+1] = max(v[i] * w + b, 0), `layers` times. The last value is
/// returned twice. `element` is the type of all elements.
std::string network(int layers, const std::string &element,
                    const std::string &attributes = "") {
  std::string text = R"(
    func.func @f(%v0: tensor<9x9xE>, %w: tensor<9x9xE>, %b: tensor<9xE>)
        -> (tensor<9x9xE>, tensor<9x9xE>) )" +
                     attributes + R"( {
      %c = arith.constant 0.0 : E
      %zero = arith.constant dense<0.0> : tensor<9x9xE>
)";
  const std::string layer = R"(
      %p# = linalg.matmul ins(%v#, %w : tensor<9x9xE>, tensor<9x9xE>)
          outs(%zero : tensor<9x9xE>) -> tensor<9x9xE>
      %e# = tensor.empty() : tensor<9x9xE>
      %b# = linalg.broadcast ins(%b : tensor<9xE>) outs(%e# : tensor<9x9xE>)
          dimensions = [0]
      %s# = arith.addf %p#, %b# : tensor<9x9xE>
      %v! = arith.maximumf %s#, %zero : tensor<9x9xE>
)";
  for (int i = 0; i < layers; ++i)
    text += replaceAll(replaceAll(layer, "#", std::to_string(i)), "!",
                       std::to_string(i + 1));
  const std::string last = "%v" + std::to_string(layers);
  text += "return " + last + ", " + last + " : tensor<9x9xE>, tensor<9x9xE>\n}";
  return replaceAll(text, "E", element);
}

std::vector<float> plain(std::vector<float> v, const std::vector<float> &w,
                         const std::vector<float> &b, int layers) {
  for (int l = 0; l < layers; ++l) {
    std::vector<float> next(81);
    for (int i = 0; i < 9; ++i)
      for (int j = 0; j < 9; ++j) {
        double sum = b[j];
        for (int k = 0; k < 9; ++k)
          sum += double(v[9 * i + k]) * w[9 * k + j];
        next[9 * i + j] = static_cast<float>(std::max(sum, 0.0));
      }
    v = next;
  }
  return v;
}

size_t objectBytes(const Kernel &kernel) {
  return kernel.code().objects.front().size();
}

TEST(KernelParts, EqualLayersAreOne) {
  const auto v = numbers<float>(81, 1, 0), w = numbers<float>(81, 2, -0.3, 0.6),
             b = numbers<float>(9, 3);
  size_t bytes = 0;
  for (int layers : {1, 40, 80}) {
    Kernel kernel;
    ASSERT_TRUE(kernel.compile(network(layers, "f32"))) << kernel.errors();
    Buffer x = Buffer::of(v), y = Buffer::of(w), z = Buffer::of(b), r(81 * 4),
           s(81 * 4);
    ASSERT_EQ(kernel.run(0, {&x, &y, &z, &r, &s}), 0);
    const auto expected = plain(v, w, b, layers);
    double size = 1e-6;
    for (float value : expected)
      size = std::max<double>(size, std::abs(value));
    for (int i = 0; i < 81; ++i)
      EXPECT_NEAR(r.as<float>()[i], expected[i], size * 1e-4) << i;
    EXPECT_EQ(r.as<float>(), s.as<float>());
    EXPECT_EQ(x.as<float>(), v);
    EXPECT_EQ(y.as<float>(), w);
    if (layers == 40)
      bytes = objectBytes(kernel);
    else if (layers == 80) // only calls are added
      EXPECT_LT(objectBytes(kernel), bytes * 1.5);
  }
}

/// Inputs share memory with outputs, and some elements are stored as integers.
TEST(KernelParts, SharedMemoryAndNarrowElements) {
  const std::string shares =
      "attributes {segment_may_alias = array<i64: 0, 0, 1, 1>}";
  for (const char *element : {"f32", "bf16", "f16"}) {
    Kernel apart, shared;
    ASSERT_TRUE(apart.compile(network(40, element))) << apart.errors();
    ASSERT_TRUE(shared.compile(network(40, element, shares)))
        << shared.errors();
    const size_t width = element == std::string("f32") ? 4 : 2;
    // The numbers are about 0.01 to 1.
    std::vector<uint8_t> v, w, b;
    for (int i = 0; i < 81 * int(width); ++i) {
      v.push_back(i % width == width - 1 ? 0x3c + i % 3 : i * 37);
      w.push_back(i % width == width - 1 ? 0x3b + i % 2 : i * 11);
      b.push_back(i % width == width - 1 ? 0xb9 + i % 2 : i * 7);
    }
    b.resize(9 * width);
    Buffer x = Buffer::of(v), y = Buffer::of(w), z = Buffer::of(b),
           r(81 * width), s(81 * width);
    ASSERT_EQ(apart.run(0, {&x, &y, &z, &r, &s}), 0);
    Buffer first = Buffer::of(v), second = Buffer::of(w);
    ASSERT_EQ(shared.run(0, {&first, &second, &z, &first, &second}), 0);
    EXPECT_EQ(first.as<uint8_t>(), r.as<uint8_t>()) << element;
    EXPECT_EQ(second.as<uint8_t>(), s.as<uint8_t>()) << element;
  }
}

/// If one of many loops fails, its location is reported.
TEST(KernelParts, ChecksStay) {
  std::string text = R"(
    func.func @f(%x: tensor<8xi32>, %n: tensor<i64>) -> tensor<8xi32> {
      %v0 = arith.addi %x, %x : tensor<8xi32>
)";
  for (int i = 0; i < 60; ++i) {
    const std::string from = "%v" + std::to_string(i),
                      to = "%v" + std::to_string(i + 1);
    text += to + " = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = " + from +
            R"() -> (tensor<8xi32>) {
        %b = arith.addi %a, %x : tensor<8xi32>
        %r = tensor.extract %x[%i] : tensor<8xi32>
        %s = tensor.splat %r : tensor<8xi32>
        %q = arith.)" +
            (i == 37 ? "divsi" : "addi") + R"( %b, %s : tensor<8xi32>
        scf.yield %q : tensor<8xi32>
      }
)";
  }
  text.insert(text.find("%v0"), R"(%c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
)");
  text += "return %v60 : tensor<8xi32>\n}";
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(text)) << kernel.errors();
  std::vector<int32_t> x = {3, 5, 7, 2, 1, 9, -4, 6};
  std::vector<int32_t> expected;
  for (int32_t e : x) {
    int32_t value = e + e;
    for (int i = 0; i < 60; ++i)
      for (int k = 0; k < 2; ++k) {
        value = int32_t(uint32_t(value) + uint32_t(e));
        value =
            i == 37 ? value / x[k] : int32_t(uint32_t(value) + uint32_t(x[k]));
      }
    expected.push_back(value);
  }
  Buffer in = Buffer::of(x), n = Buffer::of(std::vector<int64_t>{0}), out(32);
  ASSERT_EQ(kernel.run(0, {&in, &n, &out}), 0);
  EXPECT_EQ(out.as<int32_t>(), expected);
  x[1] = 0;
  Buffer zero = Buffer::of(x);
  const int32_t status = kernel.run(0, {&zero, &n, &out});
  ASSERT_GT(status, 0);
  EXPECT_NE(kernel.code().segments[0].locations[status - 1].message, "");
}

} // namespace

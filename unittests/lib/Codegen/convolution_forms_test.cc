//===- convolution_forms_test.cc - Other forms of convolutions ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tests ops around convolutions, convolutions that are written as
// linalg.generic, other element types, and refused convolutions.
//
//===----------------------------------------------------------------------===//

#include "window_cases.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <cctype>
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

using namespace kernel_test;

namespace {

/// The image is added to its convolution and may share memory with the result,
/// and the convolution itself may be a result too.
TEST(KernelConvolution, WhatComesBehind) {
  const int h = 6, w = 17, c = 18;
  Sizes sizes =
      sized({{'c', c}, {'f', c}, {'y', h}, {'x', w}, {'k', 3}, {'l', 3}});
  Window window = {.low = {1, 1}, .high = {1, 1}};
  auto textFor = [&](bool isShared, bool isWanted) {
    std::string image = "tensor<1x6x17x18xf32>",
                text = textOf(kNhwc, sizes, window);
    size_t arrow = text.find(") -> "), end = text.find("  return %r");
    text =
        text.substr(0, arrow) + ") -> (" + image +
        (isWanted ? ", " + image : "") + ")" +
        (isShared ? " attributes {segment_may_alias = array<i64: 0, 0>}" : "") +
        text.substr(arrow + 5 + image.size(), end - arrow - 5 - image.size()) +
        "  %sum = arith.addf %r, %x : " + image +
        "\n  %zeros = arith.constant dense<0.0> : " + image +
        "\n  %relu = arith.maximumf %sum, %zeros : " + image +
        "\n  return %relu" + (isWanted ? ", %r : " + image : " : ") +
        (isWanted ? ", " : "") + image + "\n}\n";
    return text;
  };
  for (bool isShared : {false, true})
    for (bool isWanted : {false, true}) {
      SCOPED_TRACE(testing::Message() << isShared << isWanted);
      const std::string text = textFor(isShared, isWanted);
      SCOPED_TRACE(text);
      Kernel kernel;
      ASSERT_TRUE(kernel.compile(text)) << kernel.errors();
      auto x = numbers<float>(h * w * c, 1), f = numbers<float>(9 * c * c, 2);
      Buffer in = Buffer::of(x), filter = Buffer::of(f), out(x.size() * 4),
             plain(x.size() * 4);
      std::vector<Buffer *> buffers = {&in, &filter, isShared ? &in : &out};
      if (isWanted)
        buffers.push_back(&plain);
      ASSERT_EQ(kernel.run(0, buffers), 0);
      auto sums = plainLoops(kNhwc, sizes, window, x, f, {});
      if (isWanted)
        expectSame(plain.as<float>(), sums);
      for (size_t i = 0; i < sums.size(); ++i)
        sums[i] = std::max(sums[i] + x[i], 0.0f);
      expectSame(buffers[2]->as<float>(), sums);
    }
}

/// There are so many layers that each becomes a part, and all share one.
TEST(KernelConvolution, ManyLayers) {
  const int layers = 12, h = 5, w = 9, c = 16;
  Sizes sizes =
      sized({{'c', c}, {'f', c}, {'y', h}, {'x', w}, {'k', 3}, {'l', 3}});
  Window window = {.low = {1, 1}, .high = {1, 1}, .hasTail = true};
  const std::string image = "tensor<1x5x9x16xf32>";
  std::string arguments = "%x: " + image, body, last = "%x";
  // Rename the values of the body of one layer, and make the previous one its
  // %x.
  std::string layer = textOf(kNhwc, sizes, window);
  layer = layer.substr(layer.find("{\n") + 2);
  layer.resize(layer.find("  return"));
  std::vector<std::vector<float>> filters, biases;
  std::vector<Buffer> operands;
  auto x = numbers<float>(h * w * c, 1);
  operands.push_back(Buffer::of(x));
  auto weights = [](const std::string &number) {
    return ", %w" + number + ": tensor<3x3x16x16xf32>, %bias" + number +
           ": tensor<16xf32>";
  };
  for (int i = 0; i < layers; ++i) {
    const std::string number = std::to_string(i);
    arguments += weights(number);
    std::string text;
    for (size_t at = 0; at < layer.size(); ++at) {
      text += layer[at];
      if (layer[at] != '%')
        continue;
      size_t end = at + 1;
      while (std::isalnum(layer[end]))
        ++end;
      std::string name = layer.substr(at + 1, end - at - 1);
      text += name == "x" ? last.substr(1) : name + number;
      at = end - 1;
    }
    body += text;
    last = "%relu" + number;
    filters.push_back(numbers<float>(9 * c * c, 2 + i, -0.1, 0.1));
    biases.push_back(numbers<float>(c, 50 + i));
    operands.push_back(Buffer::of(filters.back()));
    operands.push_back(Buffer::of(biases.back()));
    x = plainLoops(kNhwc, sizes, window, x, filters.back(), biases.back());
  }
  Kernel kernel;
  ASSERT_TRUE(kernel.compile("func.func @f(" + arguments + ") -> " + image +
                             " {\n" + body + "  return " + last + " : " +
                             image + "\n}\n"))
      << kernel.errors();
  operands.push_back(Buffer(h * w * c * 4));
  std::vector<Buffer *> pointers;
  for (Buffer &operand : operands)
    pointers.push_back(&operand);
  ASSERT_EQ(kernel.run(0, pointers), 0);
  expectSame(operands.back().as<float>(), x);
}

/// The innermost dimension runs backwards, or is in two subscripts.
TEST(KernelConvolution, NotAlongALine) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
    func.func @f(%x: tensor<25xf32>, %xx: tensor<23x25xf32>, %w: tensor<3xf32>, %i: tensor<23xf32>) -> (tensor<23xf32>, tensor<23xf32>) {
      %r = linalg.generic {indexing_maps = [affine_map<(x, k) -> (22 - x + k)>, affine_map<(x, k) -> (k)>, affine_map<(x, k) -> (x)>],
             iterator_types = ["parallel", "reduction"]} ins(%x, %w : tensor<25xf32>, tensor<3xf32>) outs(%i : tensor<23xf32>) {
      ^bb0(%a: f32, %b: f32, %s: f32):
        %p = arith.mulf %a, %b : f32
        %q = arith.addf %s, %p : f32
        linalg.yield %q : f32
      } -> tensor<23xf32>
      %d = linalg.generic {indexing_maps = [affine_map<(x, k) -> (x, x + k)>, affine_map<(x, k) -> (k)>, affine_map<(x, k) -> (x)>],
             iterator_types = ["parallel", "reduction"]} ins(%xx, %w : tensor<23x25xf32>, tensor<3xf32>) outs(%i : tensor<23xf32>) {
      ^bb0(%a: f32, %b: f32, %s: f32):
        %p = arith.mulf %a, %b : f32
        %q = arith.addf %s, %p : f32
        linalg.yield %q : f32
      } -> tensor<23xf32>
      return %r, %d : tensor<23xf32>, tensor<23xf32>
    })"))
      << kernel.errors();
  auto x = numbers<float>(25, 1), xx = numbers<float>(23 * 25, 2),
       w = numbers<float>(3, 3), init = numbers<float>(23, 4);
  Buffer xs = Buffer::of(x), xxs = Buffer::of(xx), ws = Buffer::of(w),
         inits = Buffer::of(init), back(23 * 4), diagonal(23 * 4);
  ASSERT_EQ(kernel.run(0, {&xs, &xxs, &ws, &inits, &back, &diagonal}), 0);
  auto sums = init;
  for (int i = 0; i < 23; ++i)
    for (int k = 0; k < 3; ++k)
      sums[i] = add(kNhwc, sums[i], x[22 - i + k], w[k]);
  expectSame(back.as<float>(), sums);
  sums = init;
  for (int i = 0; i < 23; ++i)
    for (int k = 0; k < 3; ++k)
      sums[i] = add(kNhwc, sums[i], xx[i * 25 + i + k], w[k]);
  expectSame(diagonal.as<float>(), sums);
}

/// Writes the gradients of a 3x3 convolution in the usual way. The gradient of
/// the filter sums over places. The gradient of the image uses the reversed
/// filter, and an operand that is not read gives the size of the window.
TEST(KernelConvolution, Gradients) {
  const int h = 9, w = 13, c = 19, f = 37;
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(R"(
    #x = affine_map<(k, l, c, f, n, y, x) -> (n, y + k, x + l, c)>
    #dy = affine_map<(k, l, c, f, n, y, x) -> (n, y, x, f)>
    #dw = affine_map<(k, l, c, f, n, y, x) -> (k, l, c, f)>
    func.func @of_filter(%x: tensor<2x11x15x19xf32>, %dy: tensor<2x9x13x37xf32>) -> tensor<3x3x19x37xf32> {
      %z = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<3x3x19x37xf32>
      %i = linalg.fill ins(%z : f32) outs(%e : tensor<3x3x19x37xf32>) -> tensor<3x3x19x37xf32>
      %r = linalg.generic {indexing_maps = [#x, #dy, #dw],
             iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
             ins(%x, %dy : tensor<2x11x15x19xf32>, tensor<2x9x13x37xf32>) outs(%i : tensor<3x3x19x37xf32>) {
      ^bb0(%a: f32, %b: f32, %s: f32):
        %p = arith.mulf %a, %b : f32
        %q = arith.addf %s, %p : f32
        linalg.yield %q : f32
      } -> tensor<3x3x19x37xf32>
      return %r : tensor<3x3x19x37xf32>
    }
    #padded = affine_map<(n, y, x, c, k, l, f) -> (n, y + k, x + l, f)>
    #turned = affine_map<(n, y, x, c, k, l, f) -> (2 - k, 2 - l, c, f)>
    #window = affine_map<(n, y, x, c, k, l, f) -> (k, l)>
    #dx = affine_map<(n, y, x, c, k, l, f) -> (n, y, x, c)>
    func.func @of_image(%dy: tensor<2x9x13x37xf32>, %w: tensor<3x3x19x37xf32>) -> tensor<2x11x15x19xf32> {
      %z = arith.constant 0.0 : f32
      %p = tensor.pad %dy low[0, 2, 2, 0] high[0, 2, 2, 0] {
      ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
        tensor.yield %z : f32
      } : tensor<2x9x13x37xf32> to tensor<2x13x17x37xf32>
      %window = tensor.empty() : tensor<3x3xf32>
      %e = tensor.empty() : tensor<2x11x15x19xf32>
      %i = linalg.fill ins(%z : f32) outs(%e : tensor<2x11x15x19xf32>) -> tensor<2x11x15x19xf32>
      %r = linalg.generic {indexing_maps = [#padded, #turned, #window, #dx],
             iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
             ins(%p, %w, %window : tensor<2x13x17x37xf32>, tensor<3x3x19x37xf32>, tensor<3x3xf32>)
             outs(%i : tensor<2x11x15x19xf32>) {
      ^bb0(%a: f32, %b: f32, %u: f32, %s: f32):
        %m = arith.mulf %a, %b : f32
        %q = arith.addf %m, %s : f32
        linalg.yield %q : f32
      } -> tensor<2x11x15x19xf32>
      return %r : tensor<2x11x15x19xf32>
    })"))
      << kernel.errors();
  for (Values kind : {Values::Usual, Values::Special}) {
    auto x = valuesOf(2 * (h + 2) * (w + 2) * c, 1, kind),
         dy = valuesOf(2 * h * w * f, 2, kind),
         filter = valuesOf(9 * c * f, 3, kind);
    Buffer xs = Buffer::of(x), dys = Buffer::of(dy), ws = Buffer::of(filter),
           dws(9 * c * f * 4), dxs(2 * (h + 2) * (w + 2) * c * 4);
    ASSERT_EQ(kernel.run(0, {&xs, &dys, &dws}), 0);
    ASSERT_EQ(kernel.run(1, {&dys, &ws, &dxs}), 0);
    std::vector<float> dw(9 * c * f), dx(x.size());
    auto sumUp = [&](float &sum, float a, float b) {
      sum = add(kNhwc, sum, a, b);
    };
    for (int k = 0; k < 9; ++k)
      for (int i = 0; i < c; ++i)
        for (int o = 0; o < f; ++o)
          for (int n = 0; n < 2; ++n)
            for (int p = 0; p < h * w; ++p)
              sumUp(
                  dw[(k * c + i) * f + o],
                  x[((n * (h + 2) + p / w + k / 3) * (w + 2) + p % w + k % 3) *
                        c +
                    i],
                  dy[(n * h * w + p) * f + o]);
    expectSame(dws.as<float>(), dw);
    for (int n = 0; n < 2; ++n)
      for (int p = 0; p < (h + 2) * (w + 2); ++p)
        for (int i = 0; i < c; ++i)
          for (int k = 0; k < 9; ++k)
            for (int o = 0; o < f; ++o) {
              int py = p / (w + 2) + k / 3 - 2, px = p % (w + 2) + k % 3 - 2;
              bool isThere = py >= 0 && py < h && px >= 0 && px < w;
              sumUp(dx[(n * (h + 2) * (w + 2) + p) * c + i],
                    isThere ? dy[((n * h + py) * w + px) * f + o] : 0,
                    filter[((8 - k) * c + i) * f + o]);
            }
    expectSame(dxs.as<float>(), dx);
  }
}

template <typename T>
void checkType(const char *type, const char *op, bool isMax) {
  SCOPED_TRACE(testing::Message() << op << " of " << type);
  const int h = 5, w = 7, c = 11, f = isMax ? 11 : 35;
  std::string t = type, in = "tensor<1x7x9x11x" + t + ">",
              filter = isMax ? "tensor<3x3x" + t + ">"
                             : "tensor<3x3x11x35x" + t + ">",
              out = "tensor<1x5x7x" + std::to_string(f) + "x" + t + ">";
  Kernel kernel;
  ASSERT_TRUE(kernel.compile("func.func @f(%x: " + in + ", %w: " + filter +
                             ", %i: " + out + ") -> " + out +
                             " {\n  %r = " + op + " ins(%x, %w : " + in + ", " +
                             filter + ") outs(%i : " + out + ") -> " + out +
                             "\n  return %r : " + out + "\n}\n"))
      << kernel.errors();
  auto x = numbers<T>((h + 2) * (w + 2) * c, 1, -99, 99),
       ws = numbers<T>(9 * (isMax ? 1 : c * f), 2, -99, 99),
       init = numbers<T>(h * w * f, 3, -99, 99);
  Buffer xs = Buffer::of(x), filters = Buffer::of(ws), inits = Buffer::of(init),
         sums(h * w * f * sizeof(T));
  ASSERT_EQ(kernel.run(0, {&xs, &filters, &inits, &sums}), 0);
  auto ours = sums.as<T>();
  for (int p = 0; p < h * w; ++p)
    for (int o = 0; o < f; ++o) {
      T sum = init[p * f + o];
      for (int k = 0; k < 9; ++k)
        for (int i = 0; i < (isMax ? 1 : c); ++i) {
          T value = x[((p / w + k / 3) * (w + 2) + p % w + k % 3) * c +
                      (isMax ? o : i)];
          if (isMax)
            sum = std::max(sum, value);
          else if (std::is_same_v<T, double> && hasFma())
            sum = std::fma(value, ws[(k * c + i) * f + o], sum);
          else
            sum += value * ws[(k * c + i) * f + o];
        }
      ASSERT_EQ(ours[p * f + o], sum) << p << ", " << o;
    }
}

TEST(KernelConvolution, ElementTypes) {
  checkType<double>("f64", "linalg.conv_2d_nhwc_hwcf", false);
  checkType<int32_t>("i32", "linalg.conv_2d_nhwc_hwcf", false);
  checkType<int64_t>("i64", "linalg.conv_2d_nhwc_hwcf", false);
  checkType<int8_t>("i8", "linalg.conv_2d_nhwc_hwcf", false);
  checkType<double>("f64", "linalg.pooling_nhwc_max", true);
  checkType<int32_t>("i32", "linalg.pooling_nhwc_max", true);
  checkType<int8_t>("i8", "linalg.pooling_nhwc_max", true);
  checkType<uint8_t>("i8", "linalg.pooling_nhwc_max_unsigned", true);
}

std::string refused(const std::string &text) {
  Kernel kernel;
  EXPECT_FALSE(kernel.compile(text));
  return kernel.errors();
}

TEST(KernelConvolution, BadWindows) {
  auto conv = [](const std::string &attributes, const std::string &in,
                 const std::string &out) {
    return "func.func @f(%x: " + in + ", %w: tensor<3x3x4x5xf32>, %i: " + out +
           ") -> " + out + " {\n  %r = linalg.conv_2d_nhwc_hwcf {" +
           attributes + "} ins(%x, %w : " + in +
           ", tensor<3x3x4x5xf32>) outs(%i : " + out + ") -> " + out +
           "\n  return %r : " + out + "\n}\n";
  };
  auto expect = [&](const std::string &strides, const std::string &dilations,
                    int size, const std::string &message) {
    std::string in = "tensor<1x6x" + std::to_string(size) + "x4xf32>";
    EXPECT_THAT(refused(conv("strides = dense<" + strides +
                                 "> : tensor<2xi64>, dilations = dense<" +
                                 dilations + "> : tensor<2xi64>",
                             in, "tensor<1x4x4x5xf32>")),
                testing::HasSubstr(message));
  };
  expect("1", "1", 2,
         "'linalg.conv_2d_nhwc_hwcf' op inferred input/output operand #0 has "
         "shape's dimension #2 to be greater than or equal to 6, but found 2");
  expect("0", "1", 6, "unexpected loop dimension for convolution op");
  expect("1", "0", 6, "unexpected loop dimension for convolution op");
  expect("-1", "1", 6, "unexpected result less than 0 at expression #1");
  // A window that runs backwards is inside at its ends but not in between.
  expect("1", "-1", 6,
         "'linalg.conv_2d_nhwc_hwcf' op subscript d1 - d4 of dimension 1 of "
         "operand 0 runs from -2 to 3, expected it within the 6 elements");
  EXPECT_THAT(refused(R"(
    func.func @f(%x: tensor<1x6x6x4xf32>) -> tensor<1x5x6x4xf32> {
      %z = arith.constant 0.0 : f32
      %p = tensor.pad %x low[0, -1, 0, 0] high[0, 0, 0, 0] {
      ^bb0(%a: index, %b: index, %c: index, %d: index):
        tensor.yield %z : f32
      } : tensor<1x6x6x4xf32> to tensor<1x5x6x4xf32>
      return %p : tensor<1x5x6x4xf32>
    })"),
              testing::HasSubstr("expected padding of at least 0, got -1"));
}

} // namespace

//===- convolution_test.cc - Kernels of convolutions and pooling ----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels are compiled, loaded, run and compared, bit by bit, with plain loops
// that add in the order of the op's dimensions.
//
//===----------------------------------------------------------------------===//

#include "codegen_harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <bit>
#include <cctype>
#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

using namespace kernel_test;

namespace {

/// Dimensions by letters: batch n, group g, channels c and f, places y and x,
/// taps k and l. In `in`, y stands for y * stride + k * dilation.
struct Layout {
  const char *op, *in, *filter, *out;
  const char *terms; ///< summed up in this order
};

constexpr Layout kNhwc = {"conv_2d_nhwc_hwcf", "nyxc", "klcf", "nyxf", "klc"};
constexpr Layout kNchw = {"conv_2d_nchw_fchw", "ncyx", "fckl", "nfyx", "ckl"};
constexpr Layout kNhwcFhwc = {"conv_2d_nhwc_fhwc", "nyxc", "fklc", "nyxf",
                              "klc"};
constexpr Layout kDepthwise = {"depthwise_conv_2d_nhwc_hwc", "nyxc", "klc",
                               "nyxc", "kl"};
constexpr Layout kDepthwiseNchw = {"depthwise_conv_2d_nchw_chw", "ncyx", "ckl",
                                   "ncyx", "kl"};
constexpr Layout kMultiplied = {"depthwise_conv_2d_nhwc_hwcm", "nyxc", "klcf",
                                "nyxcf", "kl"};
constexpr Layout kGrouped = {"conv_2d_ngchw_gfchw", "ngcyx", "gfckl", "ngfyx",
                             "ckl"};
constexpr Layout kGroupedNhwc = {"conv_2d_nhwgc_gfhwc", "nyxgc", "gfklc",
                                 "nyxgf", "klc"};
constexpr Layout kSum = {"pooling_nhwc_sum", "nyxc", "kl", "nyxc", "kl"};
constexpr Layout kMax = {"pooling_nhwc_max", "nyxc", "kl", "nyxc", "kl"};
constexpr Layout kMin = {"pooling_nhwc_min", "nyxc", "kl", "nyxc", "kl"};
constexpr Layout kMaxNchw = {"pooling_nchw_max", "ncyx", "kl", "ncyx", "kl"};

using Sizes = std::map<char, int64_t>; ///< y and x of the result

bool hasFma() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("fma");
#else
  return true;
#endif
}

struct Window {
  int64_t strides[2] = {1, 1}, dilations[2] = {1, 1};
  int64_t low[2] = {0, 0}, high[2] = {0, 0};
  bool hasTail = false; ///< bias and activation behind it
  float init = 0, padding = 0;
  bool isFused = hasFma(); ///< terms are rounded once
};

bool isPool(const Layout &layout) {
  return std::string(layout.op).starts_with("pooling");
}

int64_t paddedSize(const Sizes &sizes, const Window &w, int axis) {
  int64_t places = sizes.at("yx"[axis]), taps = sizes.at("kl"[axis]);
  if (places == 0)
    return (taps - 1) * w.dilations[axis];
  return (places - 1) * w.strides[axis] + (taps - 1) * w.dilations[axis] + 1;
}

std::vector<int64_t> shapeOf(const char *letters, const Sizes &sizes) {
  std::vector<int64_t> shape;
  for (const char *l = letters; *l; ++l)
    shape.push_back(sizes.at(*l));
  return shape;
}

std::vector<int64_t> inShape(const Layout &layout, const Sizes &sizes,
                             const Window &w, bool isPadded) {
  Sizes in = sizes;
  for (int axis : {0, 1})
    in["yx"[axis]] = paddedSize(sizes, w, axis) -
                     (isPadded ? 0 : w.low[axis] + w.high[axis]);
  return shapeOf(layout.in, in);
}

std::string typeOf(const std::vector<int64_t> &shape,
                   const char *element = "f32") {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + element + ">";
}

int64_t countOf(const std::vector<int64_t> &shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

std::string number(float value) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08X", std::bit_cast<uint32_t>(value));
  return text;
}

std::string textOf(const Layout &layout, const Sizes &sizes, const Window &w) {
  std::string x = typeOf(inShape(layout, sizes, w, false)),
              p = typeOf(inShape(layout, sizes, w, true)),
              f = typeOf(shapeOf(layout.filter, sizes)),
              o = typeOf(shapeOf(layout.out, sizes)),
              bias = typeOf({shapeOf(layout.out, sizes).back()}), low, high;
  for (const char *l = layout.in; *l; ++l) {
    const char *axis = std::strchr("yx", *l);
    std::string comma = l == layout.in ? "" : ", ";
    low += comma + std::to_string(axis ? w.low[*axis == 'x'] : 0);
    high += comma + std::to_string(axis ? w.high[*axis == 'x'] : 0);
  }
  bool isPadded = x != p;
  std::string text = "func.func @f(%x: " + x + ", %w: " + f +
                     (w.hasTail ? ", %bias: " + bias : "") + ") -> " + o +
                     " {\n  %init = arith.constant " + number(w.init) +
                     " : f32\n  %pad = arith.constant " + number(w.padding) +
                     " : f32\n";
  if (isPadded) {
    std::string arguments;
    for (size_t i = 0; layout.in[i]; ++i)
      arguments += (i ? ", %i" : "%i") + std::to_string(i) + ": index";
    text += "  %p = tensor.pad %x low[" + low + "] high[" + high +
            "] {\n  ^bb0(" + arguments + "):\n    tensor.yield %pad : f32\n" +
            "  } : " + x + " to " + p + "\n";
  }
  text += "  %e = tensor.empty() : " + o +
          "\n  %f = linalg.fill ins(%init : f32) outs(%e : " + o + ") -> " + o +
          "\n  %r = linalg." + layout.op + " {strides = dense<[" +
          std::to_string(w.strides[0]) + ", " + std::to_string(w.strides[1]) +
          "]> : tensor<2xi64>, dilations = dense<[" +
          std::to_string(w.dilations[0]) + ", " +
          std::to_string(w.dilations[1]) + "]> : tensor<2xi64>} ins(" +
          (isPadded ? "%p" : "%x") + ", %w : " + p + ", " + f +
          ") outs(%f : " + o + ") -> " + o + "\n";
  if (w.hasTail) {
    std::string leading;
    for (size_t d = 0; layout.out[d + 1]; ++d)
      leading += (d ? ", " : "") + std::to_string(d);
    text += "  %wide = linalg.broadcast ins(%bias : " + bias +
            ") outs(%e : " + o + ") dimensions = [" + leading +
            "]\n  %sum = arith.addf %r, %wide : " + o +
            "\n  %zeros = arith.constant dense<0.0> : " + o +
            "\n  %relu = arith.maximumf %sum, %zeros : " + o +
            "\n  return %relu : " + o + "\n}\n";
  } else {
    text += "  return %r : " + o + "\n}\n";
  }
  return text;
}

/// Calls `visit` for every index of the dimensions in `letters`, the last one
/// fastest.
void forEach(const char *letters, const Sizes &sizes, Sizes &at,
             const std::function<void()> &visit) {
  if (!*letters)
    return visit();
  for (int64_t i = 0; i < sizes.at(*letters); ++i) {
    at[*letters] = i;
    forEach(letters + 1, sizes, at, visit);
  }
}

int64_t offsetOf(const char *letters, const Sizes &sizes, const Sizes &at) {
  int64_t offset = 0;
  for (const char *l = letters; *l; ++l)
    offset = offset * sizes.at(*l) + at.at(*l);
  return offset;
}

float add(const Layout &layout, float sum, float x, float w,
          bool isFused = hasFma()) {
  std::string op = layout.op;
  if (!isPool(layout))
    return isFused ? std::fma(x, w, sum) : sum + x * w;
  if (op.ends_with("sum"))
    return sum + x;
  if (std::isnan(sum) || std::isnan(x))
    return NAN;
  // Of two zeros the positive one is the larger.
  bool isLess = x < sum || (x == sum && std::signbit(x));
  return op.ends_with("max") == isLess ? sum : x;
}

std::vector<float> plainLoops(const Layout &layout, const Sizes &sizes,
                              const Window &w, const std::vector<float> &x,
                              const std::vector<float> &filter,
                              const std::vector<float> &bias) {
  Sizes inSizes = sizes, at;
  for (int axis : {0, 1})
    inSizes["yx"[axis]] =
        paddedSize(sizes, w, axis) - w.low[axis] - w.high[axis];
  std::vector<float> out(countOf(shapeOf(layout.out, sizes)));
  forEach(layout.out, sizes, at, [&] {
    float sum = w.init;
    forEach(layout.terms, sizes, at, [&] {
      Sizes place = at;
      bool isInside = true;
      for (int axis : {0, 1}) {
        char l = "yx"[axis];
        place[l] = at[l] * w.strides[axis] +
                   at["kl"[axis]] * w.dilations[axis] - w.low[axis];
        isInside &= place[l] >= 0 && place[l] < inSizes[l];
      }
      float value =
          isInside ? x[offsetOf(layout.in, inSizes, place)] : w.padding;
      float weight =
          isPool(layout) ? 0 : filter[offsetOf(layout.filter, sizes, at)];
      sum = add(layout, sum, value, weight, w.isFused);
    });
    if (w.hasTail) {
      sum += bias[at[layout.out[std::strlen(layout.out) - 1]]];
      sum = std::isnan(sum) ? NAN : std::max(sum, 0.0f);
    }
    out[offsetOf(layout.out, sizes, at)] = sum;
  });
  return out;
}

enum class Values { Usual, Special };

std::vector<float> valuesOf(int64_t count, unsigned seed, Values kind) {
  std::vector<float> values = numbers<float>(count, seed);
  if (kind == Values::Special) {
    std::mt19937 random(seed);
    const float kSpecial[] = {NAN,  INFINITY, -INFINITY, -0.0f,
                              0.0f, 1e38f,    1e-40f,    -0.0f};
    for (float &value : values)
      if (random() % 6 == 0)
        value = kSpecial[random() % std::size(kSpecial)];
  }
  return values;
}

void expectSame(const std::vector<float> &ours,
                const std::vector<float> &plain) {
  ASSERT_EQ(ours.size(), plain.size());
  for (size_t i = 0; i < plain.size(); ++i) {
    if (std::isnan(plain[i]) && std::isnan(ours[i]))
      continue;
    ASSERT_EQ(std::bit_cast<uint32_t>(ours[i]),
              std::bit_cast<uint32_t>(plain[i]))
        << "element " << i << " is " << ours[i] << ", plain loops give "
        << plain[i];
  }
}

/// With usual numbers, and with zeros of both signs, infinities and NaN too.
void check(const Layout &layout, const Sizes &sizes, const Window &w,
           const pathways::proto::Target &target = {}) {
  std::string text = textOf(layout, sizes, w);
  SCOPED_TRACE(text);
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(text, {target})) << kernel.errors();
  if (!kernel.load(target)) {
    ASSERT_NE(target.cpu(), "") << kernel.errors();
    return; // It is not for this machine.
  }
  for (Values kind : {Values::Usual, Values::Special}) {
    auto x = valuesOf(countOf(inShape(layout, sizes, w, false)), 1, kind),
         f = valuesOf(countOf(shapeOf(layout.filter, sizes)), 2, kind),
         bias = valuesOf(shapeOf(layout.out, sizes).back(), 3, kind);
    Buffer in = Buffer::of(x), filter = Buffer::of(f), b = Buffer::of(bias),
           out(countOf(shapeOf(layout.out, sizes)) * 4);
    std::vector<Buffer *> buffers = {&in, &filter, &b, &out};
    if (!w.hasTail)
      buffers.erase(buffers.begin() + 2);
    ASSERT_EQ(kernel.run(0, buffers), 0);
    expectSame(out.as<float>(), plainLoops(layout, sizes, w, x, f, bias));
  }
}

/// Sizes with the letters' defaults 1.
Sizes sized(Sizes sizes) {
  for (char l : std::string("ngcfyxkl"))
    sizes.emplace(l, 1);
  return sizes;
}

TEST(KernelConvolution, Shapes) {
  // A tile of rows that are full, one that is not, columns of all widths.
  check(kNhwc,
        sized({{'c', 5}, {'f', 33}, {'y', 4}, {'x', 9}, {'k', 3}, {'l', 3}}),
        {});
  check(kNhwc,
        sized({{'n', 2},
               {'c', 40},
               {'f', 15},
               {'y', 3},
               {'x', 17},
               {'k', 2},
               {'l', 3}}),
        {});
  // More terms than one block of them.
  check(kNhwc,
        sized({{'c', 131}, {'f', 70}, {'y', 3}, {'x', 5}, {'k', 3}, {'l', 3}}),
        {});
  check(kNhwc, sized({{'c', 1031}, {'f', 20}, {'y', 2}, {'x', 5}}), {});
  check(kNhwc,
        sized({{'c', 3}, {'f', 8}, {'y', 5}, {'x', 5}, {'k', 7}, {'l', 7}}),
        {.strides = {2, 2}});
}

TEST(KernelConvolution, SizesOfOneAndZero) {
  check(kNhwc, sized({}), {});
  for (char one : std::string("ncfyxkl")) {
    Sizes sizes = {{'n', 2}, {'c', 5}, {'f', 6}, {'y', 3},
                   {'x', 4}, {'k', 2}, {'l', 3}};
    sizes[one] = 1;
    check(kNhwc, sizes, {.low = {1, 0}, .high = {0, 1}});
    check(kNchw, sizes, {.low = {1, 0}, .high = {0, 1}});
  }
  for (char none : std::string("ncf")) {
    Sizes sizes = {{'n', 2}, {'c', 5}, {'f', 6}, {'y', 3},
                   {'x', 4}, {'k', 2}, {'l', 3}};
    sizes[none] = 0;
    check(kNhwc, sizes, {.init = 2});
    check(kNchw, sizes, {.init = 2});
  }
}

/// What lies in the padding takes part like any other number.
TEST(KernelConvolution, PaddingIsRead) {
  Sizes sizes =
      sized({{'c', 37}, {'f', 35}, {'y', 6}, {'x', 19}, {'k', 3}, {'l', 3}});
  check(kNhwc, sizes, {.low = {1, 1}, .high = {1, 1}});
  check(kNhwc, sizes, {.low = {0, 2}, .high = {3, 0}, .padding = -0.5});
  check(
      kNhwc, sizes,
      {.strides = {2, 2}, .dilations = {2, 1}, .low = {1, 2}, .high = {2, 1}});
  // On one side, where the window does not reach.
  sizes['l'] = 1;
  check(kNhwc, sizes, {.low = {0, 1}});
  check(kNhwc, sizes, {.high = {1, 0}});
  sizes['l'] = 3;
  sizes['c'] = 9; // Written out.
  check(kNhwc, sizes, {.low = {1, 1}, .high = {1, 1}});
  check(kNhwc, sizes, {.low = {1, 1}, .high = {1, 1}, .init = -0.0f});
  sizes['c'] = 3; // Padded in memory.
  check(kNhwc, sizes, {.low = {1, 1}, .high = {1, 1}});
  check(kDepthwise, sizes, {.low = {1, 1}, .high = {1, 1}});
  sizes['c'] = 50;
  check(kDepthwise, sizes, {.low = {1, 1}, .high = {1, 1}});
  check(
      kMax, sizes,
      {.low = {1, 1}, .high = {1, 1}, .init = -INFINITY, .padding = -INFINITY});
}

TEST(KernelConvolution, OtherLayouts) {
  for (const Layout &layout :
       {kNchw, kNhwcFhwc, kDepthwise, kDepthwiseNchw, kMultiplied, kGrouped,
        kGroupedNhwc, kSum, kMax, kMin, kMaxNchw}) {
    Sizes sizes = {{'n', 2}, {'g', 2},  {'c', 19}, {'f', 10},
                   {'y', 5}, {'x', 14}, {'k', 3},  {'l', 2}};
    check(layout, sizes, {});
    check(layout, sizes, {.strides = {2, 3}, .dilations = {2, 1}});
    check(layout, sizes, {.strides = {1, 5}});
    check(layout, sizes, {.low = {1, 2}, .high = {0, 1}, .init = 1.5});
  }
}

TEST(KernelConvolution, BiasAndActivation) {
  Sizes sizes =
      sized({{'c', 16}, {'f', 40}, {'y', 5}, {'x', 14}, {'k', 3}, {'l', 3}});
  for (int64_t batch : {1, 3}) {
    sizes['n'] = batch;
    check(kNhwc, sizes, {.low = {1, 1}, .high = {1, 1}, .hasTail = true});
    check(kNchw, sizes, {.low = {1, 1}, .high = {1, 1}, .hasTail = true});
  }
}

/// The image is added to its convolution, may be lost to the result, and the
/// convolution may be wanted as it is.
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

/// Vectors of all widths; those without fused multiply-add round twice.
TEST(KernelConvolution, OtherTargets) {
  struct {
    const char *triple, *cpu;
    bool isFused;
  } const kTargets[] = {
      {"x86_64-unknown-linux-gnu", "x86-64", false},
      {"x86_64-unknown-linux-gnu", "sandybridge", false},
      {"x86_64-unknown-linux-gnu", "haswell", true},
      {"x86_64-unknown-linux-gnu", "skylake-avx512", true},
      {"aarch64-unknown-linux-gnu", "generic", true},
  };
  for (auto [triple, cpu, isFused] : kTargets) {
    SCOPED_TRACE(cpu);
    pathways::proto::Target target;
    target.set_triple(triple);
    target.set_cpu(cpu);
    Sizes sizes = {{'n', 1},  {'c', 27}, {'f', 23}, {'y', 4},
                   {'x', 15}, {'k', 3},  {'l', 2}};
    Window w = {.strides = {2, 2}, .low = {1, 1}, .isFused = isFused};
    for (const Layout &layout : {kNhwc, kNchw, kDepthwise, kMax})
      check(layout, sizes, w, target);
  }
}

/// So many that each becomes a function, all of them one.
TEST(KernelConvolution, ManyLayers) {
  const int layers = 12, h = 5, w = 9, c = 16;
  Sizes sizes =
      sized({{'c', c}, {'f', c}, {'y', h}, {'x', w}, {'k', 3}, {'l', 3}});
  Window window = {.low = {1, 1}, .high = {1, 1}, .hasTail = true};
  const std::string image = "tensor<1x5x9x16xf32>";
  std::string arguments = "%x: " + image, body, last = "%x";
  // The body of one layer, with names of its own and the one before as its %x.
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

TEST(KernelConvolution, AtRandom) {
  unsigned seed = 20;
  if (const char *text = std::getenv("PATHWAYS_TEST_SEED"))
    seed = std::strtoul(text, nullptr, 10);
  std::printf("PATHWAYS_TEST_SEED=%u\n", seed);
  std::mt19937 random(seed);
  auto below = [&](int64_t n) { return int64_t(random() % n); };
  const Layout kAll[] = {kNhwc,          kNchw,       kNhwcFhwc, kDepthwise,
                         kDepthwiseNchw, kMultiplied, kGrouped,  kGroupedNhwc,
                         kSum,           kMax,        kMin,      kMaxNchw};
  for (int i = 0; i < 20; ++i) {
    const Layout &layout = kAll[below(3) ? below(std::size(kAll)) : 0];
    Sizes sizes = {{'n', 1 + below(2)},  {'g', 1 + below(3)},
                   {'c', 1 + below(70)}, {'f', 1 + below(70)},
                   {'y', 1 + below(6)},  {'x', 1 + below(20)},
                   {'k', 1 + below(4)},  {'l', 1 + below(4)}};
    if (std::strchr(layout.out, 'c') && std::strchr(layout.out, 'f'))
      sizes['c'] = 1 + below(9);
    Window w;
    for (int axis : {0, 1}) {
      w.strides[axis] = 1 + below(3);
      w.dilations[axis] = 1 + below(2);
      int64_t room = paddedSize(sizes, w, axis) - 1;
      w.low[axis] = below(std::min<int64_t>(room, 3) + 1);
      w.high[axis] = below(std::min<int64_t>(room - w.low[axis], 3) + 1);
    }
    w.hasTail = below(3) == 0;
    w.init = below(2) ? 0 : -1.25f;
    check(layout, sizes, w);
    if (HasFatalFailure())
      return;
  }
}

/// The gradients of a 3x3 convolution as they are written: places are summed up
/// for that of the filter; for that of the image the filter is turned over, and
/// an operand that is not read says how large the window is.
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
  // A window that runs backwards begins and ends inside, but is not in between.
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

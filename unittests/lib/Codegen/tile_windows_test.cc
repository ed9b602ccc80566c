//===- tile_windows_test.cc - Convolutions on matrix units ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen_harness.h"
#include "tile_order.h"
#include "gtest/gtest.h"
#include <cstdint>
#include <string>
#include <vector>

using namespace kernel_test;

namespace {

struct Window {
  int64_t batch, size, channels, filters, window;
  int64_t stride = 1, dilation = 1, padding = 0;

  int64_t padded() const { return size + 2 * padding; }
  int64_t out() const {
    return (padded() - dilation * (window - 1) - 1) / stride + 1;
  }
};

std::string tensor(std::vector<int64_t> shape, const std::string &type) {
  std::string text = "tensor<";
  for (int64_t extent : shape)
    text += std::to_string(extent) + "x";
  return text + type + ">";
}

/// Returns a convolution that adds to %c. Images are nhwc, filters hwcf.
std::string textOf(const Window &w, const std::string &element,
                   const std::string &sum) {
  const std::string x = tensor({w.batch, w.size, w.size, w.channels}, element),
                    p = tensor({w.batch, w.padded(), w.padded(), w.channels},
                               element),
                    f = tensor({w.window, w.window, w.channels, w.filters},
                               element),
                    r = tensor({w.batch, w.out(), w.out(), w.filters}, sum),
                    width = std::to_string(w.padding);
  const std::string widths = "[0, " + width + ", " + width + ", 0]";
  return "func.func @k(%x: " + x + ", %f: " + f + ", %c: " + r + ") -> " + r +
         " {\n  %z = arith.constant " + (sum == "i32" ? "0" : "0.0") + " : " +
         element + "\n  %p = tensor.pad %x low" + widths + " high" + widths +
         " {\n  ^bb0(%i: index, %j: index, %k: index, %l: index):\n"
         "    tensor.yield %z : " +
         element + "\n  } : " + x + " to " + p +
         "\n  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<" +
         std::to_string(w.stride) + "> : tensor<2xi64>, dilations = dense<" +
         std::to_string(w.dilation) + "> : tensor<2xi64>} ins(%p, %f : " + p +
         ", " + f + ") outs(%c : " + r + ") -> " + r + "\n  return %r : " + r +
         "\n}\n";
}

/// Calls `check(image, filter, place)` for each element of the result, with
/// functions from (ky, kx, c) to places of the operands; -1 is padding.
template <typename Check> void forEachSum(const Window &w, Check check) {
  for (int64_t b = 0; b < w.batch; ++b)
    for (int64_t y = 0; y < w.out(); ++y)
      for (int64_t x = 0; x < w.out(); ++x)
        for (int64_t f = 0; f < w.filters; ++f)
          check(
              [&](int64_t ky, int64_t kx, int64_t c) -> int64_t {
                int64_t row = y * w.stride + ky * w.dilation - w.padding,
                        column = x * w.stride + kx * w.dilation - w.padding;
                if (row < 0 || row >= w.size || column < 0 || column >= w.size)
                  return -1;
                return ((b * w.size + row) * w.size + column) * w.channels + c;
              },
              [&](int64_t ky, int64_t kx, int64_t c) {
                return ((ky * w.window + kx) * w.channels + c) * w.filters + f;
              },
              ((b * w.out() + y) * w.out() + x) * w.filters + f);
}

void checkOrder(const Window &w) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(textOf(w, "bf16", "f32"))) << kernel.errors();
  auto xs = brains(w.batch * w.size * w.size * w.channels, 51),
       fs = brains(w.window * w.window * w.channels * w.filters, 52);
  auto cs = numbers<float>(w.batch * w.out() * w.out() * w.filters, 53);
  Buffer x = Buffer::of(xs), f = Buffer::of(fs), c = Buffer::of(cs),
         r(cs.size() * 4);
  ASSERT_EQ(kernel.run(0, {&x, &f, &c, &r}), 0);
  auto rs = r.as<float>();
  int64_t wrong = 0;
  forEachSum(w, [&](auto image, auto filter, int64_t place) {
    float want = cs[place];
    for (int64_t ky = 0; ky < w.window; ++ky)
      for (int64_t kx = 0; kx < w.window; ++kx)
        want = sumOf(
            want, w.channels,
            [&](int channel) {
              int64_t at = image(ky, kx, channel);
              return at < 0 ? uint16_t(0) : xs[at];
            },
            [&](int channel) { return fs[filter(ky, kx, channel)]; });
    wrong += want != rs[place];
  });
  EXPECT_EQ(wrong, 0) << "of " << rs.size();
}

void checkBytes(const Window &w) {
  Kernel kernel;
  ASSERT_TRUE(kernel.compile(textOf(w, "i8", "i32"))) << kernel.errors();
  auto xs = numbers<int8_t>(w.batch * w.size * w.size * w.channels, 61, -128,
                            128),
       fs = numbers<int8_t>(w.window * w.window * w.channels * w.filters, 62,
                            -128, 128);
  auto cs =
      numbers<int32_t>(w.batch * w.out() * w.out() * w.filters, 63, -1e6, 1e6);
  Buffer x = Buffer::of(xs), f = Buffer::of(fs), c = Buffer::of(cs),
         r(cs.size() * 4);
  ASSERT_EQ(kernel.run(0, {&x, &f, &c, &r}), 0);
  auto rs = r.as<int32_t>();
  int64_t wrong = 0;
  forEachSum(w, [&](auto image, auto filter, int64_t place) {
    int32_t want = cs[place];
    for (int64_t ky = 0; ky < w.window; ++ky)
      for (int64_t kx = 0; kx < w.window; ++kx)
        for (int64_t channel = 0; channel < w.channels; ++channel)
          if (int64_t at = image(ky, kx, channel); at >= 0)
            want += xs[at] * fs[filter(ky, kx, channel)];
    wrong += want != rs[place];
  });
  EXPECT_EQ(wrong, 0) << "of " << rs.size();
}

TEST(KernelTileWindows, OrderOfBf16AndSumsOfBytes) {
  if (!hasTiles("+amx-bf16"))
    GTEST_SKIP() << "no matrix unit for us";
  const Window windows[] = {
      {1, 14, 64, 32, 3, 1, 1, 1}, {2, 19, 33, 40, 3, 1, 1, 1},
      {1, 40, 16, 35, 5, 2, 1, 2}, {1, 23, 48, 17, 3, 1, 3, 2},
      {2, 11, 70, 20, 1},          {1, 13, 96, 1, 3, 3},
      {1, 6, 130, 64, 6},          {3, 9, 20, 50, 2, 2, 2, 1},
      {1, 58, 32, 32, 3},
  };
  for (const Window &w : windows) {
    SCOPED_TRACE(testing::Message()
                 << w.batch << "x" << w.size << "x" << w.channels << " to "
                 << w.filters << ", " << w.window << " /" << w.stride << " *"
                 << w.dilation << " +" << w.padding);
    checkOrder(w);
    checkBytes(w);
  }
}

/// The initial value of the sums is copied.
TEST(KernelTileWindows, AreTakenOfManyChannels) {
  auto path = [](const Window &w, const std::string &element,
                 const std::string &sum) {
    return pathOf(textOf(w, element, sum), tileTarget(),
                  "linalg.conv_2d_nhwc_hwcf");
  };
  EXPECT_EQ(path({1, 14, 16, 32, 3, 1, 1, 1}, "bf16", "f32"),
            "product of tiles, copy");
  EXPECT_EQ(path({1, 14, 64, 32, 3, 1, 1, 1}, "i8", "i32"),
            "product of tiles, copy");
  EXPECT_EQ(path({1, 14, 15, 32, 3, 1, 1, 1}, "bf16", "f32"), "windows, copy");
}

} // namespace

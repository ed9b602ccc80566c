//===- convolution_test.cc - Kernels of convolutions and pooling ----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles, loads and runs kernels and compares them, bit by bit, with plain
// loops that add in the order of the op's dimensions.
//
//===----------------------------------------------------------------------===//

#include "window_cases.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>
#include <random>
#include <string>

using namespace kernel_test;

namespace {

TEST(KernelConvolution, Shapes) {
  // Tiles of full rows, a partial tile, and columns of all widths.
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
  // More terms than fit one block.
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

/// Numbers in the padding count like any other number.
TEST(KernelConvolution, PaddingIsRead) {
  Sizes sizes =
      sized({{'c', 37}, {'f', 35}, {'y', 6}, {'x', 19}, {'k', 3}, {'l', 3}});
  check(kNhwc, sizes, {.low = {1, 1}, .high = {1, 1}});
  check(kNhwc, sizes, {.low = {0, 2}, .high = {3, 0}, .padding = -0.5});
  check(
      kNhwc, sizes,
      {.strides = {2, 2}, .dilations = {2, 1}, .low = {1, 2}, .high = {2, 1}});
  // Padding on the side that the window does not reach.
  sizes['l'] = 1;
  check(kNhwc, sizes, {.low = {0, 1}});
  check(kNhwc, sizes, {.high = {1, 0}});
  sizes['l'] = 3;
  sizes['c'] = 9; // terms are unrolled
  check(kNhwc, sizes, {.low = {1, 1}, .high = {1, 1}});
  check(kNhwc, sizes, {.low = {1, 1}, .high = {1, 1}, .init = -0.0f});
  sizes['c'] = 3; // padded in memory
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

/// Tests vectors of all widths; targets without fused multiply-add round twice.
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

} // namespace

//===- window_cases.h - Convolutions described by letters -------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Convolutions and pooling that are described by letters: their text, and plain
// loops that add in the order of the op's dimensions.
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_LIB_CODEGEN_WINDOW_CASES_H
#define UNITTESTS_LIB_CODEGEN_WINDOW_CASES_H

#include "codegen_harness.h"
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kernel_test {

/// Dimensions by letters: batch n, group g, channels c and f, places y and x,
/// taps k and l. In `in`, y stands for y * stride + k * dilation.
struct Layout {
  const char *op, *in, *filter, *out;
  const char *terms; ///< letters of the summed dimensions, in their order
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

using Sizes = std::map<char, int64_t>; ///< y and x are those of the result

/// Returns true if this machine's kernels round a product and its sum once.
bool hasFma();

struct Window {
  int64_t strides[2] = {1, 1}, dilations[2] = {1, 1};
  int64_t low[2] = {0, 0}, high[2] = {0, 0};
  bool hasTail = false; ///< bias and activation after it
  float init = 0, padding = 0;
  bool isFused = hasFma(); ///< a product and its sum are rounded once
  mlir::pathways::Rounding rounding = mlir::pathways::Rounding::EachOp;
};

/// Returns the elements that a window reads along y (axis 0) or x, including
/// padding.
int64_t paddedSize(const Sizes &sizes, const Window &w, int axis);

/// Returns a function of the image, the filter and, with a tail, the bias.
std::string textOf(const Layout &layout, const Sizes &sizes, const Window &w);

/// Adds one more term to a sum.
float add(const Layout &layout, float sum, float x, float w,
          bool isFused = hasFma());

/// Computes the results of textOf.
std::vector<float> plainLoops(const Layout &layout, const Sizes &sizes,
                              const Window &w, const std::vector<float> &x,
                              const std::vector<float> &filter,
                              const std::vector<float> &bias);

/// Special includes NaN, infinities and -0
enum class Values { Usual, Special };

std::vector<float> valuesOf(int64_t count, unsigned seed, Values kind);

/// Compares bit by bit, except for the bits of NaN.
void expectSame(const std::vector<float> &ours,
                const std::vector<float> &plain);

/// Compiles, loads, runs and compares, with values of both kinds. For the
/// target of another machine, runs the steps that this machine can run.
void check(const Layout &layout, const Sizes &sizes, const Window &w,
           const pathways::proto::Target &target = {});

/// Returns `sizes` with 1 for all other letters.
Sizes sized(Sizes sizes);

} // namespace kernel_test

#endif // UNITTESTS_LIB_CODEGEN_WINDOW_CASES_H

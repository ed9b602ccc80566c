//===- onednn.h - Convolutions of oneDNN ------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BENCHMARKS_ONEDNN_H
#define BENCHMARKS_ONEDNN_H

#include <cstdint>
#include <functional>

namespace pathways::bench {

// A convolution of one image of size * size places, in elements: the same
// strides and padding in both directions, f32.
struct ConvolutionShape {
  int64_t size, channels, filters, window, stride, padding;
  bool is_depthwise = false;  // filters = channels

  int64_t out_size() const {
    return (size + 2 * padding - window) / stride + 1;
  }
};

// Lets oneDNN use one thread. False when it cannot be told.
bool UseOneThread();

// A call that convolves `image` (nhwc) with `filter` (hwcf, or hwc of a
// depthwise one) into `out` (nhwc), which outlive it. The filter is brought
// into the order that oneDNN likes best here, before any call.
std::function<void()> OneDnnConvolution(const ConvolutionShape& shape,
                                        float* image, float* filter,
                                        float* out);

}  // namespace pathways::bench

#endif  // BENCHMARKS_ONEDNN_H

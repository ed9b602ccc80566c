//===- onednn.h - Calls of oneDNN -------------------------------*- C++ -*-===//
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

// A call that multiplies m x k by k x n, both by rows: of i8 to i32, else of
// bf16 to bf16.
std::function<void()> OneDnnMatmul(int64_t m, int64_t n, int64_t k, bool is_i8,
                                   void* a, void* b, void* out);

// Calls that normalize each of some rows of f32.
std::function<void()> OneDnnSoftmax(int64_t rows, int64_t columns, float* in,
                                    float* out);
std::function<void()> OneDnnLayerNorm(int64_t rows, int64_t columns, float* in,
                                      float* out);

// x times the probability that a normal number is less than x.
std::function<void()> OneDnnGelu(int64_t count, float* in, float* out);

// Normalizes the channels of images of size * size places, in nhwc, by their
// own mean and variance.
std::function<void()> OneDnnBatchNorm(int64_t images, int64_t size,
                                      int64_t channels, float* in, float* out);

// Maxima or means of windows of 3x3 with stride 2 of an image in nhwc.
std::function<void()> OneDnnPool(int64_t size, int64_t channels, bool is_max,
                                 float* in, float* out);

}  // namespace pathways::bench

#endif  // BENCHMARKS_ONEDNN_H

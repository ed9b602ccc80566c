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

// A convolution of one image of size * size places, in elements of f32, with
// the same strides and padding in both directions.
struct ConvolutionShape {
  int64_t size, channels, filters, window, stride, padding;
  bool is_depthwise = false;  // filters = channels

  int64_t out_size() const {
    return (size + 2 * padding - window) / stride + 1;
  }
};

// Limits oneDNN to one thread. Returns false if that is not possible.
bool UseOneThread();

// Returns a call that convolves `image` (nhwc) with `filter` (hwcf, or hwc if
// depthwise) into `out` (nhwc), which outlive it. Converts the filter to
// oneDNN's preferred layout here, before any call.
std::function<void()> OneDnnConvolution(const ConvolutionShape& shape,
                                        float* image, float* filter,
                                        float* out);

// Returns a call that multiplies m x k by k x n, both row-major: i8 to i32, or
// bf16 to bf16.
std::function<void()> OneDnnMatmul(int64_t m, int64_t n, int64_t k, bool is_i8,
                                   void* a, void* b, void* out);

// These return a call that normalizes each row of f32.
std::function<void()> OneDnnSoftmax(int64_t rows, int64_t columns, float* in,
                                    float* out);
std::function<void()> OneDnnLayerNorm(int64_t rows, int64_t columns, float* in,
                                      float* out);

// Returns a call that multiplies x by the probability that a normal number is
// less than x.
std::function<void()> OneDnnGelu(int64_t count, float* in, float* out);

// Returns a call that normalizes the channels of images of size * size places,
// in nhwc, by their own mean and variance.
std::function<void()> OneDnnBatchNorm(int64_t images, int64_t size,
                                      int64_t channels, float* in, float* out);

// Returns a call that takes maxima or means of windows of 3x3 with stride 2 of
// an image in nhwc.
std::function<void()> OneDnnPool(int64_t size, int64_t channels, bool is_max,
                                 float* in, float* out);

}  // namespace pathways::bench

#endif  // BENCHMARKS_ONEDNN_H

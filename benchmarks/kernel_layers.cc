//===- kernel_layers.cc - Layers of networks compared with oneDNN ---------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <cstring>

#include "benchmarks/kernel_bench.h"
#include "benchmarks/onednn.h"

namespace pathways::bench {
namespace {

// Padding and convolution of an image in nhwc with numbers of that type; the
// sums are f32.
struct Convolution {
  explicit Convolution(const ConvolutionShape& shape,
                       const std::string& element = "f32")
      : shape(shape),
        in({1, shape.size, shape.size, shape.channels}, element),
        filter({shape.window, shape.window, shape.channels}, element),
        out({1, shape.out_size(), shape.out_size(), shape.filters}) {
    if (!shape.is_depthwise) filter.shape.push_back(shape.filters);
  }

  std::string Statements() const {
    const int64_t padded = shape.size + 2 * shape.padding;
    const std::string p =
        Array({1, padded, padded, shape.channels}, in.element).type();
    const std::string width = std::to_string(shape.padding);
    const std::string widths = "[0, " + width + ", " + width + ", 0]";
    return Filled("z", out, "0.0") +
           "  %pad = arith.constant 0.0 : " + in.element +
           "\n  %p = tensor.pad %a0 low" + widths + " high" + widths +
           " {\n  ^bb0(%a: index, %b: index, %c: index, %d: index):\n"
           "    tensor.yield %pad : " +
           in.element + "\n  } : " + in.type() + " to " + p +
           "\n  %r = linalg." +
           (shape.is_depthwise ? "depthwise_conv_2d_nhwc_hwc"
                               : "conv_2d_nhwc_hwcf") +
           " {strides = dense<" + std::to_string(shape.stride) +
           "> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%p, "
           "%a1 : " +
           p + ", " + filter.type() + ") outs(%z : " + out.type() + ") -> " +
           out.type() + "\n";
  }

  const ConvolutionShape shape;
  const Array in;
  Array filter;
  const Array out;
};

void NextToOneDnn(const std::string& name, const ConvolutionShape& shape,
                  double seconds) {
  const Convolution c(shape);
  Kernel kernel({c.in, c.filter}, c.out, c.Statements());
  const Memory theirs = Allocate(c.out.count());
  const std::function<void()> other = OneDnnConvolution(
      shape, kernel.operand(0), kernel.operand(1), theirs.get());
  const auto [ours_s, theirs_s] =
      InTurns(seconds, [&] { kernel.Run(); }, other);
  ExpectNear(name, kernel.out(), theirs.get(), c.out.count(), 1e-2);
  const int64_t terms =
      shape.window * shape.window * (shape.is_depthwise ? 1 : shape.channels);
  Figure("kernel." + name + ".gflops", 2e-9 * c.out.count() * terms / ours_s,
         "GFLOP/s");
  Figure("kernel." + name + ".vs_onednn", theirs_s / ours_s, "x");
}

// Compares a convolution of 16-bit numbers with f32.
void NarrowConvolution(const std::string& element, double seconds) {
  const ConvolutionShape shape = {56, 64, 64, 3, 1, 1};
  const Convolution narrow(shape, element), wide(shape);
  Kernel ours({narrow.in, narrow.filter}, narrow.out, narrow.Statements());
  Kernel f32({wide.in, wide.filter}, wide.out, wide.Statements());
  Widen(element, ours.operand(0), f32.operand(0), wide.in.count());
  Widen(element, ours.operand(1), f32.operand(1), wide.filter.count());
  const auto [ours_s, f32_s] =
      InTurns(seconds, [&] { ours.Run(); }, [&] { f32.Run(); });
  ExpectNear("conv3x3_" + element, ours.out(), f32.out(), wide.out.count(),
             1e-6);
  Figure("kernel.conv3x3_" + element + ".vs_f32", ours_s / f32_s, "x");
}

// Compares `kernel`, whose operand has the shape of x, with a call of oneDNN
// that gets memory for its result.
void NextToOneDnn(
    const std::string& name, Kernel& kernel, const Array& out, double seconds,
    const std::function<std::function<void()>(float* out)>& make) {
  const Memory theirs = Allocate(out.count());
  const auto [ours_s, theirs_s] =
      InTurns(seconds, [&] { kernel.Run(); }, make(theirs.get()));
  ExpectNear(name, kernel.out(), theirs.get(), out.count(), 1e-4);
  Figure("kernel." + name + ".vs_onednn", theirs_s / ours_s, "x");
}

constexpr int64_t kRows = 1024, kColumns = 1024;

// Compares an operation on rows with oneDNN, and with a memcpy of the rows.
void Rows(
    const std::string& name, const std::string& statements,
    const std::function<std::function<void()>(float* in, float* out)>& make,
    double seconds) {
  const Array x({kRows, kColumns});
  Kernel kernel({x}, x,
                Empty("row", Array({kRows})) + Empty("full", x) +
                    "  %zero = arith.constant 0.0 : f32\n" + statements);
  NextToOneDnn(name, kernel, x, seconds,
               [&](float* out) { return make(kernel.operand(0), out); });
  const Memory copy = Allocate(x.count());
  const auto [ours_s, copy_s] = InTurns(
      seconds, [&] { kernel.Run(); },
      [&] { std::memcpy(copy.get(), kernel.operand(0), x.bytes()); });
  Figure("kernel." + name + ".vs_memcpy", ours_s / copy_s, "x");
}

const char kGelu[] = R"(
  %half = arith.constant dense<0.5> : tensor<1024x1024xf32>
  %one = arith.constant dense<1.0> : tensor<1024x1024xf32>
  %root = arith.constant dense<0.70710678> : tensor<1024x1024xf32>
  %scaled = arith.mulf %a0, %root : tensor<1024x1024xf32>
  %erf = math.erf %scaled : tensor<1024x1024xf32>
  %more = arith.addf %erf, %one : tensor<1024x1024xf32>
  %halved = arith.mulf %a0, %half : tensor<1024x1024xf32>
  %r = arith.mulf %halved, %more : tensor<1024x1024xf32>
)";

// Batch normalization in training: statistics over the places of 4 images of
// 28x28x128.
const char kBatchNorm[] = R"(
  %part = arith.constant dense<3.18877551e-04> : tensor<128xf32>
  %epsilon = arith.constant dense<1.0e-05> : tensor<128xf32>
  %channels = tensor.empty() : tensor<128xf32>
  %full = tensor.empty() : tensor<4x28x28x128xf32>
  %zero = arith.constant 0.0 : f32
  %init = linalg.fill ins(%zero : f32) outs(%channels : tensor<128xf32>) -> tensor<128xf32>
  %sum = linalg.reduce { arith.addf } ins(%a0 : tensor<4x28x28x128xf32>)
      outs(%init : tensor<128xf32>) dimensions = [0, 1, 2]
  %mean = arith.mulf %sum, %part : tensor<128xf32>
  %means = linalg.broadcast ins(%mean : tensor<128xf32>)
      outs(%full : tensor<4x28x28x128xf32>) dimensions = [0, 1, 2]
  %centred = arith.subf %a0, %means : tensor<4x28x28x128xf32>
  %squares = arith.mulf %centred, %centred : tensor<4x28x28x128xf32>
  %total = linalg.reduce { arith.addf } ins(%squares : tensor<4x28x28x128xf32>)
      outs(%init : tensor<128xf32>) dimensions = [0, 1, 2]
  %variance = arith.mulf %total, %part : tensor<128xf32>
  %safe = arith.addf %variance, %epsilon : tensor<128xf32>
  %inverse = math.rsqrt %safe : tensor<128xf32>
  %inverses = linalg.broadcast ins(%inverse : tensor<128xf32>)
      outs(%full : tensor<4x28x28x128xf32>) dimensions = [0, 1, 2]
  %r = arith.mulf %centred, %inverses : tensor<4x28x28x128xf32>
)";

void BatchNorm(double seconds) {
  const Array x({4, 28, 28, 128});
  Kernel kernel({x}, x, kBatchNorm);
  NextToOneDnn("batchnorm", kernel, x, seconds, [&](float* out) {
    return OneDnnBatchNorm(4, 28, 128, kernel.operand(0), out);
  });
}

// Pools windows of 3x3 with stride 2 of 113x113x64, without padding.
void Pool(const std::string& name, bool is_max, double seconds) {
  const Array x({1, 113, 113, 64}), y({1, 56, 56, 64}), window({3, 3});
  std::string statements =
      Empty("w", window) + Filled("z", y, is_max ? "0xFF800000" : "0.0") +
      "  %p = linalg.pooling_nhwc_" + (is_max ? "max" : "sum") +
      " {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : "
      "tensor<2xi64>} ins(%a0, %w : " +
      x.type() + ", " + window.type() + ") outs(%z : " + y.type() + ") -> " +
      y.type() + "\n  %part = arith.constant dense<" +
      (is_max ? "1.0" : "0.111111112") + "> : " + y.type() +
      "\n  %r = arith.mulf %p, %part : " + y.type() + "\n";
  Kernel kernel({x}, y, statements);
  NextToOneDnn(name, kernel, y, seconds, [&](float* out) {
    return OneDnnPool(113, 64, is_max, kernel.operand(0), out);
  });
}

}  // namespace

KernelBenchmarks Layers() {
  auto rows = [](const std::string& name, const char* statements, auto make) {
    return KernelBenchmark{
        name, [=](double seconds) { Rows(name, statements, make, seconds); }};
  };
  return {
      rows("softmax", kSoftmax,
           [](float* in, float* out) {
             return OneDnnSoftmax(kRows, kColumns, in, out);
           }),
      rows("layernorm", kLayerNorm,
           [](float* in, float* out) {
             return OneDnnLayerNorm(kRows, kColumns, in, out);
           }),
      rows("gelu", kGelu,
           [](float* in, float* out) {
             return OneDnnGelu(kRows * kColumns, in, out);
           }),
      {"batchnorm", BatchNorm},
      {"maxpool", [](double seconds) { Pool("maxpool", true, seconds); }},
      {"avgpool", [](double seconds) { Pool("avgpool", false, seconds); }},
  };
}

KernelBenchmarks Convolutions() {
  KernelBenchmarks all;
  auto add = [&](const std::string& name, const ConvolutionShape& shape) {
    all.push_back(
        {name, [=](double seconds) { NextToOneDnn(name, shape, seconds); }});
  };
  add("conv3x3_56", {56, 64, 64, 3, 1, 1});
  add("conv3x3_28", {28, 128, 128, 3, 1, 1});
  add("conv3x3_14", {14, 256, 256, 3, 1, 1});
  add("conv1x1", {56, 64, 256, 1, 1, 0});
  add("conv7x7s2", {224, 3, 64, 7, 2, 3});
  add("depthwise", {56, 128, 128, 3, 1, 1, true});
  for (const std::string element : {"bf16", "f16"}) {
    all.push_back({"conv3x3_" + element, [=](double seconds) {
                     NarrowConvolution(element, seconds);
                   }});
  }
  return all;
}

}  // namespace pathways::bench

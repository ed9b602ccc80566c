//===- onednn.cc - Calls of oneDNN ----------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "benchmarks/onednn.h"

#include <dlfcn.h>

#include <dnnl.hpp>
#include <memory>
#include <unordered_map>
#include <utility>

namespace pathways::bench {

using dnnl::memory;
using Tag = memory::format_tag;
using Type = memory::data_type;

namespace {

// An engine, a primitive on it and its operands.
struct Call {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  dnnl::primitive primitive;
  std::unordered_map<int, memory> operands;

  void Set(int operand, const memory::desc& desc, void* data) {
    operands[operand] = memory(desc, engine, data);
  }
};

std::function<void()> Run(std::shared_ptr<Call> call) {
  return [call] {
    call->primitive.execute(call->stream, call->operands);
    call->stream.wait();
  };
}

// Returns a call from `in` to `out`, both laid out as `desc` says.
template <typename Primitive>
std::function<void()> Elementwise(const typename Primitive::desc& operation,
                                  const memory::desc& desc, float* in,
                                  float* out) {
  auto call = std::make_shared<Call>();
  call->primitive =
      Primitive(typename Primitive::primitive_desc(operation, call->engine));
  call->Set(DNNL_ARG_SRC, desc, in);
  call->Set(DNNL_ARG_DST, desc, out);
  return Run(call);
}

}  // namespace

bool UseOneThread() {
  // The OpenMP library with which oneDNN was built has this function.
  auto* set = reinterpret_cast<void (*)(int)>(
      dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  if (set == nullptr) return false;
  set(1);
  return true;
}

std::function<void()> OneDnnConvolution(const ConvolutionShape& shape,
                                        float* image, float* filter,
                                        float* out) {
  auto call = std::make_shared<Call>();
  const int64_t c = shape.channels, f = shape.filters, k = shape.window;
  const memory::dims filter_dims = shape.is_depthwise
                                       ? memory::dims{c, 1, 1, k, k}
                                       : memory::dims{f, c, k, k};
  const memory::desc image_desc({1, c, shape.size, shape.size}, Type::f32,
                                Tag::nhwc),
      filter_desc(filter_dims, Type::f32,
                  shape.is_depthwise ? Tag::hwigo : Tag::hwio),
      any_desc(filter_dims, Type::f32, Tag::any),
      out_desc({1, f, shape.out_size(), shape.out_size()}, Type::f32,
               Tag::nhwc);
  const memory::dims strides(2, shape.stride), padding(2, shape.padding);
  const dnnl::convolution_forward::primitive_desc desc(
      {dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
       image_desc, any_desc, out_desc, strides, padding, padding},
      call->engine);
  call->primitive = dnnl::convolution_forward(desc);
  call->Set(DNNL_ARG_SRC, image_desc, image);
  call->Set(DNNL_ARG_DST, out_desc, out);
  memory given(filter_desc, call->engine, filter),
      liked(desc.weights_desc(), call->engine);
  dnnl::reorder(given, liked).execute(call->stream, given, liked);
  call->stream.wait();
  call->operands[DNNL_ARG_WEIGHTS] = liked;
  return Run(call);
}

std::function<void()> OneDnnMatmul(int64_t m, int64_t n, int64_t k, bool is_i8,
                                   void* a, void* b, void* out) {
  auto call = std::make_shared<Call>();
  const Type type = is_i8 ? Type::s8 : Type::bf16;
  const memory::desc a_desc({m, k}, type, Tag::ab),
      b_desc({k, n}, type, Tag::ab),
      out_desc({m, n}, is_i8 ? Type::s32 : Type::bf16, Tag::ab);
  call->primitive = dnnl::matmul(
      dnnl::matmul::primitive_desc({a_desc, b_desc, out_desc}, call->engine));
  call->Set(DNNL_ARG_SRC, a_desc, a);
  call->Set(DNNL_ARG_WEIGHTS, b_desc, b);
  call->Set(DNNL_ARG_DST, out_desc, out);
  return Run(call);
}

std::function<void()> OneDnnSoftmax(int64_t rows, int64_t columns, float* in,
                                    float* out) {
  const memory::desc desc({rows, columns}, Type::f32, Tag::ab);
  return Elementwise<dnnl::softmax_forward>(
      {dnnl::prop_kind::forward_inference, desc, 1}, desc, in, out);
}

std::function<void()> OneDnnLayerNorm(int64_t rows, int64_t columns, float* in,
                                      float* out) {
  const memory::desc desc({rows, columns}, Type::f32, Tag::ab);
  return Elementwise<dnnl::layer_normalization_forward>(
      {dnnl::prop_kind::forward_inference, desc, 1e-5f,
       dnnl::normalization_flags::none},
      desc, in, out);
}

std::function<void()> OneDnnGelu(int64_t count, float* in, float* out) {
  const memory::desc desc({count}, Type::f32, Tag::a);
  return Elementwise<dnnl::eltwise_forward>(
      {dnnl::prop_kind::forward_inference, dnnl::algorithm::eltwise_gelu_erf,
       desc, 0},
      desc, in, out);
}

std::function<void()> OneDnnBatchNorm(int64_t images, int64_t size,
                                      int64_t channels, float* in, float* out) {
  const memory::desc desc({images, channels, size, size}, Type::f32, Tag::nhwc);
  return Elementwise<dnnl::batch_normalization_forward>(
      {dnnl::prop_kind::forward_inference, desc, 1e-5f,
       dnnl::normalization_flags::none},
      desc, in, out);
}

std::function<void()> OneDnnPool(int64_t size, int64_t channels, bool is_max,
                                 float* in, float* out) {
  auto call = std::make_shared<Call>();
  const int64_t places = (size - 3) / 2 + 1;
  const memory::desc in_desc({1, channels, size, size}, Type::f32, Tag::nhwc),
      out_desc({1, channels, places, places}, Type::f32, Tag::nhwc);
  call->primitive = dnnl::pooling_forward(dnnl::pooling_forward::primitive_desc(
      {dnnl::prop_kind::forward_inference,
       is_max ? dnnl::algorithm::pooling_max
              : dnnl::algorithm::pooling_avg_exclude_padding,
       in_desc, out_desc, memory::dims{2, 2}, memory::dims{3, 3},
       memory::dims{0, 0}, memory::dims{0, 0}},
      call->engine));
  call->Set(DNNL_ARG_SRC, in_desc, in);
  call->Set(DNNL_ARG_DST, out_desc, out);
  return Run(call);
}

}  // namespace pathways::bench

//===- onednn.cc - Convolutions of oneDNN ---------------------------------===//
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

namespace pathways::bench {

bool UseOneThread() {
  // Of whichever OpenMP oneDNN was built with, which comes with it.
  auto* set = reinterpret_cast<void (*)(int)>(
      dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  if (set == nullptr) return false;
  set(1);
  return true;
}

std::function<void()> OneDnnConvolution(const ConvolutionShape& shape,
                                        float* image, float* filter,
                                        float* out) {
  using dnnl::memory;
  using Tag = memory::format_tag;
  const auto type = memory::data_type::f32;
  struct State {
    dnnl::engine engine{dnnl::engine::kind::cpu, 0};
    dnnl::stream stream{engine};
    dnnl::convolution_forward primitive;
    memory image, filter, out;
  };
  auto state = std::make_shared<State>();
  const int64_t c = shape.channels, f = shape.filters, k = shape.window;
  const memory::dims filter_dims = shape.is_depthwise
                                       ? memory::dims{c, 1, 1, k, k}
                                       : memory::dims{f, c, k, k};
  const memory::desc image_desc({1, c, shape.size, shape.size}, type,
                                Tag::nhwc),
      filter_desc(filter_dims, type,
                  shape.is_depthwise ? Tag::hwigo : Tag::hwio),
      any_desc(filter_dims, type, Tag::any),
      out_desc({1, f, shape.out_size(), shape.out_size()}, type, Tag::nhwc);
  const memory::dims strides(2, shape.stride), padding(2, shape.padding);
  const dnnl::convolution_forward::primitive_desc desc(
      {dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
       image_desc, any_desc, out_desc, strides, padding, padding},
      state->engine);
  state->primitive = dnnl::convolution_forward(desc);
  state->image = memory(image_desc, state->engine, image);
  state->out = memory(out_desc, state->engine, out);
  memory given(filter_desc, state->engine, filter);
  state->filter = memory(desc.weights_desc(), state->engine);
  dnnl::reorder(given, state->filter)
      .execute(state->stream, given, state->filter);
  state->stream.wait();
  return [state] {
    state->primitive.execute(state->stream, {{DNNL_ARG_SRC, state->image},
                                             {DNNL_ARG_WEIGHTS, state->filter},
                                             {DNNL_ARG_DST, state->out}});
    state->stream.wait();
  };
}

}  // namespace pathways::bench

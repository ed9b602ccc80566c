//===- window_statements.cc - Convolutions and pooling --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernel_generator.h"

using namespace kernel_test;

namespace {

/// Positions of the loops n, y, x, f, k, l, c in the shapes of an op; y and x
/// of the image are places of windows.
struct WindowOp {
  const char *name;
  Map image, filter, out;
};

} // namespace

/// Windows of an image, which may have a border of zeros.
bool KernelGenerator::window() {
  Element e = main == Element::I1 ? Element::F32 : main;
  const WindowOp ops[] = {
      {"conv_2d_nhwc_hwcf", {0, 1, 2, 6}, {4, 5, 6, 3}, {0, 1, 2, 3}},
      {"conv_2d_nhwc_hwcf", {0, 1, 2, 6}, {4, 5, 6, 3}, {0, 1, 2, 3}},
      {"conv_2d_nchw_fchw", {0, 6, 1, 2}, {3, 6, 4, 5}, {0, 3, 1, 2}},
      {"depthwise_conv_2d_nhwc_hwc", {0, 1, 2, 3}, {4, 5, 3}, {0, 1, 2, 3}},
      {"pooling_nhwc_sum", {0, 1, 2, 3}, {4, 5}, {0, 1, 2, 3}},
      {"pooling_nhwc_max", {0, 1, 2, 3}, {4, 5}, {0, 1, 2, 3}},
      {"pooling_nchw_max", {0, 3, 1, 2}, {4, 5}, {0, 3, 1, 2}},
  };
  const WindowOp &op = pick(ops);
  bool isPooling = op.filter.size() == 2,
       isMax = std::string(op.name).ends_with("max"),
       hasChannels = op.filter.size() == 4;
  Shape loops = {1 + below(2),
                 1 + below(4),
                 1 + below(18),
                 chance(20) ? 30 + below(20) : 1 + below(20),
                 1 + below(3),
                 1 + below(3),
                 hasChannels ? 1 + below(30) : 1};
  if (countOf(loops) > 100000)
    return false;
  std::vector<int64_t> strides, dilations, low(4), high(4);
  Shape image = select(op.image, loops), padded = image;
  for (size_t d = 0; d < 4; ++d) {
    int axis = op.image[d] - 1; // 0: y, 1: x
    if (axis != 0 && axis != 1)
      continue;
    int64_t stride = chance(60) ? 1 : 1 + below(3), dilation = 1 + below(2);
    strides.push_back(stride), dilations.push_back(dilation);
    padded[d] =
        (loops[axis + 1] - 1) * stride + (loops[axis + 4] - 1) * dilation + 1;
    low[d] = chance(40) ? below(std::min<int64_t>(padded[d], 3)) : 0;
    high[d] = chance(40) ? below(std::min<int64_t>(padded[d] - low[d], 3)) : 0;
    image[d] = padded[d] - low[d] - high[d];
  }
  int x = operand(e, image), w = operand(e, select(op.filter, loops));
  std::string text, pad(2 * depth + 2, ' ');
  std::string from = ref(x);
  if (padded != image) {
    std::string c = "%" + fresh("c"), p = "%" + fresh("p"), blocks;
    for (int d = 0; d < 4; ++d)
      blocks += (d ? ", " : "") + c + "_" + std::to_string(d) + ": index";
    text += c + " = arith.constant " + (isFloat(e) ? "0.0" : "0") + " : " +
            nameOf(e) + "\n" + pad + p + " = tensor.pad " + ref(x) + " low[" +
            list(low) + "] high[" + list(high) + "] {\n" + pad + "^bb0(" +
            blocks + "):\n" + pad + "  tensor.yield " + c + " : " + nameOf(e) +
            "\n" + pad + "} : " + type(x) + " to " + typeText(e, padded) +
            "\n" + pad;
    from = p;
  }
  std::vector<Evaluation> before;
  int init =
      destination(e, select(op.out, loops), /*isRead=*/true, text, before);
  int r = addValue(fresh("v"), e, values[init].shape);
  text += ref(r) + " = linalg." + op.name + " {strides = dense<[" +
          list(strides) + "]> : tensor<2xi64>, dilations = dense<[" +
          list(dilations) + "]> : tensor<2xi64>} ins(" + from + ", " + ref(w) +
          " : " + typeText(e, padded) + ", " + type(w) + ") outs(" + ref(init) +
          " : " + type(init) + ") -> " + type(r);
  auto named = [&](const std::string &name) -> const BinaryOp & {
    for (const BinaryOp &each : kFloatBinary)
      if (each.name == name)
        return each;
    for (const BinaryOp &each : kIntBinary)
      if (each.name == name)
        return each;
    std::abort();
  };
  const BinaryOp &times = named(isFloat(e) ? "arith.mulf" : "arith.muli");
  const BinaryOp &join =
      named(isMax        ? isFloat(e) ? "arith.maximumf" : "arith.maxsi"
            : isFloat(e) ? "arith.addf"
                         : "arith.addi");
  return emit(text, {r}, [=, op = op, &times, &join](Env &env) {
    for (const Evaluation &each : before)
      each(env);
    std::vector<std::vector<Cell>> terms(env[r].cells.size());
    forEach(loops, [&](const Shape &index) {
      Shape at = select(op.image, index);
      bool isInside = true;
      for (size_t d = 0; d < 4; ++d) {
        int axis = op.image[d] - 1;
        if (axis == 0 || axis == 1)
          at[d] = at[d] * strides[axis] + index[axis + 4] * dilations[axis] -
                  low[d];
        isInside &= at[d] >= 0 && at[d] < image[d];
      }
      Cell value = isInside ? env[x].cells[offsetOf(image, at)] : Cell();
      if (!isPooling)
        value = times.apply(
            e, value,
            env[w].cells[offsetOf(env[w].shape, select(op.filter, index))]);
      terms[offsetOf(env[r].shape, select(op.out, index))].push_back(value);
    });
    for (size_t i = 0; i < terms.size(); ++i)
      env[r].cells[i] = combine(join, e, env[init].cells[i], terms[i]);
  });
}

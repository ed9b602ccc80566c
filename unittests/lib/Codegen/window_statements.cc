//===- window_statements.cc - Convolutions and pooling --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernel_generator.h"

#include <cstring>

using namespace kernel_test;

namespace {

/// Loops by letters: batch n, group g, channels c and f, places z, y, x and
/// taps j, k, l. In the image, y stands for y * stride + k * dilation.
struct WindowOp {
  /// Name of a linalg op; "" stands for a sum of products, as a body.
  const char *name;
  const char *image, *filter, *out;
};

constexpr char kLetters[] = "ngfczyxjkl";
constexpr int kPlace = 4, kTap = 7; ///< positions of z and j

constexpr WindowOp kOps[] = {
    {"conv_2d_nhwc_hwcf", "nyxc", "klcf", "nyxf"},
    {"conv_2d_nhwc_hwcf", "nyxc", "klcf", "nyxf"},
    {"conv_2d_nchw_fchw", "ncyx", "fckl", "nfyx"},
    {"depthwise_conv_2d_nhwc_hwc", "nyxc", "klc", "nyxc"},
    {"pooling_nhwc_sum", "nyxc", "kl", "nyxc"},
    {"pooling_nhwc_max", "nyxc", "kl", "nyxc"},
    {"pooling_nchw_max", "ncyx", "kl", "ncyx"},
    {"conv_2d_nhwc_fhwc", "nyxc", "fklc", "nyxf"},
    {"conv_2d_ngchw_gfchw", "ngcyx", "gfckl", "ngfyx"},
    {"conv_2d_nhwgc_gfhwc", "nyxgc", "gfklc", "nyxgf"},
    {"depthwise_conv_2d_nchw_chw", "ncyx", "ckl", "ncyx"},
    {"depthwise_conv_2d_nhwc_hwcm", "nyxc", "klcf", "nyxcf"},
    {"conv_1d_nwc_wcf", "nxc", "lcf", "nxf"},
    {"conv_1d_ncw_fcw", "ncx", "fcl", "nfx"},
    {"conv_3d_ndhwc_dhwcf", "nzyxc", "jklcf", "nzyxf"},
    {"pooling_nhwc_min", "nyxc", "kl", "nyxc"},
    {"pooling_nchw_sum", "ncyx", "kl", "ncyx"},
    {"pooling_nwc_sum", "nxc", "l", "nxc"},
    {"pooling_nwc_max", "nxc", "l", "nxc"},
    {"pooling_ncw_max", "ncx", "l", "ncx"},
    {"pooling_ndhwc_max", "nzyxc", "jkl", "nzyxc"},
    {"pooling_ndhwc_sum", "nzyxc", "jkl", "nzyxc"},
    {"", "nyxc", "klcf", "nyxf"},
    {"", "ncyx", "fckl", "nfyx"},
    {"", "nyxc", "nyxf", "klcf"}, // the gradient of a filter
    {"", "ncyx", "nfyx", "fckl"},
    {"", "nxc", "nxf", "lcf"},
};

int positionOf(char letter) { return std::strchr(kLetters, letter) - kLetters; }

bool isThere(const WindowOp &op, char letter) {
  return std::strchr(op.image, letter) || std::strchr(op.filter, letter) ||
         std::strchr(op.out, letter);
}

Map mapOf(const char *letters) {
  Map map;
  for (; *letters; ++letters)
    map.push_back(positionOf(*letters));
  return map;
}

/// Steps of every axis that windows move along, by its place in the image.
struct Steps {
  Shape strides, dilations, low; ///< 0 for other axes
};

/// Returns the map of an operand. `order` lists all loops.
std::string subscripts(const std::string &order, const char *letters,
                       const Steps *steps) {
  std::string text = "affine_map<(", results;
  for (char loop : order)
    text += (loop == order[0] ? "" : ", ") + std::string(1, loop);
  for (int d = 0; letters[d]; ++d) {
    const int at = positionOf(letters[d]);
    results += (d ? ", " : "") + std::string(1, letters[d]);
    if (steps && at >= kPlace && at < kTap)
      results += " * " + std::to_string(steps->strides[d]) + " + " +
                 kLetters[at - kPlace + kTap] + " * " +
                 std::to_string(steps->dilations[d]);
  }
  return text + ") -> (" + results + ")>";
}

/// Sizes of the loops of an op, and the position of windows on its image.
struct Windows {
  Map imageMap, filterMap, outMap;
  Shape loops, image, padded, high;
  Steps steps;
  std::vector<int64_t> strides, dilations; ///< of places alone

  /// Returns whether the loops at `index` read inside of the image, and where.
  std::pair<bool, Shape> placeOf(const Shape &index) const {
    Shape at = select(imageMap, index);
    bool isInside = true;
    for (size_t d = 0; d < at.size(); ++d) {
      if (imageMap[d] >= kPlace)
        at[d] = at[d] * steps.strides[d] +
                index[imageMap[d] - kPlace + kTap] * steps.dilations[d] -
                steps.low[d];
      isInside &= at[d] >= 0 && at[d] < image[d];
    }
    return {isInside, at};
  }
};

/// Returns the text of `x` with a border of zeros, named `name`.
std::string borderText(const Windows &w, Element e, const std::string &x,
                       const std::string &name, const std::string &pad) {
  const std::string t = nameOf(e);
  std::string blocks;
  for (size_t d = 0; d < w.image.size(); ++d)
    blocks += (d ? ", " : "") + name + "_" + std::to_string(d) + ": index";
  return name + "_c = arith.constant " + (isFloat(e) ? "0.0" : "0") + " : " +
         t + "\n" + pad + name + " = tensor.pad " + x + " low[" +
         list(w.steps.low) + "] high[" + list(w.high) + "] {\n" + pad +
         "^bb0(" + blocks + "):\n" + pad + "  tensor.yield " + name +
         "_c : " + t + "\n" + pad + "} : " + typeText(e, w.image) + " to " +
         typeText(e, w.padded) + "\n" + pad;
}

/// Returns the body of a sum of products. Names begin with `b`.
std::string productBody(Element e, const std::string &b,
                        const std::string &pad) {
  const std::string t = nameOf(e), kind = isFloat(e) ? "f " : "i ";
  return pad + "^bb0(" + b + "x: " + t + ", " + b + "y: " + t + ", " + b +
         "s: " + t + "):\n" + pad + "  " + b + "p = arith.mul" + kind + b +
         "x, " + b + "y : " + t + "\n" + pad + "  " + b + "q = arith.add" +
         kind + b + "s, " + b + "p : " + t + "\n" + pad + "  linalg.yield " +
         b + "q : " + t + "\n";
}

const BinaryOp &named(const std::string &name) {
  for (const BinaryOp &each : kFloatBinary)
    if (each.name == name)
      return each;
  for (const BinaryOp &each : kIntBinary)
    if (each.name == name)
      return each;
  std::abort();
}

/// Returns the operation that joins the elements of a window.
const BinaryOp &joinOf(const std::string &op, Element e) {
  if (op.ends_with("max"))
    return named(isFloat(e) ? "arith.maximumf" : "arith.maxsi");
  if (op.ends_with("min"))
    return named(isFloat(e) ? "arith.minimumf" : "arith.minsi");
  return named(isFloat(e) ? "arith.addf" : "arith.addi");
}

/// Returns the largest size of a loop.
int64_t mostOf(char letter) {
  switch (letter) {
  case 'n':
  case 'g':
    return 2;
  case 'z':
  case 'y':
    return 4;
  case 'x':
    return 18;
  case 'f':
    return 20;
  case 'c':
    return 30;
  default:
    return 3;
  }
}

/// Chooses sizes and steps. `below` returns a number below its argument.
template <typename Below> Windows anyWindows(const WindowOp &op, Below below) {
  auto chance = [&](int percent) { return below(100) < percent; };
  Windows w;
  w.imageMap = mapOf(op.image);
  w.filterMap = mapOf(op.filter);
  w.outMap = mapOf(op.out);
  for (const char *l = kLetters; *l; ++l) {
    w.loops.push_back(!isThere(op, *l) ? 1 : 1 + below(mostOf(*l)));
    if (*l == 'f' && w.loops.back() > 1 && chance(20))
      w.loops.back() = 30 + below(20);
    if (std::strchr("nfc", *l) && isThere(op, *l) && chance(1))
      w.loops.back() = 0;
  }
  w.image = w.padded = select(w.imageMap, w.loops);
  for (size_t d = 0; d < w.image.size(); ++d) {
    const bool isPlace = w.imageMap[d] >= kPlace;
    const int64_t stride = !isPlace || chance(60) ? 1 : 1 + below(3),
                  dilation = isPlace ? 1 + below(2) : 0;
    int64_t low = 0, high = 0;
    if (isPlace) {
      w.strides.push_back(stride), w.dilations.push_back(dilation);
      int64_t &size = w.padded[d];
      size = (size - 1) * stride +
             (w.loops[w.imageMap[d] - kPlace + kTap] - 1) * dilation + 1;
      low = chance(40) ? below(std::min<int64_t>(size, 3)) : 0;
      high = chance(40) ? below(std::min<int64_t>(size - low, 3)) : 0;
      w.image[d] = size - low - high;
    }
    w.steps.strides.push_back(stride), w.steps.dilations.push_back(dilation);
    w.steps.low.push_back(low), w.high.push_back(high);
  }
  return w;
}

/// Returns the text of the op up to its operands.
std::string opText(const WindowOp &op, const Windows &w,
                   const std::string &order, const std::string &iterators) {
  if (*op.name == 0)
    return "linalg.generic {indexing_maps = [" +
           subscripts(order, op.image, &w.steps) + ", " +
           subscripts(order, op.filter, nullptr) + ", " +
           subscripts(order, op.out, nullptr) +
           "], iterator_types = " + iterators + "}";
  const std::string of =
      "]> : tensor<" + std::to_string(w.strides.size()) + "xi64>";
  return std::string("linalg.") + op.name + " {strides = dense<[" +
         list(w.strides) + of + ", dilations = dense<[" + list(w.dilations) +
         of + "}";
}

} // namespace

/// Writes windows of an image, which may have a border of zeros.
bool KernelGenerator::window() {
  Element e = main == Element::I1 ? Element::F32 : main;
  const WindowOp &op = kOps[below(mix == Mix::Layers ? std::size(kOps) : 7)];
  const Windows windows = anyWindows(op, [&](int64_t n) { return below(n); });
  const std::string name = op.name;
  const bool isPooling = name.starts_with("pooling");
  if (countOf(windows.loops) > 100000)
    return false;
  std::string order;
  for (const char *l = kLetters; *l; ++l)
    if (isThere(op, *l))
      order.insert(order.begin() + below(order.size() + 1), *l);
  Map kept;
  for (size_t d = 0; d < order.size(); ++d)
    if (std::strchr(op.out, order[d]))
      kept.push_back(d);
  int x = operand(e, windows.image),
      w = operand(e, select(windows.filterMap, windows.loops));
  std::string text, pad(2 * depth + 2, ' '), from = ref(x);
  if (windows.padded != windows.image) {
    from = "%" + fresh("p");
    text = borderText(windows, e, ref(x), from, pad);
  }
  std::vector<Evaluation> before;
  int init = destination(e, select(windows.outMap, windows.loops),
                         /*isRead=*/true, text, before);
  int r = addValue(fresh("v"), e, values[init].shape);
  text += ref(r) + " = " +
          opText(op, windows, order, iterators(order.size(), kept)) + " ins(" +
          from + ", " + ref(w) + " : " + typeText(e, windows.padded) + ", " +
          type(w) + ") outs(" + ref(init) + " : " + type(init) + ")";
  if (name.empty())
    text += " {\n" + productBody(e, "%" + fresh("b"), pad) + pad + "}";
  text += " -> " + type(r);
  const BinaryOp &times = named(isFloat(e) ? "arith.mulf" : "arith.muli"),
                 &join = joinOf(name, e);
  return emit(text, {r}, [=, &times, &join](Env &env) {
    for (const Evaluation &each : before)
      each(env);
    joinTerms(
        join, windows.loops, windows.outMap, env[init], env[r],
        [&](const Shape &index) {
          auto [isInside, at] = windows.placeOf(index);
          Cell value =
              isInside ? env[x].cells[offsetOf(windows.image, at)] : Cell();
          return isPooling ? value
                           : termOf(times, e, value,
                                    cellOf(env[w], windows.filterMap, index));
        },
        /*isOrderOfKernel=*/false);
  });
}

//===- window_cases.cc - Convolutions described by letters ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "window_cases.h"

#include "gtest/gtest.h"
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>

using namespace kernel_test;

bool kernel_test::hasFma() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("fma");
#else
  return true;
#endif
}

static bool isPool(const Layout &layout) {
  return std::string(layout.op).starts_with("pooling");
}

int64_t kernel_test::paddedSize(const Sizes &sizes, const Window &w, int axis) {
  int64_t places = sizes.at("yx"[axis]), taps = sizes.at("kl"[axis]);
  if (places == 0)
    return (taps - 1) * w.dilations[axis];
  return (places - 1) * w.strides[axis] + (taps - 1) * w.dilations[axis] + 1;
}

static std::vector<int64_t> shapeOf(const char *letters, const Sizes &sizes) {
  std::vector<int64_t> shape;
  for (const char *l = letters; *l; ++l)
    shape.push_back(sizes.at(*l));
  return shape;
}

static std::vector<int64_t> inShape(const Layout &layout, const Sizes &sizes,
                                    const Window &w, bool isPadded) {
  Sizes in = sizes;
  for (int axis : {0, 1})
    in["yx"[axis]] = paddedSize(sizes, w, axis) -
                     (isPadded ? 0 : w.low[axis] + w.high[axis]);
  return shapeOf(layout.in, in);
}

static std::string typeOf(const std::vector<int64_t> &shape,
                          const char *element = "f32") {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + element + ">";
}

static int64_t countOf(const std::vector<int64_t> &shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

static std::string number(float value) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08X", std::bit_cast<uint32_t>(value));
  return text;
}

std::string kernel_test::textOf(const Layout &layout, const Sizes &sizes,
                                const Window &w) {
  std::string x = typeOf(inShape(layout, sizes, w, false)),
              p = typeOf(inShape(layout, sizes, w, true)),
              f = typeOf(shapeOf(layout.filter, sizes)),
              o = typeOf(shapeOf(layout.out, sizes)),
              bias = typeOf({shapeOf(layout.out, sizes).back()}), low, high;
  for (const char *l = layout.in; *l; ++l) {
    const char *axis = std::strchr("yx", *l);
    std::string comma = l == layout.in ? "" : ", ";
    low += comma + std::to_string(axis ? w.low[*axis == 'x'] : 0);
    high += comma + std::to_string(axis ? w.high[*axis == 'x'] : 0);
  }
  bool isPadded = x != p;
  std::string text = "func.func @f(%x: " + x + ", %w: " + f +
                     (w.hasTail ? ", %bias: " + bias : "") + ") -> " + o +
                     " {\n  %init = arith.constant " + number(w.init) +
                     " : f32\n  %pad = arith.constant " + number(w.padding) +
                     " : f32\n";
  if (isPadded) {
    std::string arguments;
    for (size_t i = 0; layout.in[i]; ++i)
      arguments += (i ? ", %i" : "%i") + std::to_string(i) + ": index";
    text += "  %p = tensor.pad %x low[" + low + "] high[" + high +
            "] {\n  ^bb0(" + arguments + "):\n    tensor.yield %pad : f32\n" +
            "  } : " + x + " to " + p + "\n";
  }
  text += "  %e = tensor.empty() : " + o +
          "\n  %f = linalg.fill ins(%init : f32) outs(%e : " + o + ") -> " + o +
          "\n  %r = linalg." + layout.op + " {strides = dense<[" +
          std::to_string(w.strides[0]) + ", " + std::to_string(w.strides[1]) +
          "]> : tensor<2xi64>, dilations = dense<[" +
          std::to_string(w.dilations[0]) + ", " +
          std::to_string(w.dilations[1]) + "]> : tensor<2xi64>} ins(" +
          (isPadded ? "%p" : "%x") + ", %w : " + p + ", " + f +
          ") outs(%f : " + o + ") -> " + o + "\n";
  if (w.hasTail) {
    std::string leading;
    for (size_t d = 0; layout.out[d + 1]; ++d)
      leading += (d ? ", " : "") + std::to_string(d);
    text += "  %wide = linalg.broadcast ins(%bias : " + bias +
            ") outs(%e : " + o + ") dimensions = [" + leading +
            "]\n  %sum = arith.addf %r, %wide : " + o +
            "\n  %zeros = arith.constant dense<0.0> : " + o +
            "\n  %relu = arith.maximumf %sum, %zeros : " + o +
            "\n  return %relu : " + o + "\n}\n";
  } else {
    text += "  return %r : " + o + "\n}\n";
  }
  return text;
}

/// Calls `visit` for every index of the dimensions in `letters`, the last one
/// fastest.
static void forEach(const char *letters, const Sizes &sizes, Sizes &at,
                    const std::function<void()> &visit) {
  if (!*letters)
    return visit();
  for (int64_t i = 0; i < sizes.at(*letters); ++i) {
    at[*letters] = i;
    forEach(letters + 1, sizes, at, visit);
  }
}

static int64_t offsetOf(const char *letters, const Sizes &sizes,
                        const Sizes &at) {
  int64_t offset = 0;
  for (const char *l = letters; *l; ++l)
    offset = offset * sizes.at(*l) + at.at(*l);
  return offset;
}

float kernel_test::add(const Layout &layout, float sum, float x, float w,
                       bool isFused) {
  std::string op = layout.op;
  if (!isPool(layout))
    return isFused ? std::fma(x, w, sum) : sum + x * w;
  if (op.ends_with("sum"))
    return sum + x;
  if (std::isnan(sum) || std::isnan(x))
    return NAN;
  // The positive of two zeros is the larger one.
  bool isLess = x < sum || (x == sum && std::signbit(x));
  return op.ends_with("max") == isLess ? sum : x;
}

std::vector<float> kernel_test::plainLoops(const Layout &layout,
                                           const Sizes &sizes, const Window &w,
                                           const std::vector<float> &x,
                                           const std::vector<float> &filter,
                                           const std::vector<float> &bias) {
  Sizes inSizes = sizes, at;
  for (int axis : {0, 1})
    inSizes["yx"[axis]] =
        paddedSize(sizes, w, axis) - w.low[axis] - w.high[axis];
  std::vector<float> out(countOf(shapeOf(layout.out, sizes)));
  forEach(layout.out, sizes, at, [&] {
    float sum = w.init;
    forEach(layout.terms, sizes, at, [&] {
      Sizes place = at;
      bool isInside = true;
      for (int axis : {0, 1}) {
        char l = "yx"[axis];
        place[l] = at[l] * w.strides[axis] +
                   at["kl"[axis]] * w.dilations[axis] - w.low[axis];
        isInside &= place[l] >= 0 && place[l] < inSizes[l];
      }
      float value =
          isInside ? x[offsetOf(layout.in, inSizes, place)] : w.padding;
      float weight =
          isPool(layout) ? 0 : filter[offsetOf(layout.filter, sizes, at)];
      sum = add(layout, sum, value, weight, w.isFused);
    });
    if (w.hasTail) {
      sum += bias[at[layout.out[std::strlen(layout.out) - 1]]];
      sum = std::isnan(sum) ? NAN : std::max(sum, 0.0f);
    }
    out[offsetOf(layout.out, sizes, at)] = sum;
  });
  return out;
}

std::vector<float> kernel_test::valuesOf(int64_t count, unsigned seed,
                                         Values kind) {
  std::vector<float> values = numbers<float>(count, seed);
  if (kind == Values::Special) {
    std::mt19937 random(seed);
    const float kSpecial[] = {NAN,  INFINITY, -INFINITY, -0.0f,
                              0.0f, 1e38f,    1e-40f,    -0.0f};
    for (float &value : values)
      if (random() % 6 == 0)
        value = kSpecial[random() % std::size(kSpecial)];
  }
  return values;
}

void kernel_test::expectSame(const std::vector<float> &ours,
                             const std::vector<float> &plain) {
  ASSERT_EQ(ours.size(), plain.size());
  for (size_t i = 0; i < plain.size(); ++i) {
    if (std::isnan(plain[i]) && std::isnan(ours[i]))
      continue;
    ASSERT_EQ(std::bit_cast<uint32_t>(ours[i]),
              std::bit_cast<uint32_t>(plain[i]))
        << "element " << i << " is " << ours[i] << ", plain loops give "
        << plain[i];
  }
}

void kernel_test::check(const Layout &layout, const Sizes &sizes,
                        const Window &w,
                        const pathways::proto::Target &target) {
  std::string text = textOf(layout, sizes, w);
  SCOPED_TRACE(text);
  Kernel kernel;
  kernel.setRounding(w.rounding);
  ASSERT_TRUE(kernel.compile(text, {target})) << kernel.errors();
  if (!kernel.load(target)) {
    ASSERT_NE(target.cpu(), "") << kernel.errors();
    return; // the code is not for this machine
  }
  for (Values kind : {Values::Usual, Values::Special}) {
    auto x = valuesOf(countOf(inShape(layout, sizes, w, false)), 1, kind),
         f = valuesOf(countOf(shapeOf(layout.filter, sizes)), 2, kind),
         bias = valuesOf(shapeOf(layout.out, sizes).back(), 3, kind);
    Buffer in = Buffer::of(x), filter = Buffer::of(f), b = Buffer::of(bias),
           out(countOf(shapeOf(layout.out, sizes)) * 4);
    std::vector<Buffer *> buffers = {&in, &filter, &b, &out};
    if (!w.hasTail)
      buffers.erase(buffers.begin() + 2);
    ASSERT_EQ(kernel.run(0, buffers), 0);
    expectSame(out.as<float>(), plainLoops(layout, sizes, w, x, f, bias));
  }
}

Sizes kernel_test::sized(Sizes sizes) {
  for (char l : std::string("ngcfyxkl"))
    sizes.emplace(l, 1);
  return sizes;
}

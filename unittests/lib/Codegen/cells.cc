//===- cells.cc - Elements, with the error a kernel may make --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cells.h"

using namespace kernel_test;

const char *kernel_test::nameOf(Element e) {
  const char *names[] = {"i1", "i8", "i32", "i64", "f16", "bf16", "f32", "f64"};
  return names[static_cast<int>(e)];
}

int kernel_test::widthOf(Element e) {
  const int widths[] = {1, 8, 32, 64, 16, 16, 32, 64};
  return widths[static_cast<int>(e)];
}

static thread_local View currentView = View::Local;

void kernel_test::setView(View view) { currentView = view; }

long double kernel_test::roundingOf(Element e) {
  if (isNarrow(e) && currentView == View::Global)
    return std::ldexp(1.0L, -formatOf(e).first - 1);
  return e == Element::F64 ? 0x1p-53L : 0x1p-24L;
}
long double kernel_test::leastOf(Element e) {
  if (isNarrow(e) && currentView == View::Global)
    return std::ldexp(1.0L, formatOf(e).second - formatOf(e).first - 1);
  return e == Element::F64 ? 0x1p-1070L : 0x1p-148L;
}

int64_t kernel_test::wrapped(Element e, uint64_t value) {
  if (e == Element::I1)
    return value & 1;
  int shift = 64 - widthOf(e);
  return static_cast<int64_t>(value << shift) >> shift;
}

std::pair<int, int> kernel_test::formatOf(Element e) {
  return e == Element::F16 ? std::pair(10, -14) : std::pair(7, -126);
}

long double kernel_test::narrowed(Element e, long double value) {
  auto [fraction, least] = formatOf(e);
  if (value == 0)
    return value;
  int exponent = std::max<int>(std::ilogb(value), least);
  long double unit = std::ldexp(1.0L, exponent - fraction);
  return std::nearbyint(value / unit) * unit;
}

uint16_t kernel_test::narrowBits(Element e, long double value) {
  auto [fraction, least] = formatOf(e);
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  long double size = std::fabs(narrowed(e, value));
  if (size == 0)
    return sign;
  int exponent = std::max<int>(std::ilogb(size), least);
  int units = static_cast<int>(std::ldexp(size, fraction - exponent));
  return sign | (((exponent - least) << fraction) + units);
}

long double kernel_test::narrowValue(Element e, uint16_t bits) {
  auto [fraction, least] = formatOf(e);
  int exponent = (bits & 0x7fff) >> fraction;
  int units = bits & ((1 << fraction) - 1);
  if (exponent == (0x7fff >> fraction))
    return units ? NAN : bits & 0x8000 ? -INFINITY : INFINITY;
  if (exponent > 0)
    units += 1 << fraction;
  long double size = std::ldexp((long double)units,
                                least + std::max(exponent - 1, 0) - fraction);
  return bits & 0x8000 ? -size : size;
}

Cell kernel_test::rounded(Element e, long double value, long double inherited,
                          long double units) {
  return real(value, inherited + units * roundingOf(e) * std::fabs(value) +
                         units * leastOf(e));
}

/// Near a zero, what the approximations give is accurate as an absolute number.
static Cell smooth(Cell cell, Element e) {
  cell.error += 16 * roundingOf(e);
  return cell;
}

const UnaryOp kernel_test::kFloatUnary[] = {
    {"arith.negf", [](Element, Cell x) { return real(-x.real, x.error); }},
    {"math.absf",
     [](Element, Cell x) { return real(std::fabs(x.real), x.error); }},
    {"math.exp",
     [](Element e, Cell x) {
       return monotone(e, x, [](long double v) { return std::exp(v); }, 8);
     }},
    {"math.tanh",
     [](Element e, Cell x) {
       return smooth(
           monotone(e, x, [](long double v) { return std::tanh(v); }, 16), e);
     }},
    {"math.erf",
     [](Element e, Cell x) {
       return smooth(
           monotone(e, x, [](long double v) { return std::erf(v); }, 16), e);
     }},
    {"math.sqrt",
     [](Element e, Cell x) {
       return monotone(e, x, [](long double v) { return std::sqrt(v); }, 2);
     }},
    {"math.rsqrt",
     [](Element e, Cell x) {
       return monotone(e, x, [](long double v) { return 1 / std::sqrt(v); }, 4);
     }},
    {"math.log",
     [](Element e, Cell x) {
       return smooth(
           monotone(e, x, [](long double v) { return std::log(v); }, 8), e);
     }},
    {"math.sin",
     [](Element e, Cell x) {
       return smooth(rounded(e, std::sin(x.real), x.error, 4), e);
     }},
};

const BinaryOp kernel_test::kFloatBinary[] = {
    {"arith.addf",
     [](Element e, Cell a, Cell b) {
       return rounded(e, a.real + b.real, a.error + b.error);
     }},
    {"arith.mulf",
     [](Element e, Cell a, Cell b) {
       return rounded(e, a.real * b.real,
                      std::fabs(a.real) * b.error +
                          std::fabs(b.real) * a.error + a.error * b.error);
     }},
    {"arith.maximumf",
     [](Element, Cell a, Cell b) {
       return real(std::max(a.real, b.real), std::max(a.error, b.error));
     }},
    {"arith.minimumf",
     [](Element, Cell a, Cell b) {
       return real(std::min(a.real, b.real), std::max(a.error, b.error));
     }},
    {"arith.subf",
     [](Element e, Cell a, Cell b) {
       return rounded(e, a.real - b.real, a.error + b.error);
     }},
    {"arith.divf",
     [](Element e, Cell a, Cell b) {
       long double value = a.real / b.real;
       long double room = std::fabs(b.real) - b.error;
       return rounded(
           e, value,
           room < 0.05L ? NAN : (a.error + std::fabs(value) * b.error) / room);
     }},
};

const BinaryOp kernel_test::kIntBinary[] = {
    {"arith.addi",
     [](Element e, Cell a, Cell b) {
       return integer(wrapped(e, uint64_t(a.integer) + uint64_t(b.integer)));
     }},
    {"arith.muli",
     [](Element e, Cell a, Cell b) {
       return integer(wrapped(e, uint64_t(a.integer) * uint64_t(b.integer)));
     }},
    {"arith.maxsi",
     [](Element e, Cell a, Cell b) {
       // A set bit is the sign of an i1.
       int64_t sign = e == Element::I1 ? -1 : 1;
       return sign * a.integer > sign * b.integer ? a : b;
     }},
    {"arith.minui",
     [](Element, Cell a, Cell b) {
       return uint64_t(a.integer) < uint64_t(b.integer) ? a : b;
     }},
    {"arith.andi",
     [](Element, Cell a, Cell b) { return integer(a.integer & b.integer); }},
    {"arith.xori",
     [](Element e, Cell a, Cell b) {
       return integer(wrapped(e, uint64_t(a.integer ^ b.integer)));
     }},
    {"arith.subi",
     [](Element e, Cell a, Cell b) {
       return integer(wrapped(e, uint64_t(a.integer) - uint64_t(b.integer)));
     }},
};

int kernel_test::compare(Element e, Cell a, Cell b) {
  if (!isFloat(e)) {
    int64_t sign = e == Element::I1 ? -1 : 1;
    return sign * a.integer < sign * b.integer   ? -1
           : sign * a.integer > sign * b.integer ? 1
                                                 : 0;
  }
  long double apart = a.real - b.real;
  return apart > a.error + b.error ? 1 : -apart > a.error + b.error ? -1 : 0;
}

Cell kernel_test::combine(const BinaryOp &op, Element e, Cell sum,
                          const std::vector<Cell> &cells) {
  if (std::string(op.name) != "arith.addf") {
    for (const Cell &cell : cells)
      sum = op.apply(e, sum, cell);
    return sum;
  }
  long double size = std::fabs(sum.real);
  for (const Cell &cell : cells) {
    sum.real += cell.real;
    sum.error += cell.error;
    size += std::fabs(cell.real);
  }
  sum.error += (cells.size() + 1) * (roundingOf(e) * size + leastOf(e));
  return sum;
}

int64_t kernel_test::countOf(const Shape &shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

int64_t kernel_test::offsetOf(const Shape &shape, const Shape &index) {
  int64_t offset = 0;
  for (size_t d = 0; d < shape.size(); ++d)
    offset = offset * shape[d] + index[d];
  return offset;
}

void kernel_test::forEach(const Shape &shape,
                          const std::function<void(const Shape &)> &visit) {
  if (countOf(shape) == 0)
    return;
  Shape index(shape.size(), 0);
  while (true) {
    visit(index);
    size_t d = shape.size();
    while (d > 0 && ++index[d - 1] == shape[d - 1])
      index[--d] = 0;
    if (d == 0)
      return;
  }
}

Shape kernel_test::select(const Map &map, const Shape &loops) {
  Shape result;
  for (int d : map)
    result.push_back(loops[d]);
  return result;
}

std::string kernel_test::list(const std::vector<int64_t> &values) {
  std::string text;
  for (int64_t value : values)
    text += (text.empty() ? "" : ", ") + std::to_string(value);
  return text;
}

std::string kernel_test::typeText(Element e, const Shape &shape) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + nameOf(e) + ">";
}

std::string kernel_test::mapText(const Map &map, size_t loops) {
  std::string text = "affine_map<(";
  for (size_t d = 0; d < loops; ++d)
    text += (d ? ", d" : "d") + std::to_string(d);
  text += ") -> (";
  for (size_t r = 0; r < map.size(); ++r)
    text += (r ? ", d" : "d") + std::to_string(map[r]);
  return text + ")>";
}

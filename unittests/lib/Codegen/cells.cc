//===- cells.cc - Elements with error bounds ------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cells.h"

#include <cfloat>

using namespace kernel_test;

const char *kernel_test::nameOf(Element e) {
  const char *names[] = {"i1",  "i8",   "i16", "i32", "i64",
                         "f16", "bf16", "f32", "f64"};
  return names[static_cast<int>(e)];
}

int kernel_test::widthOf(Element e) {
  const int widths[] = {1, 8, 16, 32, 64, 16, 16, 32, 64};
  return widths[static_cast<int>(e)];
}

static thread_local View currentView = View::Local;

void kernel_test::setView(View view) { currentView = view; }

static thread_local Accuracy currentAccuracy = Accuracy::EachOp;

void kernel_test::setAccuracy(Accuracy accuracy) { currentAccuracy = accuracy; }

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
  if (!std::isfinite(value))
    return value;
  int exponent = std::max<int>(std::ilogb(value), least);
  long double unit = std::ldexp(1.0L, exponent - fraction);
  long double number = std::nearbyint(value / unit) * unit;
  // The greatest exponent is as far from 0 as the least one.
  if (std::fabs(number) >= std::ldexp(1.0L, 2 - least))
    return std::copysign(INFINITY, number);
  return number;
}

uint16_t kernel_test::narrowBits(Element e, long double value) {
  auto [fraction, least] = formatOf(e);
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  long double size = std::fabs(narrowed(e, value));
  if (size == 0)
    return sign;
  const uint16_t infinity = 0x7fff >> fraction << fraction;
  if (std::isnan(size))
    return infinity | 1 << (fraction - 1);
  if (std::isinf(size))
    return sign | infinity;
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

long double kernel_test::mostOf(Element e) {
  if (e == Element::F64)
    return DBL_MAX;
  // With whole arrays, any operation may store its result as f16.
  return currentView == View::Global && e == Element::F16 ? 65504 : FLT_MAX;
}

bool kernel_test::isExact(Element e, std::initializer_list<Cell> operands) {
  if (currentAccuracy == Accuracy::Excess ||
      (isNarrow(e) && currentView == View::Global))
    return false;
  return std::all_of(operands.begin(), operands.end(),
                     [](const Cell &cell) { return cell.error == 0; });
}

Cell kernel_test::rounded(Element e, long double value, long double inherited,
                          long double units) {
  long double error =
      inherited + units * roundingOf(e) * std::fabs(value) + units * leastOf(e);
  if (std::fabs(value) + error < mostOf(e))
    return real(value, error);
  if (std::fabs(value) - 2 * error > mostOf(e))
    return real(std::copysign(INFINITY, value), 0);
  return unknown();
}

/// Applies `f` to exact numbers.
template <typename F> static Cell once(Element e, F f, Cell a, Cell b) {
  if (e == Element::F64)
    return real(f(double(a.real), double(b.real)), 0);
  return real(f(float(a.real), float(b.real)), 0);
}

/// Applies `f` to operands of which one is infinite or NaN. The result is known
/// if it is the same for all values that they may have.
template <typename F> static Cell special(F f, Cell a, Cell b) {
  if (std::isinf(a.error) || std::isinf(b.error))
    return unknown();
  const long double value = f(a.real, b.real);
  for (int i : {-1, 1})
    for (int j : {-1, 1}) {
      const long double other = f(a.real + i * a.error, b.real + j * b.error);
      if (std::isnan(value)
              ? !std::isnan(other)
              : other != value || std::signbit(other) != std::signbit(value))
        return unknown();
    }
  return real(value, 0);
}

/// Applies an operation that rounds once. The result is exact, infinite or NaN
/// if that is certain; otherwise its error is given by `bound`.
template <typename F, typename B>
static Cell binary(Element e, Cell a, Cell b, F f, B bound) {
  if (isExact(e, {a, b}))
    return once(e, f, a, b);
  if (!std::isfinite(a.real) || !std::isfinite(b.real))
    return special(f, a, b);
  return bound();
}

static Cell productOf(Element e, Cell a, Cell b) {
  return rounded(e, a.real * b.real,
                 std::fabs(a.real) * b.error + std::fabs(b.real) * a.error +
                     a.error * b.error);
}

static Cell quotientOf(Element e, Cell a, Cell b) {
  long double value = a.real / b.real;
  long double room = std::fabs(b.real) - b.error;
  if (room < 0.05L)
    return unknown();
  return rounded(e, value, (a.error + std::fabs(value) * b.error) / room);
}

/// Returns the larger number if `sign` is 1, the smaller one if it is -1. NaN
/// propagates, and -0 is less than 0.
static Cell extremeOf(Cell a, Cell b, int sign) {
  if (std::isnan(a.real) || std::isnan(b.real))
    return std::isnan(a.real) ? a : b;
  const bool isLess = a.real != b.real ? sign * a.real < sign * b.real
                                       : std::signbit(sign * a.real);
  const Cell &one = isLess ? b : a, &other = isLess ? a : b;
  // The error of the other number counts only if that one may be the result.
  const bool isCertain =
      sign * (one.real - other.real) > one.error + other.error;
  return real(one.real,
              isCertain ? one.error : std::max(one.error, other.error));
}

/// Returns the larger or smaller number. NaN is ignored, and of two zeros
/// either may be the result.
static Cell numberOf(Element e, Cell a, Cell b, int sign) {
  if (std::isnan(a.real) || std::isnan(b.real))
    return std::isnan(a.real) ? b : a;
  Cell cell = extremeOf(a, b, sign);
  if (a.real == b.real && std::signbit(a.real) != std::signbit(b.real))
    cell.error += leastOf(e);
  return cell;
}

/// Returns `result`, or `x` if that is an exact zero: odd functions keep the
/// sign of zeros.
static Cell odd(Cell x, Cell result) {
  return x.real == 0 && x.error == 0 ? x : result;
}

/// Applies a function whose slope is at most 1, such as sin and cos.
template <typename F> static Cell wave(Element e, Cell x, F f) {
  if (!std::isfinite(x.real))
    return real(NAN, x.error);
  return rounded(e, f(x.real), x.error, 4);
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
       return odd(
           x, monotone(e, x, [](long double v) { return std::tanh(v); }, 16));
     }},
    {"math.erf",
     [](Element e, Cell x) {
       return odd(
           x, monotone(e, x, [](long double v) { return std::erf(v); }, 16));
     }},
    {"math.sqrt",
     [](Element e, Cell x) {
       auto root = [](auto v, auto) { return std::sqrt(v); };
       if (isExact(e, {x}))
         return once(e, root, x, x);
       return monotone(e, x, [](long double v) { return std::sqrt(v); }, 2);
     }},
    {"math.rsqrt",
     [](Element e, Cell x) {
       return monotone(e, x, [](long double v) { return 1 / std::sqrt(v); }, 4);
     }},
    {"math.log",
     [](Element e, Cell x) {
       return monotone(e, x, [](long double v) { return std::log(v); }, 8);
     }},
    {"math.sin",
     [](Element e, Cell x) {
       return odd(x, wave(e, x, [](long double v) { return std::sin(v); }));
     }},
    {"math.cos",
     [](Element e, Cell x) {
       return wave(e, x, [](long double v) { return std::cos(v); });
     }},
};

const BinaryOp kernel_test::kFloatBinary[] = {
    {"arith.addf",
     [](Element e, Cell a, Cell b) {
       return binary(
           e, a, b, [](auto x, auto y) { return x + y; },
           [&] { return rounded(e, a.real + b.real, a.error + b.error); });
     }},
    {"arith.mulf",
     [](Element e, Cell a, Cell b) {
       return binary(
           e, a, b, [](auto x, auto y) { return x * y; },
           [&] { return productOf(e, a, b); });
     }},
    {"arith.maximumf",
     [](Element, Cell a, Cell b) { return extremeOf(a, b, 1); }},
    {"arith.minimumf",
     [](Element, Cell a, Cell b) { return extremeOf(a, b, -1); }},
    {"arith.maxnumf",
     [](Element e, Cell a, Cell b) { return numberOf(e, a, b, 1); }},
    {"arith.minnumf",
     [](Element e, Cell a, Cell b) { return numberOf(e, a, b, -1); }},
    {"arith.subf",
     [](Element e, Cell a, Cell b) {
       return binary(
           e, a, b, [](auto x, auto y) { return x - y; },
           [&] { return rounded(e, a.real - b.real, a.error + b.error); });
     }},
    {"arith.divf",
     [](Element e, Cell a, Cell b) {
       return binary(
           e, a, b, [](auto x, auto y) { return x / y; },
           [&] { return quotientOf(e, a, b); });
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
    {"arith.minsi",
     [](Element e, Cell a, Cell b) {
       int64_t sign = e == Element::I1 ? -1 : 1;
       return sign * a.integer < sign * b.integer ? a : b;
     }},
    {"arith.minui",
     [](Element, Cell a, Cell b) {
       return uint64_t(a.integer) < uint64_t(b.integer) ? a : b;
     }},
    {"arith.maxui",
     [](Element, Cell a, Cell b) {
       return uint64_t(a.integer) > uint64_t(b.integer) ? a : b;
     }},
    {"arith.ori",
     [](Element e, Cell a, Cell b) {
       return integer(wrapped(e, uint64_t(a.integer | b.integer)));
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

long double kernel_test::specialNumber(Element e, bool isWild, uint64_t i) {
  auto [fraction, least] = isNarrow(e)         ? formatOf(e)
                           : e == Element::F64 ? std::pair(52, -1022)
                                               : std::pair(23, -126);
  const long double normal = std::ldexp(1.0L, least),
                    tiny = std::ldexp(1.0L, least - fraction),
                    most =
                        std::ldexp(2 - std::ldexp(1.0L, -fraction), 1 - least);
  const long double numbers[] = {-0.0L,
                                 0.0L,
                                 tiny,
                                 -tiny,
                                 normal - tiny,
                                 tiny - normal,
                                 normal,
                                 -3 * tiny,
                                 most,
                                 -most,
                                 NAN,
                                 INFINITY,
                                 -(long double)INFINITY};
  return numbers[i % (isWild ? std::size(numbers) : 8)];
}

/// Instructions that multiply bf16 treat smaller numbers as 0, of either sign.
static constexpr long double kLeastNormal = 0x1p-126L;

static bool mayBeSubnormal(Cell cell) {
  return (cell.real != 0 || cell.error != 0) &&
         std::fabs(cell.real) - cell.error < kLeastNormal;
}

Cell kernel_test::termOf(const BinaryOp &times, Element e, Cell a, Cell b) {
  if (!isFloat(e) || currentAccuracy == Accuracy::Strict)
    return times.apply(e, a, b);
  const bool isZero =
      (a.real == 0 && a.error == 0) || (b.real == 0 && b.error == 0);
  const bool isFlushed =
      e == Element::BF16 && (mayBeSubnormal(a) || mayBeSubnormal(b));
  if (isZero || !std::isfinite(a.real) || !std::isfinite(b.real)) {
    Cell term = special([](auto x, auto y) { return x * y; }, a, b);
    if (e != Element::BF16 || std::isnan(term.real))
      return term;
    // An infinite number times a subnormal one may be NaN.
    return isFlushed && !isZero ? unknown()
           : term.real == 0     ? real(0, kLeastNormal)
                                : term;
  }
  Cell term = productOf(e, a, b);
  // The instructions may flush the term, sums that contain it, or both.
  if (e == Element::BF16)
    term.error += 4 * kLeastNormal + (isFlushed ? std::fabs(term.real) : 0);
  // The term is too large for a number, but maybe not for an intermediate step.
  return std::isinf(term.real) ? unknown() : term;
}

/// Returns the sum of terms that may be added in any order. A sum of -0 alone
/// is -0.
static Cell sumOf(Element e, std::vector<Cell> terms) {
  bool isNan = false, isUp = false, isDown = false, isZero = true,
       isMinus = true;
  long double sum = 0, error = 0, size = 0;
  for (const Cell &term : terms) {
    if (std::isinf(term.error))
      return unknown();
    isNan |= std::isnan(term.real);
    isUp |= std::isinf(term.real) && term.real > 0;
    isDown |= std::isinf(term.real) && term.real < 0;
    isZero &= term.real == 0 && term.error == 0;
    isMinus &= std::signbit(term.real);
    if (std::isfinite(term.real)) {
      sum += term.real;
      error += term.error;
      size += std::fabs(term.real);
    }
  }
  if (isNan)
    return real(NAN, 0);
  error += terms.size() * (roundingOf(e) * size + leastOf(e));
  // Some order may overflow in between.
  if (size + 2 * error >= mostOf(e))
    return unknown();
  if (isUp || isDown)
    return real(isUp && isDown ? NAN : isUp ? INFINITY : -INFINITY, 0);
  if (isZero)
    return real(isMinus ? -0.0L : 0.0L, 0);
  return real(sum, error);
}

/// Returns the product of factors in any order.
static Cell productOfAll(Element e, const std::vector<Cell> &factors) {
  long double largest = 1, smallest = 1;
  Cell product = real(1, 0);
  for (const Cell &factor : factors) {
    if (std::isinf(factor.error))
      return unknown();
    if (std::isnan(factor.real))
      return real(NAN, 0);
    const long double size = std::fabs(factor.real);
    if (std::isfinite(size)) {
      largest *= std::max(1.0L, size + factor.error);
      smallest *= size == 0 ? 1 : std::min(1.0L, size);
    }
    product =
        !std::isfinite(product.real) || !std::isfinite(factor.real) ||
                (product.real == 0 && product.error == 0) ||
                (size == 0 && factor.error == 0)
            ? special([](auto x, auto y) { return x * y; }, product, factor)
            : productOf(e, product, factor);
  }
  const bool isInRange = 2 * largest < mostOf(e) && smallest * mostOf(e) > 1024;
  return isInRange ? product : unknown();
}

Cell kernel_test::combine(const BinaryOp &op, Element e, Cell sum,
                          const std::vector<Cell> &cells,
                          bool isOrderOfKernel) {
  const std::string name = op.name;
  if (cells.empty())
    return sum;
  if (!(isOrderOfKernel && currentAccuracy == Accuracy::Strict) &&
      (name == "arith.addf" || name == "arith.mulf")) {
    std::vector<Cell> all = cells;
    all.push_back(sum);
    return name == "arith.addf" ? sumOf(e, std::move(all))
                                : productOfAll(e, all);
  }
  for (const Cell &cell : cells)
    sum = op.apply(e, sum, cell);
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

const Cell &kernel_test::cellOf(const Tensor &from, const Map &map,
                                const Shape &index) {
  return from.cells[offsetOf(from.shape, select(map, index))];
}

void kernel_test::joinTerms(const BinaryOp &join, const Shape &loops,
                            const Map &out, const Tensor &init, Tensor &result,
                            const std::function<Cell(const Shape &)> &term,
                            bool isOrderOfKernel) {
  std::vector<std::vector<Cell>> terms(result.cells.size());
  forEach(loops, [&](const Shape &index) {
    terms[offsetOf(result.shape, select(out, index))].push_back(term(index));
  });
  for (size_t i = 0; i < terms.size(); ++i)
    result.cells[i] =
        combine(join, result.element, init.cells[i], terms[i], isOrderOfKernel);
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

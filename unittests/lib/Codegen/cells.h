//===- cells.h - Elements, with the error a kernel may make -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What operations make of single elements, in plain C++, and bounds on how far
// from it a correct kernel may be; and indices and texts of tensors.
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_LIB_CODEGEN_CELLS_H
#define UNITTESTS_LIB_CODEGEN_CELLS_H

#include "random_kernel.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace kernel_test {

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

inline constexpr Element kElements[] = {
    Element::I1,  Element::I8,   Element::I32, Element::I64,
    Element::F16, Element::BF16, Element::F32, Element::F64};

inline bool isFloat(Element e) { return e >= Element::F16; }
inline bool isNarrow(Element e) {
  return e == Element::F16 || e == Element::BF16;
}
const char *nameOf(Element e);
int widthOf(Element e);

/// Half a unit in the last place of what a kernel computes with, and the
/// smallest number it has. In one shard f16 and bf16 are f32 until they are
/// stored; where whole arrays are written about, any operation may store.
long double roundingOf(Element e);
long double leastOf(Element e);

/// For which view errors are from now on, on this thread.
void setView(View view);

/// The integer that is left of `value` in the bits of an element.
int64_t wrapped(Element e, uint64_t value);

/// Bits of fraction and least exponent of a narrow format.
std::pair<int, int> formatOf(Element e);
/// To nearest even, in a narrow format; infinite beyond its largest number.
long double narrowed(Element e, long double value);
uint16_t narrowBits(Element e, long double value);
long double narrowValue(Element e, uint16_t bits);

//===----------------------------------------------------------------------===//
// Scalar operations
//===----------------------------------------------------------------------===//

inline Cell real(long double value, long double error) {
  return {value, error, 0};
}
inline Cell integer(int64_t value) { return {0, 0, value}; }

/// Nothing is known of it: statements that give this are left out.
inline Cell unknown() { return real(0, INFINITY); }

/// The largest number of what a kernel computes with.
long double mostOf(Element e);

/// Whether operations on numbers that are known exactly, down to the sign of a
/// zero, are exact too: each rounds once, to a format that is known.
bool isExact(Element e, std::initializer_list<Cell> operands);

/// A result that was rounded once; `inherited` comes from the operands.
/// Infinite or unknown where it is too large.
Cell rounded(Element e, long double value, long double inherited,
             long double units = 1);

/// For a function that only grows or only falls; some go through
/// approximations.
template <typename F> Cell monotone(Element e, Cell x, F f, long double units) {
  long double at = f(x.real), above = f(x.real + x.error),
              below = f(x.real - x.error);
  if (x.error == 0 && (!std::isfinite(at) || (at == 0 && std::isinf(x.real))))
    return real(at, 0);
  if (std::isnan(at) && std::isnan(above) && std::isnan(below))
    return real(at, 0);
  if (x.error == 0)
    return rounded(e, at, 0, units);
  if (!std::isfinite(at) || !std::isfinite(above) || !std::isfinite(below))
    return unknown();
  return rounded(e, at, std::max(std::fabs(above - at), std::fabs(at - below)),
                 units);
}

struct UnaryOp {
  const char *name;
  Cell (*apply)(Element, Cell);
};
struct BinaryOp {
  const char *name;
  Cell (*apply)(Element, Cell, Cell);
};

extern const UnaryOp kFloatUnary[10];
extern const BinaryOp kFloatBinary[8], kIntBinary[8];
/// The first of each that may add up a dimension.
constexpr size_t kFloatReducers = 6, kIntReducers = 7;

/// -1, 0 or 1 as a is below, near or above b; neither is NaN.
int compare(Element e, Cell a, Cell b);

/// Something with a float that is not a number of usual size: zeros of both
/// signs, the ends of the range, subnormals and, if `isWild`, infinities and
/// NaN. `i` chooses.
long double specialNumber(Element e, bool isWild, uint64_t i);

/// The product of two operands as a term of a sum: perhaps rounded only
/// together with that.
Cell termOf(const BinaryOp &times, Element e, Cell a, Cell b);

/// Combines cells that may be taken in any order. Sums know how many there are.
Cell combine(const BinaryOp &op, Element e, Cell sum,
             const std::vector<Cell> &cells);

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

int64_t countOf(const Shape &shape);
int64_t offsetOf(const Shape &shape, const Shape &index);

/// Calls `visit` for every index of `shape`, the last dimension fastest.
void forEach(const Shape &shape,
             const std::function<void(const Shape &)> &visit);

/// Positions of loops that a subscript is made of.
using Map = std::vector<int>;
Shape select(const Map &map, const Shape &loops);

/// The element of `from` that an iteration of loops reads.
const Cell &cellOf(const Tensor &from, const Map &map, const Shape &index);
/// Makes each element of `result` that of `init` and, joined with it, a term of
/// each iteration of `loops` whose subscripts `out` are its own.
void joinTerms(const BinaryOp &join, const Shape &loops, const Map &out,
               const Tensor &init, Tensor &result,
               const std::function<Cell(const Shape &)> &term);

/// "1, 2, 3".
std::string list(const std::vector<int64_t> &values);
std::string typeText(Element e, const Shape &shape);
std::string mapText(const Map &map, size_t loops);

} // namespace kernel_test

#endif // UNITTESTS_LIB_CODEGEN_CELLS_H

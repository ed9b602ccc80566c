//===- cells.h - Elements with error bounds ---------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plain C++ results of operations on single elements, with bounds on the error
// of a correct kernel; and indices and texts of tensors.
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
    Element::I1,  Element::I8,   Element::I16, Element::I32, Element::I64,
    Element::F16, Element::BF16, Element::F32, Element::F64};

inline bool isFloat(Element e) { return e >= Element::F16; }
inline bool isNarrow(Element e) {
  return e == Element::F16 || e == Element::BF16;
}
const char *nameOf(Element e);
int widthOf(Element e);

/// Half a unit in the last place of the type in which a kernel computes, and
/// the smallest number of this type. In one shard f16 and bf16 are f32 until
/// they are stored; with whole arrays, any operation may store.
long double roundingOf(Element e);
long double leastOf(Element e);

/// Sets the view whose errors are computed from now on, on this thread.
void setView(View view);
/// Sets the accuracy of errors that are computed from now on, on this thread.
void setAccuracy(Accuracy accuracy);

/// Returns `value` wrapped to the bits of an element.
int64_t wrapped(Element e, uint64_t value);

/// Returns the bits of the fraction and the least exponent of a narrow format.
std::pair<int, int> formatOf(Element e);
/// Rounds to nearest even in a narrow format; infinite beyond its largest
/// number.
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

/// Returns a cell of which nothing is known. Statements that give it are
/// dropped.
inline Cell unknown() { return real(0, INFINITY); }

/// Returns the largest number of the type in which a kernel computes.
long double mostOf(Element e);

/// Returns true if operations on numbers that are known exactly, including the
/// sign of zeros, are exact too: each rounds once, to a known format.
bool isExact(Element e, std::initializer_list<Cell> operands);

/// Returns a result that was rounded once. `inherited` is the error from the
/// operands. The result is infinite or unknown if it is too large.
Cell rounded(Element e, long double value, long double inherited,
             long double units = 1);

/// Applies a monotonic function. `units` is larger for approximations.
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
extern const BinaryOp kFloatBinary[8], kIntBinary[10];
/// Number of the first operations of each list that may reduce a dimension.
constexpr size_t kFloatReducers = 6, kIntReducers = 9;

/// Returns -1, 0 or 1 if a is below, near or above b; neither may be NaN.
int compare(Element e, Cell a, Cell b);

/// Returns a special number: a zero of either sign, an end of the range, a
/// subnormal or, if `isWild`, an infinity or NaN. `i` chooses.
long double specialNumber(Element e, bool isWild, uint64_t i);

/// Returns the product of two operands as a term of a sum, which may be rounded
/// only together with that sum unless the accuracy is strict.
Cell termOf(const BinaryOp &times, Element e, Cell a, Cell b);

/// Combines cells, in their order if the accuracy is strict and this order is
/// that of the kernel, otherwise in any order. Sums take their number into
/// account.
Cell combine(const BinaryOp &op, Element e, Cell sum,
             const std::vector<Cell> &cells, bool isOrderOfKernel = true);

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

int64_t countOf(const Shape &shape);
int64_t offsetOf(const Shape &shape, const Shape &index);

/// Calls `visit` for every index of `shape`, the last dimension fastest.
void forEach(const Shape &shape,
             const std::function<void(const Shape &)> &visit);

/// Positions of the loops that make up a subscript.
using Map = std::vector<int>;
Shape select(const Map &map, const Shape &loops);

/// Returns the element of `from` that an iteration of loops reads.
const Cell &cellOf(const Tensor &from, const Map &map, const Shape &index);
/// Computes each element of `result` from that of `init` by joining it with a
/// term of each iteration of `loops` that has this element at the subscripts
/// `out`. `isOrderOfKernel` tells that the loops are in the order of those of
/// the op.
void joinTerms(const BinaryOp &join, const Shape &loops, const Map &out,
               const Tensor &init, Tensor &result,
               const std::function<Cell(const Shape &)> &term,
               bool isOrderOfKernel = true);

/// Returns "1, 2, 3".
std::string list(const std::vector<int64_t> &values);
std::string typeText(Element e, const Shape &shape);
std::string mapText(const Map &map, size_t loops);

} // namespace kernel_test

#endif // UNITTESTS_LIB_CODEGEN_CELLS_H

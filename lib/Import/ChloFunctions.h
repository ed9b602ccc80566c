//===- ChloFunctions.h - Functions of chlo as formulas ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions that `math` does not have. All compute in f64. Errors are at most 4
// units in the last place of f64 unless a function says otherwise.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_IMPORT_CHLOFUNCTIONS_H
#define PATHWAYS_LIB_IMPORT_CHLOFUNCTIONS_H

#include "FloatCode.h"

namespace mlir::pathways {

/// Returns exp(-|x|) I1(x), for the modified Bessel function I1.
Number emitBesselI1e(Number x);

/// Returns the inverse of the error function, and NaN beyond -1 and 1. If
/// `isNarrow`, `x` is an f32 and the result will be rounded to f32 or less: the
/// logarithm is then computed in f32, which is faster.
Number emitErfInv(Number x, bool isNarrow);

/// Returns the logarithm of the absolute value of the gamma function. It is
/// infinite at 0 and negative integers, and at both infinities. Next to the
/// integers below -18 the error is up to 30 units in the last place.
Number emitLgamma(Number x);

/// Returns the derivative of the logarithm of the gamma function. It is NaN at
/// 0 and negative integers. Below -16 the error is up to 4 units in the last
/// place of pi, also next to zeros of the function.
Number emitDigamma(Number x);

/// Returns the Hurwitz zeta function, the sum of (q + k)^-s for all k >= 0. It
/// is NaN for s < 1, infinite for s = 1; for q <= 0 it is defined for integers
/// s only, and at poles it is infinite for even s and NaN for odd s. For q < 0
/// and odd s the error next to zeros of the function is absolute.
Number emitZeta(Number s, Number q);

/// Returns the n-th derivative of the digamma function, for integers n >= 0;
/// otherwise NaN. For n > 280, intermediate results overflow.
Number emitPolygamma(Number n, Number x);

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_IMPORT_CHLOFUNCTIONS_H

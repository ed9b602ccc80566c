//===- compare.h - Comparison of arrays within tolerances -------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An element matches if |got - expected| <= atol + rtol * |expected|. NaN
// matches only NaN, and an infinity only itself. Integers and booleans must be
// equal: tolerances are for floats.
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_PW_RUN_COMPARE_H_
#define TOOLS_PW_RUN_COMPARE_H_

#include <cstdint>
#include <string>

#include "pathways/HostArray.h"

namespace pathways::pw_run {

struct Tolerance {
  double rtol = 1e-5;
  double atol = 1e-6;
};

struct Comparison {
  int64_t mismatches = 0;
  int64_t first = 0;  // row-major index of the first mismatch
};

// The arrays must have the same element type and shape.
Comparison Compare(const HostArray& got, const HostArray& expected,
                   const Tolerance& tolerance);

// Returns the text of a comparison with mismatches, such as "y[1][2]: got 3,
// expected 4 (rtol 1e-05, atol 1e-06); 1 of 6 elements differ".
std::string MismatchText(const std::string& name, const HostArray& got,
                         const HostArray& expected, const Tolerance& tolerance,
                         const Comparison& comparison);

}  // namespace pathways::pw_run

#endif  // TOOLS_PW_RUN_COMPARE_H_

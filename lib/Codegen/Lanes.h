//===- Lanes.h - Scalar code in the lanes of vectors ------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What those that write vectors have in common.
///
//===----------------------------------------------------------------------===//

#ifndef LIB_CODEGEN_LANES_H
#define LIB_CODEGEN_LANES_H

#include "mlir/IR/Block.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::pathways::kernel {

/// Whether neighbours along the last dimension of `buffer` lie next to each
/// other.
bool isDense(Value buffer);

/// Whether all of `body`, which is of scalars, can be done in lanes on every
/// target: element by element, without a check or a call. Needs to know whether
/// the target converts f16.
bool canBeInLanes(Block &body, bool hasHalves);

/// `value` in `width` lanes. What is computed in `body` is computed in lanes,
/// of what `values` has for its arguments; what is from outside is the same in
/// all. `values` learns what is made.
Value inLanes(ImplicitLocOpBuilder &b, Value value, Block &body,
              IRMapping &values, int64_t width);

} // namespace mlir::pathways::kernel

#endif // LIB_CODEGEN_LANES_H

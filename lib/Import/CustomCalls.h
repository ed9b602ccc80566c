//===- CustomCalls.h - Calls by name ----------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Calls and composites whose names stand for operations of chlo, and errors for
// all that cannot be compiled.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_IMPORT_CUSTOMCALLS_H
#define PATHWAYS_LIB_IMPORT_CUSTOMCALLS_H

#include "pathways/Dialect/StableHlo/StableHlo.h"

namespace mlir::pathways {

/// Replaces `op` by an operation of chlo or its definition if its name stands
/// for one and its types fit. Otherwise fails without a diagnostic.
LogicalResult lowerKnownCall(stablehlo::CustomCallOp op);
LogicalResult lowerKnownComposite(stablehlo::CompositeOp op);

/// Replaces `op`, which has the results of a chlo.top_k, by a stable sort of
/// the last dimension of `operand`: the largest elements first, or the
/// smallest.
void lowerTopK(Operation *op, Value operand, bool isLargest);

/// Emits an error for each kind of operation of stablehlo and chlo in `module`,
/// at the first one, with their number and, where there is one, with the form
/// to write instead. Succeeds if there is none.
LogicalResult refuseOperations(Operation *module);

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_IMPORT_CUSTOMCALLS_H

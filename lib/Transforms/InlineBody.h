//===- InlineBody.h - Functions with their callees inlined ------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_TRANSFORMS_INLINEBODY_H
#define PATHWAYS_LIB_TRANSFORMS_INLINEBODY_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::pathways {

/// Returns a copy of `body`, outside of any module, with its calls inlined,
/// also those in loops and branches. Fails, with a diagnostic, if it becomes
/// too large.
FailureOr<OwningOpRef<func::FuncOp>> inlineBody(func::FuncOp body,
                                                SymbolTable &symbols);

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_TRANSFORMS_INLINEBODY_H

//===- PlanOps.h - Operations of the plan dialect ---------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_DIALECT_PLAN_PLANOPS_H
#define PATHWAYS_DIALECT_PLAN_PLANOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "pathways/Dialect/Plan/PlanDialect.h"

#include "pathways/Dialect/Plan/PlanEnums.h.inc"

#define GET_OP_CLASSES
#include "pathways/Dialect/Plan/PlanOps.h.inc"

namespace mlir::pathways::plan {

/// Makes the `code` of a plan.object from bytes. The resource is named after
/// the kernel and the position among its objects, so that the text is the same
/// in each run.
ElementsAttr getCodeAttr(MLIRContext *context, StringRef kernel,
                         unsigned object, ArrayRef<char> bytes);

} // namespace mlir::pathways::plan

#endif // PATHWAYS_DIALECT_PLAN_PLANOPS_H

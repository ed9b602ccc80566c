//===- Shardy.h - Dialects of shardings -------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Umbrella header: dialects, attributes and operations of `sdy` and `mpmd`.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_DIALECT_SHARDY_SHARDY_H
#define PATHWAYS_DIALECT_SHARDY_SHARDY_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "pathways/Dialect/Shardy/MpmdDialect.h.inc"
#include "pathways/Dialect/Shardy/SdyDialect.h.inc"
#include "pathways/Dialect/Shardy/SdyEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "pathways/Dialect/Shardy/SdyAttrs.h.inc"
#define GET_ATTRDEF_CLASSES
#include "pathways/Dialect/Shardy/MpmdAttrs.h.inc"

#define GET_OP_CLASSES
#include "pathways/Dialect/Shardy/SdyOps.h.inc"
#define GET_OP_CLASSES
#include "pathways/Dialect/Shardy/MpmdOps.h.inc"

namespace mlir::pathways::sdy {

/// Name of the attribute that gives arguments, results and operations
/// shardings.
inline constexpr llvm::StringLiteral kShardingAttrName = "sdy.sharding";

/// Verifies that `sharding` names a mesh, which is looked up from `op`, and
/// fits it and `type`. Diagnostics are at `op`.
LogicalResult verifySharding(Operation *op, TensorShardingAttr sharding,
                             Type type);

/// Adds `sdy` and `mpmd`.
void registerShardyDialects(DialectRegistry &registry);

} // namespace mlir::pathways::sdy

#endif // PATHWAYS_DIALECT_SHARDY_SHARDY_H

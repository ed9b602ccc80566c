//===- Pathways.h - The pw dialect ------------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Umbrella header: dialect, attributes, types and operations of `pw`.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_DIALECT_PATHWAYS_PATHWAYS_H
#define PATHWAYS_DIALECT_PATHWAYS_PATHWAYS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "pathways/Dialect/Pathways/PathwaysDialect.h.inc"
#include "pathways/Dialect/Pathways/PathwaysEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "pathways/Dialect/Pathways/PathwaysAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "pathways/Dialect/Pathways/PathwaysTypes.h.inc"

namespace mlir::pathways {
class ManualOp;
class ReturnOp;
class YieldOp;

/// Parses the keyword of a reduction: "add".
FailureOr<ReductionKind> parseReductionKind(AsmParser &parser);
/// Returns why a reduction cannot combine elements of this type, which arrays
/// or tensors may have; "" if it can.
std::string whyNotReduced(ReductionKind kind, Type elementType);

namespace detail {
/// Verifies what every collective must satisfy by itself.
LogicalResult verifyCollective(Operation *op);
/// Verifies that the arrays among `types` are on slices that are declared and
/// have their axes.
LogicalResult verifyArrays(Operation *op, SymbolTableCollection &symbols,
                           TypeRange types);
/// Verifies that a node is in a program, or in a node with regions.
LogicalResult verifyNode(Operation *op);
/// Returns true if arrays of this type may be conditions: one i1, not partial.
bool isCondition(ArrayType type);
/// Returns which shape of `op` does not agree with the sizes of the axes of
/// `mesh`, which has all of them; "" if all agree.
std::string findWrongShape(ManualOp op, MeshAttr mesh);
} // namespace detail
} // namespace mlir::pathways

#include "pathways/Dialect/Pathways/PathwaysInterfaces.h.inc"
#define GET_OP_CLASSES
#include "pathways/Dialect/Pathways/PathwaysOps.h.inc"

#endif // PATHWAYS_DIALECT_PATHWAYS_PATHWAYS_H

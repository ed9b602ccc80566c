//===- StableHlo.h - Dialects of imported programs --------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Umbrella header: dialects, attributes, types and operations of `stablehlo`,
// `chlo` and `check`.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_DIALECT_STABLEHLO_STABLEHLO_H
#define PATHWAYS_DIALECT_STABLEHLO_STABLEHLO_H

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

#include "pathways/Dialect/StableHlo/CheckDialect.h.inc"
#include "pathways/Dialect/StableHlo/ChloDialect.h.inc"
#include "pathways/Dialect/StableHlo/StableHloDialect.h.inc"
#include "pathways/Dialect/StableHlo/StableHloEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "pathways/Dialect/StableHlo/StableHloAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "pathways/Dialect/StableHlo/StableHloTypes.h.inc"

namespace mlir::pathways::stablehlo {

namespace detail {
/// Returns true if `type` is a tensor with an element type in `kinds`: 'p' is
/// i1, 'i' integers, 'f' floats. Element types that are not supported are in
/// all kinds.
bool isTensorOf(Type type, StringRef kinds);
LogicalResult verifySupportedTypes(Operation *op);
LogicalResult verifySameTypes(Operation *op);
LogicalResult verifySameShapes(Operation *op);
} // namespace detail

/// Refuses element types and shapes that are not supported, by name.
template <typename ConcreteType>
class SupportedTypes : public OpTrait::TraitBase<ConcreteType, SupportedTypes> {
public:
  static LogicalResult verifyTrait(Operation *op) {
    return detail::verifySupportedTypes(op);
  }
};

/// All operands and results have the same type.
template <typename ConcreteType>
class SameTypes : public OpTrait::TraitBase<ConcreteType, SameTypes> {
public:
  static LogicalResult verifyTrait(Operation *op) {
    return detail::verifySameTypes(op);
  }
};

/// All operands and results have the same shape.
template <typename ConcreteType>
class SameShapes : public OpTrait::TraitBase<ConcreteType, SameShapes> {
public:
  static LogicalResult verifyTrait(Operation *op) {
    return detail::verifySameShapes(op);
  }
};

/// Adds `stablehlo`, `chlo` and `check`, and the dialects of attributes that
/// front ends write: `mhlo`, `jax`, `tf` and `xla`. These have no operations.
void registerStableHloDialects(DialectRegistry &registry);

} // namespace mlir::pathways::stablehlo

#define GET_OP_CLASSES
#include "pathways/Dialect/StableHlo/StableHloOps.h.inc"
#define GET_OP_CLASSES
#include "pathways/Dialect/StableHlo/ChloOps.h.inc"
#define GET_OP_CLASSES
#include "pathways/Dialect/StableHlo/CheckOps.h.inc"

#endif // PATHWAYS_DIALECT_STABLEHLO_STABLEHLO_H

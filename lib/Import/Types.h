//===- Types.h - Types of imported values -----------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_IMPORT_TYPES_H
#define PATHWAYS_LIB_IMPORT_TYPES_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/IR/Value.h"

namespace mlir::pathways {

/// Returns `type`, a scalar or tensor type, with elements of type `element`.
inline Type withElements(Type type, Type element) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.clone(element);
  return element;
}

/// Returns the number of bits of an element of `type`, a scalar or tensor type.
inline unsigned getWidth(Type type) {
  return getElementTypeOrSelf(type).getIntOrFloatBitWidth();
}

/// Returns the scalar `type`, without the sign of an integer type.
inline Type removeSign(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return IntegerType::get(type.getContext(), integer.getWidth());
  return type;
}

inline RankedTensorType getTensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_IMPORT_TYPES_H

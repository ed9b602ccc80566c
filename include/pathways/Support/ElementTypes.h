//===- ElementTypes.h - Element types in plans and in MLIR ------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_SUPPORT_ELEMENTTYPES_H
#define PATHWAYS_SUPPORT_ELEMENTTYPES_H

#include "mlir/IR/Types.h"
#include "runtime/proto/plan.pb.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::pathways {

/// Converts between element types of plans and of arrays. Returns null for an
/// unknown value; the result is unspecified for a type that arrays cannot have.
Type getElementType(::pathways::proto::ElementType element,
                    MLIRContext *context);
::pathways::proto::ElementType getElementType(Type type);

/// Returns the element type of tensors that hold elements of an array in a
/// body: the signless integer of the width of an unsigned one, otherwise `type`
/// itself.
Type getTensorElementType(Type type);

/// Returns true if tensors in a body may have elements of `type`.
bool isTensorElementType(Type type);

/// Names of the element types of arrays, and of tensors in bodies, for
/// messages.
inline constexpr llvm::StringLiteral kArrayElementNames =
    "f16, bf16, f32, f64, i1, i8, i16, i32, i64, ui8, ui16, ui32 or ui64";
inline constexpr llvm::StringLiteral kTensorElementNames =
    "f16, bf16, f32, f64, i1, i8, i16, i32 or i64";

} // namespace mlir::pathways

#endif // PATHWAYS_SUPPORT_ELEMENTTYPES_H

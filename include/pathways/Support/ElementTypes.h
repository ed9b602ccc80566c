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

namespace mlir::pathways {

/// Converts between element types of plans and of tensors. Returns null for an
/// unknown value; the result is unspecified for a type that arrays cannot have.
Type getElementType(::pathways::proto::ElementType element,
                    MLIRContext *context);
::pathways::proto::ElementType getElementType(Type type);

} // namespace mlir::pathways

#endif // PATHWAYS_SUPPORT_ELEMENTTYPES_H

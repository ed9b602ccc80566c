//===- BodyPartitioner.h - From global to local view ------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_TRANSFORMS_BODYPARTITIONER_H
#define PATHWAYS_LIB_TRANSFORMS_BODYPARTITIONER_H

#include "LocalReshard.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::pathways {

/// Makes of `body`, a function in global view, one in local view that gives the
/// same for arrays of these types on `mesh`, and inserts it into `symbols`
/// under a name made of the old one. `body` is unchanged. Fails, with a
/// diagnostic, when it becomes too large by inlining what it calls.
FailureOr<func::FuncOp> partitionBody(func::FuncOp body, MeshAttr mesh,
                                      ArrayRef<ArrayType> operands,
                                      ArrayRef<ArrayType> results,
                                      SymbolTable &symbols,
                                      const BodyExplanations &explanations);

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_TRANSFORMS_BODYPARTITIONER_H

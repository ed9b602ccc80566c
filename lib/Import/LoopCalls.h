//===- LoopCalls.h - Custom calls that are loops ----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_IMPORT_LOOPCALLS_H
#define PATHWAYS_LIB_IMPORT_LOOPCALLS_H

#include "WhileToFor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "pathways/Dialect/Pathways/Pathways.h"
#include "pathways/Dialect/StableHlo/StableHlo.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::pathways {

/// Replaces custom calls that are loops by calls of copies of their bodies,
/// since several loops may have the same body.
class LoopCallReplacer {
public:
  /// `prepare` changes the copy of a body before the custom call, to which it
  /// belongs, is replaced. It calls replaceIn() for the loops in the body.
  using Prepare =
      llvm::function_ref<LogicalResult(Operation *call, func::FuncOp body)>;

  /// Replaces the loops of `function`, and adds their calls to `loops`. Fails
  /// with a diagnostic if a configuration is no loop, if the types of a call
  /// and those of its body do not fit, or if a loop is in its own body.
  LogicalResult replaceIn(func::FuncOp function, SymbolTable &symbols,
                          Prepare prepare, ForLoops &loops);
  /// Erases the bodies that have been copied, unless something else calls them.
  void eraseBodies(ModuleOp module, SymbolTable &symbols);

private:
  LogicalResult replace(stablehlo::CustomCallOp op, SymbolTable &symbols,
                        Prepare prepare, ForLoops &loops);

  llvm::SetVector<Operation *> copied;
  /// The bodies that contain the loop that replace() is at.
  SmallVector<func::FuncOp> outer;
  size_t numOps = 0; ///< in all copies
};

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_IMPORT_LOOPCALLS_H

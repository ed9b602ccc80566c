//===- IterationFunctions.h - Functions that read iterations ----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_TRANSFORMS_ITERATIONFUNCTIONS_H
#define PATHWAYS_LIB_TRANSFORMS_ITERATIONFUNCTIONS_H

#include "ShardFunctions.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::pathways {

/// Functions whose calls depend on the iteration: they or their callees read
/// its number.
class IterationFunctions {
public:
  explicit IterationFunctions(SymbolTable &symbols) : symbols(symbols) {}

  /// Returns true if `function` or a function that it calls reads the number.
  bool readIndex(func::FuncOp function);
  /// Returns a copy of `function`, which reads the number, for one iteration.
  FlatSymbolRefAttr getFor(func::FuncOp function, int64_t iteration);

  /// Gives the calls of `loop`, which stays in the plan, the number of the
  /// iteration as one more argument, if they read it.
  void passNumbers(ForOp loop, ShardFunctions &shards);

private:
  func::FuncOp getCallee(func::CallOp call) {
    return symbols.lookup<func::FuncOp>(call.getCalleeAttr().getAttr());
  }
  /// Returns a copy of `function`, which reads the number, that takes it as the
  /// first element of one more argument of type `row`.
  FlatSymbolRefAttr getTaking(func::FuncOp function, RankedTensorType row);
  /// Adds a stepped array with the numbers to `loop`, and returns its argument.
  Value addNumbers(ForOp loop, FlatSymbolRefAttr slice, RankedTensorType row,
                   ShardFunctions &shards);

  SymbolTable &symbols;
  llvm::DenseMap<Operation *, bool> reads;
  llvm::DenseMap<std::pair<Operation *, int64_t>, FlatSymbolRefAttr> copies;
  llvm::DenseMap<Operation *, FlatSymbolRefAttr> taking;
};

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_TRANSFORMS_ITERATIONFUNCTIONS_H

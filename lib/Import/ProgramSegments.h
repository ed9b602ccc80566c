//===- ProgramSegments.h - Calls of a program with manual parts -*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_IMPORT_PROGRAMSEGMENTS_H
#define PATHWAYS_LIB_IMPORT_PROGRAMSEGMENTS_H

#include "Shardings.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::pathways {

/// Splits a function that contains manual computations into segments: each
/// manual computation becomes a function in local view, and the operations
/// between two of them become one in global view. The program calls one after
/// the other.
class ProgramSegments {
public:
  /// `results` are the values that the program returns. `getArrayType` returns
  /// the type of an array for a tensor type and a sharding, or fails with a
  /// diagnostic.
  using GetArrayType = std::function<FailureOr<ArrayType>(
      Location, Type, sdy::TensorShardingAttr)>;
  ProgramSegments(func::FuncOp entry, SymbolTable &symbols, MeshAttr mesh,
                  GetArrayType getArrayType)
      : entry(entry), symbols(symbols), mesh(mesh),
        getArrayType(std::move(getArrayType)) {}

  /// Returns true if the function contains a manual computation at its top
  /// level.
  static bool isNeededFor(func::FuncOp entry);

  /// Finds the segments and the types of the arrays that they exchange. The
  /// program takes arrays of `argumentTypes` and returns `results`, of the
  /// types in `wantedTypes`, which are null where any type will do. Fails with
  /// a diagnostic.
  LogicalResult plan(ArrayRef<Type> argumentTypes, ArrayRef<Value> results,
                     ArrayRef<Type> wantedTypes);
  /// Returns the type in which a segment returns `value`.
  Type getType(Value value) const { return types.lookup(value); }
  /// Moves the segments into functions and emits the calls of a program with
  /// `arguments` at `b`. Returns its results, of `resultTypes`. The entry is
  /// then empty.
  SmallVector<Value> emit(OpBuilder &b, ValueRange arguments,
                          ArrayRef<Value> results, ArrayRef<Type> resultTypes);

private:
  struct Segment {
    SmallVector<Operation *> ops;
    sdy::ManualComputationOp manual; ///< null: operations in global view
    SmallVector<Value> inputs, outputs;
    SmallVector<Type> inputTypes; ///< null: any
  };
  LogicalResult checkManual(sdy::ManualComputationOp op);
  /// Returns true for a constant that is copied into each segment that reads
  /// it: no manual computation reads it, and the program does not return it.
  bool isCopied(Operation *op) const;
  void findSegments();
  void findValues(Segment &segment);
  func::FuncOp outline(Segment &segment, unsigned number);

  func::FuncOp entry;
  SymbolTable &symbols;
  MeshAttr mesh;
  GetArrayType getArrayType;
  std::vector<Segment> segments;
  DenseMap<Operation *, unsigned> segmentOf;
  DenseSet<Value> returned;
  DenseMap<Value, Type> types;
};

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_IMPORT_PROGRAMSEGMENTS_H

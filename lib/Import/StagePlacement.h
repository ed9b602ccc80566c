//===- StagePlacement.h - Slices of all operations --------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_IMPORT_STAGEPLACEMENT_H
#define PATHWAYS_LIB_IMPORT_STAGEPLACEMENT_H

#include "StageMarks.h"

namespace mlir::pathways {

/// The slices on which a loop takes its operands, as they are in ForLoop, and
/// makes its results.
struct LoopSlices {
  SmallVector<StringAttr> operands, results;
};

/// Chooses a stage for each operation at the top level of a function, some of
/// which are marked, and a slice for each argument.
///
/// * Cheap operations that are not marked are copied to each stage that uses
///   them: constants, iota, broadcasts, reshapes, and operations on scalars.
/// * Any other operation with a marked operation behind it goes to the stage of
///   its first user.
/// * The rest goes to the slice of most of the bytes that it reads, or else to
///   the slice of its first user.
class StagePlacement {
public:
  /// `results` are the values that the program returns, and `loops` are the
  /// calls of `entry` that are loops.
  StagePlacement(func::FuncOp entry, const StageMarks &marks,
                 ArrayRef<Value> results,
                 DenseMap<Operation *, LoopSlices> loops);

  /// Returns true if each stage that uses `op` has a copy of it.
  bool isCopied(Operation *op) const { return copied.contains(op); }
  bool isLoop(Operation *op) const { return loops.contains(op); }
  /// Returns the stage of an operation that is not copied.
  StageMark getStage(Operation *op) const { return stages.lookup(op); }
  /// Returns the slice of an argument, or of the result of an operation that is
  /// not copied.
  StringAttr getSlice(Value value) const;
  /// Returns the results of operations that are not copied, and the arguments,
  /// which `op` and the copies that it uses read.
  ArrayRef<Value> getSources(Operation *op) const {
    return sources.find(op)->second;
  }
  /// Returns the place of `op` in the function.
  unsigned getPosition(Operation *op) const { return positions.lookup(op); }
  /// Returns the values of the function that `op` and its regions use directly.
  SmallVector<Value> getUsedValues(Operation *op) const;

private:
  void findSources();
  bool isCheap(Operation *op) const;
  /// Returns the stage to which `user` brings `value`, which it reads.
  StageMark getStageOfUse(Operation *user, Value value) const;
  /// Marks what `user` reads as used by it. Users are visited last to first.
  void visitUser(Operation *user);
  /// Gives a stage to operations without one that have users with one. With
  /// `takeLabels`, they take labels as well.
  void placeAtUsers(bool takeLabels);
  void placeAtOperands();
  void findHomes();

  func::FuncOp entry;
  Block *block;
  StringAttr firstSlice;
  DenseSet<Operation *> copied;
  DenseMap<Operation *, LoopSlices> loops;
  /// Results of the function, and operands of loops.
  DenseSet<Value> returned;
  DenseMap<Operation *, unsigned> positions;
  DenseMap<Operation *, SmallVector<Value, 4>> sources;
  DenseMap<Operation *, StageMark> stages;
  /// The stage of the first user of an operation or argument that has a stage.
  DenseMap<Operation *, StageMark> firstUser;
  DenseMap<Value, StageMark> firstReader;
  DenseMap<Value, StringAttr> homes;
};

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_IMPORT_STAGEPLACEMENT_H

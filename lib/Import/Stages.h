//===- Stages.h - Calls of a program with stages ----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_IMPORT_STAGES_H
#define PATHWAYS_LIB_IMPORT_STAGES_H

#include "StagePlacement.h"

#include "pathways/Dialect/Pathways/Pathways.h"
#include "llvm/ADT/SparseBitVector.h"
#include <memory>

namespace mlir::pathways {

/// Cuts a function into calls, each on one slice: the operations of a stage
/// form as few calls as possible without a circle of calls.
class Stages {
public:
  Stages(func::FuncOp entry, SymbolTable &symbols, const StageMarks &marks,
         ArrayRef<Value> results);

  /// Finds the calls. Emits a remark if a label has several on one slice,
  /// because one would need its own results.
  void findCalls();

  /// Returns the slice of an argument of the function.
  StringAttr getArgumentSlice(unsigned index) {
    return placement.getSlice(entry.getArgument(index));
  }
  /// Returns the slice on which the value of a result is computed.
  StringAttr getResultSlice(unsigned index) const {
    return placement.getSlice(results[index]);
  }
  /// Emits the slices of the program, with `mesh`, at `b`.
  void emitSlices(OpBuilder &b, Location loc, MeshAttr mesh) const;
  /// Gives each value that a call returns an array of the type that
  /// `getArrayType` returns for its type and slice, or that of the first result
  /// of the program that is this value, in `wantedTypes`, if that is on the
  /// same slice. Wanted types may be null. Fails with a diagnostic.
  using GetArrayType =
      std::function<FailureOr<ArrayType>(Location, Type, StringAttr)>;
  LogicalResult findTypes(ArrayRef<Type> argumentTypes,
                          ArrayRef<Type> wantedTypes,
                          GetArrayType getArrayType);
  Type getType(Value value) const { return types.lookup(value); }
  /// The array of an argument of the function on a slice.
  struct GivenArray {
    unsigned argument;
    StringAttr slice;
    Value array;
  };
  /// Moves the operations of each call into a function, and emits the calls,
  /// loops and reshards of a program with `arguments` at `b`. `given` are
  /// arrays of arguments on further slices. Arguments that `donated` lists are
  /// donated to the last call that reads them. Returns the results of the
  /// program, of `resultTypes`. Erases the functions of loops.
  SmallVector<Value> emit(OpBuilder &b, ValueRange arguments,
                          ArrayRef<int64_t> donated, ArrayRef<Type> resultTypes,
                          ArrayRef<GivenArray> given = {});

private:
  struct Call {
    StageMark stage;
    SmallVector<Operation *> ops;
    /// Calls whose results it needs.
    llvm::SetVector<unsigned> before;
    /// The calls in `before`, and all calls that must run before those.
    llvm::SparseBitVector<> ancestors;
    bool isNeeded = false; ///< it is an ancestor of a call
    SmallVector<Value> inputs, outputs;

    Operation *getOp() const { return ops.front(); }
  };
  /// A loop of the function.
  struct Loop {
    ForLoop loop;
    std::unique_ptr<Stages> body;
    /// Types of arguments and results of the body.
    SmallVector<Type> argumentTypes, resultTypes;

    /// Returns the argument of the body that takes carried result `result` in
    /// the next iteration.
    unsigned getCarriedArgument(unsigned result) const;
    /// Returns the arguments that the last call that reads them may overwrite.
    /// `op` is the loop in a function whose arguments `outerDonated` may be
    /// overwritten.
    SmallVector<int64_t> getDonated(Operation *op,
                                    ArrayRef<int64_t> outerDonated) const;
  };
  using GetArray = llvm::function_ref<Value(Value, StringAttr)>;
  /// Finds the slices of the loops in the function, before those of the other
  /// operations.
  DenseMap<Operation *, LoopSlices> findLoops(const StageMarks &marks);
  /// Adds the slices of the calls that read `argument` to `readers`.
  void findReaders(Value argument, llvm::SetVector<StringAttr> &readers) const;
  LogicalResult findLoopTypes(const Call &call, const GetArrayType &getType);
  /// Emits a pw.for at `b`, and returns its results. `get` returns the array of
  /// a value of the function on a slice.
  ValueRange emitLoop(const Call &call, OpBuilder &b, GetArray get,
                      ArrayRef<int64_t> donated);
  unsigned findCallFor(Operation *op);
  void addToCall(Operation *op, unsigned call);
  void explainSplit(Operation *op, unsigned call,
                    const llvm::SetVector<unsigned> &before);
  void reportSplits();
  void findValues();
  std::string getName(const Call &call) const;
  /// Returns the calls in an order in which they could begin if all took the
  /// same time and each slice ran one at once.
  SmallVector<unsigned> getOrder() const;
  func::FuncOp outline(const Call &call, OpBuilder &b);
  SmallVector<int64_t>
  getDonated(const Call &call,
             llvm::function_ref<bool(Value)> isLastRead) const;

  func::FuncOp entry;
  SymbolTable &symbols;
  SmallVector<StageMarks::Slice> slices;
  DenseMap<Operation *, Loop> loops;
  StagePlacement placement;
  SmallVector<Value> results;
  std::vector<Call> calls;
  DenseMap<std::pair<Attribute, Attribute>, SmallVector<unsigned>> callsOf;
  DenseMap<Operation *, unsigned> callOf;
  DenseMap<Value, Type> types;
  /// Labels with several calls on one slice, the first operation that needed
  /// another call, and the circle that one call would make.
  DenseSet<std::pair<Attribute, Attribute>> splitStages;
  Operation *split = nullptr;
  std::string circle;
};

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_IMPORT_STAGES_H

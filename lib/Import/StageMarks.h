//===- StageMarks.h - Marks of operations with stages -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_IMPORT_STAGEMARKS_H
#define PATHWAYS_LIB_IMPORT_STAGEMARKS_H

#include "LoopCalls.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "pathways/Dialect/Shardy/Shardy.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::pathways {

/// The stage of an operation: the slice that it runs on, and the label of the
/// call that it belongs to. Null: the operation does not say.
struct StageMark {
  StringAttr slice, label;
  /// The calls with the label run again instead of keeping their results.
  bool recompute = false;

  bool operator==(const StageMark &other) const = default;
};

/// Returns the mark of `op` itself, in `mhlo.frontend_attributes`.
StageMark getStageMark(Operation *op);
void setStageMark(Operation *op, StageMark mark);

/// Returns words for messages, such as "slice 's0' with label '0F'".
std::string describe(StageMark mark);

/// Reads the marks of the operations of a module, and brings all operations
/// with marks to the top level of its entry.
class StageMarks {
public:
  /// A slice that the option `slices` declares.
  struct Slice {
    StringAttr name;
    /// Number of its first island. Slices with different numbers are on
    /// different islands, those with the same number on the same. None: any
    /// island will do.
    std::optional<unsigned> island = std::nullopt;
    unsigned numIslands = 1;

    /// Returns the attribute `spans` of pw.slice.
    IntegerAttr getSpans() const;
    /// Returns true if the slices have an island in common.
    bool overlaps(const Slice &other) const;
  };

  /// `place` is the location of errors about options. `maxOps` is the largest
  /// number of operations that a loop may become.
  StageMarks(ModuleOp module, SymbolTable &symbols, Location place,
             int64_t maxOps)
      : module(module), symbols(symbols), place(place), maxOps(maxOps) {}

  /// Reads the options `assign` and `slices` of pw-import-program, and checks
  /// the marks of all operations. Marks the calls and computations that
  /// `assign` names. Replaces calls and named computations of mpmd. Fails with
  /// a diagnostic.
  LogicalResult read(StringRef assign, StringRef slices);
  /// Inlines the calls of `entry` that contain marks. Replaces its custom calls
  /// that are loops by calls that getLoops() has. Replaces its counted loops
  /// that contain operations of several slices: they become calls that
  /// getLoops() has, or are written out. Then each operation at the top level
  /// of `entry`, and of the bodies of loops, has one mark or none. Fails with a
  /// diagnostic at other loops and branches with several slices.
  LogicalResult flatten(func::FuncOp entry);

  /// Returns true if no operation of the entry is marked with a slice.
  bool isEmpty() const { return used.empty(); }
  /// Returns the loops that become pw.for.
  const ForLoops &getLoops() const { return loops; }
  /// Uses the only slice that is declared, or else `name`, if no operation is
  /// marked with a slice.
  void addDefault(StringAttr name) {
    if (used.empty())
      used.insert(getOnlySlice(name).name);
  }
  /// Returns the slices that operations of the entry are marked with: in the
  /// declared order, or else in that of the operations.
  SmallVector<Slice> getSlices() const;
  /// Returns the slice of a module without marks: the only one that is
  /// declared, or else `name`.
  Slice getOnlySlice(StringAttr name) const;
  /// Returns the slice of an argument of the entry that is a named tensor, or
  /// null.
  StringAttr getHome(BlockArgument argument) const {
    return homes.lookup(argument);
  }

private:
  struct Assignment {
    std::string name;
    StageMark mark;
    bool isUsed = false;
  };
  using Marks = llvm::SetVector<std::pair<Attribute, Attribute>>;

  LogicalResult readAssign(StringRef text);
  LogicalResult readSlices(StringRef text);
  LogicalResult readIslands(StringRef text, Slice &slice);
  LogicalResult checkIslands(const Slice &slice);
  LogicalResult checkName(Location loc, StringRef what, StringRef name);
  LogicalResult checkSlice(Location loc, StringAttr slice);
  LogicalResult checkMarks();
  void assign(Operation *op, ArrayRef<std::string> names);
  LogicalResult checkAssignments();
  LogicalResult lowerMpmd();
  void inlineComputation(mpmd::NamedComputationOp op);
  /// Returns the marks in the regions of `op` and in what it calls there.
  Marks getInnerMarks(Operation *op);
  const Marks &getMarks(func::FuncOp function);
  LogicalResult inlineCall(func::CallOp call, func::FuncOp callee);
  FailureOr<bool> inlineCalls(func::FuncOp entry);
  /// A loop with operations on several slices, and two of these.
  struct Spanning {
    stablehlo::WhileOp loop;
    int64_t trips;
    Attribute first, second;
  };
  FailureOr<bool> resolveRegions(func::FuncOp entry);
  LogicalResult replaceLoop(const Spanning &spanning);
  /// Gives the operations of `body` what their marks lack from that of `loop`.
  LogicalResult flattenBody(Operation *loop, func::FuncOp body);
  LogicalResult flattenOps(func::FuncOp function);
  /// Removes `body`, which has been outlined, and the loops in it.
  void eraseBody(func::FuncOp body);
  void findUsed(func::FuncOp function);
  void takeNamedTensors(func::FuncOp entry);

  ModuleOp module;
  SymbolTable &symbols;
  Location place;
  int64_t maxOps;
  std::vector<Assignment> assignments;
  std::vector<Slice> declared;
  /// Names that the option `assign` may have, in the order of the module.
  llvm::SetVector<StringAttr> known;
  DenseMap<Operation *, Marks> marksOf;
  llvm::SetVector<StringAttr> used;
  ForLoops loops;
  LoopCallReplacer loopCalls;
  DenseMap<Value, StringAttr> homes;
};

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_IMPORT_STAGEMARKS_H

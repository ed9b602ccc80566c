//===- GspmdShardings.h - Modules with shardings of XLA ---------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_IMPORT_GSPMDSHARDINGS_H
#define PATHWAYS_LIB_IMPORT_GSPMDSHARDINGS_H

#include "GspmdStrings.h"
#include "ManualRegions.h"
#include "UnifyShardings.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "pathways/Dialect/StableHlo/StableHlo.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::pathways {

/// The shardings that a module has as text in `mhlo.sharding`: of arguments and
/// results of @main, and of calls of @Sharding, @SPMDFullToShardShape and
/// @SPMDShardToFullShape.
class GspmdShardings {
public:
  explicit GspmdShardings(ModuleOp module) : module(module) {}

  /// Reads all of them. Where there is a sharding of sdy too, that one counts.
  /// Fails, with a diagnostic, if one cannot be used.
  LogicalResult read();
  bool isEmpty() const { return order.empty(); }
  /// Returns the grids by which they cut tensors, in the order of the text.
  SmallVector<const Grid *> getGrids() const;
  /// Replaces them by shardings of sdy over `mesh`, and the calls by
  /// constraints and manual computations. The mesh is in the module, and its
  /// refinement has all grids. Fails, with a diagnostic, if a sharding does not
  /// fit its tensor.
  LogicalResult rewrite(const UnifiedMesh &mesh);

private:
  struct Tiling {
    GspmdSharding sharding;
    Grid grid;
  };
  /// Returns the tiling for `text`, the attribute at `loc`.
  FailureOr<Tiling *> getTiling(StringAttr text, Location loc);
  /// Returns the sharding of a tensor of `type`; null if `text` says nothing.
  /// `openDims` are open besides those that the text has.
  FailureOr<sdy::TensorShardingAttr> convert(const UnifiedMesh &mesh,
                                             StringAttr text, Location loc,
                                             Type type,
                                             ArrayRef<int64_t> openDims = {});
  LogicalResult rewriteFunction(const UnifiedMesh &mesh);
  LogicalResult rewriteConstraint(const UnifiedMesh &mesh,
                                  stablehlo::CustomCallOp call);
  LogicalResult formManualComputations(const UnifiedMesh &mesh, Block &block);
  FailureOr<Crossing> getEntry(const UnifiedMesh &mesh,
                               stablehlo::CustomCallOp call);
  FailureOr<Crossing> getExit(const UnifiedMesh &mesh,
                              stablehlo::CustomCallOp call);
  FailureOr<sdy::ManualAxesAttr> getManualAxes(const UnifiedMesh &mesh,
                                               StringAttr text, Location loc);
  func::FuncOp getEntryFunction();

  ModuleOp module;
  llvm::StringMap<Tiling> tilings;
  SmallVector<StringRef> order; ///< keys of `tilings`
};

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_IMPORT_GSPMDSHARDINGS_H

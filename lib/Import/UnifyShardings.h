//===- UnifyShardings.h - One mesh for all shardings ------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_IMPORT_UNIFYSHARDINGS_H
#define PATHWAYS_LIB_IMPORT_UNIFYSHARDINGS_H

#include "MeshRefinement.h"

#include "mlir/IR/BuiltinOps.h"
#include "pathways/Dialect/Shardy/Shardy.h"

namespace mlir::pathways {

/// Replaces all meshes of `module` by one, whose axes make up those of all
/// others, parts of axes, tilings in the text of XLA, and groups of partitions.
/// Shardings, in any form, become those of sdy over whole axes of it. The
/// module then has at most one mesh, without an order of devices. Fails, with
/// a diagnostic, if there is no such mesh.
LogicalResult unifyShardings(ModuleOp module);

/// Calls `visit` for each sharding of sdy in `module`: of arguments and results
/// of functions, constraints and manual computations, with the operation that
/// has it and the type that it is for. What `visit` returns takes its place; a
/// null attribute removes the sharding of an argument or result, or the
/// constraint.
using ShardingVisitor = llvm::function_ref<FailureOr<sdy::TensorShardingAttr>(
    Operation *, Type, sdy::TensorShardingAttr)>;
LogicalResult rewriteShardings(ModuleOp module, ShardingVisitor visit);

/// The mesh that takes the place of all others.
class UnifiedMesh {
public:
  /// Names the axes of `refinement` after those of `first`, a mesh with the
  /// positions `grid`; or by numbers, if `first` is null.
  UnifiedMesh(MLIRContext *context, const MeshRefinement &refinement,
              sdy::MeshAttr first, const Grid *grid, StringAttr symbol);

  sdy::MeshAttr getMesh() const { return mesh; }
  StringAttr getSymbol() const { return symbol; }
  /// Returns the axes that make up the positions of `grid` from `low` to
  /// `high`.
  SmallVector<sdy::AxisRefAttr> getAxes(const Grid &grid, int64_t low,
                                        int64_t high) const;
  /// Returns the axes that make up `axis` of `old`, a mesh with the positions
  /// `grid`.
  SmallVector<sdy::AxisRefAttr> getAxes(sdy::MeshAttr old, const Grid &grid,
                                        sdy::AxisRefAttr axis) const;
  /// Returns `sharding`, over `old`, as one over this mesh. `old` may be null
  /// if `sharding` names no axis.
  sdy::TensorShardingAttr convert(sdy::TensorShardingAttr sharding,
                                  sdy::MeshAttr old, const Grid *grid) const;
  sdy::TensorShardingAttr
  getSharding(ArrayRef<sdy::DimensionShardingAttr> dims) const;

private:
  MLIRContext *context;
  const MeshRefinement &refinement;
  sdy::MeshAttr first;
  StringAttr symbol;
  sdy::MeshAttr mesh;
  /// Names of the axes of the refinement.
  SmallVector<std::string> names;
};

/// Returns the positions of `axis`, or of the part of one, in `grid` of `mesh`.
std::pair<int64_t, int64_t> getRange(sdy::MeshAttr mesh, const Grid &grid,
                                     sdy::AxisRefAttr axis);

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_IMPORT_UNIFYSHARDINGS_H

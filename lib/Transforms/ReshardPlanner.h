//===- ReshardPlanner.h - Routes of a program's reshards --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plans the steps of a pw.reshard, on slices that may be bound to devices.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_TRANSFORMS_RESHARDPLANNER_H
#define PATHWAYS_LIB_TRANSFORMS_RESHARDPLANNER_H

#include "pathways/Analysis/MovementCost.h"
#include "pathways/Transforms/Passes.h"
#include "runtime/plan/profile.h"
#include "runtime/topology/topology.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::pathways {

/// Plans the reshards of one module, each pair of types once. The reduction of
/// contributions follows from types and meshes alone; later movement may depend
/// on bindings, by the links of the machines.
class ReshardPlanner {
public:
  /// Pieces move in one step if `machines` is null or a slice is not bound.
  /// Links measured in `profile`, which may be null, override those of the
  /// machines.
  ReshardPlanner(ModuleOp module, const ::pathways::Topology *machines,
                 const ::pathways::Profile *profile);

  /// Fails, after a diagnostic, at a binding to something that the machines do
  /// not have. The functions below require that this has succeeded.
  LogicalResult checkBindings();

  /// Returns the steps from `source` to `goal`, except those that make `goal`
  /// partial. No steps: the types differ in that alone. At both ends the
  /// layouts of the steps are spelled as in the types.
  const SmallVector<MovementStep> &plan(ArrayType source, ArrayType goal);

  /// Returns the possible routes with their costs, that of plan() first.
  /// Requires `machines`, and that both slices are bound.
  std::vector<ReshardRoute> listRoutes(ArrayType source, ArrayType goal);

  SliceOp getSlice(ArrayType type) const;
  bool isBound(ArrayType type) const;
  MeshAttr getMesh(ArrayType type) const;
  /// Returns the type of a shard of an array, on the mesh of its slice.
  RankedTensorType getShard(ArrayType type) const;

private:
  std::optional<int64_t> getScatteredDim(ArrayType partial,
                                         ArrayType whole) const;
  std::optional<MovementStep> planReduction(ArrayType source,
                                            ArrayType whole) const;
  MovementProblem makeProblem(ArrayType source, ArrayType whole) const;
  LinkedCosts makeCosts(ArrayType source, ArrayType whole);
  const PlacedMesh &getPlaced(ArrayType type);

  ModuleOp module;
  SymbolTable symbols;
  const ::pathways::Topology *machines;
  const ::pathways::Profile *profile;
  LinkCost dcn = kDefaultDcn;
  llvm::StringMap<BindOp> binds;
  llvm::StringMap<PlacedMesh> placed;
  llvm::DenseMap<std::pair<Type, Type>, SmallVector<MovementStep>> plans;
};

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_TRANSFORMS_RESHARDPLANNER_H

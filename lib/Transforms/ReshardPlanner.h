//===- ReshardPlanner.h - How arrays of a program move ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The steps that a pw.reshard becomes, on slices that may be bound to devices.
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
/// contributions follows from types and meshes alone; what moves after it may
/// follow from where slices are, by the links of the machines.
class ReshardPlanner {
public:
  /// Without `machines`, or where a slice is not bound, pieces move at once.
  /// What `profile`, which may be null, has measured of links counts instead of
  /// what the machines say.
  ReshardPlanner(ModuleOp module, const ::pathways::Topology *machines,
                 const ::pathways::Profile *profile);

  /// Fails, after a diagnostic, at a binding to what the machines do not have.
  /// What follows needs that to have succeeded.
  LogicalResult checkBindings();

  /// The steps from `source` to `goal`, without those that make `goal` partial;
  /// none: they differ in that alone. Layouts of the steps are as types spell
  /// them at both ends.
  const SmallVector<MovementStep> &plan(ArrayType source, ArrayType goal);

  /// The ways there are, with what they cost, the one of plan() first. Both
  /// slices are bound, to `machines` that are there.
  std::vector<ReshardRoute> listRoutes(ArrayType source, ArrayType goal);

  SliceOp getSlice(ArrayType type) const;
  bool isBound(ArrayType type) const;
  MeshAttr getMesh(ArrayType type) const;
  /// Shards' tensor of an array, on the mesh of its slice.
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

//===- ReshardRoutes.h - Routes inside of bodies -----------------*- C++
//-*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ways from layout to layout inside of a body, and what they cost. Which
// reduction comes first decides bits, so routes follow from the text alone:
// devices are taken to be all alike.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_ANALYSIS_RESHARDROUTES_H
#define PATHWAYS_ANALYSIS_RESHARDROUTES_H

#include "pathways/Analysis/MovementPlanner.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::pathways {

/// The routes on one mesh, each searched for once.
class ReshardRoutes {
public:
  explicit ReshardRoutes(MeshAttr mesh) : mesh(mesh) {}

  /// Layouts are normal and cut into equal blocks; `to` is not partial. Valid
  /// until the next call.
  const MovementRoute &get(RankedTensorType type, ShardingAttr from,
                           ShardingAttr to);

  /// The route of get(), then the cheapest ones without one of the kinds of
  /// collectives that it has; each once.
  SmallVector<MovementRoute> list(RankedTensorType type, ShardingAttr from,
                                  ShardingAttr to);

  /// What it costs to get there. Blocks may be unequal: such dimensions are
  /// gathered before the route and cut behind it.
  MovementCost getCost(RankedTensorType type, ShardingAttr from,
                       ShardingAttr to);

private:
  MovementProblem makeProblem(RankedTensorType type, ShardingAttr from,
                              ShardingAttr to) const;

  MeshAttr mesh;
  llvm::DenseMap<std::tuple<Type, Attribute, Attribute>, MovementRoute> routes;
};

} // namespace mlir::pathways

#endif // PATHWAYS_ANALYSIS_RESHARDROUTES_H

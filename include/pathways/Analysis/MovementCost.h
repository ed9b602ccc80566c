//===- MovementCost.h - Costs of the steps of a movement --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Time, bytes and memory of the steps of a route: on devices that are all
// alike, or on the devices that slices are bound to, by their links.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_ANALYSIS_MOVEMENTCOST_H
#define PATHWAYS_ANALYSIS_MOVEMENTCOST_H

#include "pathways/Analysis/CostModel.h"
#include "pathways/Analysis/MovementPlanner.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::pathways {

/// Nanoseconds of any step in addition to what it moves.
inline constexpr int64_t kMovementStepNs = 1000;

/// Link between workers that copy from each other. It is used wherever bits
/// depend on the choice, so that the machines must not influence it.
inline constexpr LinkCost kMemoryLink = {1000, kMemoryBytesPerNs};

/// Costs on one island whose devices are all alike, one per host.
class IslandCosts : public MovementCosts {
public:
  IslandCosts(MeshAttr mesh, RankedTensorType type, LinkCost link = kMemoryLink)
      : mesh(mesh), type(type), link(link) {}
  MovementCost getCost(const MovementStep &step) const override;

private:
  MeshAttr mesh;
  RankedTensorType type;
  LinkCost link;
};

/// A slice with the devices it is bound to.
struct PlacedMesh {
  MeshAttr mesh;
  int64_t island = 0; ///< Island of the first run of shards.
  SmallVector<int64_t, 0>
      moreIslands; ///< Islands of the other runs, which are as long.
  LinkCost ici = kDefaultIci;
  /// For each shard its device of the island, and its host of the cluster.
  /// Empty if there are more than kMaxListedShards shards.
  SmallVector<int64_t, 0> devices;
  SmallVector<int32_t, 0> hosts;

  int64_t getIsland(int64_t shard) const {
    int64_t runs = moreIslands.size() + 1;
    int64_t run = shard / (mesh.getNumShards() / runs);
    return run ? moreIslands[run - 1] : island;
  }
};
inline constexpr int64_t kMaxListedShards = 1 << 12;

/// Costs between two slices on their devices, or on one slice. Each host of an
/// island has a link to each other host; all hosts of two islands share one
/// link in each direction. A device receives from others of its host as fast as
/// from a link. Shards are counted one by one if there are not too many.
class LinkedCosts : public MovementCosts {
public:
  LinkedCosts(const PlacedMesh &source, const PlacedMesh &target, LinkCost dcn,
              RankedTensorType type)
      : source(source), target(target), dcn(dcn), type(type) {}
  MovementCost getCost(const MovementStep &step) const override;

private:
  /// Returns true if all that `step` may move stays on one island.
  bool isOneIsland(const MovementStep &step) const;
  MovementCost count(const MovementStep &step) const;
  MovementCost countPieces(const MovementStep &step) const;
  MovementCost countCollective(const MovementStep &step) const;
  /// Estimates without looking at each shard.
  MovementCost estimatePieces(const MovementStep &step) const;
  MovementCost estimateCollective(const MovementStep &step) const;
  /// Returns true, and accounts for `work`, if that much more counting is
  /// allowed.
  bool takeWork(int64_t work) const;

  const PlacedMesh &source, &target;
  LinkCost dcn;
  RankedTensorType type;
  /// Costs of collectives, by everything they depend on.
  mutable llvm::DenseMap<Attribute, MovementCost> known;
  mutable int64_t workDone = 0;
};

} // namespace mlir::pathways

#endif // PATHWAYS_ANALYSIS_MOVEMENTCOST_H

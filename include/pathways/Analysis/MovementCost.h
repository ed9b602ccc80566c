//===- MovementCost.h - What moving costs -----------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Time, bytes and memory of the steps of a route: on devices that are all
// alike, or on those that slices are bound to, by their links.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_ANALYSIS_MOVEMENTCOST_H
#define PATHWAYS_ANALYSIS_MOVEMENTCOST_H

#include "pathways/Analysis/CostModel.h"
#include "pathways/Analysis/MovementPlanner.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::pathways {

/// Nanoseconds that any step takes beside what it moves.
inline constexpr int64_t kMovementStepNs = 1000;

/// Where the machines have no say, because bits depend on what is chosen:
/// workers that copy from each other.
inline constexpr LinkCost kMemoryLink = {1000, kMemoryBytesPerNs};

/// One island whose devices are all alike, a host each.
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

/// A slice on its devices.
struct PlacedMesh {
  MeshAttr mesh;
  int64_t island = 0;                  ///< Of the first run of shards.
  SmallVector<int64_t, 0> moreIslands; ///< Of the others; a run is as long.
  LinkCost ici = kDefaultIci;
  /// By shard: device of the island, and host of the cluster. Empty: there are
  /// more than kMaxListedShards.
  SmallVector<int64_t, 0> devices;
  SmallVector<int32_t, 0> hosts;

  int64_t getIsland(int64_t shard) const {
    int64_t runs = moreIslands.size() + 1;
    int64_t run = shard / (mesh.getNumShards() / runs);
    return run ? moreIslands[run - 1] : island;
  }
};
inline constexpr int64_t kMaxListedShards = 1 << 12;

/// Two slices on their devices, or one twice. Hosts of an island have a link
/// from each to each, all hosts of two islands have one each way in common; a
/// device receives from others of its host as fast as from a link. Counts each
/// shard where there are not too many.
class LinkedCosts : public MovementCosts {
public:
  LinkedCosts(const PlacedMesh &source, const PlacedMesh &target, LinkCost dcn,
              RankedTensorType type)
      : source(source), target(target), dcn(dcn), type(type) {}
  MovementCost getCost(const MovementStep &step) const override;

private:
  /// Whether all that a step may move stays on one island.
  bool isOneIsland(const MovementStep &step) const;
  MovementCost count(const MovementStep &step) const;
  MovementCost countPieces(const MovementStep &step) const;
  MovementCost countCollective(const MovementStep &step) const;
  /// The same without looking at each shard.
  MovementCost estimatePieces(const MovementStep &step) const;
  MovementCost estimateCollective(const MovementStep &step) const;
  /// Whether there may be that much more counting.
  bool takeWork(int64_t work) const;

  const PlacedMesh &source, &target;
  LinkCost dcn;
  RankedTensorType type;
  /// Of collectives, by all that they depend on.
  mutable llvm::DenseMap<Attribute, MovementCost> known;
  mutable int64_t workDone = 0;
};

} // namespace mlir::pathways

#endif // PATHWAYS_ANALYSIS_MOVEMENTCOST_H

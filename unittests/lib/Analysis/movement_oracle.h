//===- movement_oracle.h - Naive execution of movement steps ----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Follows an array whose shards are stored element by element. Shares no
// arithmetic with the code that it checks: it implements collectives by their
// definition and counts the elements that come from other shards.
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_LIB_ANALYSIS_MOVEMENT_ORACLE_H
#define UNITTESTS_LIB_ANALYSIS_MOVEMENT_ORACLE_H

#include "pathways/Analysis/MovementPlanner.h"

#include <string>
#include <vector>

namespace mlir::pathways::oracle {

/// An element of the array, or padding, and the contributions in it.
struct Cell {
  int64_t element = -1;
  uint64_t contributions = 0;
  bool operator==(const Cell &) const = default;
};

struct Shard {
  std::vector<int64_t> shape;
  std::vector<Cell> cells; // row-major
  bool operator==(const Shard &) const = default;
};

/// Number of elements that moved: in all, and the most to one shard.
struct Moved {
  int64_t elements = 0, most = 0;
};

class Array {
public:
  /// Makes the shards of `mesh` of an array of `shape`. If it is not partial,
  /// each element has `contributions`.
  Array(MeshAttr mesh, llvm::ArrayRef<int64_t> shape, ShardingAttr sharding,
        uint64_t contributions);

  /// Returns all contributions of a partial layout; 1 for others.
  static uint64_t getAll(MeshAttr mesh, ShardingAttr sharding);

  /// Executes `step`. Returns "" or the reason why it is wrong. Pieces go to a
  /// slice of `target`.
  std::string apply(const MovementStep &step, MeshAttr target, Moved *moved);

  const std::vector<Shard> &getShards() const { return shards; }

private:
  std::vector<int64_t> coordinatesOf(int64_t shard) const;
  /// Returns the members of the group of `shard`, in rank order.
  std::vector<int64_t> groupOf(int64_t shard,
                               llvm::ArrayRef<Attribute> axes) const;
  std::string collect(const MovementStep &step, Moved *moved);
  std::string reduce(const MovementStep &step, Moved *moved);
  std::string sendPieces(const MovementStep &step, MeshAttr target,
                         Moved *moved);

  MeshAttr mesh;
  std::vector<int64_t> shape;
  std::vector<Shard> shards;
};

} // namespace mlir::pathways::oracle

#endif // UNITTESTS_LIB_ANALYSIS_MOVEMENT_ORACLE_H

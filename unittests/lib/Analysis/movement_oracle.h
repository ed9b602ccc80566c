//===- movement_oracle.h - Steps of a movement, naively ---------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An array whose shards are looked at element by element. Shares no arithmetic
// with what it checks: it knows what collectives do, by their definition, and
// counts what comes from somebody else.
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_LIB_ANALYSIS_MOVEMENT_ORACLE_H
#define UNITTESTS_LIB_ANALYSIS_MOVEMENT_ORACLE_H

#include "pathways/Analysis/MovementPlanner.h"

#include <string>
#include <vector>

namespace mlir::pathways::oracle {

/// An element of the array, or padding; and whose contributions are in it.
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

/// Elements that moved: in all, and to whom most came.
struct Moved {
  int64_t elements = 0, most = 0;
};

class Array {
public:
  /// What the shards of `mesh` have of an array of `shape`. Where it is not
  /// partial, `contributions` are in each element.
  Array(MeshAttr mesh, llvm::ArrayRef<int64_t> shape, ShardingAttr sharding,
        uint64_t contributions);

  /// All contributions of a partial layout; 1 for others.
  static uint64_t getAll(MeshAttr mesh, ShardingAttr sharding);

  /// Does what `step` says; "" or what is wrong with it. Pieces go to a slice
  /// of `target`.
  std::string apply(const MovementStep &step, MeshAttr target, Moved *moved);

  const std::vector<Shard> &getShards() const { return shards; }

private:
  std::vector<int64_t> coordinatesOf(int64_t shard) const;
  /// Members of the group of `shard`, in rank order.
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

//===- DeviceChooser.h - Choice of devices on given islands -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_TRANSFORMS_DEVICECHOOSER_H
#define PATHWAYS_LIB_TRANSFORMS_DEVICECHOOSER_H

#include "pathways/Dialect/Pathways/Pathways.h"
#include "runtime/topology/topology.h"

#include "llvm/ADT/StringMap.h"

#include <vector>

namespace mlir::pathways {

/// The shards of a slice that are on one island.
struct Run {
  SliceOp slice;
  unsigned number = 0;

  int64_t getNumShards() const {
    SliceOp op = slice;
    return op.getMesh().getNumShards() / op.getNumIslands();
  }
};

/// Binds slices to devices of their islands. Uses free neighbouring devices if
/// there are some for each slice, in the given order or with the largest first.
/// Otherwise uses free devices or those with the least load, with a remark at
/// slices that share devices.
class DeviceChooser {
public:
  /// `load`: number of shards already on each device, by island. Bindings are
  /// inserted after `insertAfter`.
  DeviceChooser(const ::pathways::Topology &topology,
                std::vector<std::vector<int64_t>> load, Operation *insertAfter)
      : topology(topology), load(std::move(load)), insertAfter(insertAfter) {}

  /// Chooses devices for all runs that are on `island`.
  void chooseFor(ArrayRef<Run> runs, int island);

private:
  /// Neighbouring devices for a run, used cyclically; or one device for each
  /// shard.
  struct Choice {
    int64_t island = 0;
    int64_t base = 0, window = 0;
    SmallVector<int64_t> devices;
  };

  bool tryContiguous(ArrayRef<Run> runs, int island);
  void shareDevices(Run run, int island);
  void choose(Run run, Choice choice);
  void bind(SliceOp slice, ArrayRef<Choice> runs);
  StringRef kindOf(int island, int64_t device) {
    return ::pathways::DeviceKind(topology.device(island, device));
  }

  const ::pathways::Topology &topology;
  std::vector<std::vector<int64_t>> load;
  Operation *insertAfter;
  /// Choices for slices that are not bound yet, by run, until all runs have
  /// one.
  llvm::StringMap<SmallVector<Choice>> choices;
};

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_TRANSFORMS_DEVICECHOOSER_H

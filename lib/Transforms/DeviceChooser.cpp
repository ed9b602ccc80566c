//===- DeviceChooser.cpp - Choice of devices on given islands -------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceChooser.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::pathways;

/// Records the choice for a run; binds its slice once all runs have one.
void DeviceChooser::choose(Run run, Choice choice) {
  SmallVector<Choice> &runs = choices[run.slice.getSymName()];
  runs.resize(run.slice.getNumIslands());
  runs[run.number] = std::move(choice);
  if (llvm::all_of(runs, [](const Choice &c) { return c.window > 0; }))
    bind(run.slice, runs);
}

void DeviceChooser::bind(SliceOp slice, ArrayRef<Choice> runs) {
  OpBuilder builder(slice.getContext());
  builder.setInsertionPointAfter(insertAfter);
  int64_t shards = Run{slice}.getNumShards();
  SmallVector<int64_t> islands, bases;
  for (const Choice &run : runs) {
    islands.push_back(run.island);
    bases.push_back(run.base);
  }
  DenseI64ArrayAttr moreIslands, moreBases;
  if (runs.size() > 1) {
    moreIslands = builder.getDenseI64ArrayAttr(ArrayRef(islands).drop_front());
    moreBases = builder.getDenseI64ArrayAttr(ArrayRef(bases).drop_front());
  }
  bool isList = llvm::any_of(runs, [&](const Choice &run) {
    return !run.devices.empty() || (runs.size() > 1 && run.window != shards);
  });
  if (isList) {
    SmallVector<int64_t> devices;
    for (const Choice &run : runs)
      for (int64_t shard = 0; shard != shards; ++shard)
        devices.push_back(run.devices.empty() ? run.base + shard % run.window
                                              : run.devices[shard]);
    insertAfter =
        BindOp::create(builder, slice.getLoc(), slice.getSymName(),
                       uint64_t(islands[0]), IntegerAttr(), DenseI64ArrayAttr(),
                       IntegerAttr(), builder.getDenseI64ArrayAttr(devices),
                       moreIslands, DenseI64ArrayAttr());
    return;
  }
  // Shards are row-major: the last axis runs over neighbours.
  ArrayRef<int64_t> sizes = slice.getMesh().getSizes();
  SmallVector<int64_t> strides(sizes.size(), 1);
  for (int64_t i = static_cast<int64_t>(sizes.size()) - 2; i >= 0; --i)
    strides[i] = strides[i + 1] * sizes[i + 1];
  // Each run starts at its own base.
  int64_t window = runs[0].window;
  int64_t span = runs.size() > 1 || window < shards ? window : 0;
  // Strides are reduced modulo the span, so that they stay small.
  if (span)
    for (int64_t &stride : strides)
      stride %= span;
  insertAfter =
      BindOp::create(builder, slice.getLoc(), slice.getSymName(),
                     uint64_t(islands[0]), builder.getI64IntegerAttr(bases[0]),
                     builder.getDenseI64ArrayAttr(strides),
                     span ? builder.getI64IntegerAttr(span) : IntegerAttr(),
                     DenseI64ArrayAttr(), moreIslands, moreBases);
}

/// Finds free neighbouring devices for all of `runs`, in this order; takes none
/// unless each run gets some.
bool DeviceChooser::tryContiguous(ArrayRef<Run> runs, int island) {
  std::vector<int64_t> trial = load[island];
  SmallVector<int64_t> bases;
  for (const Run &run : runs) {
    SliceOp slice = run.slice;
    int64_t length = 0, base = -1, wanted = run.getNumShards();
    for (int64_t d = 0, e = trial.size(); d != e && base < 0; ++d) {
      bool isFree = trial[d] == 0 && kindOf(island, d) == slice.getDeviceKind();
      length = isFree ? length + 1 : 0;
      if (length == wanted)
        base = d - wanted + 1;
    }
    if (base < 0)
      return false;
    for (int64_t d = base; d != base + wanted; ++d)
      ++trial[d];
    bases.push_back(base);
  }
  for (auto [run, base] : llvm::zip_equal(runs, bases))
    choose(run, {island, base, run.getNumShards(), {}});
  load[island] = std::move(trial);
  return true;
}

/// Takes devices with other users: the free ones if there are enough, else the
/// neighbours with the least load, used cyclically if there are fewer than
/// shards.
void DeviceChooser::shareDevices(Run run, int island) {
  SliceOp slice = run.slice;
  int64_t shards = run.getNumShards(), size = load[island].size();
  int64_t ofKind = 0;
  SmallVector<int64_t> free;
  for (int64_t d = 0; d != size; ++d) {
    if (kindOf(island, d) != slice.getDeviceKind())
      continue;
    ++ofKind;
    if (load[island][d] == 0)
      free.push_back(d);
  }
  if (static_cast<int64_t>(free.size()) >= shards) {
    free.resize(shards);
    for (int64_t d : free)
      ++load[island][d];
    if (free.back() - free.front() == shards - 1)
      choose(run, {island, free.front(), shards, {}});
    else
      choose(run, {island, 0, shards, free});
    return;
  }
  slice.emitRemark() << "slice '" << slice.getSymName() << "' of " << shards
                     << " shards shares devices: "
                     << topology.IslandName(island) << " has " << free.size()
                     << " of " << ofKind << " '" << slice.getDeviceKind()
                     << "' devices free";
  // Finds the longest row of the kind, then its window with the least load.
  int64_t rowBase = 0, rowSize = 0, row = 0;
  for (int64_t d = 0; d != size; ++d) {
    row = kindOf(island, d) == slice.getDeviceKind() ? row + 1 : 0;
    if (row > rowSize) {
      rowSize = row;
      rowBase = d - row + 1;
    }
  }
  int64_t window = std::min(shards, rowSize), sum = 0, base = rowBase;
  for (int64_t d = rowBase; d != rowBase + window; ++d)
    sum += load[island][d];
  int64_t least = sum;
  for (int64_t d = rowBase + window; d < rowBase + rowSize; ++d) {
    sum += load[island][d] - load[island][d - window];
    if (sum < least) {
      least = sum;
      base = d - window + 1;
    }
  }
  for (int64_t d = base; d != base + window; ++d)
    load[island][d] += shards / window + (d - base < shards % window);
  choose(run, {island, base, window, {}});
}

void DeviceChooser::chooseFor(ArrayRef<Run> runs, int island) {
  if (runs.empty() || tryContiguous(runs, island))
    return;
  SmallVector<Run> largestFirst(runs);
  llvm::stable_sort(largestFirst, [](const Run &a, const Run &b) {
    return a.getNumShards() > b.getNumShards();
  });
  if (tryContiguous(largestFirst, island))
    return;
  for (const Run &run : largestFirst)
    shareDevices(run, island);
}

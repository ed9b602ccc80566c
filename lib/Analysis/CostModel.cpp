//===- CostModel.cpp - What things cost -----------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Analysis/CostModel.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "pathways/Dialect/Pathways/Layouts.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::pathways;

/// What a worker moves, and what it computes, in a nanosecond.
static constexpr uint64_t kBytesPerNs = 8;
static constexpr uint64_t kElementsPerNs = 8;
/// Products that are added up, in code for vectors.
static constexpr uint64_t kProductsPerNs = 32;
/// What a collective costs before it moves anything.
static constexpr uint64_t kCollectiveNs = 2000;
/// The largest cost that a plan accepts.
static constexpr uint64_t kMaxNs = uint64_t{1} << 50;

uint64_t CostModel::getMovementNs(uint64_t bytes) const {
  return 1 + bytes / kBytesPerNs;
}

static uint64_t multiply(ArrayRef<int64_t> sizes) {
  uint64_t product = 1;
  for (int64_t size : sizes)
    product = llvm::SaturatingMultiply<uint64_t>(
        product, ShapedType::isDynamic(size) ? 1 : size);
  return product;
}

uint64_t CostModel::getBodyNs(func::FuncOp body) const {
  uint64_t work = 0;
  body.getBody().walk([&](Operation *op) {
    if (isa<linalg::LinalgOp>(op->getParentOp()) ||
        op->hasTrait<OpTrait::ConstantLike>())
      return;
    uint64_t elements = 0;
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
      elements = multiply(linalgOp.getStaticLoopRanges());
    } else {
      for (Type type : op->getResultTypes())
        if (auto tensor = dyn_cast<RankedTensorType>(type))
          elements = std::max(elements, multiply(tensor.getShape()));
      if (isa<CollectiveOpInterface>(op))
        elements = llvm::SaturatingMultiply<uint64_t>(elements, 8);
    }
    work = llvm::SaturatingAdd(work, elements);
  });
  return std::min<uint64_t>(1 + work / kElementsPerNs, kMaxNs);
}

uint64_t CostModel::getShardNs(Operation *op, int64_t shards) const {
  uint64_t elements = 0, rate = kElementsPerNs;
  for (Type type : op->getResultTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      elements = std::max(elements, multiply(tensor.getShape()));
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    elements = std::max(elements, multiply(linalgOp.getStaticLoopRanges()));
    if (linalgOp.getNumReductionLoops() > 0 && linalgOp.getNumDpsInputs() > 1)
      rate = kProductsPerNs;
  }
  return elements / rate / std::max<int64_t>(shards, 1);
}

uint64_t CostModel::getReshardNs(MeshAttr mesh, RankedTensorType type,
                                 ShardingAttr from, ShardingAttr to) const {
  auto getNumBlocks = [&](ArrayRef<Attribute> axes) {
    uint64_t blocks = 1;
    for (Attribute axis : axes)
      blocks *= mesh.getSizes()[mesh.getAxisIndex(cast<StringAttr>(axis))];
    return blocks;
  };
  uint64_t local =
      multiply(type.getShape()) * getElementBytes(type.getElementType());
  for (ArrayAttr axes : from.getDims())
    local /= getNumBlocks(axes.getValue());
  uint64_t bytes = 0, collectives = 0;
  auto receive = [&](uint64_t whole, uint64_t blocks) {
    bytes += whole / blocks * (blocks - 1);
    ++collectives;
  };
  SmallVector<ArrayRef<Attribute>> old;
  for (ArrayAttr axes : from.getDims())
    old.push_back(axes.getValue());
  SmallVector<Attribute> scattered; // keeps what `old` refers to
  if (from.isPartial()) {
    // f16 and bf16 are added up as f32.
    if (type.getElementType().getIntOrFloatBitWidth() == 16)
      local *= 2;
    SmallVector<Attribute> group(from.getPartialAxes().begin(),
                                 from.getPartialAxes().end());
    uint64_t blocks = getNumBlocks(group);
    receive(local, blocks);
    bool isScattered = false;
    for (auto [dim, axes] : llvm::enumerate(old)) {
      scattered.assign(axes.begin(), axes.end());
      llvm::append_range(scattered, group);
      if (to.getDims()[dim].getValue() != ArrayRef(scattered))
        continue;
      old[dim] = to.getDims()[dim].getValue();
      local /= blocks;
      isScattered = true;
      break;
    }
    if (!isScattered)
      bytes += local / blocks * (blocks - 1);
  }
  SmallVector<ArrayRef<Attribute>> leaving, coming;
  for (auto [axes, goal] : llvm::zip_equal(old, to.getDims())) {
    size_t common = 0;
    while (common < std::min(axes.size(), goal.size()) &&
           axes[common] == goal[common])
      ++common;
    leaving.push_back(axes.drop_front(common));
    coming.push_back(goal.getValue().drop_front(common));
  }
  for (ArrayRef<Attribute> &axes : leaving) {
    auto *goal = axes.empty() ? coming.end() : llvm::find(coming, axes);
    if (goal == coming.end())
      continue;
    receive(local, getNumBlocks(axes));
    axes = *goal = {};
  }
  for (ArrayRef<Attribute> axes : coming) {
    bool isElsewhere = llvm::any_of(axes, [&](Attribute axis) {
      return llvm::any_of(leaving, [&](ArrayRef<Attribute> others) {
        return llvm::is_contained(others, axis);
      });
    });
    if (!isElsewhere)
      local /= getNumBlocks(axes);
  }
  for (ArrayRef<Attribute> axes : leaving)
    if (!axes.empty()) {
      local *= getNumBlocks(axes);
      receive(local, getNumBlocks(axes));
    }
  return bytes / kBytesPerNs + collectives * kCollectiveNs;
}

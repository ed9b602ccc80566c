//===- CostModel.cpp - Costs of actions -----------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Analysis/CostModel.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::pathways;

/// Elements that a worker computes per nanosecond.
static constexpr uint64_t kElementsPerNs = 8;
/// Products that vector code multiplies and adds up per nanosecond.
static constexpr uint64_t kProductsPerNs = 32;
/// The largest cost that a plan accepts.
static constexpr uint64_t kMaxNs = uint64_t{1} << 50;

uint64_t CostModel::getMovementNs(::pathways::proto::ActionKind kind,
                                  uint64_t bytes) const {
  std::optional<uint64_t> measured;
  if (profile)
    measured = profile->MovementNs(kind, bytes);
  return measured.value_or(1 + bytes / kMemoryBytesPerNs);
}

LinkCost mlir::pathways::toLinkCost(const ::pathways::proto::Link &link,
                                    LinkCost otherwise) {
  if (link.latency_seconds() > 0)
    otherwise.latencyNs = link.latency_seconds() * 1e9;
  if (link.bytes_per_second() > 0)
    otherwise.bytesPerNs = link.bytes_per_second() / 1e9;
  return otherwise;
}

uint64_t CostModel::getMessageNs(std::optional<int64_t> island,
                                 uint64_t bytes) const {
  LinkCost link = dcn;
  if (island)
    link =
        static_cast<size_t>(*island) < ici.size() ? ici[*island] : kDefaultIci;
  if (profile)
    link = toLinkCost(island ? profile->ici() : profile->dcn(), link);
  return std::min<double>(link.latencyNs + bytes / link.bytesPerNs, kMaxNs / 2);
}

std::optional<uint64_t>
CostModel::getMeasuredNs(const ::pathways::Computation &computation) const {
  return profile ? profile->ComputationNs(computation) : std::nullopt;
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

//===- CostModel.h - What things cost ---------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one home of what things cost. Only ratios between actions matter. What a
// program was measured to cost may change when its actions run and how its
// arrays move, and never what is computed: whoever decides that asks a
// CostModel without a profile.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_ANALYSIS_COSTMODEL_H
#define PATHWAYS_ANALYSIS_COSTMODEL_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "pathways/Dialect/Pathways/Pathways.h"
#include "runtime/plan/profile.h"

namespace mlir::pathways {

/// What a worker copies in a nanosecond.
inline constexpr uint64_t kMemoryBytesPerNs = 8;

/// A message of b bytes arrives after latencyNs + b / bytesPerNs.
struct LinkCost {
  int64_t latencyNs = 0;
  double bytesPerNs = 1;
};
/// Where the machines do not say: what a simulation takes.
inline constexpr LinkCost kDefaultIci = {1000, 50.0};
inline constexpr LinkCost kDefaultDcn = {10000, 12.5};

/// Returns the cost of `link`, with the values of `otherwise` for each field
/// that `link` leaves at 0.
LinkCost toLinkCost(const ::pathways::proto::Link &link, LinkCost otherwise);

class CostModel {
public:
  CostModel() = default;
  /// What `profile`, which lives longer, has measured comes before estimates;
  /// it may be null.
  explicit CostModel(const ::pathways::Profile *profile) : profile(profile) {}

  bool hasProfile() const { return profile; }

  /// Nanoseconds to feed, fetch, send or receive `bytes` of one shard, as
  /// `kind` says.
  uint64_t getMovementNs(::pathways::proto::ActionKind kind,
                         uint64_t bytes) const;

  /// Returns the nanoseconds from a request for `bytes` of one shard until they
  /// have arrived: one message each way, on the ICI of one island or on the DCN
  /// between two.
  uint64_t getLinkNs(bool isOneIsland, uint64_t bytes) const;

  /// Nanoseconds that one shard's part of the gang takes that does
  /// `computation`, if that was measured.
  std::optional<uint64_t>
  getMeasuredNs(const ::pathways::Computation &computation) const;

  /// Nanoseconds of the body of one shard, calls not followed: what is computed
  /// counts by elements, what is communicated eight times that.
  uint64_t getBodyNs(func::FuncOp body) const;

  /// Nanoseconds of one of `shards` equal parts of `op`, on tensors.
  uint64_t getShardNs(Operation *op, int64_t shards) const;

private:
  const ::pathways::Profile *profile = nullptr;
};

} // namespace mlir::pathways

#endif // PATHWAYS_ANALYSIS_COSTMODEL_H

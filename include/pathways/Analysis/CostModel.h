//===- CostModel.h - Costs of actions ---------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The only place that defines costs. Only ratios between actions matter.
// Measured costs of a program may change when its actions run and how its
// arrays move, but never what is computed: passes that decide that use a
// CostModel without a profile.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_ANALYSIS_COSTMODEL_H
#define PATHWAYS_ANALYSIS_COSTMODEL_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "pathways/Dialect/Pathways/Pathways.h"
#include "runtime/plan/profile.h"

namespace mlir::pathways {

/// Bytes that a worker copies per nanosecond.
inline constexpr uint64_t kMemoryBytesPerNs = 8;

/// A message of b bytes arrives after latencyNs + b / bytesPerNs.
struct LinkCost {
  int64_t latencyNs = 0;
  double bytesPerNs = 1;
};
/// Costs of links for which the machines give no numbers. A simulation uses the
/// same.
inline constexpr LinkCost kDefaultIci = {1000, 50.0};
inline constexpr LinkCost kDefaultDcn = {10000, 12.5};

/// Returns the cost of `link`, with the values of `otherwise` for each field
/// that `link` leaves at 0.
LinkCost toLinkCost(const ::pathways::proto::Link &link, LinkCost otherwise);

class CostModel {
public:
  CostModel() = default;
  /// Costs measured in `profile` take precedence over estimates. `profile` may
  /// be null and outlives this object.
  explicit CostModel(const ::pathways::Profile *profile) : profile(profile) {}

  /// Sets the costs of links within each island and between islands. Without
  /// them, links have the default costs.
  void setLinks(std::vector<LinkCost> ici, LinkCost dcn) {
    this->ici = std::move(ici);
    this->dcn = dcn;
  }

  bool hasProfile() const { return profile; }

  /// Nanoseconds to feed, fetch, send or receive (`kind`) `bytes` of one shard.
  uint64_t getMovementNs(::pathways::proto::ActionKind kind,
                         uint64_t bytes) const;

  /// Returns the nanoseconds of a message with `bytes` of one shard, on the ICI
  /// of an island, or on the DCN if there is none.
  uint64_t getMessageNs(std::optional<int64_t> island, uint64_t bytes) const;

  /// Returns the measured nanoseconds of one shard's part of the gang that runs
  /// `computation`, or nullopt if the profile has none.
  std::optional<uint64_t>
  getMeasuredNs(const ::pathways::Computation &computation) const;

  /// Nanoseconds of the body of one shard, without its callees: computation
  /// costs by elements, communication eight times as much.
  uint64_t getBodyNs(func::FuncOp body) const;

  /// Nanoseconds of one of `shards` equal parts of `op`, an operation on
  /// tensors.
  uint64_t getShardNs(Operation *op, int64_t shards) const;

private:
  const ::pathways::Profile *profile = nullptr;
  std::vector<LinkCost> ici; ///< the default for islands beyond
  LinkCost dcn = kDefaultDcn;
};

} // namespace mlir::pathways

#endif // PATHWAYS_ANALYSIS_COSTMODEL_H

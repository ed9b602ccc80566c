//===- Passes.h - Passes from pw to pw --------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_TRANSFORMS_PASSES_H
#define PATHWAYS_TRANSFORMS_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "pathways/Dialect/Pathways/Pathways.h"

#include <string>
#include <vector>

namespace mlir::pathways {

#define GEN_PASS_DECL
#include "pathways/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "pathways/Transforms/Passes.h.inc"

/// Adds fingerprints to the programs of `module`, like pw-fingerprint.
void addFingerprints(ModuleOp module);

/// A route for a change of layout, and its cost.
struct ReshardRoute {
  std::string steps; ///< in words
  int64_t numSteps = 0;
  /// Bytes between devices of an island, bytes between islands, and those of
  /// both that go from host to host.
  int64_t iciBytes = 0, dcnBytes = 0, hostBytes = 0;
  /// Largest total of the bytes of a shard before and after one step.
  int64_t peakBytes = 0;
  int64_t ns = 0;
  /// False if there were too many shards to count; they are assumed to be
  /// alike.
  bool isCounted = true;
};

/// The routes for one array, of a program or inside a function; the chosen one
/// comes first.
struct ReshardChoice {
  std::string place; ///< file:line:column, or empty
  std::string from, to;
  std::vector<ReshardRoute> routes;
};

/// The order of a loop that has a schedule.
struct LoopOrderReport {
  std::string place; ///< file:line:column, or empty
  std::string schedule;
  /// The order, in the form of a file of orders.
  std::string order;
};

/// pw-explain-reshard that appends to `choices` instead of reporting.
std::unique_ptr<Pass> createExplainReshard(ExplainReshardOptions options,
                                           std::vector<ReshardChoice> *choices);

/// pw-partition that appends to `choices` instead of reporting.
std::unique_ptr<Pass> createPartition(PartitionOptions options,
                                      std::vector<ReshardChoice> *choices);

/// pw-unroll-loops that also appends to `orders`, unless that is null.
std::unique_ptr<Pass> createUnrollLoops(UnrollLoopsOptions options,
                                        std::vector<LoopOrderReport> *orders);

} // namespace mlir::pathways

#endif // PATHWAYS_TRANSFORMS_PASSES_H

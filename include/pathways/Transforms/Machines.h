//===- Machines.h - Machines that passes compile for ------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_TRANSFORMS_MACHINES_H
#define PATHWAYS_TRANSFORMS_MACHINES_H

#include "mlir/IR/Operation.h"
#include "mlir/Pass/AnalysisManager.h"
#include "runtime/topology/topology.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::pathways {

/// The machines that the passes over a module name in their options. This is an
/// analysis, so that a pipeline reads each text once: all passes see the same
/// machines, even if the file changes meanwhile. Not thread-safe.
class Machines {
public:
  explicit Machines(Operation *module) : module(module) {}

  /// Returns the machines that `topology` describes
  /// (runtime/topology/topology.h), valid as long as this object. Returns null
  /// after a diagnostic at the module.
  const ::pathways::Topology *read(const std::string &topology);

  /// Passes change the module, but not the machines.
  bool isInvalidated(const AnalysisManager::PreservedAnalyses &) {
    return false;
  }

private:
  Operation *module;
  llvm::StringMap<::pathways::Topology> known;
};

} // namespace mlir::pathways

#endif // PATHWAYS_TRANSFORMS_MACHINES_H

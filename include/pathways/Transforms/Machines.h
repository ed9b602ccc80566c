//===- Machines.h - What passes are told to compile for ---------*- C++ -*-===//
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

/// The machines that the passes over a module name in their options. An
/// analysis, so that one text is read once in a pipeline: all passes see the
/// same machines, also when the file is written to meanwhile. On one thread.
class Machines {
public:
  explicit Machines(Operation *module) : module(module) {}

  /// The machines that `topology` says (runtime/topology/topology.h), for as
  /// long as this lives. Null after a diagnostic at the module.
  const ::pathways::Topology *read(const std::string &topology);

  /// Passes change the module, and no machines.
  bool isInvalidated(const AnalysisManager::PreservedAnalyses &) {
    return false;
  }

private:
  Operation *module;
  llvm::StringMap<::pathways::Topology> known;
};

} // namespace mlir::pathways

#endif // PATHWAYS_TRANSFORMS_MACHINES_H

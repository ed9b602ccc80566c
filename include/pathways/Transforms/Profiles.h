//===- Profiles.h - What passes are told that things cost -------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_TRANSFORMS_PROFILES_H
#define PATHWAYS_TRANSFORMS_PROFILES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/AnalysisManager.h"
#include "runtime/plan/profile.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::pathways {

/// The profiles that the passes over a module name in their options. An
/// analysis, so that a file is read once in a pipeline: all passes see the same
/// costs. On one thread.
class Profiles {
public:
  explicit Profiles(Operation *module) : module(cast<ModuleOp>(module)) {}

  /// The profile in file `path`, for as long as this lives; null when `path` is
  /// empty. Fails, after a diagnostic, unless it is of all programs that are
  /// in the module now; they need fingerprints.
  FailureOr<const ::pathways::Profile *> read(const std::string &path);

  /// Passes change the module, and no files.
  bool isInvalidated(const AnalysisManager::PreservedAnalyses &) {
    return false;
  }

private:
  ModuleOp module;
  llvm::StringMap<::pathways::Profile> known;
};

} // namespace mlir::pathways

#endif // PATHWAYS_TRANSFORMS_PROFILES_H

//===- Profiles.h - Measured costs for passes -------------------*- C++ -*-===//
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

/// The profiles that the passes over a module name in their options. This is an
/// analysis, so that a pipeline reads each file once and all passes see the
/// same costs. Not thread-safe.
class Profiles {
public:
  explicit Profiles(Operation *module) : module(cast<ModuleOp>(module)) {}

  /// Returns the profile in file `path`, valid as long as this object; null if
  /// `path` is empty. Fails, after a diagnostic, unless the profile is of all
  /// programs that are now in the module; they need fingerprints.
  FailureOr<const ::pathways::Profile *> read(const std::string &path);

  /// Passes change the module, but not the files.
  bool isInvalidated(const AnalysisManager::PreservedAnalyses &) {
    return false;
  }

private:
  ModuleOp module;
  llvm::StringMap<::pathways::Profile> known;
};

} // namespace mlir::pathways

#endif // PATHWAYS_TRANSFORMS_PROFILES_H

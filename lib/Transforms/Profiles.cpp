//===- Profiles.cpp - Measured costs for passes ---------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Transforms/Profiles.h"

#include "mlir/IR/Diagnostics.h"
#include "pathways/Dialect/Pathways/Pathways.h"

using namespace mlir;
using namespace mlir::pathways;

FailureOr<const ::pathways::Profile *> Profiles::read(const std::string &path) {
  if (path.empty())
    return nullptr;
  auto it = known.find(path);
  if (it == known.end()) {
    absl::StatusOr<::pathways::Profile> profile =
        ::pathways::Profile::Read(path);
    if (!profile.ok())
      return module.emitError(std::string(profile.status().message()));
    it = known.try_emplace(path, *std::move(profile)).first;
  }
  for (auto program : module.getOps<ProgramOp>()) {
    if (!program.getFingerprint())
      return program.emitOpError()
             << "'" << program.getSymName()
             << "' has no fingerprint, which profile '" << path
             << "' needs to identify it; run pw-fingerprint first";
    absl::Status same = it->second.CheckProgram(
        program.getSymName().str(), program.getFingerprint()->str());
    if (!same.ok())
      return program.emitError(std::string(same.message()));
  }
  return &it->second;
}

//===- Export.cpp - Plan files from a plan.program ------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Dialect/Plan/PlanTables.h"
#include "pathways/Target/PlanFile.h"
#include "runtime/plan/verify.h"

using namespace mlir;
using namespace mlir::pathways;

FailureOr<PlanBlob> mlir::pathways::exportPlan(plan::ProgramOp program) {
  for (auto kernel : program.getBody().getOps<plan::KernelOp>()) {
    if (!kernel.hasCode())
      return kernel.emitOpError("'")
             << kernel.getId() << "' has no code yet; run pw-compile-kernels";
    for (auto object : kernel.getBody().getOps<plan::ObjectOp>())
      if (object.getBytes().empty())
        return object.emitOpError("of kernel '")
               << kernel.getId() << "' has no bytes; is its resource missing "
               << "from the text?";
  }
  FailureOr<plan::PlanTables> tables = plan::exportTables(program);
  if (failed(tables))
    return failure();
  PlanBlob result;
  result.blobs.resize(tables->blobBytes);
  for (auto [offset, code] : tables->blobs)
    std::copy(code.begin(), code.end(), result.blobs.begin() + offset);
  // The caller may have built the program without the verifier, which checks
  // loops in the same way.
  ::pathways::VerifyOptions options;
  options.expands_loops = false;
  absl::Status status = ::pathways::IssuesToStatus(
      tables->plan,
      ::pathways::VerifyPlan(tables->plan, result.blobs.size(), options));
  if (!status.ok())
    return program.emitOpError(status.ToString());
  result.tables = std::move(tables->plan);
  return result;
}

FailureOr<plan::ProgramOp> mlir::pathways::getSingleProgram(ModuleOp module) {
  plan::ProgramOp found;
  for (auto program : module.getOps<plan::ProgramOp>()) {
    if (found) {
      InFlightDiagnostic error =
          program.emitOpError("'")
          << program.getSymName()
          << "' is not the only program; expected one program in the module";
      error.attachNote(found.getLoc())
          << "'" << found.getSymName() << "' is here";
      return error;
    }
    found = program;
  }
  if (!found)
    return module.emitError("expected a plan.program in the module, got none; "
                            "run pw-compile first");
  return found;
}

//===- PlanFile.h - Plans between text, tables and files --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_TARGET_PLANFILE_H
#define PATHWAYS_TARGET_PLANFILE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "pathways/Dialect/Plan/PlanOps.h"
#include "runtime/plan/plan_file.h"
#include <string>

namespace mlir::pathways {

/// Contents of a plan file: the tables and the bytes that they refer to.
struct PlanBlob {
  ::pathways::proto::Plan tables;
  std::string blobs;
};

/// Returns the tables and code of a compiled program; they obey the rules of a
/// plan. Fails, with a diagnostic, if a kernel has no code yet, if code is
/// missing from the text, and on anything that exportTables refuses.
FailureOr<PlanBlob> exportPlan(plan::ProgramOp program);

/// Returns the only plan.program at the top level of `module`. Fails, with a
/// diagnostic that names what is there, unless there is exactly one.
FailureOr<plan::ProgramOp> getSingleProgram(ModuleOp module);

/// The inverse of exportPlan: returns a module with one plan.program. A plan
/// may come from anywhere: if it breaks a rule, returns null, with diagnostics
/// without a location. exportPlan of the result gives the same tables; code
/// keeps its offset if it is where exportPlan puts it, in the order of the
/// table.
OwningOpRef<ModuleOp> importPlan(const ::pathways::PlanData &plan,
                                 MLIRContext *context);

/// Registers the translations plan-to-file and file-to-plan.
void registerPlanTranslations();

} // namespace mlir::pathways

#endif // PATHWAYS_TARGET_PLANFILE_H

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

/// What a plan file holds: the tables and the bytes that they refer to.
struct PlanBlob {
  ::pathways::proto::Plan tables;
  std::string blobs;
};

/// The tables and code of a program that was compiled: it obeys the rules of a
/// plan. Fails, with a diagnostic, when a kernel has no code yet, when code is
/// missing from the text, and on what exportTables refuses.
FailureOr<PlanBlob> exportPlan(plan::ProgramOp program);

/// The only plan.program at the top level of `module`; fails, with a diagnostic
/// that names what is there, when there is not just one.
FailureOr<plan::ProgramOp> getSingleProgram(ModuleOp module);

/// The reverse: a module with one plan.program. Null, with diagnostics without
/// a location, when the plan breaks a rule: a plan may come from anywhere.
/// Afterwards exportPlan gives the same tables; code keeps its place when it is
/// where exportPlan puts it, in the order of the table.
OwningOpRef<ModuleOp> importPlan(const ::pathways::PlanData &plan,
                                 MLIRContext *context);

/// Registers the translations plan-to-file and file-to-plan.
void registerPlanTranslations();

} // namespace mlir::pathways

#endif // PATHWAYS_TARGET_PLANFILE_H

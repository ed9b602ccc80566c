//===- Import.cpp - Plan.program from a plan file -------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Builders.h"
#include "mlir/IR/Verifier.h"
#include "pathways/Dialect/Plan/PlanTables.h"
#include "pathways/Target/PlanFile.h"
#include "runtime/plan/verify.h"

using namespace mlir;
using namespace mlir::pathways;

OwningOpRef<ModuleOp>
mlir::pathways::importPlan(const ::pathways::PlanData &plan,
                           MLIRContext *context) {
  Location loc = UnknownLoc::get(context);
  // Everything below relies on the rules.
  absl::Status status = ::pathways::CheckPlan(plan);
  if (!status.ok()) {
    emitError(loc) << std::string(status.message());
    return {};
  }
  context->loadDialect<plan::PlanDialect>();
  OpBuilder builder(context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder, loc);
  builder.setInsertionPointToStart(module->getBody());
  ArrayRef<char> blobs(reinterpret_cast<const char *>(plan.blobs.data()),
                       plan.blobs.size());
  if (failed(plan::importTables(builder, loc, plan.tables, blobs)) ||
      failed(verify(*module)))
    return {};
  return module;
}

//===- PlanVerifier.cpp - Check a plan.program ----------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The runtime's own code checks its rules on the exported tables, so that text
// and file cannot differ in what they accept.
//
//===----------------------------------------------------------------------===//

#include "pathways/Dialect/Plan/PlanTables.h"
#include "runtime/plan/verify.h"

using namespace mlir;
using namespace mlir::pathways::plan;

static Location getLoc(ProgramOp program, const PlanTables &tables,
                       const ::pathways::Subject &subject) {
  using Subject = ::pathways::Subject;
  auto entry = [&](Table table) -> Location {
    ArrayRef<Operation *> entries = tables[table];
    if (subject.index < 0 ||
        subject.index >= static_cast<int64_t>(entries.size()))
      return program.getLoc();
    return entries[subject.index]->getLoc();
  };
  switch (subject.table) {
  case Subject::kHeader:
    return program.getLoc();
  case Subject::kSlice:
    return entry(Table::Slice);
  case Subject::kLayout:
    return entry(Table::Layout);
  case Subject::kKernel:
    return entry(Table::Kernel);
  case Subject::kBuffer:
    return entry(Table::Buffer);
  case Subject::kAction:
    return entry(Table::Action);
  case Subject::kEdge:
    return entry(Table::Edge);
  case Subject::kArgument:
    return entry(Table::Argument);
  case Subject::kResult:
    return entry(Table::Result);
  case Subject::kLoop:
    return entry(Table::Loop);
  }
  return program.getLoc();
}

LogicalResult ProgramOp::verifyRegions() {
  FailureOr<PlanTables> tables = exportTables(*this); // (C1), (C2)
  if (failed(tables))
    return failure();
  ::pathways::VerifyOptions options;
  options.before_codegen = !tables->hasCode;
  // Passes must not take longer because a loop has more iterations. Whoever
  // loads the plan checks all rules.
  options.expands_loops = false;
  std::vector<::pathways::PlanIssue> issues =
      ::pathways::VerifyPlan(tables->plan, tables->blobBytes, options); // (C3)
  for (const ::pathways::PlanIssue &issue : issues) {
    InFlightDiagnostic error =
        mlir::emitError(::getLoc(*this, *tables, issue.subject))
        << "plan rule " << issue.rule << " ("
        << ::pathways::RuleName(issue.rule) << "): " << issue.message;
    for (const ::pathways::PlanNote &note : issue.notes)
      error.attachNote(::getLoc(*this, *tables, note.subject)) << note.text;
  }
  return success(issues.empty());
}

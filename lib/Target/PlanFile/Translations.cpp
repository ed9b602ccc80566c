//===- Translations.cpp - Plan text to plan file and back -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "pathways/Codegen/Codegen.h"
#include "pathways/Dialect/Pathways/Pathways.h"
#include "pathways/Support/Parse.h"
#include "pathways/Target/PlanFile.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::pathways;

static LogicalResult writePlan(ModuleOp module, raw_ostream &output) {
  FailureOr<plan::ProgramOp> program = getSingleProgram(module);
  if (failed(program))
    return failure();
  FailureOr<PlanBlob> blob = exportPlan(*program);
  if (failed(blob))
    return failure();
  std::string bytes = ::pathways::SerializePlan(
      blob->tables, {reinterpret_cast<const uint8_t *>(blob->blobs.data()),
                     blob->blobs.size()});
  if (bytes.empty())
    return program->emitOpError("has a table that is too large for a file");
  output << bytes;
  return success();
}

static OwningOpRef<Operation *> readPlan(StringRef input,
                                         MLIRContext *context) {
  absl::StatusOr<::pathways::PlanData> plan =
      ::pathways::ParsePlan(absl::string_view(input.data(), input.size()));
  if (!plan.ok()) {
    emitError(UnknownLoc::get(context)) << std::string(plan.status().message());
    return {};
  }
  return importPlan(*plan, context).release().getOperation();
}

static LogicalResult
parseAndWritePlan(const std::shared_ptr<llvm::SourceMgr> &source,
                  raw_ostream &output, MLIRContext *context) {
  DialectRegistry registry;
  registry.insert<plan::PlanDialect, PathwaysDialect>();
  // With these dialects, functions of kernels without code are diagnosed as
  // such instead of as unknown operations.
  registerKernelDialects(registry);
  context->appendDialectRegistry(registry);
  const llvm::MemoryBuffer *buffer =
      source->getMemoryBuffer(source->getMainFileID());
  Parsed parsed = parseShielded(buffer->getBuffer(),
                                buffer->getBufferIdentifier(), context);
  return parsed.module ? writePlan(*parsed.module, output) : failure();
}

void mlir::pathways::registerPlanTranslations() {
  static TranslateRegistration toFile(
      "plan-to-file", "write a plan.program as a plan file", parseAndWritePlan);
  static TranslateToMLIRRegistration toText(
      "file-to-plan", "print a plan file as a plan.program", readPlan,
      [](DialectRegistry &registry) { registry.insert<plan::PlanDialect>(); });
}

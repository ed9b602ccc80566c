//===- Pipelines.cpp - Passes from stablehlo to a program -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Import/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "pathways/Dialect/Pathways/Pathways.h"
#include "pathways/Dialect/Shardy/Shardy.h"
#include "pathways/Dialect/StableHlo/StableHlo.h"

using namespace mlir;
using namespace mlir::pathways;

bool mlir::pathways::isStableHlo(ModuleOp module) {
  auto isImported = [](Operation *op) {
    return isa_and_present<stablehlo::StableHloDialect, chlo::ChloDialect,
                           check::CheckDialect, sdy::SdyDialect>(
        op->getDialect());
  };
  if (!module.getOps<ProgramOp>().empty())
    return false;
  if (auto entry = module.lookupSymbol<func::FuncOp>("main");
      entry && entry.isPublic())
    return true;
  return module
      .walk([&](Operation *op) {
        return isImported(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

void mlir::pathways::buildImportPipeline(OpPassManager &pm,
                                         const ImportOptions &options) {
  FillElidedOptions fillOptions;
  fillOptions.values = options.elided;
  pm.addPass(createFillElided(fillOptions));
  pm.addPass(createHoistConstants());
  pm.addPass(createUnifyShardings());
  WriteOutLoopsOptions loopOptions;
  loopOptions.maxOps = options.maxWrittenOut;
  pm.addPass(createWriteOutLoops(loopOptions));
  // The program keeps the signs of integers in the types of its arrays; the
  // passes after it drop them from bodies.
  ImportProgramOptions programOptions;
  programOptions.carry = options.carry;
  programOptions.stepped = options.stepped;
  programOptions.assign = options.assign;
  programOptions.slices = options.slices;
  programOptions.maxOps = options.maxWrittenOut;
  pm.addPass(createImportProgram(programOptions));
  // Functions with checks were inlined and may have no other uses.
  pm.addPass(createSymbolDCEPass());
  pm.addPass(createLowerChlo());
  pm.addPass(createLowerStableHlo());
}

void mlir::pathways::registerPathwaysImportPasses() {
  registerPathwaysSingleImportPasses();
  PassPipelineRegistration<ImportOptions>(
      "pw-import-stablehlo", "Make a program of a module of StableHLO",
      [](OpPassManager &pm, const ImportOptions &options) {
        buildImportPipeline(pm, options);
      });
}

void mlir::pathways::registerPathwaysImportDialects(DialectRegistry &registry) {
  stablehlo::registerStableHloDialects(registry);
  sdy::registerShardyDialects(registry);
}

//===- Pipelines.cpp - From a program to a plan with code -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Analysis/ShardingRule.h"
#include "pathways/Codegen/Codegen.h"
#include "pathways/Lowering/Passes.h"
#include "pathways/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::pathways;

void mlir::pathways::buildCompilePipeline(OpPassManager &pm,
                                          const CompileOptions &options,
                                          const CompileReports &reports) {
  // Of the text as it is, for any mesh and machines.
  pm.addPass(createFingerprint());
  // What follows sees the text as if it had been written so.
  if (!options.mesh.empty()) {
    OverrideMeshOptions override;
    override.mesh = options.mesh;
    pm.addPass(createOverrideMesh(override));
  }
  // Before all that changes it: what cannot be compiled is reported as it was
  // written.
  pm.addPass(createCheckProgram());
  // Before placing, so that folded reshards cost nothing; movement that CSE
  // merges moves once.
  pm.addNestedPass<ProgramOp>(createCanonicalizerPass());
  pm.addNestedPass<ProgramOp>(createCSEPass());
  // Neither needs devices, so that code is the same on all. What is closed now
  // may fold, and be equal.
  pm.addPass(createPropagateShardings({options.explainShardings}));
  pm.addNestedPass<ProgramOp>(createCanonicalizerPass());
  pm.addNestedPass<ProgramOp>(createCSEPass());
  pm.addPass(
      createPartition({options.explainShardings, reports.reshards != nullptr},
                      reports.reshards));
  PlaceOptions place;
  place.topology = options.topology;
  place.oversubscribe = options.oversubscribe;
  pm.addPass(createPlace(place));
  if (reports.reshards) {
    ExplainReshardOptions explain;
    explain.topology = options.topology;
    explain.profile = options.profile;
    pm.addPass(createExplainReshard(explain, reports.reshards));
  }
  // Where slices are says how arrays move between them.
  InsertTransfersOptions insert;
  insert.topology = options.topology;
  if (insert.topology.empty()) // to the pass: not known
    insert.topology = "local";
  insert.profile = options.profile;
  pm.addPass(createInsertTransfers(insert));
  // After the functions that movement generates, which repeat as others do.
  // Calls of merged functions may be equal, so CSE follows.
  pm.addPass(createDedupComputations());
  pm.addNestedPass<ProgramOp>(createCSEPass());
  // The last pass that looks at uses: CSE may have added later ones to what is
  // donated, and nothing after it may.
  pm.addNestedPass<ProgramOp>(createResolveDonation());
  LowerToPlanOptions lower;
  lower.stepsInFlight = options.stepsInFlight;
  lower.credits = options.credits;
  lower.profile = options.profile;
  pm.addPass(createLowerToPlan(lower));
  // Compiles for the devices of the topology that slices are bound to.
  CompileKernelsOptions compile;
  compile.topology = options.topology;
  compile.kernelCache = options.kernelCache;
  compile.kernelCacheBytes = options.kernelCacheBytes;
  compile.explain = options.explainKernels;
  pm.addPass(createCompileKernels(compile, reports.kernels));
}

void mlir::pathways::registerPathwaysLoweringPasses() {
  registerPathwaysSingleLoweringPasses();
  PassPipelineRegistration<CompileOptions>(
      "pw-compile", "Place a program, lower it to a plan and compile its code",
      [](OpPassManager &pm, const CompileOptions &options) {
        buildCompilePipeline(pm, options, {});
      });
}

void mlir::pathways::registerPathwaysLoweringDialects(
    DialectRegistry &registry) {
  registry.insert<PathwaysDialect, plan::PlanDialect>();
  registerKernelDialects(registry);
  registerTensorShardingModels(registry);
}

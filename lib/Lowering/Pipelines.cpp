//===- Pipelines.cpp - Passes from a program to a plan with code ----------===//
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

void mlir::pathways::buildPlacePipeline(OpPassManager &pm,
                                        const CompileOptions &options,
                                        const CompileReports &reports) {
  // Fingerprints the text as it is, for any mesh and machines.
  pm.addPass(createFingerprint());
  // Later passes see the text as if it had these sizes.
  if (!options.mesh.empty()) {
    OverrideMeshOptions override;
    override.mesh = options.mesh;
    pm.addPass(createOverrideMesh(override));
  }
  // Runs before any change, so that errors refer to the program as it was
  // written.
  pm.addPass(createCheckProgram());
  // Runs before placing, so that folded reshards cost nothing and movements
  // merged by CSE move once.
  pm.addNestedPass<ProgramOp>(createCanonicalizerPass());
  pm.addNestedPass<ProgramOp>(createCSEPass());
  // These passes need no devices, so the code is the same on all. Newly closed
  // types may fold and become equal.
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
  // The bindings of slices determine how arrays move between them.
  InsertTransfersOptions insert;
  insert.topology = options.topology;
  if (insert.topology.empty()) // empty would mean unknown to the pass
    insert.topology = "local";
  insert.profile = options.profile;
  pm.addPass(createInsertTransfers(insert));
}

void mlir::pathways::buildPlanPipeline(OpPassManager &pm,
                                       const CompileOptions &options,
                                       const CompileReports &reports) {
  // Runs when bodies compute shards, so that splitting a body cannot change how
  // it is cut over the devices, and before the calls are put in order.
  pm.addPass(createSplitBackward({options.schedule}));
  // Runs after the split, so that both halves read what one call computes
  // again.
  pm.addPass(createRecompute());
  // Runs as late as possible, since it makes the program long.
  UnrollLoopsOptions unroll;
  unroll.schedule = options.schedule;
  unroll.emitOrder = options.emitOrder;
  unroll.keep = options.keepLoops;
  pm.addPass(createUnrollLoops(unroll, reports.orders));
  // Runs after the generation of functions for movement, many of which are
  // equal. Calls of merged functions may be equal, so CSE follows.
  pm.addPass(createDedupComputations());
  pm.addNestedPass<ProgramOp>(createCSEPass());
  // This is the last pass that depends on uses: CSE may have added later uses
  // of donated values, and no later pass may.
  pm.addNestedPass<ProgramOp>(createResolveDonation());
  LowerToPlanOptions lower;
  lower.stepsInFlight = options.stepsInFlight;
  lower.credits = options.credits;
  lower.profile = options.profile;
  lower.topology = options.topology;
  lower.explainCredits = options.explainCredits;
  lower.labelCosts.assign(options.labelCosts.begin(), options.labelCosts.end());
  pm.addPass(createLowerToPlan(lower, reports.labelCosts));
  // Compiles for the devices of the topology to which slices may be bound.
  CompileKernelsOptions compile;
  compile.topology = options.topology;
  compile.kernelCache = options.kernelCache;
  compile.kernelCacheBytes = options.kernelCacheBytes;
  compile.explain = options.explainKernels;
  compile.rounding = options.rounding;
  pm.addPass(createCompileKernels(compile, reports.kernels, reports.known));
}

void mlir::pathways::buildCompilePipeline(OpPassManager &pm,
                                          const CompileOptions &options,
                                          const CompileReports &reports) {
  buildPlacePipeline(pm, options, reports);
  buildPlanPipeline(pm, options, reports);
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

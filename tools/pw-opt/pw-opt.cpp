//===- pw-opt.cpp - Driver of all dialects and passes ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mlir-opt with the dialects and passes of Pathways. The only translation unit
// that registers everything upstream: those headers are slow to compile.
//
//===----------------------------------------------------------------------===//

#include "pathways/Dialect/Pathways/Pathways.h"
#include "pathways/Transforms/Passes.h"
#ifdef PATHWAYS_HAS_PLAN_DIALECT
#include "pathways/Dialect/Plan/Plan.h"
#endif
#ifdef PATHWAYS_HAS_LOWERING
#include "pathways/Lowering/Passes.h"
#endif

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"

int main(int argc, char **argv) {
  llvm::cl::AddExtraVersionPrinter([](llvm::raw_ostream &os) {
    os << "Pathways version " << PATHWAYS_VERSION << '\n';
  });
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<mlir::pathways::PathwaysDialect>();
#ifdef PATHWAYS_HAS_PLAN_DIALECT
  registry.insert<mlir::pathways::plan::PlanDialect>();
#endif
  mlir::registerAllPasses();
  mlir::pathways::registerPathwaysTransformsPasses();
#ifdef PATHWAYS_HAS_LOWERING
  mlir::pathways::registerPathwaysLoweringPasses();
#endif
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Pathways optimizer driver\n", registry));
}

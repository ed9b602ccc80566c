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

#include "pathways/Lowering/Passes.h"
#include "pathways/Transforms/Passes.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "runtime/base/temporary_file.h"
#include "llvm/Support/CommandLine.h"

int main(int argc, char **argv) {
  // Those of a cache of kernels.
  pathways::RemoveTemporaryFilesOnSignals();
  llvm::cl::AddExtraVersionPrinter([](llvm::raw_ostream &os) {
    os << "Pathways version " << PATHWAYS_VERSION << '\n';
  });
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::pathways::registerPathwaysLoweringDialects(registry);
  mlir::registerAllPasses();
  mlir::pathways::registerPathwaysTransformsPasses();
  mlir::pathways::registerPathwaysLoweringPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Pathways optimizer driver\n", registry));
}

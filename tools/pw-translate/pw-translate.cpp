//===- pw-translate.cpp - Plan files to text and back ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "pathways/Support/CrashRecovery.h"
#include "pathways/Target/PlanFile.h"
#include "llvm/Support/CommandLine.h"

int main(int argc, char **argv) {
  llvm::cl::AddExtraVersionPrinter([](llvm::raw_ostream &os) {
    os << "Pathways version " << PATHWAYS_VERSION << '\n';
  });
  mlir::pathways::registerPlanTranslations();
  return mlir::pathways::runTool("pw-translate", [&] {
    return int(failed(mlir::mlirTranslateMain(
        argc, argv, "Pathways translation between plan text and plan files")));
  });
}

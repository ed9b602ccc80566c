//===- pw-opt.cpp - Driver of all dialects and passes ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mlir-opt with the dialects and passes of Pathways. This is the only
// translation unit that registers everything upstream, since those headers are
// slow to compile.
//
//===----------------------------------------------------------------------===//

#include "pathways/Import/Passes.h"
#include "pathways/Lowering/Passes.h"
#include "pathways/Support/CrashRecovery.h"
#include "pathways/Support/StableHloText.h"
#include "pathways/Transforms/Passes.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "runtime/base/temporary_file.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

/// Reads a program and runs passes on it.
static int optimize(llvm::StringRef input, llvm::StringRef output,
                    mlir::DialectRegistry &registry,
                    const mlir::MlirOptMainConfig &config) {
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> buffer =
      mlir::openInputFile(input, &error);
  std::unique_ptr<llvm::ToolOutputFile> file;
  if (buffer)
    file = mlir::openOutputFile(output, &error);
  if (!file) {
    llvm::errs() << error << "\n";
    return EXIT_FAILURE;
  }
  std::string name = buffer->getBufferIdentifier().str();
  if (std::optional<std::string> reason =
          mlir::pathways::describeUnreadable(buffer->getBuffer())) {
    llvm::errs() << name << ": error: " << *reason << "\n";
    return EXIT_FAILURE;
  }
  if (std::optional<std::string> repacked =
          mlir::pathways::repackBoolConstants(buffer->getBuffer()))
    buffer = llvm::MemoryBuffer::getMemBufferCopy(*repacked, name);
  llvm::StringRef text = buffer->getBuffer();
  return mlir::pathways::runTool(
      "pw-opt",
      [&] {
        if (failed(mlir::MlirOptMain(file->os(), std::move(buffer), registry,
                                     config)))
          return EXIT_FAILURE;
        file->keep();
        return EXIT_SUCCESS;
      },
      name, text);
}

int main(int argc, char **argv) {
  // Removes temporary files of a cache of kernels.
  pathways::RemoveTemporaryFilesOnSignals();
  llvm::InitLLVM llvm(argc, argv);
  llvm::cl::AddExtraVersionPrinter([](llvm::raw_ostream &os) {
    os << "Pathways version " << PATHWAYS_VERSION << '\n';
  });
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::pathways::registerPathwaysLoweringDialects(registry);
  mlir::pathways::registerPathwaysImportDialects(registry);
  mlir::registerAllPasses();
  mlir::pathways::registerPathwaysImportPasses();
  mlir::pathways::registerPathwaysTransformsPasses();
  mlir::pathways::registerPathwaysLoweringPasses();
  auto [input, output] = mlir::registerAndParseCLIOptions(
      argc, argv, "Pathways optimizer driver\n", registry);
  auto config = mlir::MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return mlir::asMainReturnCode(
        mlir::MlirOptMain(argc, argv, input, output, registry));
  return optimize(input, output, registry, config);
}

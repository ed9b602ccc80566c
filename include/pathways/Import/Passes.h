//===- Passes.h - Passes from stablehlo to pw -------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_IMPORT_PASSES_H
#define PATHWAYS_IMPORT_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir::pathways {

#define GEN_PASS_DECL
#include "pathways/Import/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "pathways/Import/Passes.h.inc"

/// Returns true if `module` is a program of a front end: it has no pw.program,
/// and a public function @main or operations of the dialects of imported
/// programs.
bool isStableHlo(ModuleOp module);

/// Options of the import, which its passes document.
struct ImportOptions : public PassPipelineOptions<ImportOptions> {
  PassOptions::Option<std::string> carry{
      *this, "carry",
      llvm::cl::desc("ARGUMENTS:RESULTS,...: results that arguments take in "
                     "the next step; none: no argument takes any")};
  PassOptions::Option<std::string> stepped{
      *this, "stepped",
      llvm::cl::desc("NAME,...: arguments and results that have one value for "
                     "each step")};
  PassOptions::Option<std::string> elided{
      *this, "elided",
      llvm::cl::desc("zeros or random:SEED: values of constants that the text "
                     "elides")};
  PassOptions::Option<int64_t> maxWrittenOut{
      *this, "max-written-out",
      llvm::cl::desc("largest number of operations that a loop which "
                     "communicates may become"),
      llvm::cl::init(50000)};
  PassOptions::Option<std::string> assign{
      *this, "assign",
      llvm::cl::desc("NAME=SLICE[:LABEL],...: slices of functions, named "
                     "computations and named tensors")};
  PassOptions::Option<std::string> slices{
      *this, "slices",
      llvm::cl::desc("NAME[:ISLAND[-LAST]],...: the slices that operations may "
                     "be marked with, and islands that they span")};
};

/// Adds the passes from such a module to a module with a pw.program, whose
/// bodies can be compiled.
void buildImportPipeline(OpPassManager &pm, const ImportOptions &options);

/// Registers the passes of the import by name, and the pipeline
/// pw-import-stablehlo.
void registerPathwaysImportPasses();

/// Registers the dialects of imported programs.
void registerPathwaysImportDialects(DialectRegistry &registry);

} // namespace mlir::pathways

#endif // PATHWAYS_IMPORT_PASSES_H

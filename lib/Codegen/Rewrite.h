//===- Rewrite.h - Rewriting that ends well or says why ---------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// How the stages of code generation apply patterns and passes: neither of the
/// two fails without an error that the user sees.
///
//===----------------------------------------------------------------------===//

#ifndef LIB_CODEGEN_REWRITE_H
#define LIB_CODEGEN_REWRITE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/PatternMatch.h"
#include <memory>

namespace mlir {
class DialectRegistry;
class FrozenRewritePatternSet;
class PassManager;
} // namespace mlir

namespace mlir::pathways::kernel {

/// Knows whether the thread that made it reported an error since. Others may
/// use the context meanwhile.
class ErrorWatch {
public:
  explicit ErrorWatch(MLIRContext *context);

  bool hasSeenError() const { return *seenError; }

private:
  // After a crash no destructor of the frame runs (see CrashRecovery.h), and
  // the handler stays with the context. The two therefore share the flag.
  std::shared_ptr<bool> seenError = std::make_shared<bool>(false);
  ScopedDiagnosticHandler handler;
};

/// Applies `patterns` in `module` until none matches, if there is an op that
/// one is for, in as many rounds as that takes: how many are needed grows with
/// the body, so a bound is none on the time, only on what compiles. The
/// patterns must come to an end by themselves.
void applyPatternsToEnd(ModuleOp module, RewritePatternSet &&patterns);

/// The same, and folds what can be, whether or not there is such an op.
void foldAndApplyPatternsToEnd(ModuleOp module,
                               const FrozenRewritePatternSet &patterns);

/// Whether `module` has an op for which `isSought`.
bool hasOp(ModuleOp module, llvm::function_ref<bool(Operation *)> isSought);

/// Lets contexts that load the dialect `func` keep what simplify() needs.
void registerSimplification(DialectRegistry &registry);

/// Canonicalizes `module` and joins equal ops, as the passes for it do, which
/// would gather the patterns of all dialects each time.
void simplify(ModuleOp module);

/// Joins equal ops.
void joinEqual(ModuleOp module);

/// Writes what there is of the dialect affine with arithmetic.
LogicalResult lowerAffine(ModuleOp module);

/// Runs `passes` on `module`. A pass that fails and does not say why is named
/// at the module.
LogicalResult runPasses(PassManager &passes, ModuleOp module);

} // namespace mlir::pathways::kernel

#endif // LIB_CODEGEN_REWRITE_H

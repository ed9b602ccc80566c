//===- Rewrite.h - Rewriting that reports its failures ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Applies patterns and passes for the stages of code generation. Neither fails
/// without an error that the user sees.
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

/// Knows whether its thread has reported an error since the object was made.
/// Other threads may use the context meanwhile.
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

/// Applies `patterns` in `module` until none matches. Does nothing if no op has
/// a pattern. The number of rounds is not bounded: the number that is needed
/// grows with the body, so a bound would not limit the time, only which
/// programs compile. The patterns must terminate by themselves.
void applyPatternsToEnd(ModuleOp module, RewritePatternSet &&patterns);

/// Folds ops and applies `patterns` until nothing changes, even if no op has a
/// pattern.
void foldAndApplyPatternsToEnd(ModuleOp module,
                               const FrozenRewritePatternSet &patterns);

/// Returns true if `isSought` holds for an op of `module`.
bool hasOp(ModuleOp module, llvm::function_ref<bool(Operation *)> isSought);

/// Registers an extension with which contexts that load the dialect `func` keep
/// the state that simplify() needs.
void registerSimplification(DialectRegistry &registry);

/// Canonicalizes `module` and joins equal ops. The passes for this would
/// collect the patterns of all dialects in each run; this function collects
/// them once.
void simplify(ModuleOp module);

/// Joins equal ops.
void joinEqual(ModuleOp module);

/// Lowers ops of the dialect affine to arithmetic.
LogicalResult lowerAffine(ModuleOp module);

/// Runs `passes` on `module`. If a pass fails without a diagnostic, emits one
/// at the module that names the pass.
LogicalResult runPasses(PassManager &passes, ModuleOp module);

} // namespace mlir::pathways::kernel

#endif // LIB_CODEGEN_REWRITE_H

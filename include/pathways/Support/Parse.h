//===- Parse.h - From text to verified operations ---------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_SUPPORT_PARSE_H
#define PATHWAYS_SUPPORT_PARSE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::pathways {

/// What became of a text.
struct Parsed {
  OwningOpRef<ModuleOp> module; ///< null after an error, which was reported
  /// The context, and all that was made in it, may be broken: to be abandoned,
  /// not destroyed.
  bool hasCrashed = false;
};

/// Parses and verifies `text`, which is called `fileName` in locations. MLIR's
/// parser and verifiers end the process on some texts; here that is a
/// diagnostic near the place. On this thread alone.
///
/// The parser's first error is its last: what it had made by then is lost
/// memory, and the context may then be used, and destroyed, by this thread
/// alone, which has left its diagnostics locked.
Parsed parseShielded(StringRef text, StringRef fileName, MLIRContext *context);

} // namespace mlir::pathways

#endif // PATHWAYS_SUPPORT_PARSE_H

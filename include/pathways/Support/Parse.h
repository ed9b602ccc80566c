//===- Parse.h - Parser with crash recovery ---------------------*- C++ -*-===//
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

/// Result of parsing a text.
struct Parsed {
  OwningOpRef<ModuleOp> module; ///< null after an error, which was reported
  /// True if the context, and everything made in it, may be broken: abandon it,
  /// do not destroy it.
  bool hasCrashed = false;
};

/// Parses and verifies `text`, called `fileName` in locations, on this thread
/// alone. MLIR's parser and verifiers end the process on some texts; here that
/// is a diagnostic near the place.
///
/// The parser stops at the first error. Memory that it had allocated by then
/// leaks. Afterwards only this thread may use or destroy the context, because
/// the thread still holds the lock of its diagnostics.
Parsed parseShielded(StringRef text, StringRef fileName, MLIRContext *context);

} // namespace mlir::pathways

#endif // PATHWAYS_SUPPORT_PARSE_H

//===- WholeText.h - All of an operation, as text ---------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For hashes: text that follows from an operation alone.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_SUPPORT_WHOLETEXT_H
#define PATHWAYS_SUPPORT_WHOLETEXT_H

#include "mlir/IR/Operation.h"

namespace mlir::pathways {

/// All of `op` with its regions, in generic form, whatever options for printing
/// the command line has; but of resources the names only. Locations are in it
/// `withPlaces`.
std::string getWholeText(Operation *op, bool withPlaces);

/// Calls `visit` with the name, and then the bytes, of each resource that the
/// attributes in `op` refer to, as often as they do.
void visitResources(Operation *op, llvm::function_ref<void(StringRef)> visit);

} // namespace mlir::pathways

#endif // PATHWAYS_SUPPORT_WHOLETEXT_H

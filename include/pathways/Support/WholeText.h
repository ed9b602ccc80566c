//===- WholeText.h - Complete text of an operation --------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Text for hashes, which depends on the operation alone.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_SUPPORT_WHOLETEXT_H
#define PATHWAYS_SUPPORT_WHOLETEXT_H

#include "mlir/IR/Operation.h"

namespace mlir::pathways {

/// Returns the complete text of `op` with its regions, in generic form,
/// independent of printing options on the command line. Resources appear by
/// name only. Locations are included if `withPlaces`.
std::string getWholeText(Operation *op, bool withPlaces);

/// Calls `visit` with the name and then with the bytes of each resource in the
/// attributes of `op`, once per reference.
void visitResources(Operation *op, llvm::function_ref<void(StringRef)> visit);

} // namespace mlir::pathways

#endif // PATHWAYS_SUPPORT_WHOLETEXT_H

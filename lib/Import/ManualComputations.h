//===- ManualComputations.h - pw.manual of imported modules -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_IMPORT_MANUALCOMPUTATIONS_H
#define PATHWAYS_LIB_IMPORT_MANUALCOMPUTATIONS_H

#include "Shardings.h"

#include "mlir/IR/SymbolTable.h"

namespace mlir::pathways {

/// Replaces each sdy.manual_computation of a module, whose functions are
/// `symbols`, by a pw.manual. Functions that are called in its region are
/// inlined if they communicate. Values from outside that the region reads
/// become operands, or are copied if they are constants. On one device, the
/// region replaces the operation. Fails with a diagnostic.
LogicalResult lowerManualComputations(ModuleOp module, SymbolTable &symbols,
                                      const Shardings &shardings);

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_IMPORT_MANUALCOMPUTATIONS_H

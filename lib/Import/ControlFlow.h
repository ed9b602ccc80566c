//===- ControlFlow.h - Regions that move into operations of scf -*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_IMPORT_CONTROLFLOW_H
#define PATHWAYS_LIB_IMPORT_CONTROLFLOW_H

#include "mlir/Transforms/DialectConversion.h"

namespace mlir::pathways {

/// The values that one value of the program became: none for a token, several
/// ones for a tuple.
using Values = SmallVector<Value>;

/// Moves the operations of `from` to the place `before` in `to`, where its
/// arguments are `arguments`.
void moveBlock(ConversionPatternRewriter &rewriter, Block &from, Block *to,
               Block::iterator before, ArrayRef<Values> arguments);

/// Adds the patterns of While.cpp.
void populateWhilePatterns(const TypeConverter &types,
                           RewritePatternSet &patterns);

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_IMPORT_CONTROLFLOW_H

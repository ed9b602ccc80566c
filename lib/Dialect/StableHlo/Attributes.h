//===- Attributes.h - Parts of attributes that operations share -*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_STABLEHLO_ATTRIBUTES_H
#define LIB_DIALECT_STABLEHLO_ATTRIBUTES_H

#include "pathways/Dialect/StableHlo/StableHlo.h"

namespace mlir::pathways::stablehlo::detail {

/// Parses and prints a list such as `[1, 2]`.
ParseResult parseIntegers(AsmParser &parser, SmallVectorImpl<int64_t> &list);
void printIntegers(AsmPrinter &printer, ArrayRef<int64_t> list);

/// Parses and prints lists such as `[b, 0, f]x[0, i, o]->[b, 0, f]`.
FailureOr<ConvDimensionNumbersAttr> parseConvDimensions(AsmParser &parser);
void printConvDimensions(AsmPrinter &printer, ConvDimensionNumbersAttr dims);

} // namespace mlir::pathways::stablehlo::detail

#endif // LIB_DIALECT_STABLEHLO_ATTRIBUTES_H

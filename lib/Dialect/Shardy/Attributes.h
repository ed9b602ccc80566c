//===- Attributes.h - Shared parts of shardings -----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_SHARDY_ATTRIBUTES_H
#define LIB_DIALECT_SHARDY_ATTRIBUTES_H

#include "pathways/Dialect/Shardy/Shardy.h"

namespace mlir::pathways::sdy {

/// Parses and prints a list such as `[<@mesh, [{"x"}]>]`.
FailureOr<TensorShardingPerValueAttr> parseShardings(AsmParser &parser);
void printShardings(AsmPrinter &printer, TensorShardingPerValueAttr shardings);

/// Verifies that axes are axes of `mesh`, and that parts divide them.
LogicalResult verifyAxes(function_ref<InFlightDiagnostic()> emitError,
                         ArrayRef<AxisRefAttr> axes, MeshAttr mesh);

} // namespace mlir::pathways::sdy

#endif // LIB_DIALECT_SHARDY_ATTRIBUTES_H

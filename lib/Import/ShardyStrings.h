//===- ShardyStrings.h - Shardy's round trip through strings ----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_IMPORT_SHARDYSTRINGS_H
#define PATHWAYS_LIB_IMPORT_SHARDYSTRINGS_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::pathways {

/// Replaces what `module` has as strings in `mhlo.frontend_attributes`, with
/// names such as `xla.sdy.sharding`, and custom calls such as
/// `@xla.sdy.GlobalToLocalShape`, by attributes and operations of sdy. Fails,
/// with a diagnostic, at a string that cannot be read.
LogicalResult readShardyStrings(ModuleOp module);

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_IMPORT_SHARDYSTRINGS_H

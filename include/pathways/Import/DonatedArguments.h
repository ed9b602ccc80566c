//===- DonatedArguments.h - Arguments that a step consumes ------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_IMPORT_DONATEDARGUMENTS_H
#define PATHWAYS_IMPORT_DONATEDARGUMENTS_H

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace mlir::pathways {

/// Arguments of @main with `tf.aliasing_output` or `jax.buffer_donor`.
struct DonatedArguments {
  int64_t count = 0; ///< number of these arguments
  int64_t first = 0; ///< position of the first one
  /// The option `carry` that `tf.aliasing_output` suggests: each argument takes
  /// the result that it is aliased to. Front ends match aliases by type, so
  /// this is a hint. Empty: there are no aliases.
  std::string carry;
};

/// Returns the donated arguments of a module that was not imported yet.
DonatedArguments findDonatedArguments(ModuleOp module);

} // namespace mlir::pathways

#endif // PATHWAYS_IMPORT_DONATEDARGUMENTS_H

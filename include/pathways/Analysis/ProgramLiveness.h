//===- ProgramLiveness.h - Who reads an array last --------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Who reads an array last.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_ANALYSIS_PROGRAMLIVENESS_H
#define PATHWAYS_ANALYSIS_PROGRAMLIVENESS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::pathways {

/// Reads of the arrays of a program, through the regions of its nodes; true
/// until the program changes. Waiting is not reading.
class ProgramLiveness {
public:
  /// `program` is a `pw.program`.
  explicit ProgramLiveness(Operation *program);

  /// A node that may read `array` after `node` has read it; null if there is
  /// none. In the region of another node than the array's that is `node`
  /// itself, if nobody comes later: it may run again.
  Operation *getLaterRead(Value array, Operation *node) const;

private:
  llvm::DenseMap<Value, Operation *> lastRead; // in the order of the text
};

} // namespace mlir::pathways

#endif // PATHWAYS_ANALYSIS_PROGRAMLIVENESS_H

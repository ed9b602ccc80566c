//===- ProgramLiveness.h - Last reads of arrays -----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the last reader of an array.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_ANALYSIS_PROGRAMLIVENESS_H
#define PATHWAYS_ANALYSIS_PROGRAMLIVENESS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::pathways {

/// Reads of the arrays of a program, including those in the regions of its
/// nodes. Valid until the program changes. Waiting for an array is not reading
/// it.
class ProgramLiveness {
public:
  /// `program` is a `pw.program`.
  explicit ProgramLiveness(Operation *program);

  /// Returns a node that may read `array` after `node` has read it; null if
  /// there is none. If `node` is inside a region of another node, and `array`
  /// is defined outside of that, `node` may run again: then it is returned
  /// itself if no later node reads the array.
  Operation *getLaterRead(Value array, Operation *node) const;

private:
  llvm::DenseMap<Value, Operation *> lastRead; // in the order of the text
};

} // namespace mlir::pathways

#endif // PATHWAYS_ANALYSIS_PROGRAMLIVENESS_H

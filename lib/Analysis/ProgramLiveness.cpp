//===- ProgramLiveness.cpp - Last reads of arrays -------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Analysis/ProgramLiveness.h"

#include "pathways/Dialect/Pathways/Pathways.h"

using namespace mlir;
using namespace mlir::pathways;

ProgramLiveness::ProgramLiveness(Operation *program) {
  program->walk<WalkOrder::PreOrder>([&](NodeOpInterface node) {
    for (OpOperand *operand : node.getReads())
      lastRead[operand->get()] = node;
  });
}

Operation *ProgramLiveness::getLaterRead(Value array, Operation *node) const {
  Operation *last = lastRead.lookup(array);
  // Each run of a region reads the values that it takes from around it.
  bool mayRepeat = array.getParentBlock() != node->getBlock();
  return last == node && !mayRepeat ? nullptr : last;
}

//===- MatrixUnit.h - Products on matrix units ------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CODEGEN_CONTRACTION_MATRIXUNIT_H
#define LIB_CODEGEN_CONTRACTION_MATRIXUNIT_H

#include "CodegenInternal.h"

namespace mlir::pathways::kernel {

/// Element types that the target multiplies by tiles.
struct MatrixUnit {
  bool hasBytes = false;  ///< bytes, with sums of i32
  bool hasFloats = false; ///< bf16, with sums of f32
};

/// Writes the contractions on buffers that `unit` supports with its
/// instructions. Records in `log`, unless it is null, which ops it takes.
void lowerToTiles(func::FuncOp func, const MatrixUnit &unit, PathLog *log);

} // namespace mlir::pathways::kernel

#endif // LIB_CODEGEN_CONTRACTION_MATRIXUNIT_H

//===- VectorAccess.h - Lowering of vector loads and stores -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CODEGEN_OBJECT_VECTORACCESS_H
#define LIB_CODEGEN_OBJECT_VECTORACCESS_H

namespace mlir {
class LLVMTypeConverter;
class RewritePatternSet;
} // namespace mlir

namespace mlir::pathways::kernel {

/// Adds patterns that convert loads and stores of vectors of numbers, with and
/// without masks. They give the same result as upstream in a small part of the
/// time: upstream creates an LLVMContext each time to find the alignment of
/// numbers.
void addVectorAccessPatterns(const LLVMTypeConverter &converter,
                             RewritePatternSet &patterns);

} // namespace mlir::pathways::kernel

#endif // LIB_CODEGEN_OBJECT_VECTORACCESS_H

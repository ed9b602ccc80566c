//===- VectorAccess.h - Loads and stores of vectors to LLVM -----*- C++ -*-===//
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

/// Converts loads and stores of vectors of numbers, with and without masks, as
/// upstream does but in a small part of the time: that makes an LLVMContext
/// each time, to ask how numbers are aligned.
void addVectorAccessPatterns(const LLVMTypeConverter &converter,
                             RewritePatternSet &patterns);

} // namespace mlir::pathways::kernel

#endif // LIB_CODEGEN_OBJECT_VECTORACCESS_H

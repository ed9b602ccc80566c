//===- VectorAccess.cpp - Lowering of vector loads and stores -------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Object/VectorAccess.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::pathways;

namespace {

template <typename Access>
struct ConvertAccess : ConvertOpToLLVMPattern<Access> {
  explicit ConvertAccess(const LLVMTypeConverter &converter)
      : ConvertOpToLLVMPattern<Access>(converter, /*benefit=*/2) {}

  using Adaptor = typename ConvertOpToLLVMPattern<Access>::OpAdaptor;

  LogicalResult
  matchAndRewrite(Access op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto buffer = dyn_cast<MemRefType>(op.getBase().getType());
    VectorType vector = op.getVectorType();
    if (!buffer || vector.getRank() != 1 || vector.isScalable() ||
        buffer.getMemorySpace() ||
        !buffer.getElementType().isIntOrIndexOrFloat())
      return failure();
    Value at = this->getStridedElementPtr(
        rewriter, op.getLoc(), buffer, adaptor.getBase(), adaptor.getIndices());
    auto alignment = static_cast<unsigned>(
        op.getAlignment().value_or(bytesOf(buffer.getElementType())));
    write(op, adaptor, at, alignment, rewriter);
    return success();
  }

private:
  /// Returns the alignment that LLVM gives to a number.
  static unsigned bytesOf(Type number) {
    unsigned bits = number.isIndex() ? 64 : number.getIntOrFloatBitWidth();
    return llvm::PowerOf2Ceil(llvm::divideCeil(bits, 8));
  }

  void write(vector::LoadOp op, Adaptor, Value at, unsigned alignment,
             ConversionPatternRewriter &rewriter) const {
    Type type = this->getTypeConverter()->convertType(op.getVectorType());
    rewriter.replaceOpWithNewOp<LLVM::LoadOp>(op, type, at, alignment,
                                              /*isVolatile=*/false,
                                              op.getNontemporal());
  }

  void write(vector::StoreOp op, Adaptor adaptor, Value at, unsigned alignment,
             ConversionPatternRewriter &rewriter) const {
    rewriter.replaceOpWithNewOp<LLVM::StoreOp>(
        op, adaptor.getValueToStore(), at, alignment,
        /*isVolatile=*/false, op.getNontemporal());
  }

  void write(vector::MaskedLoadOp op, Adaptor adaptor, Value at,
             unsigned alignment, ConversionPatternRewriter &rewriter) const {
    Type type = this->getTypeConverter()->convertType(op.getVectorType());
    rewriter.replaceOpWithNewOp<LLVM::MaskedLoadOp>(
        op, type, at, adaptor.getMask(), adaptor.getPassThru(), alignment);
  }

  void write(vector::MaskedStoreOp op, Adaptor adaptor, Value at,
             unsigned alignment, ConversionPatternRewriter &rewriter) const {
    rewriter.replaceOpWithNewOp<LLVM::MaskedStoreOp>(
        op, adaptor.getValueToStore(), at, adaptor.getMask(), alignment);
  }
};

} // namespace

void kernel::addVectorAccessPatterns(const LLVMTypeConverter &converter,
                                     RewritePatternSet &patterns) {
  patterns.add<ConvertAccess<vector::LoadOp>, ConvertAccess<vector::StoreOp>,
               ConvertAccess<vector::MaskedLoadOp>,
               ConvertAccess<vector::MaskedStoreOp>>(converter);
}

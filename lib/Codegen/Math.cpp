//===- Math.cpp - Functions written out in kernels ------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Straight code without branches, tables or calls: a loop around it becomes
// vector code, and gives the same in vector bodies and tails.
//
//===----------------------------------------------------------------------===//

#include "CodegenInternal.h"
#include "Rewrite.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace mlir::pathways;

namespace {

/// exp(x) = 2^n exp(r), n the nearest integer to x / log(2), r = x - n log(2),
/// and exp(r) = 1 + r + r^2 q(r) with the q that has the least relative error
/// for |r| <= log(2) / 2: 0.06 units of 2^-24 before rounding.
struct ExpandExp : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::ExpOp op,
                                PatternRewriter &rewriter) const override {
    Type f32 = op.getType();
    if (!getElementTypeOrSelf(f32).isF32())
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto vector = dyn_cast<VectorType>(f32);
    Type i32 = vector ? vector.clone(b.getI32Type()) : Type(b.getI32Type());
    // A number, or one for each lane.
    auto constant = [&](TypedAttr value, Type type) -> Value {
      if (vector)
        value = DenseElementsAttr::get(cast<ShapedType>(type), value);
      return arith::ConstantOp::create(b, value);
    };
    auto number = [&](float value) {
      return constant(b.getF32FloatAttr(value), f32);
    };
    auto integer = [&](int32_t value) {
      return constant(b.getI32IntegerAttr(value), i32);
    };
    auto fma = [&](Value x, Value y, Value z) -> Value {
      return math::FmaOp::create(b, x, y, z);
    };
    auto choose = [&](arith::CmpFPredicate predicate, Value bound,
                      Value x) -> Value {
      Value isBeyond = arith::CmpFOp::create(b, predicate, bound, x);
      return arith::SelectOp::create(b, isBeyond, bound, x);
    };
    // Beyond these it is 0 and infinity; the powers of 2 below stay in range. A
    // NaN is beyond nothing.
    Value x = choose(arith::CmpFPredicate::OGT, number(-104), op.getOperand());
    x = choose(arith::CmpFPredicate::OLT, number(89), x);

    // Adding 1.5 * 2^23 rounds to an integer, in the lowest bits.
    constexpr float kRound = 12582912;
    Value sum = fma(x, number(0x1.715476p+0f), number(kRound));
    Value n = arith::SubFOp::create(b, sum, number(kRound));
    // log(2) in two parts; the first has few bits, so that its product is
    // exact.
    Value r = fma(n, number(-0x1.62e4p-1f), x);
    r = fma(n, number(-0x1.7f7d1cp-20f), r);

    // q in two halves, which do not wait for each other.
    Value square = arith::MulFOp::create(b, r, r);
    Value low = fma(number(0x1.555492p-3f), r, number(0x1.fffffcp-2f));
    Value high = fma(number(0x1.123a2p-7f), r, number(0x1.5558f2p-5f));
    high = fma(number(0x1.6a23cep-10f), square, high);
    Value rest = fma(fma(high, square, low), square, r); // exp(r) - 1

    // 2^n as a product of two: one alone would not reach the subnormal results.
    Value bits = arith::BitcastOp::create(b, i32, sum);
    Value whole = arith::SubIOp::create(b, bits, integer(0x4b400000));
    Value half = arith::ShRSIOp::create(b, whole, integer(1));
    auto powerOf2 = [&](Value exponent) -> Value {
      Value biased = arith::AddIOp::create(b, exponent, integer(127));
      Value shifted = arith::ShLIOp::create(b, biased, integer(23));
      return arith::BitcastOp::create(b, f32, shifted);
    };
    Value first = powerOf2(half);
    Value second = powerOf2(arith::SubIOp::create(b, whole, half));
    Value power = arith::MulFOp::create(b, fma(rest, first, first), second);
    rewriter.replaceOp(op, power);
    return success();
  }
};

/// The instruction takes zeros as they are written, but of a NaN and a number
/// the number: the sum of both is NaN then. LLVM writes six for these three.
template <typename Op> struct MaximumByRange : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    if (!type || type != VectorType::get(16, rewriter.getF32Type()))
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto integer = [&](Type type, int64_t value) -> Value {
      return arith::ConstantOp::create(b, b.getIntegerAttr(type, value));
    };
    // Which of the two, with the sign of that; all lanes; no exceptions.
    constexpr int kMaximum = 5, kMinimum = 4;
    Value kind =
        integer(b.getI32Type(),
                std::is_same_v<Op, arith::MaximumFOp> ? kMaximum : kMinimum);
    Value lhs = op.getLhs(), rhs = op.getRhs();
    Value range =
        LLVM::CallIntrinsicOp::create(
            b, type, b.getStringAttr("llvm.x86.avx512.mask.range.ps.512"),
            ValueRange{lhs, rhs, kind, lhs, integer(b.getI16Type(), -1),
                       integer(b.getI32Type(), 4)})
            .getResult(0);
    Value isNaN = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, lhs, rhs);
    Value sum = arith::AddFOp::create(b, lhs, rhs);
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, isNaN, sum, range);
    return success();
  }
};

/// Of a NaN and a number the number. LLVM's own op would do, but where loops
/// over it become vector code, LLVM 22 stops at a NaN, such as that with which
/// a softmax begins, and what comes behind the last full vector is lost.
template <typename Op, arith::CmpFPredicate predicate>
struct ChooseNumber : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (isa<VectorType>(op.getType()))
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value lhs = op.getLhs(), rhs = op.getRhs();
    // That is `rhs` if one of the two is NaN.
    Value isBeyond = arith::CmpFOp::create(b, predicate, lhs, rhs);
    Value chosen = arith::SelectOp::create(b, isBeyond, lhs, rhs);
    Value isNaN = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, rhs, rhs);
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, isNaN, lhs, chosen);
    return success();
  }
};

} // namespace

void kernel::addMaxNumPatterns(RewritePatternSet &patterns) {
  patterns.add<ChooseNumber<arith::MaxNumFOp, arith::CmpFPredicate::OGT>,
               ChooseNumber<arith::MinNumFOp, arith::CmpFPredicate::OLT>>(
      patterns.getContext());
}

void kernel::useRanges(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  patterns.add<MaximumByRange<arith::MaximumFOp>,
               MaximumByRange<arith::MinimumFOp>>(module.getContext());
  applyPatternsToEnd(module, std::move(patterns));
}

void kernel::keepSignsOfErf(ModuleOp module) {
  module.walk([](math::ErfOp op) {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return;
    OpBuilder b(op->getContext());
    b.setInsertionPointAfter(op);
    auto kept = math::CopySignOp::create(b, op.getLoc(), op, op.getOperand());
    op.getResult().replaceAllUsesExcept(kept, kept);
  });
}

void kernel::addExpPattern(RewritePatternSet &patterns) {
  patterns.add<ExpandExp>(patterns.getContext());
}

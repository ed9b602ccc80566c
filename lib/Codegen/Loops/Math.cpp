//===- Math.cpp - Math functions as straight code -------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes straight code without branches, tables or calls: a loop around it
// becomes vector code and gives the same results in vector bodies and tails.
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

/// Writes arithmetic on f32, or on a vector of f32.
class Singles {
public:
  Singles(Operation *op, PatternRewriter &rewriter)
      : b(op->getLoc(), rewriter), f32(op->getResult(0).getType()) {
    auto vector = dyn_cast<VectorType>(f32);
    i32 = vector ? vector.clone(b.getI32Type()) : Type(b.getI32Type());
  }

  Value number(float value) { return constant(b.getF32FloatAttr(value), f32); }
  Value integer(int32_t value) {
    return constant(b.getI32IntegerAttr(value), i32);
  }
  Value bits(Value x) { return arith::BitcastOp::create(b, i32, x); }
  Value fma(Value x, Value y, Value z) {
    return math::FmaOp::create(b, x, y, z);
  }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, x, y); }
  /// Return the smaller, or the larger, of the two; NaN if x is NaN.
  Value atMost(float bound, Value x) {
    return choose(arith::CmpFPredicate::OLT, number(bound), x);
  }
  Value atLeast(float bound, Value x) {
    return choose(arith::CmpFPredicate::OGT, number(bound), x);
  }
  /// Returns coefficients[0] + coefficients[1] x + ...
  Value series(Value x, ArrayRef<float> coefficients) {
    Value sum = number(coefficients.back());
    for (float each : llvm::reverse(coefficients.drop_back()))
      sum = fma(sum, x, number(each));
    return sum;
  }
  /// Returns the integer that was added to 1.5 * 2^23.
  Value asInteger(Value sum) {
    return arith::SubIOp::create(b, bits(sum), integer(0x4b400000));
  }
  /// Returns 2^exponent, for exponents of normal numbers.
  Value powerOf2(Value exponent) {
    Value biased = arith::AddIOp::create(b, exponent, integer(127));
    Value shifted = arith::ShLIOp::create(b, biased, integer(23));
    return arith::BitcastOp::create(b, f32, shifted);
  }

  ImplicitLocOpBuilder b;

private:
  // Returns a scalar constant, or a vector with the constant in each lane.
  Value constant(TypedAttr value, Type type) {
    if (isa<VectorType>(type))
      value = DenseElementsAttr::get(cast<ShapedType>(type), value);
    return arith::ConstantOp::create(b, value);
  }
  Value choose(arith::CmpFPredicate predicate, Value bound, Value x) {
    Value isBeyond = arith::CmpFOp::create(b, predicate, bound, x);
    return arith::SelectOp::create(b, isBeyond, bound, x);
  }

  Type f32, i32;
};

/// Computes exp(x) = 2^n exp(r), where n is the nearest integer to x / log(2)
/// and r = x - n log(2). exp(r) = 1 + r + r^2 q(r), with the q of least
/// relative error for |r| <= log(2) / 2: 0.06 units of 2^-24 before rounding.
struct ExpandExp : OpRewritePattern<math::ExpOp> {
  ExpandExp(MLIRContext *context, bool hasPowers)
      : OpRewritePattern(context), hasPowers(hasPowers) {}

  LogicalResult matchAndRewrite(math::ExpOp op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    Singles f(op, rewriter);
    ImplicitLocOpBuilder &b = f.b;
    // Beyond these bounds the result is 0 or infinity; the powers of 2 below
    // stay in range.
    Value x = f.atMost(89, f.atLeast(-104, op.getOperand()));

    // Adding 1.5 * 2^23 rounds to an integer in the lowest bits.
    constexpr float kRound = 12582912;
    Value sum = f.fma(x, f.number(0x1.715476p+0f), f.number(kRound));
    Value n = arith::SubFOp::create(b, sum, f.number(kRound));
    // log(2) is split in two parts; the first has few bits, so its product is
    // exact.
    Value r = f.fma(n, f.number(-0x1.62e4p-1f), x);
    r = f.fma(n, f.number(-0x1.7f7d1cp-20f), r);

    // q is computed in two halves that do not wait for each other.
    Value square = f.mul(r, r);
    Value low = f.series(r, {0x1.fffffcp-2f, 0x1.555492p-3f});
    Value high = f.series(r, {0x1.5558f2p-5f, 0x1.123a2p-7f});
    high = f.fma(f.number(0x1.6a23cep-10f), square, high);
    Value rest = f.fma(f.fma(high, square, low), square, r); // exp(r) - 1

    if (hasPowers) {
      Value power = arith::AddFOp::create(b, rest, f.number(1));
      rewriter.replaceOp(op, timesPowerOf2(f, power, sum, n));
      return success();
    }
    // 2^n is a product of two powers: a single one could not reach the
    // subnormal results.
    Value whole = f.asInteger(sum);
    Value half = arith::ShRSIOp::create(b, whole, f.integer(1));
    Value first = f.powerOf2(half);
    Value second = f.powerOf2(arith::SubIOp::create(b, whole, half));
    rewriter.replaceOp(op, f.mul(f.fma(rest, first, first), second));
    return success();
  }

  /// Returns `x` 2^n, where `sum` has n in its lowest bits.
  static Value timesPowerOf2(Singles &f, Value x, Value sum, Value n) {
    ImplicitLocOpBuilder &b = f.b;
    Type type = x.getType();
    auto integer = [&](unsigned bits, int64_t value) -> Value {
      return arith::ConstantOp::create(
          b, b.getIntegerAttr(b.getIntegerType(bits), value));
    };
    auto call = [&](StringRef name, ValueRange operands) {
      return LLVM::CallIntrinsicOp::create(b, type, b.getStringAttr(name),
                                           operands)
          .getResult(0);
    };
    // The instruction takes n as a float. LLVM's own intrinsic takes an
    // integer, which it would convert back to a float. MLIR has no op on
    // vectors for either.
    constexpr int kRoundAsSet = 4;
    if (type == VectorType::get(16, b.getF32Type()))
      return call("llvm.x86.avx512.mask.scalef.ps.512",
                  {x, n, x, integer(16, -1), integer(32, kRoundAsSet)});
    Value whole = f.asInteger(sum);
    if (isa<VectorType>(type))
      return call("llvm.ldexp", {x, whole});
    return LLVM::LoadExpOp::create(b, type, x, whole);
  }

  bool hasPowers;
};

/// Computes erf(x) = x p(x^2) with the polynomial of least relative error up to
/// the x for which the result rounds to 1: 0.09 units of 2^-24 before rounding.
/// The polynomial is in 2 x^2 / 3.92^2 - 1, so that its terms cancel only in
/// the last additions. Its steps run one after the other, because they round
/// less than two halves would.
struct ExpandErf : OpRewritePattern<math::ErfOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::ErfOp op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    constexpr float kEnd = 3.92f * 3.92f;
    Singles f(op, rewriter);
    Value x = op.getOperand();
    Value t =
        f.fma(f.atMost(kEnd, f.mul(x, x)), f.number(2 / kEnd), f.number(-1));
    Value p = f.series(t, {0x1.7164fep-2f, -0x1.70dcc4p-3f, 0x1.129a54p-3f,
                           -0x1.bf352p-4f, 0x1.732ff4p-4f, -0x1.2f13fep-4f,
                           0x1.dcafd6p-5f, -0x1.64e6a2p-5f, 0x1.f448d2p-6f,
                           -0x1.42300ep-6f, 0x1.9581cap-7f, -0x1.09a53ap-7f,
                           0x1.0f4ebp-8f, -0x1.1d6644p-10f, 0x1.71381p-11f,
                           -0x1.e6401ep-11f, 0x1.744fdep-12f});
    Value size = math::AbsFOp::create(f.b, f.mul(x, p));
    rewriter.replaceOpWithNewOp<math::CopySignOp>(op, f.atMost(1, size), x);
    return success();
  }
};

/// Returns true if `type` is a full AVX-512 register of f32.
bool fillsRegister(Type type) {
  return type == VectorType::get(16, Float32Type::get(type.getContext()));
}

/// Uses the range instruction for maxima and minima. The instruction orders
/// zeros by their sign, but returns the number for a NaN and a number. The sum
/// of both, which is NaN, replaces the result in this case. LLVM writes six
/// instructions for these three.
template <typename Op> struct MaximumByRange : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!fillsRegister(type))
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto integer = [&](Type type, int64_t value) -> Value {
      return arith::ConstantOp::create(b, b.getIntegerAttr(type, value));
    };
    // Operands: maximum or minimum with the sign of the result; all lanes; no
    // exceptions.
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

/// Gives the same result as ChooseNumber below, in two instructions instead of
/// four.
template <typename Op> struct ChooseByMaximum : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!fillsRegister(type))
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value lhs = op.getLhs(), rhs = op.getRhs();
    constexpr bool isMaximum = std::is_same_v<Op, arith::MaxNumFOp>;
    // The instruction returns the second operand if one is NaN or both are
    // zeros. It raises no exceptions.
    Value silent = arith::ConstantOp::create(b, b.getI32IntegerAttr(4));
    Value chosen =
        LLVM::CallIntrinsicOp::create(
            b, type,
            b.getStringAttr(isMaximum ? "llvm.x86.avx512.max.ps.512"
                                      : "llvm.x86.avx512.min.ps.512"),
            ValueRange{lhs, rhs, silent})
            .getResult(0);
    Value isNumber =
        arith::CmpFOp::create(b, arith::CmpFPredicate::ORD, rhs, rhs);
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, isNumber, chosen, lhs);
    return success();
  }
};

/// Returns the number for a NaN and a number, and the second of two zeros, in
/// vectors as elsewhere. LLVM's own op leaves that to the target. Moreover,
/// LLVM 22 breaks when it vectorizes loops over it: they stop at a NaN, such as
/// the one with which a softmax begins, and lose the remainder after the last
/// full vector.
template <typename Op, arith::CmpFPredicate predicate>
struct ChooseNumber : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value lhs = op.getLhs(), rhs = op.getRhs();
    // This is `rhs` if one of the two is NaN.
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
  patterns
      .add<MaximumByRange<arith::MaximumFOp>, MaximumByRange<arith::MinimumFOp>,
           ChooseByMaximum<arith::MaxNumFOp>,
           ChooseByMaximum<arith::MinNumFOp>>(module.getContext());
  applyPatternsToEnd(module, std::move(patterns));
}

void kernel::addFloatPatterns(RewritePatternSet &patterns, bool hasPowers) {
  patterns.add<ExpandExp>(patterns.getContext(), hasPowers);
  patterns.add<ExpandErf>(patterns.getContext());
}

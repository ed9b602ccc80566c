//===- Division.cpp - Many divisions by one number ------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A division of 16 lanes takes as long as twenty other instructions. If a loop
// divides by the same number s in each iteration, as a softmax does, the
// quotient of a is computed from y, which is 1 / s rounded to nearest:
//
//   z = a y,  r = z s - a,  q = z - r y        each rounded once
//
// The result is a / s rounded to nearest, bit for bit, including zeros, as long
// as nothing leaves the range of normal numbers. Proof: let a and s be from 1
// to 2 less an ulp, with integers A and B of 24 bits in units of 2^-23. The
// error of y is at most 2^-25, so s y = 1 + e with |e| <= B 2^-48. Let d = a /
// s - z in ulps of a / s; then q is z + d (1 + e) rounded to nearest.
//
// (1) If a / s is at least 1, an ulp is 2^-23 and |d| < 1. If it is less, that
// is if A < B, an ulp is 2^-24 and |d| <= 1 / 2 + A 2^-24 < 3 / 2.
//
// (2) d B is an integer, the one of r. r represents it exactly up to 2^24; if
// it is larger, where |d| > 1, r may be off by 1. (If a = s, z may be below 1
// and d B no integer; then r is exact, and q is 1.)
//
// (3) A quotient never lies in the middle between two numbers: it would be a
// product of 25 bits. It remains to show that z + d (1 + e) is on the same side
// of each middle as a / s. For the middles at 1/2: |d B| is (B + j)/2 or
// (B - j)/2 with j >= 1, and |d B e| is less than j/2, because
// B |e| <= B^2 2^-48 < 1 - 2^-24. For the middles at 3/2: by (1), |d B| is less
// than 3B/2 by at least 1 + (B - 1) t 2^-24, where B = 2^24 - t. For t >= 2
// this exceeds the sum of 1, by which r may be off, and of |d B e| <= 3/2 (B
// 2^-24)^2. For t = 1 the test tries all a.
//
//===----------------------------------------------------------------------===//

#include "CodegenInternal.h"
#include "Rewrite.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::pathways;

namespace {

/// Returns the bits of 2^exponent.
constexpr int32_t bitsOfPower(int exponent) { return (127 + exponent) << 23; }

/// Exponents that bound the divisors and the nonzero dividends for which
/// nothing leaves the normal numbers and r is a multiple of the least subnormal
/// one.
constexpr int kDivisors = 30, kDividends = 90;
constexpr int64_t kLanes = 16;

struct DivideByReciprocal : OpRewritePattern<arith::DivFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::DivFOp op,
                                PatternRewriter &rewriter) const override;
};

} // namespace

/// Returns the scalar that all lanes of `value` hold, if it comes from outside
/// of `loop`; otherwise a null value.
static Value scalarOf(Value value, scf::ForOp loop, ImplicitLocOpBuilder &b) {
  DenseElementsAttr splat;
  FloatAttr number;
  auto broadcast = value.getDefiningOp<vector::BroadcastOp>();
  if (matchPattern(value, m_Constant(&splat)) && splat.isSplat())
    number = splat.getSplatValue<FloatAttr>();
  else if (!broadcast || !broadcast.getSource().getType().isF32())
    return {};
  if (!number && !matchPattern(broadcast.getSource(), m_Constant(&number)))
    return loop.isDefinedOutsideOfLoop(broadcast.getSource())
               ? broadcast.getSource()
               : Value();
  // Divisions by powers of 2 become products anyway.
  APFloat inverse = number.getValue();
  if (number.getValue().getExactInverse(&inverse))
    return {};
  return arith::ConstantOp::create(b, number);
}

static Value integer(ImplicitLocOpBuilder &b, Type type, int64_t value) {
  TypedAttr attr = b.getIntegerAttr(getElementTypeOrSelf(type), value);
  if (auto vector = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vector, attr);
  return arith::ConstantOp::create(b, attr);
}

/// Returns whether numbers with these bits are outside of 2^-exponent to
/// 2^exponent.
static Value isBeyond(ImplicitLocOpBuilder &b, Value bits, int exponent) {
  const int32_t low = bitsOfPower(-exponent), high = bitsOfPower(exponent);
  Type type = bits.getType();
  Value above = arith::SubIOp::create(b, bits, integer(b, type, low));
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ugt, above,
                               integer(b, type, high - low));
}

/// Returns whether some lane of `a` is outside of the supported range and not
/// zero.
static Value isAnyLeft(ImplicitLocOpBuilder &b, Value a) {
  auto type = cast<VectorType>(a.getType()).clone(b.getI32Type());
  Value size = arith::AndIOp::create(b, arith::BitcastOp::create(b, type, a),
                                     integer(b, type, 0x7fffffff));
  Value isNotZero = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, size,
                                          integer(b, type, 0));
  Value isLeft =
      arith::AndIOp::create(b, isBeyond(b, size, kDividends), isNotZero);
  Value mask = vector::BitCastOp::create(
      b, VectorType::get(1, b.getIntegerType(kLanes)), isLeft);
  mask = vector::ExtractOp::create(b, mask, int64_t{0});
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, mask,
                               integer(b, mask.getType(), 0));
}

LogicalResult
DivideByReciprocal::matchAndRewrite(arith::DivFOp op,
                                    PatternRewriter &rewriter) const {
  auto loop = op->getParentOfType<scf::ForOp>();
  Type type = op.getType();
  if (type != VectorType::get(kLanes, rewriter.getF32Type()) ||
      op->getParentOp() != loop)
    return failure();
  ImplicitLocOpBuilder b(op.getLoc(), rewriter);
  b.setInsertionPoint(loop);
  Value scalar = scalarOf(op.getRhs(), loop, b);
  if (!scalar)
    return failure();
  // This also excludes negative divisors.
  Value isOther = isBeyond(
      b, arith::BitcastOp::create(b, b.getI32Type(), scalar), kDivisors);
  Value one = arith::ConstantOp::create(b, b.getF32FloatAttr(1));
  Value inverse = vector::BroadcastOp::create(
      b, type, arith::DivFOp::create(b, one, scalar));

  b.setInsertionPoint(op);
  Value a = op.getLhs(), s = op.getRhs();
  auto choice = scf::IfOp::create(
      b, type, arith::OrIOp::create(b, isOther, isAnyLeft(b, a)),
      /*withElseRegion=*/true);
  b.setInsertionPointToStart(choice.thenBlock());
  // The parent of this division is no loop, so the pattern does not match it.
  scf::YieldOp::create(b, arith::DivFOp::create(b, a, s).getResult());
  b.setInsertionPointToStart(choice.elseBlock());
  Value z = arith::MulFOp::create(b, a, inverse);
  Value r = math::FmaOp::create(b, z, s, arith::NegFOp::create(b, a));
  Value minus = arith::NegFOp::create(b, r);
  scf::YieldOp::create(b,
                       math::FmaOp::create(b, minus, inverse, z).getResult());
  rewriter.replaceOp(op, choice.getResults());
  return success();
}

void kernel::useReciprocals(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  patterns.add<DivideByReciprocal>(module.getContext());
  applyPatternsToEnd(module, std::move(patterns));
}

//===- MathDoubles.cpp - Functions of f32 computed in f64 -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes log, sin, cos and pow of f32 in double precision and rounds once:
// the errors of rounding and of short series in f64 are far below a unit in the
// last place of f32. The code is straight code of sums, products, comparisons
// and integers, so that a loop around it becomes vector code. Nothing is fused,
// so all targets give the same bits.
//
//===----------------------------------------------------------------------===//

#include "CodegenInternal.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace mlir::pathways;

namespace {

using Compare = arith::CmpFPredicate;

constexpr int64_t kSignBit = INT64_MIN;
/// Adding 1.5 * 2^52 to a number below 2^51 rounds it to an integer in the
/// lowest bits.
constexpr double kRound = 0x1.8p52;
constexpr int64_t kRoundBits = 0x4338000000000000;
constexpr double kLog2 = 0x1.62e42fefa39efp-1, kLog2E = 0x1.71547652b82fep+0;
constexpr double kHalfPi = 0x1.921fb54442d18p+0;

/// Writes arithmetic on f64, or on a vector of f64.
class Doubles {
public:
  Doubles(Operation *op, PatternRewriter &rewriter)
      : b(op->getLoc(), rewriter), f32(op->getResult(0).getType()),
        f64(with(b.getF64Type())), i64(with(b.getI64Type())) {}

  Value number(double value) { return constant(b.getF64FloatAttr(value), f64); }
  Value integer(int64_t value) {
    return constant(b.getI64IntegerAttr(value), i64);
  }
  Value widen(Value x) { return arith::ExtFOp::create(b, f64, x); }
  Value narrow(Value x) { return arith::TruncFOp::create(b, f32, x); }
  Value bits(Value x) { return arith::BitcastOp::create(b, i64, x); }
  Value ofBits(Value x) { return arith::BitcastOp::create(b, f64, x); }

  Value add(Value x, Value y) { return arith::AddFOp::create(b, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, x, y); }
  Value div(Value x, Value y) { return arith::DivFOp::create(b, x, y); }
  Value abs(Value x) { return math::AbsFOp::create(b, x); }
  Value addBits(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value subBits(Value x, Value y) { return arith::SubIOp::create(b, x, y); }
  Value andBits(Value x, int64_t y) {
    return arith::AndIOp::create(b, x, integer(y));
  }
  Value orBits(Value x, Value y) { return arith::OrIOp::create(b, x, y); }
  Value shiftLeft(Value x, int64_t by) {
    return arith::ShLIOp::create(b, x, integer(by));
  }
  Value shiftRight(Value x, int64_t by) {
    return arith::ShRUIOp::create(b, x, integer(by));
  }

  Value is(Compare predicate, Value x, Value y) {
    return arith::CmpFOp::create(b, predicate, x, y);
  }
  Value isZero(Value x) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, integer(0));
  }
  Value both(Value x, Value y) { return arith::AndIOp::create(b, x, y); }
  Value either(Value x, Value y) { return arith::OrIOp::create(b, x, y); }
  Value choose(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, condition, x, y);
  }
  /// Returns `x`, with its sign flipped if `sign` is negative.
  Value flip(Value x, Value sign) {
    return ofBits(arith::XOrIOp::create(b, bits(x), andBits(sign, kSignBit)));
  }
  /// Returns the integer nearest to x, which is below 2^51.
  Value round(Value x) { return sub(add(x, number(kRound)), number(kRound)); }
  /// Returns coefficients[0] + coefficients[1] x + ...
  Value series(Value x, ArrayRef<double> coefficients) {
    Value sum = number(coefficients.back());
    for (double each : llvm::reverse(coefficients.drop_back()))
      sum = add(mul(sum, x), number(each));
    return sum;
  }
  /// Returns x + y and the rounding error of this sum.
  std::pair<Value, Value> exactSum(Value x, Value y) {
    Value sum = add(x, y);
    Value ofY = sub(sum, x), ofX = sub(sum, ofY);
    return {sum, add(sub(x, ofX), sub(y, ofY))};
  }

private:
  Type with(Type element) {
    auto vector = dyn_cast<VectorType>(f32);
    return vector ? vector.clone(element) : element;
  }
  Value constant(TypedAttr value, Type type) {
    if (isa<VectorType>(type))
      value = DenseElementsAttr::get(cast<ShapedType>(type), value);
    return arith::ConstantOp::create(b, value);
  }

  ImplicitLocOpBuilder b;
  Type f32, f64, i64;
};

} // namespace

/// Returns log(x) * factor for a positive and finite x; `factor` selects the
/// base. log(x) = k log(2) + log(z) with sqrt(1/2) <= z < sqrt(2), and log(z) =
/// 2 (s + s^3 / 3 + s^5 / 5 + ...) with s = (z - 1) / (z + 1).
static Value writeLog(Doubles &d, Value x, double factor) {
  Value bits = d.bits(x);
  Value above = d.subBits(bits, d.integer(0x3fe6a09e667f3bcd)); // sqrt(1/2)
  Value z = d.ofBits(
      d.subBits(bits, d.andBits(above, static_cast<int64_t>(0xfffull << 52))));
  // k + 1024 is positive, so it is the low bits of 2^52 + k + 1024.
  Value biased =
      d.shiftRight(d.addBits(above, d.integer(int64_t{1024} << 52)), 52);
  Value k = d.sub(d.ofBits(d.orBits(biased, d.bits(d.number(0x1p52)))),
                  d.number(0x1p52 + 1024));
  Value s = d.div(d.sub(z, d.number(1)), d.add(z, d.number(1)));
  Value series = d.series(d.mul(s, s), {2., 2. / 3, 2. / 5, 2. / 7, 2. / 9,
                                        2. / 11, 2. / 13, 2. / 15, 2. / 17});
  return d.add(d.mul(k, d.number(kLog2 * factor)),
               d.mul(d.mul(s, series), d.number(factor)));
}

/// Returns 2^x. |x| above 200 counts as 200: the f32 result is 0 or infinity
/// long before.
static Value writePowerOf2(Doubles &d, Value x) {
  x = d.choose(d.is(Compare::OGT, d.number(-200), x), d.number(-200), x);
  x = d.choose(d.is(Compare::OLT, d.number(200), x), d.number(200), x);
  Value sum = d.add(x, d.number(kRound));
  Value r = d.mul(d.sub(x, d.sub(sum, d.number(kRound))), d.number(kLog2));
  Value power =
      d.series(r, {1., 1., 1. / 2, 1. / 6, 1. / 24, 1. / 120, 1. / 720,
                   1. / 5040, 1. / 40320, 1. / 362880, 1. / 3628800});
  Value exponent = d.subBits(d.bits(sum), d.integer(kRoundBits - 1023));
  return d.mul(power, d.ofBits(d.shiftLeft(exponent, 52)));
}

namespace {

struct ExpandLog : OpRewritePattern<math::LogOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::LogOp op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    Doubles d(op, rewriter);
    Value x = d.widen(op.getOperand()), zero = d.number(0);
    Value infinity = d.number(INFINITY);
    Value log = writeLog(d, x, /*factor=*/1);
    log = d.choose(d.is(Compare::OEQ, x, infinity), infinity, log);
    Value beyond = d.choose(d.is(Compare::OEQ, x, zero), d.number(-INFINITY),
                            d.number(NAN));
    log = d.choose(d.is(Compare::OGT, x, zero), log, beyond);
    rewriter.replaceOp(op, d.narrow(log));
    return success();
  }
};

/// Computes sin or cos. The quadrant of |x|, and the position in it, follow
/// from |x| * 2 / pi, in which multiples of 4 do not matter. 2 / pi is a sum of
/// numbers of 26 bits, whose products with x are exact. Five of them are used:
/// those before contribute only multiples of 4, and those after are too small
/// to count.
template <typename Op> struct ExpandSine : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    constexpr bool isCosine = std::is_same_v<Op, math::CosOp>;
    constexpr double kTwoByPi[] = {
        0x28be60dp-26,  0x2e4e441p-52,  0x14a7f09p-78,  0x357d1f5p-104,
        0x0d37703p-130, 0x1b62959p-156, 0x24f10e4p-182, 0x041fe51p-208};
    constexpr int kTaken = 5;
    Doubles d(op, rewriter);
    Value wide = d.widen(op.getOperand()), x = d.abs(wide);
    Value products[kTaken];
    Value isFrom[] = {d.is(Compare::OGE, x, d.number(0x1p51)),
                      d.is(Compare::OGE, x, d.number(0x1p77)),
                      d.is(Compare::OGE, x, d.number(0x1p103))};
    for (int i = 0; i < kTaken; ++i) {
      Value part = d.number(kTwoByPi[i]);
      for (int first = 1; first <= 3; ++first)
        part = d.choose(isFrom[first - 1], d.number(kTwoByPi[i + first]), part);
      products[i] = d.mul(x, part);
    }
    // The other products are below 1.
    for (Value &product : MutableArrayRef(products).take_front(2)) {
      Value fours = d.round(d.mul(product, d.number(0.25)));
      product = d.sub(product, d.mul(fours, d.number(4)));
    }
    auto [first, lost] = d.exactSum(products[0], products[1]);
    auto [turn, alsoLost] = d.exactSum(first, products[2]);
    Value rest = d.add(d.add(lost, alsoLost), d.add(products[3], products[4]));
    Value sum = d.add(turn, d.number(kRound));
    Value y = d.mul(d.add(d.sub(turn, d.sub(sum, d.number(kRound))), rest),
                    d.number(kHalfPi));

    Value square = d.mul(y, y);
    Value sine = d.mul(y, d.series(square, {1., -1. / 6, 1. / 120, -1. / 5040,
                                            1. / 362880, -1. / 39916800}));
    Value cosine =
        d.series(square, {1., -1. / 2, 1. / 24, -1. / 720, 1. / 40320,
                          -1. / 3628800, 1. / 479001600});
    Value quadrant = d.bits(sum);
    Value isEven = d.isZero(d.andBits(quadrant, 1));
    Value result = isCosine ? d.choose(isEven, cosine, sine)
                            : d.choose(isEven, sine, cosine);
    // cos is sin one quadrant later, and ignores the sign of x.
    if (isCosine)
      quadrant = d.addBits(quadrant, d.integer(1));
    result = d.flip(result, d.shiftLeft(quadrant, 62));
    if (!isCosine)
      result = d.flip(result, d.bits(wide));
    rewriter.replaceOp(op, d.narrow(result));
    return success();
  }
};

/// Computes |x|^y = 2^(y log2(|x|)), and the signs, zeros, infinities and NaN
/// that IEEE 754 requires.
struct ExpandPow : OpRewritePattern<math::PowFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::PowFOp op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    Doubles d(op, rewriter);
    Value x = d.widen(op.getLhs()), y = d.widen(op.getRhs()), size = d.abs(x);
    Value zero = d.number(0), one = d.number(1), nan = d.number(NAN);
    Value infinity = d.number(INFINITY), lowest = d.number(-INFINITY);
    Value log = writeLog(d, size, kLog2E);
    log = d.choose(d.is(Compare::OEQ, size, zero), lowest, log);
    log = d.choose(d.is(Compare::OEQ, size, infinity), infinity, log);
    log = d.choose(d.is(Compare::UNO, size, size), nan, log);
    Value power = writePowerOf2(d, d.mul(y, log));
    // Handles 1 to the power of infinity.
    Value isOne =
        d.both(d.is(Compare::OEQ, size, one), d.is(Compare::ORD, y, y));
    power = d.choose(isOne, one, power);

    // A negative number has only integer powers; odd ones are negative. From
    // 2^24 on all exponents are even.
    Value few = d.number(0x1p24), exponent = d.abs(y);
    exponent = d.choose(d.is(Compare::OGT, exponent, few), few, exponent);
    Value half = d.mul(exponent, d.number(0.5));
    Value isInteger = d.is(Compare::OEQ, d.round(exponent), exponent);
    Value isOdd = d.both(isInteger, d.is(Compare::ONE, d.round(half), half));
    power = d.choose(isOdd, d.flip(power, d.bits(x)), power);
    Value isNegative =
        d.both(d.is(Compare::OLT, x, zero), d.is(Compare::OGT, x, lowest));
    Value isBroken = d.is(Compare::ONE, d.round(exponent), exponent);
    power = d.choose(d.both(isNegative, isBroken), nan, power);

    Value isAlwaysOne =
        d.either(d.is(Compare::OEQ, y, zero), d.is(Compare::OEQ, x, one));
    power = d.choose(isAlwaysOne, one, power);
    rewriter.replaceOp(op, d.narrow(power));
    return success();
  }
};

} // namespace

void kernel::addDoublePatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandLog, ExpandSine<math::SinOp>, ExpandSine<math::CosOp>,
               ExpandPow>(patterns.getContext());
}

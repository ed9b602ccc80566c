//===- EmitElementwise.cpp - Elementwise operations in arith and math -----===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elementwise operations become operations of arith and math, which take
// scalars and tensors alike. f16 and bf16 are computed in f32, and each result
// is rounded.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"
#include "Types.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

#include <limits>

using namespace mlir;
using namespace mlir::pathways;

static Value createSplat(OpBuilder &b, Location loc, Type type,
                         TypedAttr attribute) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    attribute = DenseElementsAttr::get(tensor, Attribute(attribute));
  return arith::ConstantOp::create(b, loc, attribute);
}

Value mlir::pathways::createConstant(OpBuilder &b, Location loc, Type type,
                                     double value) {
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  if (!element)
    return createConstant(
        b, loc, type,
        APInt(64, static_cast<uint64_t>(static_cast<int64_t>(value))));
  return createSplat(b, loc, type, b.getFloatAttr(element, value));
}

Value mlir::pathways::createConstant(OpBuilder &b, Location loc, Type type,
                                     const APInt &value) {
  Type element = getElementTypeOrSelf(type);
  unsigned width = element.isIndex() ? IndexType::kInternalStorageBitWidth
                                     : element.getIntOrFloatBitWidth();
  return createSplat(b, loc, type,
                     b.getIntegerAttr(element, value.sextOrTrunc(width)));
}

Value mlir::pathways::truncateToNarrow(OpBuilder &b, Location loc, Value x,
                                       Type narrow) {
  // Rounding twice to nearest may err. So the first result has an odd last bit
  // if it is not exact, which keeps it off the ties of the second rounding.
  Type singles = withElements(x.getType(), b.getF32Type()),
       integers = withElements(x.getType(), b.getI32Type());
  Value single = arith::TruncFOp::create(b, loc, singles, x);
  Value back = arith::ExtFOp::create(b, loc, x.getType(), single);
  Value isInexact =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ONE, back, x);
  Value size = math::AbsFOp::create(b, loc, back),
        exact = math::AbsFOp::create(b, loc, x);
  Value isBeyond =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, size, exact);
  Value bits = arith::BitcastOp::create(b, loc, integers, single);
  Value one = createConstant(b, loc, integers, APInt(64, 1)),
        zero = createConstant(b, loc, integers, APInt(64, 0));
  Value distance = arith::SelectOp::create(b, loc, isBeyond, one, zero);
  Value cut = arith::SubIOp::create(b, loc, bits, distance);
  Value odd = arith::OrIOp::create(b, loc, cut, one);
  bits = arith::SelectOp::create(b, loc, isInexact, odd, bits);
  single = arith::BitcastOp::create(b, loc, singles, bits);
  return arith::TruncFOp::create(b, loc, withElements(x.getType(), narrow),
                                 single);
}

namespace {

/// Emits one elementwise operation.
class Emitter {
public:
  Emitter(OpBuilder &b, Operation *op, ValueRange operands)
      : b(b), op(op), loc(op->getLoc()), operands(operands),
        source(op->getNumOperands() == 0
                   ? Type()
                   : getElementTypeOrSelf(
                         op->getOperand(isa<stablehlo::SelectOp>(op) ? 1 : 0))),
        target(getElementTypeOrSelf(op->getResult(0).getType())),
        isUnsigned(source &&
                   (source.isUnsignedInteger() || source.isInteger(1))) {}

  /// Returns null if the operation is not elementwise.
  Value emit();

private:
  template <typename Op, typename... Args> Value create(Args &&...args) {
    return Op::create(b, loc, std::forward<Args>(args)...);
  }
  Value constant(Type type, const APInt &value) {
    return createConstant(b, loc, type, value);
  }
  Value constant(Type type, double value) {
    return createConstant(b, loc, type, value);
  }
  Value compare(arith::CmpIPredicate kind, Value x, Value y) {
    return create<arith::CmpIOp>(kind, x, y);
  }
  Value compare(arith::CmpFPredicate kind, Value x, Value y) {
    return create<arith::CmpFOp>(kind, x, y);
  }
  Value select(Value condition, Value x, Value y) {
    return create<arith::SelectOp>(condition, x, y);
  }
  bool isFloat() const { return isa<FloatType>(source); }
  bool isNarrow(Type type) const { return type.isF16() || type.isBF16(); }

  /// Returns `x` in the type in which functions are computed.
  Value widen(Value x) {
    if (!isNarrow(getElementTypeOrSelf(x.getType())))
      return x;
    return create<arith::ExtFOp>(withElements(x.getType(), b.getF32Type()), x);
  }
  Value narrow(Value x) {
    if (!isNarrow(target))
      return x;
    return create<arith::TruncFOp>(withElements(x.getType(), target), x);
  }
  Value getBits(Value x) {
    return create<arith::BitcastOp>(
        withElements(x.getType(), b.getIntegerType(getWidth(x.getType()))), x);
  }

  template <typename Op> Value emitFunction() {
    return narrow(create<Op>(widen(operands[0])));
  }
  template <typename Op> Value emitFloats() {
    return narrow(create<Op>(widen(operands[0]), widen(operands[1])));
  }
  Value emitMaximum(Value x, Value y);
  Value emitMinimum(Value x, Value y);
  Value emitSign();
  Value emitLogistic();
  Value emitDivision(bool isRemainder);
  Value emitShift();
  Value emitIntegerPower();
  Value emitCompare(stablehlo::CompareOp compareOp);
  Value emitReducePrecision(stablehlo::ReducePrecisionOp reduceOp);
  Value emitBitcast();
  Value emitConvert();

  OpBuilder &b;
  Operation *op;
  Location loc;
  ValueRange operands;
  Type source; // The element type of the first operand that is data.
  Type target;
  bool isUnsigned;
};

} // namespace

Value Emitter::emitMaximum(Value x, Value y) {
  if (isFloat())
    return narrow(create<arith::MaximumFOp>(widen(x), widen(y)));
  return isUnsigned ? create<arith::MaxUIOp>(x, y)
                    : create<arith::MaxSIOp>(x, y);
}

Value Emitter::emitMinimum(Value x, Value y) {
  if (isFloat())
    return narrow(create<arith::MinimumFOp>(widen(x), widen(y)));
  return isUnsigned ? create<arith::MinUIOp>(x, y)
                    : create<arith::MinSIOp>(x, y);
}

Value Emitter::emitSign() {
  Value x = widen(operands[0]);
  Type type = x.getType();
  if (isFloat()) {
    Value one = create<math::CopySignOp>(constant(type, 1.0), x);
    // Zeros of both signs and NaN stay.
    Value hasSign = compare(arith::CmpFPredicate::ONE, x, constant(type, 0.0));
    return narrow(select(hasSign, one, x));
  }
  Value one = constant(type, APInt(64, 1));
  if (isUnsigned)
    return create<arith::MinUIOp>(x, one);
  Value least = constant(type, APInt::getAllOnes(64));
  return create<arith::MaxSIOp>(create<arith::MinSIOp>(x, one), least);
}

Value Emitter::emitLogistic() {
  // The exponential of a negative number does not overflow.
  Value x = widen(operands[0]);
  Type type = x.getType();
  Value one = constant(type, 1.0);
  Value power =
      create<math::ExpOp>(create<arith::NegFOp>(create<math::AbsFOp>(x)));
  Value isNegative = compare(arith::CmpFPredicate::OLT, x, constant(type, 0.0));
  Value sum = create<arith::AddFOp>(one, power);
  return narrow(create<arith::DivFOp>(select(isNegative, power, one), sum));
}

Value Emitter::emitDivision(bool isRemainder) {
  Value x = operands[0], y = operands[1];
  Type type = x.getType();
  Value zero = constant(type, APInt(64, 0));
  Value one = constant(type, APInt(64, 1));
  Value ones = constant(type, APInt::getAllOnes(64));
  Value isZero = compare(arith::CmpIPredicate::eq, y, zero);
  Value unsafe = isZero;
  if (!isUnsigned) {
    Value least = constant(type, APInt::getSignedMinValue(getWidth(type)));
    Value overflows =
        create<arith::AndIOp>(compare(arith::CmpIPredicate::eq, x, least),
                              compare(arith::CmpIPredicate::eq, y, ones));
    unsafe = create<arith::OrIOp>(isZero, overflows);
  }
  // Division by 1 gives the result of an overflow.
  Value divisor = select(unsafe, one, y);
  if (isRemainder) {
    Value rest = isUnsigned ? create<arith::RemUIOp>(x, divisor)
                            : create<arith::RemSIOp>(x, divisor);
    return select(isZero, x, rest);
  }
  Value quotient = isUnsigned ? create<arith::DivUIOp>(x, divisor)
                              : create<arith::DivSIOp>(x, divisor);
  return select(isZero, ones, quotient);
}

Value Emitter::emitShift() {
  Value x = operands[0], amount = operands[1];
  Type type = x.getType();
  unsigned width = getWidth(type);
  // A negative amount is too large, too, because it is read as unsigned.
  if (isa<stablehlo::ShiftRightArithmeticOp>(op)) {
    Value largest = constant(type, APInt(64, width - 1));
    return create<arith::ShRSIOp>(x, create<arith::MinUIOp>(amount, largest));
  }
  Value zero = constant(type, APInt(64, 0));
  Value fits = compare(arith::CmpIPredicate::ult, amount,
                       constant(type, APInt(64, width)));
  Value safe = select(fits, amount, zero);
  Value shifted = isa<stablehlo::ShiftLeftOp>(op)
                      ? create<arith::ShLIOp>(x, safe)
                      : create<arith::ShRUIOp>(x, safe);
  return select(fits, shifted, zero);
}

Value Emitter::emitIntegerPower() {
  Value x = operands[0], exponent = operands[1];
  Type type = x.getType();
  unsigned width = getWidth(type);
  Value zero = constant(type, APInt(64, 0));
  Value one = constant(type, APInt(64, 1));
  unsigned bits = isUnsigned ? width : width - 1;
  APInt known;
  const bool mayBeNegative =
      !isUnsigned &&
      (!matchPattern(exponent, m_ConstantInt(&known)) || known.isNegative());
  if (matchPattern(exponent, m_ConstantInt(&known)) && !mayBeNegative)
    bits = known.getActiveBits();
  Value result = one, square = x, isOdd;
  for (unsigned bit = 0; bit < bits; ++bit) {
    Value mask = constant(type, APInt::getOneBitSet(64, bit));
    Value isSet = compare(arith::CmpIPredicate::ne,
                          create<arith::AndIOp>(exponent, mask), zero);
    if (bit == 0)
      isOdd = isSet;
    result = select(isSet, create<arith::MulIOp>(result, square), result);
    if (bit + 1 < bits)
      square = create<arith::MulIOp>(square, square);
  }
  if (!mayBeNegative)
    return result;
  // Only 1 and -1 have inverses.
  Value ones = constant(type, APInt::getAllOnes(64));
  Value isOne = compare(arith::CmpIPredicate::eq, x, one);
  Value isMinusOne = compare(arith::CmpIPredicate::eq, x, ones);
  Value power = isOdd ? select(isOdd, ones, one) : one;
  Value inverse = select(isOne, one, select(isMinusOne, power, zero));
  Value isNegative = compare(arith::CmpIPredicate::slt, exponent, zero);
  return select(isNegative, inverse, result);
}

Value Emitter::emitCompare(stablehlo::CompareOp compareOp) {
  using Direction = stablehlo::ComparisonDirection;
  Direction direction = compareOp.getComparisonDirection();
  Value x = operands[0], y = operands[1];
  bool isTotal =
      compareOp.getCompareType() == stablehlo::ComparisonType::TOTALORDER;
  if (isFloat() && !isTotal) {
    auto kind = [&] {
      switch (direction) {
      case Direction::EQ:
        return arith::CmpFPredicate::OEQ;
      case Direction::NE:
        return arith::CmpFPredicate::UNE;
      case Direction::GE:
        return arith::CmpFPredicate::OGE;
      case Direction::GT:
        return arith::CmpFPredicate::OGT;
      case Direction::LE:
        return arith::CmpFPredicate::OLE;
      case Direction::LT:
        return arith::CmpFPredicate::OLT;
      }
      llvm_unreachable("all directions are handled");
    }();
    return compare(kind, widen(x), widen(y));
  }
  if (isFloat()) {
    // The magnitude bits of negative numbers are inverted: larger magnitudes
    // are less.
    auto order = [&](Value value) {
      Value bits = getBits(value);
      Type type = bits.getType();
      Value sign = create<arith::ShRSIOp>(
          bits, constant(type, APInt(64, getWidth(type) - 1)));
      Value mask = create<arith::ShRUIOp>(sign, constant(type, APInt(64, 1)));
      return create<arith::XOrIOp>(bits, mask);
    };
    x = order(x);
    y = order(y);
  }
  auto kind = [&] {
    switch (direction) {
    case Direction::EQ:
      return arith::CmpIPredicate::eq;
    case Direction::NE:
      return arith::CmpIPredicate::ne;
    case Direction::GE:
      return isUnsigned ? arith::CmpIPredicate::uge : arith::CmpIPredicate::sge;
    case Direction::GT:
      return isUnsigned ? arith::CmpIPredicate::ugt : arith::CmpIPredicate::sgt;
    case Direction::LE:
      return isUnsigned ? arith::CmpIPredicate::ule : arith::CmpIPredicate::sle;
    case Direction::LT:
      return isUnsigned ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
    }
    llvm_unreachable("all directions are handled");
  }();
  return compare(kind, x, y);
}

Value Emitter::emitReducePrecision(stablehlo::ReducePrecisionOp reduceOp) {
  auto format = cast<FloatType>(source);
  const unsigned width = format.getWidth();
  const unsigned mantissa = format.getFPMantissaWidth() - 1;
  const unsigned exponent = width - 1 - mantissa;
  const unsigned newMantissa = reduceOp.getMantissaBits();
  const unsigned newExponent = reduceOp.getExponentBits();
  Value x = operands[0];
  if (newMantissa >= mantissa && newExponent >= exponent)
    return x;

  Value old = getBits(x), bits = old;
  Type type = bits.getType();
  auto get = [&](const APInt &value) { return constant(type, value); };
  const APInt sign = APInt::getSignMask(width);
  const APInt infinity = APInt::getBitsSet(width, mantissa, width - 1);
  Value signOnly = create<arith::AndIOp>(old, get(sign));
  Value signedInfinity = create<arith::OrIOp>(signOnly, get(infinity));
  if (newMantissa < mantissa) {
    const unsigned drop = mantissa - newMantissa;
    Value last = create<arith::AndIOp>(
        create<arith::ShRUIOp>(bits, get(APInt(width, drop))),
        get(APInt(width, 1)));
    Value half =
        create<arith::AddIOp>(last, get(APInt::getLowBitsSet(width, drop - 1)));
    bits =
        create<arith::AndIOp>(create<arith::AddIOp>(bits, half),
                              get(APInt::getHighBitsSet(width, width - drop)));
  }
  if (newExponent < exponent) {
    // These are the exponents of the least and the largest normal numbers.
    const uint64_t bias = (uint64_t(1) << (exponent - 1)) - 1;
    const uint64_t newBias = (uint64_t(1) << (newExponent - 1)) - 1;
    Value magnitude = create<arith::AndIOp>(bits, get(~sign));
    APInt least = APInt(width, bias - newBias + 1).shl(mantissa);
    APInt beyond = APInt(width, bias + newBias + 1).shl(mantissa);
    Value isSmall = compare(arith::CmpIPredicate::ult, magnitude, get(least));
    Value isLarge = compare(arith::CmpIPredicate::uge, magnitude, get(beyond));
    bits = select(isSmall, signOnly, bits);
    bits = select(isLarge, signedInfinity, bits);
  }
  Value isNan = compare(arith::CmpIPredicate::ugt,
                        create<arith::AndIOp>(old, get(~sign)), get(infinity));
  bits = select(isNan, newMantissa > 0 ? old : signedInfinity, bits);
  return create<arith::BitcastOp>(x.getType(), bits);
}

Value Emitter::emitBitcast() {
  Value x = operands[0];
  if (isa<IntegerType>(source) && isa<IntegerType>(target))
    return x;
  if (source == target)
    return x;
  if (isFloat())
    x = getBits(x);
  if (isa<IntegerType>(target))
    return x;
  return create<arith::BitcastOp>(withElements(x.getType(), target), x);
}

Value Emitter::emitConvert() {
  Value x = operands[0];
  Type type = withElements(x.getType(), target);
  if (auto integer = dyn_cast<IntegerType>(target))
    type = withElements(x.getType(), b.getIntegerType(integer.getWidth()));
  if (x.getType() == type && !target.isInteger(1))
    return x;
  if (target.isInteger(1)) {
    if (source.isInteger(1))
      return x;
    if (isFloat()) {
      x = widen(x);
      return compare(arith::CmpFPredicate::UNE, x, constant(x.getType(), 0.0));
    }
    return compare(arith::CmpIPredicate::ne, x,
                   constant(x.getType(), APInt(64, 0)));
  }
  const unsigned width = getWidth(source);
  const unsigned newWidth = getWidth(type);
  if (isFloat() && isa<FloatType>(target)) {
    if (newWidth > width)
      return create<arith::ExtFOp>(type, x);
    if (newWidth < width && !isNarrow(target))
      return create<arith::TruncFOp>(type, x);
    if (width == 64)
      return truncateToNarrow(b, loc, x, target);
    return narrow(widen(x));
  }
  if (isFloat()) {
    x = widen(x);
    return target.isUnsignedInteger() ? create<arith::FPToUIOp>(type, x)
                                      : create<arith::FPToSIOp>(type, x);
  }
  if (isa<IntegerType>(target)) {
    if (newWidth < width)
      return create<arith::TruncIOp>(type, x);
    return isUnsigned ? create<arith::ExtUIOp>(type, x)
                      : create<arith::ExtSIOp>(type, x);
  }
  auto toFloat = [&](Type element) {
    Type wide = withElements(x.getType(), element);
    return isUnsigned ? create<arith::UIToFPOp>(wide, x)
                      : create<arith::SIToFPOp>(wide, x);
  };
  if (!isNarrow(target))
    return toFloat(target);
  // Integers of 16 bits are numbers of f32, and those of 32 bits of f64.
  if (width <= 16)
    return narrow(toFloat(b.getF32Type()));
  if (width == 64) {
    // Digits that f64 cannot hold become one digit that says if any is set.
    // Ties of 16 bits do not have it. Small numbers stay.
    Type integers = x.getType();
    Value low = create<arith::AndIOp>(x, constant(integers, APInt(64, 0xfff)));
    Value high = create<arith::SubIOp>(x, low);
    Value zero = constant(integers, APInt(64, 0));
    Value digit = select(compare(arith::CmpIPredicate::ne, low, zero),
                         constant(integers, APInt(64, 0x800)), zero);
    Value limit = constant(integers, APInt(64, uint64_t(1) << 53));
    Value isLarge;
    if (isUnsigned) {
      isLarge = compare(arith::CmpIPredicate::uge, x, limit);
    } else {
      Value least = constant(integers, -APInt(64, uint64_t(1) << 53));
      isLarge =
          create<arith::OrIOp>(compare(arith::CmpIPredicate::sge, x, limit),
                               compare(arith::CmpIPredicate::sle, x, least));
    }
    x = select(isLarge, create<arith::OrIOp>(high, digit), x);
  }
  return truncateToNarrow(b, loc, toFloat(b.getF64Type()), target);
}

Value Emitter::emit() {
  using namespace stablehlo;
  auto pick = [&](auto floats, auto integers) {
    return isFloat() ? floats() : integers();
  };
  auto x = [&] { return operands[0]; };
  auto y = [&] { return operands[1]; };
  return TypeSwitch<Operation *, Value>(op)
      .Case([&](AbsOp) -> Value {
        return pick([&] { return emitFunction<math::AbsFOp>(); },
                    [&]() -> Value {
                      return isUnsigned ? x() : create<math::AbsIOp>(x());
                    });
      })
      .Case([&](CbrtOp) { return emitFunction<math::CbrtOp>(); })
      .Case([&](CeilOp) { return emitFunction<math::CeilOp>(); })
      .Case([&](ClzOp) { return create<math::CountLeadingZerosOp>(x()); })
      .Case([&](CosineOp) { return emitFunction<math::CosOp>(); })
      .Case([&](ExpOp) { return emitFunction<math::ExpOp>(); })
      .Case([&](Expm1Op) { return emitFunction<math::ExpM1Op>(); })
      .Case([&](FloorOp) { return emitFunction<math::FloorOp>(); })
      .Case([&](ImagOp) { return constant(x().getType(), 0.0); })
      .Case([&](LogOp) { return emitFunction<math::LogOp>(); })
      .Case([&](Log1pOp) { return emitFunction<math::Log1pOp>(); })
      .Case([&](LogisticOp) { return emitLogistic(); })
      .Case([&](NegOp) -> Value {
        if (isFloat())
          return emitFunction<arith::NegFOp>();
        Value zero = constant(x().getType(), APInt(64, 0));
        return create<arith::SubIOp>(zero, x());
      })
      .Case([&](NotOp) {
        Value ones = constant(x().getType(), APInt::getAllOnes(64));
        return create<arith::XOrIOp>(x(), ones);
      })
      .Case([&](PopulationCountOp) { return create<math::CtPopOp>(x()); })
      .Case([&](RealOp) { return x(); })
      .Case([&](RoundOp) { return emitFunction<math::RoundOp>(); })
      .Case(
          [&](RoundNearestEvenOp) { return emitFunction<math::RoundEvenOp>(); })
      .Case([&](RsqrtOp) { return emitFunction<math::RsqrtOp>(); })
      .Case([&](SignOp) { return emitSign(); })
      .Case([&](SineOp) { return emitFunction<math::SinOp>(); })
      .Case([&](SqrtOp) { return emitFunction<math::SqrtOp>(); })
      .Case([&](TanOp) { return emitFunction<math::TanOp>(); })
      .Case([&](TanhOp) { return emitFunction<math::TanhOp>(); })
      .Case([&](AddOp) -> Value {
        if (isFloat())
          return emitFloats<arith::AddFOp>();
        return source.isInteger(1) ? create<arith::OrIOp>(x(), y())
                                   : create<arith::AddIOp>(x(), y());
      })
      .Case([&](AndOp) { return create<arith::AndIOp>(x(), y()); })
      .Case([&](Atan2Op) {
        // The folder of math.atan2 makes NaN of two zeros. A one with the sign
        // of the second zero has the same result.
        Value zeros =
            create<arith::AndIOp>(compare(arith::CmpFPredicate::OEQ, x(),
                                          constant(x().getType(), 0.0)),
                                  compare(arith::CmpFPredicate::OEQ, y(),
                                          constant(y().getType(), 0.0)));
        Value one = create<math::CopySignOp>(constant(y().getType(), 1.0), y());
        Value second = select(zeros, one, y());
        return narrow(create<math::Atan2Op>(widen(x()), widen(second)));
      })
      .Case([&](DivOp) {
        return isFloat() ? emitFloats<arith::DivFOp>()
                         : emitDivision(/*isRemainder=*/false);
      })
      .Case([&](MaxOp) { return emitMaximum(x(), y()); })
      .Case([&](MinOp) { return emitMinimum(x(), y()); })
      .Case([&](MulOp) -> Value {
        if (isFloat())
          return emitFloats<arith::MulFOp>();
        return source.isInteger(1) ? create<arith::AndIOp>(x(), y())
                                   : create<arith::MulIOp>(x(), y());
      })
      .Case([&](OrOp) { return create<arith::OrIOp>(x(), y()); })
      .Case([&](PowOp) {
        return isFloat() ? emitFloats<math::PowFOp>() : emitIntegerPower();
      })
      .Case([&](RemOp) {
        return isFloat() ? emitFloats<arith::RemFOp>()
                         : emitDivision(/*isRemainder=*/true);
      })
      .Case<ShiftLeftOp, ShiftRightArithmeticOp, ShiftRightLogicalOp>(
          [&](auto) { return emitShift(); })
      .Case([&](SubtractOp) -> Value {
        return isFloat() ? emitFloats<arith::SubFOp>()
                         : create<arith::SubIOp>(x(), y());
      })
      .Case([&](XorOp) { return create<arith::XOrIOp>(x(), y()); })
      .Case([&](ConvertOp) { return emitConvert(); })
      .Case([&](IsFiniteOp) {
        Value magnitude = create<math::AbsFOp>(widen(x()));
        Value infinity = constant(magnitude.getType(),
                                  std::numeric_limits<double>::infinity());
        return compare(arith::CmpFPredicate::OLT, magnitude, infinity);
      })
      .Case([&](CompareOp compareOp) { return emitCompare(compareOp); })
      .Case([&](SelectOp) { return select(x(), y(), operands[2]); })
      .Case([&](ClampOp) {
        return emitMinimum(emitMaximum(y(), x()), operands[2]);
      })
      .Case([&](ReducePrecisionOp reduceOp) {
        return emitReducePrecision(reduceOp);
      })
      .Case([&](BitcastConvertOp) { return emitBitcast(); })
      .Default([](Operation *) { return Value(); });
}

bool mlir::pathways::isElementwise(Operation *op) {
  using namespace stablehlo;
  if (auto bitcast = dyn_cast<BitcastConvertOp>(op))
    return getWidth(bitcast->getOperand(0).getType()) ==
           getWidth(bitcast->getResult(0).getType());
  return isa<AbsOp, CbrtOp, CeilOp, ClzOp, CosineOp, ExpOp, Expm1Op, FloorOp,
             ImagOp, LogOp, Log1pOp, LogisticOp, NegOp, NotOp,
             PopulationCountOp, RealOp, RoundOp, RoundNearestEvenOp, RsqrtOp,
             SignOp, SineOp, SqrtOp, TanOp, TanhOp>(op) ||
         isa<AddOp, AndOp, Atan2Op, DivOp, MaxOp, MinOp, MulOp, OrOp, PowOp,
             RemOp, ShiftLeftOp, ShiftRightArithmeticOp, ShiftRightLogicalOp,
             SubtractOp, XorOp, ConvertOp, IsFiniteOp, CompareOp, SelectOp,
             ClampOp, ReducePrecisionOp>(op) ||
         isChloFunction(op);
}

Value mlir::pathways::emitElementwise(OpBuilder &b, Operation *op,
                                      ValueRange operands) {
  if (!isElementwise(op))
    return Value();
  if (isChloFunction(op))
    return emitChloFunction(b, op, operands);
  return Emitter(b, op, operands).emit();
}

//===- ChloMath.cpp - Lowering of functions of chlo -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions that `math` has become its operations; the others become formulas.
// f16 and bf16 are computed in f32, and in f64 by formulas.
//
//===----------------------------------------------------------------------===//

#include "ChloFunctions.h"
#include "Patterns.h"
#include "Types.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

#include <limits>

using namespace mlir;
using namespace mlir::pathways;

namespace {

/// Converts floats to `type`: to 16 bits through f32.
Value convertFloat(OpBuilder &b, Location loc, Value value, Type type) {
  if (value.getType() == type)
    return value;
  if (getWidth(type) > getWidth(value.getType()))
    return arith::ExtFOp::create(b, loc, type, value);
  if (getWidth(value.getType()) == 64 && getWidth(type) == 16)
    value = arith::TruncFOp::create(b, loc, withElements(type, b.getF32Type()),
                                    value);
  return arith::TruncFOp::create(b, loc, type, value);
}

/// Returns a constant whose elements are all `value`.
Value createInteger(OpBuilder &b, Location loc, Type type, int64_t value) {
  TypedAttr attribute = b.getIntegerAttr(getElementTypeOrSelf(type), value);
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    attribute = DenseElementsAttr::get(tensor, Attribute(attribute));
  return arith::ConstantOp::create(b, loc, attribute);
}

Number emitCosh(Number x) {
  if (getWidth(x.code->type) == 64)
    return x.code->emit<math::CoshOp>(x);
  // Expected values of f32 have the rounding errors of this formula.
  constexpr double kLogHalf = -0.69314718055994530942;
  return exp(x + kLogHalf) + exp(kLogHalf - x);
}

Number emitSinh(Number x) {
  if (getWidth(x.code->type) == 64)
    return x.code->emit<math::SinhOp>(x);
  constexpr double kLogHalf = -0.69314718055994530942;
  Number large = exp(x + kLogHalf) - exp(kLogHalf - x);
  Number e = x.code->emit<math::ExpM1Op>(x);
  Number small = 0.5 * (e + e / (e + 1.0));
  return select(abs(x) < 1.0, small, large);
}

/// Returns the float next to `x` in the direction of `y`. `element` is the type
/// of the floats that count; f16 and bf16 have been widened to f32.
Number emitNextAfter(Number x, Number y, Type element) {
  FloatCode &code = *x.code;
  OpBuilder &b = code.b;
  Location loc = code.loc;
  // In f32, neighbors in a narrower type differ in the bits that it has.
  unsigned mantissa = cast<FloatType>(element).getFPMantissaWidth() - 1;
  unsigned wide =
      cast<FloatType>(getElementTypeOrSelf(code.type)).getFPMantissaWidth() - 1;
  Type bitsType =
      withElements(code.type, b.getIntegerType(getWidth(code.type)));
  Number magnitude = abs(x);
  Value bits = arith::BitcastOp::create(b, loc, bitsType, magnitude.value);
  int64_t unit = int64_t(1) << (wide - mantissa);
  // The magnitude grows if y is on the side of x that is away from 0.
  Condition grows = (abs(x) < copySign(y, y * copySign(code.get(1.0), x)));
  Value up = createInteger(b, loc, bitsType, unit);
  Value down = createInteger(b, loc, bitsType, -unit);
  Value step = arith::SelectOp::create(b, loc, grows.value, up, down);
  Value moved = arith::AddIOp::create(b, loc, bits, step);
  Number next = code.get(arith::BitcastOp::create(b, loc, code.type, moved));
  const llvm::fltSemantics &semantics =
      cast<FloatType>(element).getFloatSemantics();
  double least = APFloat::getSmallest(semantics).convertToDouble();
  if (element.isF16()) {
    // Subnormal numbers of f16 are normal in f32, at equal distances; the
    // neighbor of infinity is no neighbor in f32.
    double normal = APFloat::getSmallestNormalized(semantics).convertToDouble();
    Condition isSmall = (magnitude < normal) | ((magnitude == normal) & !grows);
    next = select(isSmall, magnitude + select(grows, least, code.get(-least)),
                  next);
    double largest = APFloat::getLargest(semantics).convertToDouble();
    next = select(magnitude == std::numeric_limits<double>::infinity(), largest,
                  next);
  }
  next = copySign(next, x);
  next = select(x == 0.0, copySign(code.get(least), y), next);
  next = select(x == y, y, next);
  return select(isNan(x) | isNan(y), std::numeric_limits<double>::quiet_NaN(),
                next);
}

/// Emits the function of `op` in f32 or f64. `element` is its type of floats.
/// Returns a number without value if `math` and the formulas above do not have
/// it.
Number emitSimple(Operation *op, ArrayRef<Number> operands, Type element) {
  Number x = operands.front();
  FloatCode &code = *x.code;
  return TypeSwitch<Operation *, Number>(op)
      .Case([&](chlo::AcosOp) { return code.emit<math::AcosOp>(x); })
      .Case([&](chlo::AcoshOp) { return code.emit<math::AcoshOp>(x); })
      .Case([&](chlo::AsinOp) { return code.emit<math::AsinOp>(x); })
      .Case([&](chlo::AsinhOp) { return code.emit<math::AsinhOp>(x); })
      .Case([&](chlo::AtanOp) { return code.emit<math::AtanOp>(x); })
      .Case([&](chlo::AtanhOp) { return code.emit<math::AtanhOp>(x); })
      .Case([&](chlo::TanOp) { return code.emit<math::TanOp>(x); })
      .Case([&](chlo::ErfOp) { return code.emit<math::ErfOp>(x); })
      .Case([&](chlo::ErfcOp) { return code.emit<math::ErfcOp>(x); })
      .Case([&](chlo::CoshOp) { return emitCosh(x); })
      .Case([&](chlo::SinhOp) { return emitSinh(x); })
      .Case([&](chlo::SquareOp) { return x * x; })
      .Case([&](chlo::NextAfterOp) {
        return emitNextAfter(x, operands[1], element);
      })
      .Default([&](Operation *) { return Number{&code, Value()}; });
}

/// Returns true if the function of `op` is a formula in f64.
bool isFormula(Operation *op) {
  return isa<chlo::BesselI1eOp, chlo::DigammaOp, chlo::ErfInvOp, chlo::LgammaOp,
             chlo::PolygammaOp, chlo::ZetaOp>(op);
}

/// Emits the function of `op`, which is a formula, in f64. `element` is its
/// type of floats.
Number emitFormula(Operation *op, ArrayRef<Number> operands, Type element) {
  Number x = operands.front();
  return TypeSwitch<Operation *, Number>(op)
      .Case([&](chlo::BesselI1eOp) { return emitBesselI1e(x); })
      .Case([&](chlo::DigammaOp) { return emitDigamma(x); })
      .Case([&](chlo::ErfInvOp) {
        return emitErfInv(x, /*isNarrow=*/getWidth(element) < 64);
      })
      .Case([&](chlo::LgammaOp) { return emitLgamma(x); })
      .Case([&](chlo::PolygammaOp) { return emitPolygamma(x, operands[1]); })
      .Case([&](chlo::ZetaOp) { return emitZeta(x, operands[1]); });
}

/// Emits a test for infinities.
Value emitPredicate(OpBuilder &b, Operation *op, Value operand) {
  Type type = operand.getType();
  if (getWidth(type) == 16)
    type = withElements(type, b.getF32Type());
  FloatCode code(b, op->getLoc(), type);
  Number x = code.get(convertFloat(b, code.loc, operand, type));
  constexpr double kInf = std::numeric_limits<double>::infinity();
  if (isa<chlo::IsInfOp>(op))
    return (abs(x) == kInf).value;
  return (x == (isa<chlo::IsPosInfOp>(op) ? kInf : -kInf)).value;
}

/// Lowers a function on tensors. A formula becomes the block of one operation,
/// so that its many parts stay in one loop. The benefit is larger than that of
/// the pattern for all elementwise operations.
class LowerFunction : public ConversionPattern {
public:
  LowerFunction(const TypeConverter &types, StringRef name,
                MLIRContext *context)
      : ConversionPattern(types, name, /*benefit=*/2, context) {}

  LogicalResult
  matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isFormula(op)) {
      rewriter.replaceOp(op, emitChloFunction(rewriter, op, operands));
      return success();
    }
    Location loc = op->getLoc();
    auto type = cast<RankedTensorType>(operands.front().getType());
    Value empty = tensor::EmptyOp::create(rewriter, loc, type.getShape(),
                                          type.getElementType());
    SmallVector<AffineMap> maps(
        operands.size() + 1, rewriter.getMultiDimIdentityMap(type.getRank()));
    SmallVector<utils::IteratorType> iterators(type.getRank(),
                                               utils::IteratorType::parallel);
    auto generic = linalg::GenericOp::create(
        rewriter, loc, TypeRange(type), operands, ValueRange(empty), maps,
        iterators, [&](OpBuilder &b, Location loc, ValueRange elements) {
          Value result = emitChloFunction(b, op, elements.drop_back());
          linalg::YieldOp::create(b, loc, result);
        });
    rewriter.replaceOp(op, generic);
    return success();
  }
};

} // namespace

bool mlir::pathways::isChloFunction(Operation *op) {
  return isa<chlo::ChloDialect>(op->getDialect()) && !isa<chlo::TopKOp>(op);
}

Value mlir::pathways::emitChloFunction(OpBuilder &b, Operation *op,
                                       ValueRange operands) {
  if (!isChloFunction(op))
    return {};
  Location loc = op->getLoc();
  Type type = operands.front().getType();
  if (isa<chlo::IsInfOp, chlo::IsNegInfOp, chlo::IsPosInfOp>(op))
    return emitPredicate(b, op, operands.front());
  Type element = getElementTypeOrSelf(type), wide = element;
  if (isFormula(op))
    wide = b.getF64Type();
  else if (getWidth(element) == 16)
    wide = b.getF32Type();
  FloatCode code(b, loc, withElements(type, wide));
  SmallVector<Number> numbers;
  for (Value operand : operands)
    numbers.push_back(code.get(convertFloat(b, loc, operand, code.type)));
  Number result = isFormula(op) ? emitFormula(op, numbers, element)
                                : emitSimple(op, numbers, element);
  return convertFloat(b, loc, result.value, type);
}

void mlir::pathways::populateChloMathPatterns(const TypeConverter &types,
                                              RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  for (StringRef name : {chlo::AcosOp::getOperationName(),
                         chlo::AcoshOp::getOperationName(),
                         chlo::AsinOp::getOperationName(),
                         chlo::AsinhOp::getOperationName(),
                         chlo::AtanOp::getOperationName(),
                         chlo::AtanhOp::getOperationName(),
                         chlo::BesselI1eOp::getOperationName(),
                         chlo::CoshOp::getOperationName(),
                         chlo::DigammaOp::getOperationName(),
                         chlo::ErfOp::getOperationName(),
                         chlo::ErfInvOp::getOperationName(),
                         chlo::ErfcOp::getOperationName(),
                         chlo::IsInfOp::getOperationName(),
                         chlo::IsNegInfOp::getOperationName(),
                         chlo::IsPosInfOp::getOperationName(),
                         chlo::LgammaOp::getOperationName(),
                         chlo::NextAfterOp::getOperationName(),
                         chlo::PolygammaOp::getOperationName(),
                         chlo::SinhOp::getOperationName(),
                         chlo::SquareOp::getOperationName(),
                         chlo::TanOp::getOperationName(),
                         chlo::ZetaOp::getOperationName()})
    patterns.add(std::make_unique<LowerFunction>(types, name, context));
}

//===- FloatCode.h - Formulas as operations of arith and math ---*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers and conditions whose C++ operators emit operations, so that formulas
// of functions can be read as such.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_IMPORT_FLOATCODE_H
#define PATHWAYS_LIB_IMPORT_FLOATCODE_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::pathways {

class FloatCode;

/// A float, or a tensor of floats, of the type of `code`.
struct Number {
  FloatCode *code;
  Value value;
};

/// An i1, or a tensor of i1, for numbers of `code`.
struct Condition {
  FloatCode *code;
  Value value;
};

/// Emits operations on numbers of one type, all at one place of `b`.
class FloatCode {
public:
  /// `type` is f32, f64 or a tensor of these.
  FloatCode(OpBuilder &b, Location loc, Type type)
      : b(b), loc(loc), type(type) {}

  /// Returns a constant number.
  Number get(double number) {
    Value &value = constants[llvm::bit_cast<uint64_t>(number)];
    if (value)
      return {this, value};
    TypedAttr attribute = b.getFloatAttr(getElementTypeOrSelf(type), number);
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      attribute = DenseElementsAttr::get(tensor, Attribute(attribute));
    value = arith::ConstantOp::create(b, loc, attribute);
    return {this, value};
  }
  Number get(Value value) { return {this, value}; }

  template <typename Op> Number emit(Number x) {
    return {this, Op::create(b, loc, x.value)};
  }
  template <typename Op> Number emit(Number x, Number y) {
    return {this, Op::create(b, loc, x.value, y.value)};
  }
  template <typename Op> Condition emit(Condition x, Condition y) {
    return {this, Op::create(b, loc, x.value, y.value)};
  }
  Condition compare(arith::CmpFPredicate kind, Number x, Number y) {
    return {this, arith::CmpFOp::create(b, loc, kind, x.value, y.value)};
  }

  OpBuilder &b;
  const Location loc;
  const Type type;

private:
  DenseMap<uint64_t, Value> constants;
};

inline Number operator+(Number x, Number y) {
  return x.code->emit<arith::AddFOp>(x, y);
}
inline Number operator+(Number x, double y) { return x + x.code->get(y); }
inline Number operator+(double x, Number y) { return y.code->get(x) + y; }
inline Number operator-(Number x, Number y) {
  return x.code->emit<arith::SubFOp>(x, y);
}
inline Number operator-(Number x, double y) { return x - x.code->get(y); }
inline Number operator-(double x, Number y) { return y.code->get(x) - y; }
inline Number operator-(Number x) { return x.code->emit<arith::NegFOp>(x); }
inline Number operator*(Number x, Number y) {
  return x.code->emit<arith::MulFOp>(x, y);
}
inline Number operator*(Number x, double y) { return x * x.code->get(y); }
inline Number operator*(double x, Number y) { return y.code->get(x) * y; }
inline Number operator/(Number x, Number y) {
  return x.code->emit<arith::DivFOp>(x, y);
}
inline Number operator/(Number x, double y) { return x / x.code->get(y); }
inline Number operator/(double x, Number y) { return y.code->get(x) / y; }

// Comparisons with a NaN are false.
inline Condition operator<(Number x, Number y) {
  return x.code->compare(arith::CmpFPredicate::OLT, x, y);
}
inline Condition operator<(Number x, double y) { return x < x.code->get(y); }
inline Condition operator<=(Number x, Number y) {
  return x.code->compare(arith::CmpFPredicate::OLE, x, y);
}
inline Condition operator<=(Number x, double y) { return x <= x.code->get(y); }
inline Condition operator>(Number x, double y) { return x.code->get(y) < x; }
inline Condition operator>=(Number x, double y) { return x.code->get(y) <= x; }
inline Condition operator==(Number x, Number y) {
  return x.code->compare(arith::CmpFPredicate::OEQ, x, y);
}
inline Condition operator==(Number x, double y) { return x == x.code->get(y); }
inline Condition isNan(Number x) {
  return x.code->compare(arith::CmpFPredicate::UNO, x, x);
}
inline Condition operator&(Condition x, Condition y) {
  return x.code->emit<arith::AndIOp>(x, y);
}
inline Condition operator!(Condition x) {
  FloatCode &code = *x.code;
  TypedAttr one = code.b.getOneAttr(x.value.getType());
  return x.code->emit<arith::XOrIOp>(
      x, {&code, arith::ConstantOp::create(code.b, code.loc, one)});
}
inline Condition operator|(Condition x, Condition y) {
  return x.code->emit<arith::OrIOp>(x, y);
}

/// Returns `x` where the condition is true, otherwise `y`.
inline Number select(Condition condition, Number x, Number y) {
  FloatCode &code = *x.code;
  return code.get(arith::SelectOp::create(code.b, code.loc, condition.value,
                                          x.value, y.value));
}
inline Number select(Condition condition, Number x, double y) {
  return select(condition, x, x.code->get(y));
}
inline Number select(Condition condition, double x, Number y) {
  return select(condition, y.code->get(x), y);
}

inline Number abs(Number x) { return x.code->emit<math::AbsFOp>(x); }
inline Number copySign(Number x, Number sign) {
  return x.code->emit<math::CopySignOp>(x, sign);
}
inline Number floor(Number x) { return x.code->emit<math::FloorOp>(x); }
/// Rounds to the nearest integer, and ties to even ones.
inline Number round(Number x) { return x.code->emit<math::RoundEvenOp>(x); }
inline Number sqrt(Number x) { return x.code->emit<math::SqrtOp>(x); }
inline Number exp(Number x) { return x.code->emit<math::ExpOp>(x); }
inline Number log(Number x) { return x.code->emit<math::LogOp>(x); }
inline Number log1p(Number x) { return x.code->emit<math::Log1pOp>(x); }
inline Number pow(Number x, Number y) {
  return x.code->emit<math::PowFOp>(x, y);
}

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_IMPORT_FLOATCODE_H

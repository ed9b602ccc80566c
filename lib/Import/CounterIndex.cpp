//===- CounterIndex.cpp - Indices that follow a counter -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// JAX adds the size of the dimension to an index if that is negative, and
// subtracts the index from the last one in a reversed scan. Both are decided
// for all iterations at once, by values of the first and the last one.
//
//===----------------------------------------------------------------------===//

#include "CounterIndex.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "pathways/Dialect/StableHlo/StableHlo.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::pathways;

/// Returns the integer type of `value` if that is a scalar of at most 64 bits.
static IntegerType getScalarType(Value value) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  auto type = tensor && tensor.getRank() == 0
                  ? dyn_cast<IntegerType>(tensor.getElementType())
                  : IntegerType();
  return type && type.getWidth() <= 64 ? type : IntegerType();
}

/// Returns `value`, of `type`, as a number that 64 bits hold.
static std::optional<int64_t> toNumber(const APInt &value, IntegerType type) {
  // i1 is 0 or 1.
  bool isUnsigned = type.isUnsigned() || type.getWidth() == 1;
  if (!isUnsigned)
    return value.getSExtValue();
  if (value.getActiveBits() > 63)
    return std::nullopt;
  return static_cast<int64_t>(value.getZExtValue());
}

static bool fits(int64_t value, IntegerType type) {
  unsigned width = type.getWidth();
  if (type.isUnsigned() || width == 1)
    return value >= 0 && (width >= 63 || value < (int64_t{1} << width));
  return llvm::isIntN(width, value);
}

std::optional<int64_t> CounterIndex::getLast(Line line) const {
  int64_t change, last;
  if (llvm::MulOverflow(line.step, trips - 1, change) ||
      llvm::AddOverflow(line.start, change, last))
    return std::nullopt;
  return last;
}

std::optional<bool> CounterIndex::isLess(Line lhs, Line rhs) const {
  std::optional<int64_t> lhsLast = getLast(lhs), rhsLast = getLast(rhs);
  if (!lhsLast || !rhsLast)
    return std::nullopt;
  bool isFirst = lhs.start < rhs.start, isLast = *lhsLast < *rhsLast;
  return isFirst == isLast ? std::optional(isFirst) : std::nullopt;
}

std::optional<bool> CounterIndex::isEqual(Line lhs, Line rhs) const {
  if (lhs.start == rhs.start && (lhs.step == rhs.step || trips == 1))
    return true;
  std::optional<bool> less = isLess(lhs, rhs), more = isLess(rhs, lhs);
  return (less && *less) || (more && *more) ? std::optional(false)
                                            : std::nullopt;
}

std::optional<CounterIndex::Line> CounterIndex::combine(Line lhs, Line rhs,
                                                        int64_t sign) const {
  Line sum;
  if (llvm::MulOverflow(rhs.start, sign, rhs.start) ||
      llvm::MulOverflow(rhs.step, sign, rhs.step) ||
      llvm::AddOverflow(lhs.start, rhs.start, sum.start) ||
      llvm::AddOverflow(lhs.step, rhs.step, sum.step))
    return std::nullopt;
  return sum;
}

std::optional<CounterIndex::Line>
CounterIndex::choose(Operation *op, ArrayRef<Line> operands) {
  auto least = [&](Line lhs, Line rhs) -> std::optional<Line> {
    std::optional<bool> isSwapped = isLess(rhs, lhs);
    return isSwapped ? std::optional(*isSwapped ? rhs : lhs) : std::nullopt;
  };
  auto most = [&](Line lhs, Line rhs) -> std::optional<Line> {
    std::optional<bool> less = isLess(lhs, rhs);
    return less ? std::optional(*less ? rhs : lhs) : std::nullopt;
  };
  if (isa<stablehlo::MinOp>(op))
    return least(operands[0], operands[1]);
  if (isa<stablehlo::MaxOp>(op))
    return most(operands[0], operands[1]);
  if (isa<stablehlo::ClampOp>(op)) {
    std::optional<Line> atLeast = most(operands[0], operands[1]);
    return atLeast ? least(*atLeast, operands[2]) : std::nullopt;
  }
  if (isa<stablehlo::SelectOp>(op)) {
    if (operands[0].step != 0)
      return std::nullopt;
    return operands[0].start ? operands[1] : operands[2];
  }
  auto compare = dyn_cast<stablehlo::CompareOp>(op);
  if (!compare)
    return std::nullopt;
  using Direction = stablehlo::ComparisonDirection;
  Direction direction = compare.getComparisonDirection();
  bool isNegated = direction == Direction::NE || direction == Direction::GE ||
                   direction == Direction::LE;
  std::optional<bool> holds;
  if (direction == Direction::EQ || direction == Direction::NE)
    holds = isEqual(operands[0], operands[1]);
  else if (direction == Direction::LT || direction == Direction::GE)
    holds = isLess(operands[0], operands[1]);
  else
    holds = isLess(operands[1], operands[0]);
  return holds ? std::optional(Line{*holds != isNegated, 0}) : std::nullopt;
}

std::optional<CounterIndex::Line> CounterIndex::compute(Operation *op) {
  SmallVector<Line> operands;
  for (Value operand : op->getOperands()) {
    std::optional<Line> line = find(operand);
    if (!line)
      return std::nullopt;
    operands.push_back(*line);
  }
  if (isa<stablehlo::AddOp>(op))
    return combine(operands[0], operands[1], 1);
  if (isa<stablehlo::SubtractOp>(op))
    return combine(operands[0], operands[1], -1);
  if (isa<stablehlo::ConvertOp, stablehlo::ReshapeOp>(op))
    return operands[0];
  return choose(op, operands);
}

std::optional<CounterIndex::Line> CounterIndex::find(Value value) {
  IntegerType type = getScalarType(value);
  if (!type)
    return std::nullopt;
  auto [place, isNew] = known.try_emplace(value);
  if (!isNew)
    return place->second;
  std::optional<Line> line;
  DenseIntElementsAttr constant;
  if (value == counter) {
    if (auto start = toNumber(first, type))
      line = Line{*start, 1};
  } else if (matchPattern(value, m_Constant(&constant))) {
    if (auto start = toNumber(constant.getSplatValue<APInt>(), type))
      line = Line{*start, 0};
  } else if (Operation *op = value.getDefiningOp()) {
    line = compute(op);
  }
  // A line that leaves the type would wrap.
  if (line) {
    std::optional<int64_t> last = getLast(*line);
    if (!last || !fits(line->start, type) || !fits(*last, type))
      line = std::nullopt;
  }
  known[value] = line;
  return line;
}

std::optional<LoopUse> CounterIndex::getUse(Type whole, Type part,
                                            ValueRange starts) {
  auto wholeType = dyn_cast<RankedTensorType>(whole);
  auto partType = dyn_cast<RankedTensorType>(part);
  if (!wholeType || !partType || wholeType.getRank() == 0 ||
      wholeType.getDimSize(0) != trips || partType.getDimSize(0) != 1 ||
      wholeType.getShape().drop_front() != partType.getShape().drop_front())
    return std::nullopt;
  std::optional<Line> line = find(starts.front());
  if (line && line->start == 0 && (line->step == 1 || trips == 1))
    return LoopUse::Stepped;
  if (line && line->start == trips - 1 && line->step == -1)
    return LoopUse::Reversed;
  return std::nullopt;
}

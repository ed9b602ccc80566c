//===- While.cpp - Loops, of which those that count become scf.for --------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ControlFlow.h"
#include "Patterns.h"
#include "Shape.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::pathways;
using stablehlo::ComparisonDirection;

/// Returns the value from outside of `loop` that `value`, an argument of one of
/// its regions, always is. Returns any other value as it is.
static Value getOutside(stablehlo::WhileOp loop, ArrayRef<bool> isFixed,
                        Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument &&
      (argument.getOwner() == &loop.getCond().front() ||
       argument.getOwner() == &loop.getBody().front()) &&
      isFixed[argument.getArgNumber()])
    return loop.getOperands()[argument.getArgNumber()];
  return value;
}

/// Returns the constant integer that `value`, a scalar, is.
static std::optional<APInt> getConstant(Value value) {
  DenseIntElementsAttr constant;
  if (!matchPattern(value, m_Constant(&constant)) || !constant.isSplat())
    return std::nullopt;
  return constant.getSplatValue<APInt>();
}

/// Returns for each carried value of `loop` true if it stays as it was.
static SmallVector<bool> getFixed(stablehlo::WhileOp loop) {
  Block &body = loop.getBody().front();
  SmallVector<bool> isFixed;
  for (auto [initial, argument, next] :
       llvm::zip_equal(loop.getOperands(), body.getArguments(),
                       body.getTerminator()->getOperands()))
    isFixed.push_back(next == argument || next == initial);
  return isFixed;
}

namespace {

/// A loop that runs while a counter has a relation to a limit. The counter gets
/// the same step in each iteration, and the limit stays as it is.
struct CountedLoop {
  int64_t counter;               ///< number of the carried value
  ComparisonDirection direction; ///< relation of the counter to the limit
  Value limit; ///< from before the loop, or from its condition
  APInt step;
  bool isUnsigned;
  /// Operations of the condition that compute the limit.
  SmallVector<Operation *> limitOps;
  Operation *increment;

  /// Returns `value`, of the type of the counter, as a wide number.
  APInt widen(const APInt &value) const {
    return isUnsigned ? value.zext(kWide) : value.sext(kWide);
  }
  /// Returns the step of a counter that grows: that of an unsigned counter is
  /// never negative.
  APInt getStepUp() const { return widen(step); }
  /// Returns the step of a counter that shrinks: that of an unsigned counter is
  /// always negative.
  APInt getStepDown() const {
    if (!isUnsigned || step.isZero())
      return widen(step);
    return widen(step) - APInt::getOneBitSet(kWide, step.getBitWidth());
  }
  /// Returns true if the relation can hold for a counter that grows, or that
  /// shrinks.
  bool mayGrow() const {
    return direction == ComparisonDirection::LT ||
           direction == ComparisonDirection::LE ||
           direction == ComparisonDirection::NE;
  }
  bool mayShrink() const {
    return direction == ComparisonDirection::GT ||
           direction == ComparisonDirection::GE ||
           direction == ComparisonDirection::NE;
  }
  bool includesLimit() const {
    return direction == ComparisonDirection::LE ||
           direction == ComparisonDirection::GE;
  }

  static constexpr unsigned kWide = 130; ///< bits of numbers that do not wrap
};

/// Number of iterations of a loop, and the step of its counter as a wide
/// number.
struct Trips {
  APInt number, step;
};

} // namespace

static ComparisonDirection swapOperands(ComparisonDirection direction) {
  switch (direction) {
  case ComparisonDirection::LT:
    return ComparisonDirection::GT;
  case ComparisonDirection::LE:
    return ComparisonDirection::GE;
  case ComparisonDirection::GT:
    return ComparisonDirection::LT;
  case ComparisonDirection::GE:
    return ComparisonDirection::LE;
  default:
    return direction;
  }
}

/// Sets `ops` to the operations of the condition of `loop` that compute
/// `value`. Fails if these depend on values that change.
static LogicalResult collectFixedOps(stablehlo::WhileOp loop,
                                     ArrayRef<bool> isFixed, Value value,
                                     SmallVectorImpl<Operation *> &ops) {
  Block &condition = loop.getCond().front();
  SmallVector<Value> values = {value};
  SetVector<Operation *> found;
  while (!values.empty()) {
    Value next = values.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(next)) {
      if (argument.getOwner() == &condition &&
          !isFixed[argument.getArgNumber()])
        return failure();
      continue;
    }
    Operation *op = next.getDefiningOp();
    if (op->getBlock() != &condition || !found.insert(op))
      continue;
    if (op->getNumRegions() != 0 || !isMemoryEffectFree(op))
      return failure();
    llvm::append_range(values, op->getOperands());
  }
  for (Operation &op : condition)
    if (found.contains(&op))
      ops.push_back(&op);
  return success();
}

static std::optional<CountedLoop> matchCountedLoop(stablehlo::WhileOp loop,
                                                   ArrayRef<bool> isFixed) {
  Block &condition = loop.getCond().front();
  Block &body = loop.getBody().front();
  for (Operation &op : condition.without_terminator())
    if (!isMemoryEffectFree(&op))
      return std::nullopt;
  auto compare = condition.getTerminator()
                     ->getOperand(0)
                     .getDefiningOp<stablehlo::CompareOp>();
  if (!compare || compare->getBlock() != &condition)
    return std::nullopt;

  CountedLoop counted;
  counted.direction = compare.getComparisonDirection();
  Value lhs = compare.getLhs(), rhs = compare.getRhs();
  auto isCounter = [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getOwner() == &condition &&
           !isFixed[argument.getArgNumber()];
  };
  if (!isCounter(lhs)) {
    std::swap(lhs, rhs);
    counted.direction = swapOperands(counted.direction);
  }
  if (!isCounter(lhs) || counted.direction == ComparisonDirection::EQ)
    return std::nullopt;
  counted.counter = cast<BlockArgument>(lhs).getArgNumber();
  counted.limit = getOutside(loop, isFixed, rhs);
  Type type = getElementTypeOrSelf(lhs.getType());
  if (!type.isInteger() || type.isInteger(1) ||
      type.getIntOrFloatBitWidth() > 64)
    return std::nullopt;
  counted.isUnsigned = type.isUnsignedInteger();
  if (failed(collectFixedOps(loop, isFixed, rhs, counted.limitOps)))
    return std::nullopt;

  Value argument = body.getArgument(counted.counter);
  Value next = body.getTerminator()->getOperand(counted.counter);
  counted.increment = next.getDefiningOp();
  if (!isa_and_nonnull<stablehlo::AddOp, stablehlo::SubtractOp>(
          counted.increment))
    return std::nullopt;
  Value left = counted.increment->getOperand(0);
  Value right = counted.increment->getOperand(1);
  bool isSum = isa<stablehlo::AddOp>(counted.increment);
  if (isSum && left != argument)
    std::swap(left, right);
  std::optional<APInt> step = getConstant(getOutside(loop, isFixed, right));
  if (left != argument || !step)
    return std::nullopt;
  counted.step = isSum ? *step : -*step;
  return counted;
}

/// Returns the number of iterations of a loop whose counter begins with
/// `initial` and is compared with `limit`. Returns nothing if the loop never
/// ends, or if its counter wraps.
static std::optional<Trips>
countTrips(const CountedLoop &loop, const APInt &initial, const APInt &limit) {
  constexpr unsigned kWide = CountedLoop::kWide;
  APInt first = loop.widen(initial), end = loop.widen(limit);
  APInt distance = end - first;
  APInt up = loop.getStepUp(), down = loop.getStepDown(), zero(kWide, 0);
  if (loop.direction == ComparisonDirection::NE) {
    for (const APInt &step : {up, down})
      if (!step.isZero() && distance.srem(step).isZero() &&
          distance.isNegative() == step.isNegative())
        return Trips{distance.sdiv(step), step};
    if (distance.isZero())
      return Trips{zero, up};
    return std::nullopt;
  }
  bool grows = loop.mayGrow();
  const APInt &step = grows ? up : down;
  if (!grows)
    distance.negate();
  if (distance.isNegative() || (distance.isZero() && !loop.includesLimit()))
    return Trips{zero, step};
  if (grows ? !step.isStrictlyPositive() : !step.isNegative())
    return std::nullopt;
  APInt size = step.abs();
  APInt number = loop.includesLimit() ? distance.udiv(size) + 1
                                      : (distance + size - 1).udiv(size);
  APInt last = first + number * step;
  unsigned bits = initial.getBitWidth();
  APInt least =
      loop.isUnsigned ? zero : APInt::getSignedMinValue(bits).sext(kWide);
  APInt most = loop.isUnsigned ? APInt::getMaxValue(bits).zext(kWide)
                               : APInt::getSignedMaxValue(bits).sext(kWide);
  if (last.slt(least) || last.sgt(most) || number.getActiveBits() > 62)
    return std::nullopt;
  return Trips{number, step};
}

namespace {

/// Bounds of an scf.for, and what its induction variable says.
struct LoopBounds {
  Value lower, upper, step;
  /// The counter is `initial` and `counterStep` times the induction variable.
  /// Null: the counter is the induction variable.
  Value initial;
  int64_t counterStep = 1;
  /// The counter after the last iteration, a scalar.
  Value last;
};

class BoundsBuilder {
public:
  BoundsBuilder(ImplicitLocOpBuilder &b, const CountedLoop &loop, Type type)
      : b(b), loop(loop), type(cast<IntegerType>(type)) {}

  /// Bounds for a constant number of iterations.
  LoopBounds getConstant(const APInt &initial, const Trips &trips) {
    LoopBounds bounds;
    APInt first = loop.widen(initial);
    APInt last = first + trips.number * trips.step;
    bounds.last = arith::ConstantOp::create(
        b, b.getIntegerAttr(type, last.trunc(type.getWidth())));
    bool isDirect = trips.step.isStrictlyPositive() &&
                    first.getSignificantBits() <= 64 &&
                    last.getSignificantBits() <= 64 &&
                    trips.step.getSignificantBits() <= 64;
    if (isDirect) {
      bounds.lower = getIndex(first.getSExtValue());
      bounds.upper = getIndex(last.getSExtValue());
      bounds.step = getIndex(trips.step.getSExtValue());
      return bounds;
    }
    bounds.lower = getIndex(0);
    bounds.upper = getIndex(trips.number.getZExtValue());
    bounds.step = getIndex(1);
    bounds.initial =
        arith::ConstantOp::create(b, b.getIntegerAttr(type, initial));
    bounds.counterStep = trips.step.trunc(64).getSExtValue();
    return bounds;
  }

  /// Bounds for a counter that begins with `initial`, has the step 1 or -1, and
  /// is compared with `limit`. A counter that would wrap and never end the loop
  /// ends it where it would wrap.
  LoopBounds getComputed(Value initial, Value limit, bool grows) {
    LoopBounds bounds;
    bounds.step = getIndex(1);
    bool isEqual = loop.direction == ComparisonDirection::NE;
    Value runs, one = getInteger(1);
    if (!isEqual)
      runs = arith::CmpIOp::create(b, getPredicate(), initial, limit);
    Value end = limit;
    if (loop.includesLimit())
      end = grows ? arith::AddIOp::create(b, limit, one).getResult()
                  : arith::SubIOp::create(b, limit, one).getResult();
    bounds.last =
        isEqual ? end
                : arith::SelectOp::create(b, runs, end, initial).getResult();

    bool isDirect =
        grows && !isEqual &&
        (type.getWidth() < 64 || (!loop.isUnsigned && !loop.includesLimit()));
    if (isDirect) {
      bounds.lower = toIndex(initial);
      bounds.upper = toIndex(limit);
      if (loop.includesLimit())
        bounds.upper = arith::AddIOp::create(b, bounds.upper, getIndex(1));
      return bounds;
    }
    // The distance fits the counter's type if it is read as unsigned.
    Value number = grows ? arith::SubIOp::create(b, limit, initial)
                         : arith::SubIOp::create(b, initial, limit);
    IntegerType wide = b.getI64Type();
    if (type.getWidth() < 64)
      number = arith::ExtUIOp::create(b, wide, number);
    else
      number = arith::MinUIOp::create(
          b, number,
          arith::ConstantIntOp::create(
              b, wide, std::numeric_limits<int64_t>::max() - 1));
    if (loop.includesLimit())
      number = arith::AddIOp::create(b, number,
                                     arith::ConstantIntOp::create(b, wide, 1));
    if (!isEqual)
      number = arith::SelectOp::create(
          b, runs, number, arith::ConstantIntOp::create(b, wide, 0));
    bounds.lower = getIndex(0);
    bounds.upper = arith::IndexCastOp::create(b, b.getIndexType(), number);
    bounds.initial = initial;
    bounds.counterStep = grows ? 1 : -1;
    return bounds;
  }

  /// Returns the counter, a scalar, in an iteration of a loop with `bounds`.
  Value getCounter(const LoopBounds &bounds, Value induction) {
    Value scalar = induction;
    if (bounds.initial && bounds.counterStep != 1)
      scalar = arith::MulIOp::create(b, scalar, getIndex(bounds.counterStep));
    scalar = arith::IndexCastOp::create(b, type, scalar);
    if (bounds.initial)
      scalar = arith::AddIOp::create(b, bounds.initial, scalar);
    return scalar;
  }

private:
  Value getIndex(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value getInteger(int64_t value) {
    return arith::ConstantIntOp::create(b, type, value);
  }
  Value toIndex(Value scalar) {
    if (loop.isUnsigned)
      return arith::IndexCastUIOp::create(b, b.getIndexType(), scalar);
    return arith::IndexCastOp::create(b, b.getIndexType(), scalar);
  }
  arith::CmpIPredicate getPredicate() const {
    switch (loop.direction) {
    case ComparisonDirection::LT:
      return loop.isUnsigned ? arith::CmpIPredicate::ult
                             : arith::CmpIPredicate::slt;
    case ComparisonDirection::LE:
      return loop.isUnsigned ? arith::CmpIPredicate::ule
                             : arith::CmpIPredicate::sle;
    case ComparisonDirection::GT:
      return loop.isUnsigned ? arith::CmpIPredicate::ugt
                             : arith::CmpIPredicate::sgt;
    default:
      return loop.isUnsigned ? arith::CmpIPredicate::uge
                             : arith::CmpIPredicate::sge;
    }
  }

  ImplicitLocOpBuilder &b;
  const CountedLoop &loop;
  IntegerType type;
};

/// Lowers a loop that counts to scf.for, any other one to scf.while. Carried
/// values that stay as they are become values from outside of the loop.
struct LowerWhile : OpConversionPattern<stablehlo::WhileOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(stablehlo::WhileOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<bool> isFixed = getFixed(op);
    if (std::optional<CountedLoop> counted = matchCountedLoop(op, isFixed))
      if (succeeded(lowerToFor(op, adaptor, *counted, isFixed, rewriter)))
        return success();
    lowerToWhile(op, adaptor, isFixed, rewriter);
    return success();
  }

private:
  /// Returns what the carried values are, given the values of those that change
  /// one after the other.
  static SmallVector<Values> getCarried(OneToNOpAdaptor adaptor,
                                        ArrayRef<bool> isFixed,
                                        ValueRange changing) {
    SmallVector<Values> carried;
    for (auto [fixed, initial] :
         llvm::zip_equal(isFixed, adaptor.getOperands())) {
      if (fixed) {
        carried.emplace_back(initial);
        continue;
      }
      carried.emplace_back(changing.take_front(initial.size()));
      changing = changing.drop_front(initial.size());
    }
    return carried;
  }

  /// Returns the values that change, before the first iteration.
  static Values getChanging(OneToNOpAdaptor adaptor, ArrayRef<bool> isFixed) {
    Values changing;
    for (auto [fixed, initial] :
         llvm::zip_equal(isFixed, adaptor.getOperands()))
      if (!fixed)
        llvm::append_range(changing, initial);
    return changing;
  }

  /// Leaves those results in `block`'s stablehlo.return that change.
  static void dropFixed(Block &block, ArrayRef<bool> isFixed,
                        ConversionPatternRewriter &rewriter) {
    Operation *end = block.getTerminator();
    Values kept;
    for (auto [fixed, value] : llvm::zip_equal(isFixed, end->getOperands()))
      if (!fixed)
        kept.push_back(value);
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(end);
    rewriter.replaceOpWithNewOp<stablehlo::ReturnOp>(end, kept);
  }

  void lowerToWhile(stablehlo::WhileOp op, OneToNOpAdaptor adaptor,
                    ArrayRef<bool> isFixed,
                    ConversionPatternRewriter &rewriter) const {
    Values initial = getChanging(adaptor, isFixed);
    SmallVector<Type> types = llvm::to_vector(ValueRange(initial).getTypes());
    SmallVector<Location> locs(types.size(), op.getLoc());
    auto loop = scf::WhileOp::create(rewriter, op.getLoc(), types, initial);
    {
      OpBuilder::InsertionGuard guard(rewriter);
      Block *before = rewriter.createBlock(&loop.getBefore(), {}, types, locs);
      moveBlock(rewriter, op.getCond().front(), before, before->end(),
                getCarried(adaptor, isFixed, before->getArguments()));
      Block *after = rewriter.createBlock(&loop.getAfter(), {}, types, locs);
      moveBlock(rewriter, op.getBody().front(), after, after->end(),
                getCarried(adaptor, isFixed, after->getArguments()));
      dropFixed(*after, isFixed, rewriter);
    }
    rewriter.replaceOpWithMultiple(
        op, getCarried(adaptor, isFixed, loop.getResults()));
  }

  /// Fails, and changes nothing, if the number of iterations cannot be known
  /// before the loop.
  LogicalResult lowerToFor(stablehlo::WhileOp op, OneToNOpAdaptor adaptor,
                           CountedLoop &counted, SmallVector<bool> isFixed,
                           ConversionPatternRewriter &rewriter) const {
    Value initial = op.getOperands()[counted.counter];
    std::optional<APInt> initialValue = getConstant(initial);
    std::optional<APInt> limitValue = getConstant(counted.limit);
    std::optional<Trips> trips;
    bool isConstant = initialValue && limitValue;
    bool grows = counted.mayGrow() && counted.getStepUp().isOne();
    bool shrinks = counted.mayShrink() && counted.getStepDown().isAllOnes();
    if (isConstant)
      trips = countTrips(counted, *initialValue, *limitValue);
    if (isConstant ? !trips : !grows && !shrinks)
      return failure();

    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value first = adaptor.getOperands()[counted.counter].front();
    Type type = getElementTypeOrSelf(first.getType());
    BoundsBuilder builder(b, counted, type);
    LoopBounds bounds;
    if (isConstant) {
      bounds = builder.getConstant(*initialValue, *trips);
    } else {
      Value limit = hoistLimit(op, adaptor, counted, rewriter);
      bounds = builder.getComputed(readScalar(b, op.getLoc(), first),
                                   readScalar(b, op.getLoc(), limit), grows);
    }

    // The counter is not carried.
    isFixed[counted.counter] = true;
    auto loop = scf::ForOp::create(b, bounds.lower, bounds.upper, bounds.step,
                                   getChanging(adaptor, isFixed));
    Block *block = loop.getBody();
    if (!block->empty())
      rewriter.eraseOp(block->getTerminator());
    SmallVector<Values> carried =
        getCarried(adaptor, isFixed, loop.getRegionIterArgs());
    {
      OpBuilder::InsertionGuard guard(rewriter);
      b.setInsertionPointToStart(block);
      Value counter = builder.getCounter(bounds, loop.getInductionVar());
      carried[counted.counter] = {tensor::FromElementsOp::create(
          b, cast<RankedTensorType>(first.getType()), counter)};
    }
    bool isUsed = !counted.increment->hasOneUse();
    moveBlock(rewriter, op.getBody().front(), block, block->end(), carried);
    dropFixed(*block, isFixed, rewriter);
    if (!isUsed)
      rewriter.eraseOp(counted.increment);

    SmallVector<Values> results =
        getCarried(adaptor, isFixed, loop.getResults());
    b.setInsertionPointAfter(loop);
    if (!op.getResult(counted.counter).use_empty())
      results[counted.counter] = {tensor::FromElementsOp::create(
          b, cast<RankedTensorType>(first.getType()), bounds.last)};
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }

  /// Returns the converted limit of `counted`, before the loop.
  static Value hoistLimit(stablehlo::WhileOp op, OneToNOpAdaptor adaptor,
                          const CountedLoop &counted,
                          ConversionPatternRewriter &rewriter) {
    Block &condition = op.getCond().front();
    if (!counted.limitOps.empty()) {
      for (auto [value, initial] :
           llvm::zip_equal(condition.getArguments(), adaptor.getOperands()))
        rewriter.replaceAllUsesWith(value, initial);
      for (Operation *limitOp : counted.limitOps)
        rewriter.moveOpBefore(limitOp, op);
    }
    return rewriter.getRemappedValue(counted.limit);
  }
};

} // namespace

void mlir::pathways::populateWhilePatterns(const TypeConverter &types,
                                           RewritePatternSet &patterns) {
  patterns.add<LowerWhile>(types, patterns.getContext());
}

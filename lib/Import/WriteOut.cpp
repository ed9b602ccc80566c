//===- WriteOut.cpp - Loops as sequences of operations --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WriteOut.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::pathways;

namespace {
/// The counter of a loop: a carried value that begins with `first`, grows by 1,
/// and is compared with `limit`.
struct Counter {
  unsigned index;
  APInt first, limit;
  bool isUnsigned, includesLimit;
};
} // namespace

/// Returns the constant that `value`, a scalar integer, is. Carried values of
/// `loop` that do not change are what they begin with.
static std::optional<APInt> getConstant(stablehlo::WhileOp loop, Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner()->getParentOp() != loop)
      return std::nullopt;
    unsigned index = argument.getArgNumber();
    Value next = loop.getBody().front().getTerminator()->getOperand(index);
    if (next != loop.getBody().getArgument(index))
      return std::nullopt;
    value = loop.getOperands()[index];
  }
  DenseIntElementsAttr constant;
  if (!matchPattern(value, m_Constant(&constant)) || !constant.isSplat() ||
      constant.getType().getRank() != 0)
    return std::nullopt;
  return constant.getSplatValue<APInt>();
}

/// Returns true if `next`, in the body of `loop`, is carried value `index` plus
/// 1.
static bool isIncrement(stablehlo::WhileOp loop, unsigned index, Value next) {
  auto add = next.getDefiningOp<stablehlo::AddOp>();
  if (!add)
    return false;
  Value counter = loop.getBody().getArgument(index);
  Value step = add.getLhs() == counter ? add.getRhs() : add.getLhs();
  if (step == counter || (add.getLhs() != counter && add.getRhs() != counter))
    return false;
  std::optional<APInt> constant = getConstant(loop, step);
  return constant && constant->isOne();
}

static std::optional<Counter> findCounter(stablehlo::WhileOp loop) {
  Block &condition = loop.getCond().front();
  auto compare = condition.getTerminator()
                     ->getOperand(0)
                     .getDefiningOp<stablehlo::CompareOp>();
  if (!compare || compare->getBlock() != &condition)
    return std::nullopt;
  Value counter = compare.getLhs(), limit = compare.getRhs();
  auto direction = compare.getComparisonDirection();
  using Direction = stablehlo::ComparisonDirection;
  if (direction == Direction::GT || direction == Direction::GE) {
    std::swap(counter, limit);
    direction = direction == Direction::GT ? Direction::LT : Direction::LE;
  }
  auto argument = dyn_cast<BlockArgument>(counter);
  auto type = dyn_cast<IntegerType>(getElementTypeOrSelf(counter.getType()));
  if ((direction != Direction::LT && direction != Direction::LE) || !argument ||
      argument.getOwner() != &condition || !type || type.getWidth() > 64)
    return std::nullopt;
  unsigned index = argument.getArgNumber();
  std::optional<APInt> first = getConstant(loop, loop.getOperands()[index]);
  std::optional<APInt> last = getConstant(loop, limit);
  Value next = loop.getBody().front().getTerminator()->getOperand(index);
  if (!first || !last || !isIncrement(loop, index, next))
    return std::nullopt;
  return Counter{index, *first, *last, type.isUnsigned(),
                 direction == Direction::LE};
}

std::optional<int64_t> mlir::pathways::getTripCount(stablehlo::WhileOp loop) {
  std::optional<Counter> counter = findCounter(loop);
  if (!counter)
    return std::nullopt;
  constexpr unsigned kWide = 66;
  auto widen = [&](const APInt &value) {
    return counter->isUnsigned ? value.zext(kWide) : value.sext(kWide);
  };
  APInt trips = widen(counter->limit) - widen(counter->first) +
                (counter->includesLimit ? 1 : 0);
  if (trips.isNegative())
    return 0;
  // A counter that wraps never ends the loop.
  unsigned bits = counter->limit.getBitWidth();
  bool wraps = counter->includesLimit &&
               (counter->isUnsigned ? counter->limit.isMaxValue()
                                    : counter->limit.isMaxSignedValue());
  if (wraps || trips.getActiveBits() > std::min(bits, 62u))
    return std::nullopt;
  return trips.getSExtValue();
}

std::optional<LoopCounter>
mlir::pathways::getLoopCounter(stablehlo::WhileOp loop) {
  std::optional<Counter> counter = findCounter(loop);
  return counter ? std::optional(LoopCounter{counter->index, counter->first})
                 : std::nullopt;
}

int64_t mlir::pathways::getWrittenOutSize(stablehlo::WhileOp loop,
                                          int64_t trips) {
  int64_t size = 0;
  loop.getBody().walk([&](Operation *) { ++size; });
  int64_t total;
  return llvm::MulOverflow(size, trips, total) ? INT64_MAX : total;
}

SmallVector<Operation *> mlir::pathways::writeOut(stablehlo::WhileOp loop,
                                                  int64_t trips) {
  Counter counter = *findCounter(loop);
  Block &body = loop.getBody().front();
  OpBuilder b(loop);
  SmallVector<Operation *> made;
  SmallVector<Value> carried(loop.getOperands());
  auto setCounter = [&](int64_t trip) {
    auto type = cast<RankedTensorType>(carried[counter.index].getType());
    APInt value = counter.first + APInt(counter.first.getBitWidth(), trip);
    carried[counter.index] = stablehlo::ConstantOp::create(
        b, loop.getLoc(), type, DenseElementsAttr::get(type, value));
  };
  for (int64_t trip = 0; trip != trips; ++trip) {
    setCounter(trip);
    IRMapping mapping;
    mapping.map(body.getArguments(), carried);
    for (Operation &op : body.without_terminator())
      made.push_back(b.clone(op, mapping));
    for (auto [value, next] :
         llvm::zip_equal(carried, body.getTerminator()->getOperands()))
      value = mapping.lookupOrDefault(next);
  }
  setCounter(trips);
  loop.replaceAllUsesWith(carried);
  loop.erase();
  return made;
}

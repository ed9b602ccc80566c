//===- ShardingRule.cpp - Rules for cutting operations --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Analysis/ShardingRule.h"
#include "pathways/Support/ElementTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::pathways;

#include "pathways/Analysis/ShardingInterfaces.cpp.inc"

bool mlir::pathways::isCommunicable(Type type) {
  return isTensorElementType(type);
}

TypedAttr mlir::pathways::getNeutral(ReductionKind kind, Type type) {
  if (auto floatType = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = floatType.getFloatSemantics();
    switch (kind) {
    case ReductionKind::Add:
      return FloatAttr::get(type,
                            APFloat::getZero(semantics, /*Negative=*/true));
    case ReductionKind::Mul:
      return FloatAttr::get(type, APFloat::getOne(semantics));
    case ReductionKind::Max:
      return FloatAttr::get(type,
                            APFloat::getInf(semantics, /*Negative=*/true));
    case ReductionKind::Min:
      return FloatAttr::get(type, APFloat::getInf(semantics));
    case ReductionKind::Umax:
    case ReductionKind::Umin:
    case ReductionKind::And:
    case ReductionKind::Or:
    case ReductionKind::Xor:
      llvm_unreachable("a reduction of integers only");
    }
  }
  unsigned width = type.getIntOrFloatBitWidth();
  bool isBool = width == 1; // unsigned order: false < true
  switch (kind) {
  case ReductionKind::Add:
    return IntegerAttr::get(type, APInt::getZero(width));
  case ReductionKind::Mul:
    return IntegerAttr::get(type, APInt(width, 1));
  case ReductionKind::Max:
    return IntegerAttr::get(type, isBool ? APInt::getZero(width)
                                         : APInt::getSignedMinValue(width));
  case ReductionKind::Min:
    return IntegerAttr::get(type, isBool ? APInt(width, 1)
                                         : APInt::getSignedMaxValue(width));
  case ReductionKind::Umax:
  case ReductionKind::Or:
  case ReductionKind::Xor:
    return IntegerAttr::get(type, APInt::getZero(width));
  case ReductionKind::Umin:
  case ReductionKind::And:
    return IntegerAttr::get(type, APInt::getAllOnes(width));
  }
  llvm_unreachable("unknown reduction");
}

int64_t mlir::pathways::countEmptyBlocks(int64_t size, int64_t blocks) {
  return size == 0
             ? 0
             : blocks - llvm::divideCeil(size, llvm::divideCeil(size, blocks));
}

FailureOr<SmallVector<std::pair<unsigned, TypedAttr>>>
mlir::pathways::getHarmlessOperands(Operation *op) {
  using Operands = SmallVector<std::pair<unsigned, TypedAttr>>;
  auto number = [&](unsigned operand, int64_t value) {
    Type type = getElementTypeOrSelf(op->getOperand(operand).getType());
    return std::pair<unsigned, TypedAttr>(operand,
                                          IntegerAttr::get(type, value));
  };
  return llvm::TypeSwitch<Operation *, FailureOr<Operands>>(op)
      .Case<arith::DivSIOp, arith::DivUIOp, arith::CeilDivSIOp,
            arith::CeilDivUIOp, arith::FloorDivSIOp, arith::RemSIOp,
            arith::RemUIOp>([&](Operation *) -> Operands {
        APInt divisor;
        if (matchPattern(op->getOperand(1), m_ConstantInt(&divisor)) &&
            !divisor.isZero() && !divisor.isAllOnes())
          return {};
        return {number(1, 1)};
      })
      .Case<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(
          [&](Operation *) -> Operands {
            APInt amount;
            if (matchPattern(op->getOperand(1), m_ConstantInt(&amount)) &&
                amount.ult(amount.getBitWidth()))
              return {};
            return {number(1, 0)};
          })
      .Case([&](math::IPowIOp) -> Operands { return {number(0, 1)}; })
      .Case([&](tensor::ExtractOp extract) -> FailureOr<Operands> {
        auto type = cast<RankedTensorType>(extract.getTensor().getType());
        if (!type.hasStaticShape() || type.getNumElements() == 0)
          return failure();
        Operands operands;
        for (unsigned index = 1; index < op->getNumOperands(); ++index)
          operands.push_back(number(index, 0));
        return operands;
      })
      .Case([&](cf::AssertOp) -> Operands { return {number(0, 1)}; })
      .Case<linalg::IndexOp, linalg::YieldOp, scf::IfOp, scf::YieldOp>(
          [](Operation *) { return Operands(); })
      .Default([](Operation *op) -> FailureOr<Operands> {
        if (!isa_and_nonnull<arith::ArithDialect, math::MathDialect>(
                op->getDialect()))
          return failure();
        return Operands();
      });
}

ShardingRule mlir::pathways::makeWholeRule(Operation *op) {
  ShardingRule rule;
  for (Type type : op->getOperandTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    rule.operands.emplace_back(tensor ? tensor.getRank() : 0,
                               ShardingRule::kWhole);
  }
  for (Type type : op->getResultTypes())
    rule.results.emplace_back(cast<RankedTensorType>(type).getRank(),
                              ShardingRule::kWhole);
  rule.reductions.resize(op->getNumResults());
  rule.combiners.resize(op->getNumResults());
  rule.inits.resize(op->getNumResults());
  return rule;
}

/// Returns true if all tensors of `op` can be cut.
static bool hasPlainTensors(Operation *op) {
  return llvm::all_of(
      llvm::concat<const Type>(llvm::to_vector(op->getOperandTypes()),
                               llvm::to_vector(op->getResultTypes())),
      [](Type type) {
        if (!isa<ShapedType>(type))
          return true;
        auto tensor = dyn_cast<RankedTensorType>(type);
        return tensor && tensor.hasStaticShape() && !tensor.getEncoding() &&
               isCommunicable(tensor.getElementType());
      });
}

std::optional<ReductionKind> mlir::pathways::getCombinedKind(Operation *op) {
  if (op->getNumResults() != 1)
    return std::nullopt;
  bool isBool = getElementTypeOrSelf(op->getResult(0)).isInteger(1);
  return llvm::TypeSwitch<Operation *, std::optional<ReductionKind>>(op)
      .Case<arith::AddFOp>([](auto) { return ReductionKind::Add; })
      .Case<arith::MulFOp>([](auto) { return ReductionKind::Mul; })
      .Case<arith::MaximumFOp>([](auto) { return ReductionKind::Max; })
      .Case<arith::MinimumFOp>([](auto) { return ReductionKind::Min; })
      .Case<arith::AddIOp, arith::MulIOp, arith::MaxSIOp, arith::MinSIOp>(
          [&](Operation *op) -> std::optional<ReductionKind> {
            if (isBool) // not combined by these
              return std::nullopt;
            if (isa<arith::AddIOp>(op))
              return ReductionKind::Add;
            if (isa<arith::MulIOp>(op))
              return ReductionKind::Mul;
            return isa<arith::MaxSIOp>(op) ? ReductionKind::Max
                                           : ReductionKind::Min;
          })
      // For i1, max and or are the same, and so are min and and.
      .Case<arith::OrIOp>(
          [&](auto) { return isBool ? ReductionKind::Max : ReductionKind::Or; })
      .Case<arith::AndIOp>([&](auto) {
        return isBool ? ReductionKind::Min : ReductionKind::And;
      })
      .Case<arith::MaxUIOp>([&](auto) {
        return isBool ? ReductionKind::Max : ReductionKind::Umax;
      })
      .Case<arith::MinUIOp>([&](auto) {
        return isBool ? ReductionKind::Min : ReductionKind::Umin;
      })
      .Case<arith::XOrIOp>([](auto) { return ReductionKind::Xor; })
      .Default([](Operation *) { return std::nullopt; });
}

/// Returns the operation that combines the previous value of result `index` of
/// `op` with a new value, if the body does nothing else with it; otherwise
/// null.
static Operation *findCombiner(linalg::LinalgOp op, unsigned index) {
  BlockArgument before = op.getRegionOutputArgs()[index];
  if (!before.hasOneUse())
    return nullptr;
  Operation *combiner = *before.user_begin();
  if (combiner->getBlock() != op.getBlock() || combiner->getNumResults() != 1 ||
      !combiner->hasOneUse() || !getCombinedKind(combiner))
    return nullptr;
  OpOperand &use = *combiner->use_begin();
  if (use.getOwner() != op.getBlock()->getTerminator() ||
      use.getOperandNumber() != index)
    return nullptr;
  return combiner;
}

static std::optional<ShardingRule> getLinalgRule(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics())
    return std::nullopt;
  ShardingRule rule;
  // Operations of the body that would fail for padding get harmless operands.
  bool allowsPadding = !op.getBlock()
                            ->walk([](Operation *inner) {
                              return succeeded(getHarmlessOperands(inner))
                                         ? WalkResult::advance()
                                         : WalkResult::interrupt();
                            })
                            .wasInterrupted();
  for (int64_t size : op.getStaticLoopRanges()) {
    if (ShapedType::isDynamic(size))
      return std::nullopt;
    ShardingRule::Factor &factor = rule.factors.emplace_back();
    factor.size = size;
    factor.allowsPadding = allowsPadding;
  }
  auto forbid = [&](AffineExpr expr) {
    expr.walk([&](AffineExpr part) {
      if (auto dim = dyn_cast<AffineDimExpr>(part))
        rule.factors[dim.getPosition()].isCuttable = false;
    });
  };
  for (OpOperand &operand : op->getOpOperands()) {
    SmallVector<int64_t> &dims = rule.operands.emplace_back();
    if (!isa<ShapedType>(operand.get().getType()))
      continue;
    for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults()) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      // A window or a diagonal reads elements of other shards.
      if (!dim || llvm::is_contained(dims, dim.getPosition())) {
        forbid(expr);
        dims.push_back(ShardingRule::kWhole);
        continue;
      }
      dims.push_back(dim.getPosition());
    }
  }
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  for (auto [number, factor] : llvm::enumerate(rule.factors))
    factor.isReduced = iterators[number] == utils::IteratorType::reduction;
  for (unsigned index = 0; index < op->getNumResults(); ++index) {
    OpOperand *init = op.getDpsInitOperand(index);
    rule.inits.push_back(init->getOperandNumber());
    rule.results.push_back(rule.operands[init->getOperandNumber()]);
    Operation *combiner = findCombiner(op, index);
    rule.reductions.push_back(combiner ? getCombinedKind(combiner)
                                       : std::nullopt);
    rule.combiners.push_back(combiner ? combiner->getName().getIdentifier()
                                      : StringAttr());
    for (auto [number, factor] : llvm::enumerate(rule.factors)) {
      bool isThere = llvm::is_contained(rule.results[index], number);
      // A factor must be reduced in all results or in none.
      if (factor.isReduced ? isThere || !combiner : !isThere)
        factor.isCuttable = false;
    }
  }
  return rule;
}

static std::optional<ShardingRule> getElementwiseRule(Operation *op) {
  ShardingRule rule;
  auto harmless = getHarmlessOperands(op);
  std::optional<ArrayRef<int64_t>> shape;
  auto add = [&](Type type, SmallVectorImpl<SmallVector<int64_t>> &list) {
    SmallVector<int64_t> &dims = list.emplace_back();
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return true;
    if (!shape) {
      shape = tensor.getShape();
      for (int64_t size : *shape) {
        ShardingRule::Factor &factor = rule.factors.emplace_back();
        factor.size = size;
        factor.allowsPadding = succeeded(harmless);
      }
    }
    llvm::append_range(dims, llvm::seq<int64_t>(0, tensor.getRank()));
    return tensor.getShape() == *shape;
  };
  for (Type type : op->getOperandTypes())
    if (!add(type, rule.operands))
      return std::nullopt;
  for (Type type : op->getResultTypes())
    if (!add(type, rule.results))
      return std::nullopt;
  if (succeeded(harmless)) {
    rule.harmless.resize(op->getNumOperands());
    for (auto [operand, value] : *harmless)
      rule.harmless[operand] = value;
  }
  rule.reductions.resize(op->getNumResults());
  rule.combiners.resize(op->getNumResults());
  rule.inits.resize(op->getNumResults());
  return rule;
}

SmallVector<Value> mlir::pathways::getCapturedTensors(Operation *op) {
  llvm::SetVector<Value> values;
  getUsedValuesDefinedAbove(op->getRegions(), values);
  return llvm::to_vector(llvm::make_filter_range(values, [](Value value) {
    return isa<RankedTensorType>(value.getType());
  }));
}

/// Dimensions that a collective in a `pw.manual` neither joins nor splits are
/// independent of each other: the shards along the other axes communicate in
/// groups of their own.
static ShardingRule getCollectiveRule(CollectiveOpInterface op) {
  ShardingRule rule = makeWholeRule(op);
  auto used = llvm::TypeSwitch<Operation *, SmallVector<int64_t>>(op)
                  .Case<AllGatherOp, ReduceScatterOp>([](auto concrete) {
                    return SmallVector<int64_t>{
                        static_cast<int64_t>(concrete.getDim())};
                  })
                  .Case([](AllToAllOp exchange) {
                    return SmallVector<int64_t>{
                        static_cast<int64_t>(exchange.getSplit()),
                        static_cast<int64_t>(exchange.getConcat())};
                  })
                  .Default([](Operation *) { return SmallVector<int64_t>(); });
  for (auto [dim, size] :
       llvm::enumerate(op.getSource().getType().getShape())) {
    if (llvm::is_contained(used, dim))
      continue;
    rule.operands[0][dim] = rule.results[0][dim] = rule.factors.size();
    rule.factors.push_back({size, /*isCuttable=*/true, /*allowsPadding=*/true});
  }
  return rule;
}

static std::optional<ShardingRule> findShardingRule(Operation *op) {
  if (op->getNumResults() == 0 ||
      !llvm::all_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>) ||
      !hasPlainTensors(op))
    return std::nullopt;
  if (auto shardable = dyn_cast<ShardableOpInterface>(op))
    return shardable.getShardingRule();
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return getLinalgRule(linalgOp);
  if (auto collective = dyn_cast<CollectiveOpInterface>(op))
    return getCollectiveRule(collective);
  if (OpTrait::hasElementwiseMappableTraits(op) && op->getNumRegions() == 0)
    return getElementwiseRule(op);
  return std::nullopt;
}

std::optional<ShardingRule> mlir::pathways::getShardingRule(Operation *op) {
  std::optional<ShardingRule> rule = findShardingRule(op);
  if (rule && op->getNumRegions() > 0)
    for (Value value : getCapturedTensors(op))
      rule->captures.emplace_back(
          cast<RankedTensorType>(value.getType()).getRank(),
          ShardingRule::kWhole);
  return rule;
}

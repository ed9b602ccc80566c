//===- BodyPartitionerContributions.cpp - Sums left as contributions ------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The result of a reduction over a cut dimension stays contributions until an
// operation reads it.
//
//===----------------------------------------------------------------------===//

#include "BodyPartitioner.h"

#include "WidenSums.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::pathways;

bool BodyPartitioner::startsNeutral(Value init, ReductionKind kind) {
  Operation *op = init.getDefiningOp();
  if (!op)
    return false;
  Attribute value;
  if (auto fill = dyn_cast<linalg::FillOp>(op)) {
    matchPattern(fill.getInputs()[0], m_Constant(&value));
  } else if (matchPattern(op, m_Constant(&value))) {
    auto dense = dyn_cast<DenseElementsAttr>(value);
    value = dense && dense.isSplat() ? dense.getSplatValue<Attribute>()
                                     : Attribute();
  }
  if (!value)
    return false;
  Type type = typeOf(init).getElementType();
  // Both zeros are neutral: a sum that starts with +0 has it in each
  // contribution, too.
  auto number = dyn_cast<FloatAttr>(value);
  if (number && kind == ReductionKind::Add)
    return number.getValue().isZero();
  return value == getNeutral(kind, type);
}

/// Returns the operands that results may start from as contributions with their
/// own layout. For f16 and bf16, contributions must have been requested for the
/// result, since sums are rounded one by one.
BodyPartitioner::KeptInits
BodyPartitioner::keepInits(Operation *op, const ShardingRule &rule,
                           const Cut &cut, ArrayRef<StringAttr> reduced) {
  KeptInits kept;
  if (reduced.empty())
    return kept;
  for (auto [index, init] : llvm::enumerate(rule.inits)) {
    OpResult result = op->getResult(index);
    Local local = locals.lookup(op->getOperand(*init));
    if (!local.isFree() &&
        local.sharding == getMade(rule, cut, index, reduced) &&
        (!isWidened(typeOf(result).getElementType()) ||
         areAlike(contributions.lookup(result), local.sharding)))
      kept[*init] = local.value;
  }
  return kept;
}

/// Returns true if `op` commutes with the combination of contributions by
/// `kind`: it combines them, scales sums or only moves elements.
static bool keepsContributions(Operation *op, ReductionKind kind) {
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp,
          tensor::ExtractSliceOp, linalg::TransposeOp>(op))
    return true;
  auto isFree = [&](unsigned index) {
    Operation *operand = op->getOperand(index).getDefiningOp();
    return operand && isMadeAnywhere(operand);
  };
  if (kind == ReductionKind::Add) {
    if (isa<arith::MulFOp, arith::MulIOp>(op))
      return isFree(0) != isFree(1);
    if (isa<arith::DivFOp>(op))
      return isFree(1) && !isFree(0);
    if (!isa<arith::AddFOp, arith::AddIOp, arith::NegFOp, arith::SubFOp,
             arith::SubIOp>(op))
      return false;
  } else if (getCombinedKind(op) != kind) {
    return false;
  }
  return llvm::none_of(llvm::seq<unsigned>(0, op->getNumOperands()), isFree);
}

/// Requests `value` as contributions, and with it its operands that nothing
/// else reads.
void BodyPartitioner::askContributions(Value value, ShardingAttr sharding) {
  ReductionKind kind = sharding.getPartialKind().getValue();
  SmallVector<Value> asked = {value};
  while (!asked.empty()) {
    Value next = asked.pop_back_val();
    contributions[next] = sharding;
    Operation *op = next.getDefiningOp();
    if (!op)
      continue;
    SmallVector<Value> parts;
    if (auto structured = dyn_cast<linalg::LinalgOp>(op))
      parts.push_back(structured.getTiedOpOperand(cast<OpResult>(next))->get());
    else if (getCombinedKind(op) == kind || keepsContributions(op, kind))
      llvm::append_range(parts, op->getOperands());
    for (Value part : parts)
      if (part.getType() == next.getType() && part.hasOneUse())
        asked.push_back(part);
  }
}

/// Computes `op` on contributions if that is equivalent to computing it on the
/// combined values: they are combined later, once. If contributions were
/// requested for the result, other operands are converted to contributions.
bool BodyPartitioner::keepContributions(Operation *op,
                                        const ShardingRule &rule) {
  ShardingAttr common;
  for (Value operand : op->getOperands())
    if (Local local = locals.lookup(operand);
        !common && !local.isFree() && local.sharding.isPartial())
      common = local.sharding;
  if (!common)
    return false;
  ReductionKind kind = common.getPartialKind().getValue();
  ShardingAttr asked = contributions.lookup(op->getResult(0));
  bool makesSome = asked == common && getCombinedKind(op) == kind;
  bool isWide = isWidened(typeOf(op->getResult(0)).getElementType());
  if (!makesSome &&
      (!keepsContributions(op, kind) || (isWide && !areAlike(asked, common))))
    return false;

  bool areAllThere = !makesSome;
  Cut cut(rule.factors.size(), builder.getArrayAttr({}));
  for (auto [dims, operand] :
       llvm::zip_equal(rule.operands, op->getOperands())) {
    Local local = locals.lookup(operand);
    if (local.isFree())
      continue;
    if (local.sharding != common) {
      if (!makesSome)
        return false;
      continue;
    }
    areAllThere &= versions.contains({operand, common.withoutPartial()});
    for (auto [factor, axes] : llvm::zip_equal(dims, common.getDims())) {
      if (axes.empty())
        continue;
      if (factor == ShardingRule::kWhole ||
          !rule.factors[factor].isCuttableInto(
              layouts.getNumBlocks(axes.getValue())))
        return false;
      cut[factor] = axes;
    }
  }
  if (areAllThere)
    return false;
  SmallVector<Value> inputs;
  for (auto [dims, operand] :
       llvm::zip_equal(rule.operands, op->getOperands())) {
    Local local = locals.lookup(operand);
    if (!isa<RankedTensorType>(operand.getType()))
      inputs.push_back(scalars.lookup(operand));
    else if (!local.isFree() && local.sharding == common)
      inputs.push_back(local.value);
    else
      inputs.push_back(widen(makesSome ? getContributions(operand, common)
                                       : get(operand, getLayout(dims, cut))));
  }
  ShardingAttr layout = getLayout(rule.results[0], cut);
  Value result = op->getResult(0);
  RankedTensorType type = layouts.getShardType(typeOf(result), layout);
  if (isWide)
    type = type.clone(builder.getF32Type());
  Operation *copy = cloneShard(op, inputs, type);
  define(result, copy->getResult(0),
         ShardingAttr::get(builder.getContext(), layout.getDims(),
                           common.getPartialKind(), common.getPartialAxes()));
  return true;
}

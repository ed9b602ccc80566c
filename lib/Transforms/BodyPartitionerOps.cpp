//===- BodyPartitionerOps.cpp - Operations cut by their rules -------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each operation that has a rule is cut in the cheapest way; all others are
// computed whole.
//
//===----------------------------------------------------------------------===//

#include "BodyPartitioner.h"

#include "BlockLookup.h"
#include "WidenSums.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::pathways;

//===----------------------------------------------------------------------===//
// Whole
//===----------------------------------------------------------------------===//

void BodyPartitioner::mapCaptured(Operation *op, IRMapping &mapping) {
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  for (Value value : captured)
    mapping.map(value, getWhole(value));
}

/// Everybody computes all of it.
void BodyPartitioner::computeWhole(Operation *op) {
  IRMapping mapping;
  bool isGathered = false;
  auto note = [&](Value value) {
    auto local = locals.find(value);
    isGathered |=
        local != locals.end() && !local->second.isFree() &&
        local->second.sharding != layouts.getWhole(typeOf(value).getRank());
  };
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  llvm::for_each(op->getOperands(), note);
  llvm::for_each(captured, note);
  if (isGathered)
    op->emitRemark() << "'" << op->getName()
                     << "' has no way to be cut like its operands; everybody "
                        "gathers these and computes all of it";
  for (Value operand : op->getOperands())
    mapping.map(operand, getWhole(operand));
  mapCaptured(op, mapping);
  Operation *copy = builder.clone(*op, mapping);
  for (auto [result, local] :
       llvm::zip_equal(op->getResults(), copy->getResults())) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (type && type.hasStaticShape())
      define(result, local, layouts.getWhole(type.getRank()));
    else
      scalars[result] = local;
  }
}

//===----------------------------------------------------------------------===//
// By rule
//===----------------------------------------------------------------------===//

Cut BodyPartitioner::chooseCut(Operation *op, const ShardingRule &rule) {
  // What a loop reads from outside is brought to a layout once, before it.
  auto isThere = [&](unsigned index, ShardingAttr layout) {
    Value operand = op->getOperand(index);
    return versions.contains({operand, layout}) || isOutside(operand);
  };
  CutProblem problem{op, rule, mesh, layouts.getRoutes(), {}, {}, isThere};
  for (Value operand : op->getOperands())
    problem.operands.push_back(isa<RankedTensorType>(operand.getType())
                                   ? locals.lookup(operand).sharding
                                   : ShardingAttr());
  for (Value result : op->getResults()) {
    ShardingAttr asked = contributions.lookup(result);
    problem.results.push_back(asked ? asked : shardings->get(result));
  }
  SmallVector<CutOption> options = rankCuts(problem);
  if (isExplained && options.size() > 1)
    explainCut(op, options);
  return options.front().cut;
}

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
  // Both zeros: a sum that starts with +0 has it in each contribution too.
  auto number = dyn_cast<FloatAttr>(value);
  if (number && kind == ReductionKind::Add)
    return number.getValue().isZero();
  return value == getNeutral(kind, type);
}

/// A copy of `op` that computes a shard of `types` from shards of operands.
Operation *BodyPartitioner::cloneShard(Operation *op, ValueRange inputs,
                                       TypeRange types) {
  IRMapping mapping;
  mapCaptured(op, mapping);
  Operation *copy =
      op->clone(mapping, Operation::CloneOptions::all().cloneOperands(false));
  builder.insert(copy);
  copy->setOperands(inputs);
  for (auto [result, type] : llvm::zip_equal(copy->getResults(), types))
    result.setType(type);
  if (auto shardable = dyn_cast<ShardableOpInterface>(copy))
    shardable.becomeShardOf(op);
  return copy;
}

void BodyPartitioner::cutByRule(Operation *op, const ShardingRule &rule) {
  explainGathers(op, rule);
  Cut cut = chooseCut(op, rule);
  SmallVector<StringAttr> reduced;
  for (auto [factor, axes] : llvm::zip_equal(rule.factors, cut))
    if (factor.isReduced)
      for (Attribute axis : axes)
        reduced.push_back(cast<StringAttr>(axis));

  SmallVector<Value> inputs;
  for (auto [dims, operand] : llvm::zip_equal(rule.operands, op->getOperands()))
    inputs.push_back(isa<RankedTensorType>(operand.getType())
                         ? get(operand, getLayout(dims, cut))
                         : scalars.lookup(operand));
  // Contributions start with nothing; what they start from is added once.
  SmallVector<Value> late(op->getNumResults());
  if (!reduced.empty())
    for (auto [index, init] : llvm::enumerate(rule.inits)) {
      ReductionKind kind = *rule.reductions[index];
      if (startsNeutral(op->getOperand(*init), kind))
        continue;
      auto type = cast<RankedTensorType>(inputs[*init].getType());
      late[index] = std::exchange(
          inputs[*init],
          makeFilled(getNeutral(kind, type.getElementType()), type));
    }

  // Numbers of loops stay global.
  SmallVector<Value> offsets(rule.factors.size());
  op->walk([&](linalg::IndexOp index) {
    if (index->getParentOp() != op)
      return;
    uint64_t loop = index.getDim();
    ArrayRef<Attribute> axes = cut[loop].getValue();
    if (axes.empty() || offsets[loop])
      return;
    Value block = arith::ConstantIndexOp::create(
        builder, rule.factors[loop].size / layouts.getNumBlocks(axes));
    offsets[loop] = arith::MulIOp::create(
        builder, layouts.getBlockNumber(builder, axes), block);
  });

  SmallVector<Type> types;
  for (auto [dims, result] : llvm::zip_equal(rule.results, op->getResults()))
    types.push_back(layouts.getShardType(typeOf(result), getLayout(dims, cut)));
  Operation *copy = cloneShard(op, inputs, types);
  copy->walk([&](linalg::IndexOp index) {
    if (index->getParentOp() != copy || !offsets[index.getDim()])
      return;
    OpBuilder inner(index->getContext());
    inner.setInsertionPointAfter(index);
    auto global = arith::AddIOp::create(inner, index.getLoc(), index,
                                        offsets[index.getDim()]);
    index.getResult().replaceAllUsesExcept(global, global);
  });

  if (!reduced.empty()) {
    SmallVector<Value> inits;
    for (std::optional<unsigned> init : rule.inits)
      inits.push_back(widen(inputs[*init]));
    if (llvm::any_of(op->getResultTypes(), [](Type type) {
          return isWidened(getElementTypeOrSelf(type));
        })) {
      IRRewriter rewriter(builder.getContext());
      copy->moveBefore(builder.getInsertionBlock(),
                       builder.getInsertionPoint());
      copy = widenSums(rewriter, cast<linalg::LinalgOp>(copy), inits);
    }
  }

  for (auto [index, result] : llvm::enumerate(op->getResults())) {
    ShardingAttr layout = getLayout(rule.results[index], cut);
    Value local = copy->getResult(index);
    if (reduced.empty()) {
      define(result, local, layout);
      continue;
    }
    auto partial = ShardingAttr::get(
        builder.getContext(), layout.getDims(),
        ReductionKindAttr::get(builder.getContext(), *rule.reductions[index]),
        reduced);
    if (!late[index]) {
      define(result, local, partial);
      continue;
    }
    Value sum =
        layouts.convert(builder, local, typeOf(result), partial, layout);
    OperationState state(op->getLoc(), rule.combiners[index]);
    state.addOperands({widen(late[index]), sum});
    state.addTypes(sum.getType());
    define(result,
           narrow(builder.create(state)->getResult(0),
                  typeOf(result).getElementType()),
           layout);
  }
}

/// Cuts a look-up in a table that is cut along the dimension of the indices:
/// everybody looks up what it has. False where `op` is none.
bool BodyPartitioner::cutInBlocks(Operation *op) {
  auto gather = dyn_cast<tensor::GatherOp>(op);
  if (!gather || gather.getGatherDims().size() != 1)
    return false;
  ShardingRule rule = getBlockLookupRule(gather);
  Cut cut = chooseCut(op, rule);
  if (cut.back().empty())
    return false;
  Value block = get(gather.getSource(), getLayout(rule.operands[0], cut));
  Value indices = get(gather.getIndices(), getLayout(rule.operands[1], cut));
  Value size = arith::ConstantIndexOp::create(
      builder,
      rule.factors.back().size / layouts.getNumBlocks(cut.back().getValue()));
  Value begin = arith::MulIOp::create(
      builder, layouts.getBlockNumber(builder, cut.back().getValue()), size);
  Value local = lookUpInBlock(builder, gather, block, indices, begin);
  SmallVector<StringAttr> axes;
  for (Attribute axis : cut.back())
    axes.push_back(cast<StringAttr>(axis));
  Type element = typeOf(gather.getResult()).getElementType();
  define(gather.getResult(), local,
         ShardingAttr::get(builder.getContext(),
                           getLayout(rule.results[0], cut).getDims(),
                           ReductionKindAttr::get(builder.getContext(),
                                                  getLookupReduction(element)),
                           axes));
  return true;
}

/// Whether `op` of contributions gives contributions to what `op` gives: it
/// adds them, scales them or only moves elements.
static bool isLinear(Operation *op) {
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp,
          tensor::ExtractSliceOp, linalg::TransposeOp>(op))
    return true;
  auto isScale = [&](unsigned index) {
    Operation *factor = op->getOperand(index).getDefiningOp();
    return factor && isMadeAnywhere(factor);
  };
  if (isa<arith::MulFOp, arith::MulIOp>(op))
    return isScale(0) != isScale(1);
  if (isa<arith::DivFOp>(op))
    return isScale(1) && !isScale(0);
  return isa<arith::AddFOp, arith::AddIOp, arith::NegFOp, arith::SubFOp,
             arith::SubIOp>(op) &&
         llvm::none_of(llvm::seq<unsigned>(0, op->getNumOperands()), isScale);
}

/// Where all that `op` reads are contributions to sums, and it may be done with
/// them as well as with the sums, does so: they are added up later, once.
bool BodyPartitioner::keepContributions(Operation *op,
                                        const ShardingRule &rule) {
  if (!isLinear(op) || isWidened(typeOf(op->getResult(0)).getElementType()))
    return false;
  ShardingAttr common;
  bool areAllThere = true;
  Cut cut(rule.factors.size(), builder.getArrayAttr({}));
  for (auto [dims, operand] :
       llvm::zip_equal(rule.operands, op->getOperands())) {
    Local local = locals.lookup(operand);
    if (local.isFree())
      continue;
    if (!local.sharding.isPartial() || (common && common != local.sharding) ||
        local.sharding.getPartialKind().getValue() != ReductionKind::Add)
      return false;
    common = local.sharding;
    areAllThere &= versions.contains({operand, common.withoutPartial()});
    for (auto [factor, axes] : llvm::zip_equal(dims, common.getDims())) {
      if (axes.empty())
        continue;
      if (factor == ShardingRule::kWhole || !rule.factors[factor].isCuttable)
        return false;
      cut[factor] = axes;
    }
  }
  if (!common || areAllThere)
    return false;
  SmallVector<Value> inputs;
  for (auto [dims, operand] : llvm::zip_equal(rule.operands, op->getOperands()))
    inputs.push_back(locals.lookup(operand).isFree()
                         ? get(operand, getLayout(dims, cut))
                         : locals.lookup(operand).value);
  ShardingAttr layout = getLayout(rule.results[0], cut);
  Value result = op->getResult(0);
  Operation *copy =
      cloneShard(op, inputs, layouts.getShardType(typeOf(result), layout));
  define(result, copy->getResult(0),
         ShardingAttr::get(builder.getContext(), layout.getDims(),
                           common.getPartialKind(), common.getPartialAxes()));
  return true;
}

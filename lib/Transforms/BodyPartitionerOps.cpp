//===- BodyPartitionerOps.cpp - Operations cut by their rules -------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Cuts each operation that has a rule in the cheapest way; all others are
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
#include "llvm/Support/MathExtras.h"

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

/// Makes each shard compute all of `op`.
void BodyPartitioner::computeWhole(Operation *op) {
  IRMapping mapping;
  explainWhole(op);
  for (Value operand : op->getOperands())
    mapping.map(operand, getWhole(operand));
  mapCaptured(op, mapping);
  Operation *copy = builder.clone(*op, mapping);
  copy->walk([&](Operation *inner) {
    bool isManual = isa<ManualOp>(inner) ||
                    (isa<CollectiveOpInterface>(inner) && inner != copy &&
                     !mayStandWhereItIs(inner, kMaxManualTrips));
    if (!isManual)
      return WalkResult::advance();
    refuse(op, inner, "and is computed whole by all devices");
    return WalkResult::interrupt();
  });
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
  // A loop converts a value from outside to a layout once, before it.
  auto isThere = [&](unsigned index, ShardingAttr layout) {
    Value operand = op->getOperand(index);
    return versions.contains({operand, layout}) || isOutside(operand);
  };
  CutProblem problem{op, rule,   layouts.getMesh(), layouts.getReshards(), {},
                     {}, isThere};
  for (Value operand : op->getOperands())
    problem.operands.push_back(isa<RankedTensorType>(operand.getType())
                                   ? locals.lookup(operand).sharding
                                   : ShardingAttr());
  for (Value result : op->getResults()) {
    ShardingAttr asked = contributions.lookup(result);
    problem.results.push_back(asked ? asked : shardings->get(result));
  }
  if (!rule.captures.empty())
    for (Value value : getCapturedTensors(op)) {
      ShardingAttr whole = layouts.getWhole(typeOf(value).getRank());
      bool isThere = versions.contains({value, whole}) || isOutside(value);
      problem.captures.push_back(isThere ? ShardingAttr()
                                         : locals.lookup(value).sharding);
    }
  SmallVector<CutOption> options = rankCuts(problem);
  if (isExplained && options.size() > 1)
    explainCut(op, options);
  return options.front().cut;
}

/// Makes a copy of `op` that computes shards of `types` from shards of
/// operands.
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

/// Returns those of `factors` that results lack.
static SmallVector<unsigned> getReduced(const ShardingRule &rule,
                                        ArrayRef<unsigned> factors) {
  SmallVector<unsigned> reduced;
  for (unsigned factor : factors)
    if (rule.factors[factor].isReduced)
      reduced.push_back(factor);
  return reduced;
}

/// Returns the factors whose shards have padding.
SmallVector<unsigned>
BodyPartitioner::getPaddedFactors(const ShardingRule &rule, const Cut &cut) {
  SmallVector<unsigned> padded;
  for (auto [factor, axes] : llvm::enumerate(cut))
    if (rule.factors[factor].size % layouts.getNumBlocks(axes.getValue()) != 0)
      padded.push_back(factor);
  return padded;
}

/// Returns the begin of this shard's padding in each of `dims` that is one of
/// `padded`.
SmallVector<PaddedDim> BodyPartitioner::getPadding(ArrayRef<int64_t> dims,
                                                   const ShardingRule &rule,
                                                   const Cut &cut,
                                                   ArrayRef<unsigned> padded) {
  SmallVector<PaddedDim> padding;
  for (auto [dim, factor] : llvm::enumerate(dims)) {
    if (!llvm::is_contained(padded, factor))
      continue;
    Value size =
        arith::ConstantIndexOp::create(builder, rule.factors[factor].size);
    padding.push_back(
        {static_cast<unsigned>(dim),
         arith::SubIOp::create(
             builder, size,
             getBlockBegin(rule.factors[factor].size, cut[factor]))});
  }
  return padding;
}

/// Returns the begin of this shard in a dimension of `size` that `axes` cut.
Value BodyPartitioner::getBlockBegin(int64_t size, ArrayAttr axes) {
  Value block = arith::ConstantIndexOp::create(
      builder, llvm::divideCeil(size, layouts.getNumBlocks(axes.getValue())));
  return arith::MulIOp::create(
      builder, layouts.getBlockNumber(builder, axes.getValue()), block);
}

/// Sets the padding of `inputs`, operands of a shard of `op`, so that it raises
/// no error and adds nothing to sums of products.
void BodyPartitioner::maskOperands(Operation *op, const ShardingRule &rule,
                                   const Cut &cut, ArrayRef<unsigned> padded,
                                   MutableArrayRef<Value> inputs) {
  auto mask = [&](unsigned index, ArrayRef<unsigned> factors,
                  TypedAttr element) {
    SmallVector<PaddedDim> padding =
        getPadding(rule.operands[index], rule, cut, factors);
    if (!padding.empty())
      inputs[index] = maskPadding(builder, inputs[index], padding, element);
  };
  for (auto [index, element] : llvm::enumerate(rule.harmless))
    if (element)
      mask(index, padded, element);
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  SmallVector<unsigned> reduced = getReduced(rule, padded);
  if (!linalgOp || reduced.empty() || !addsProducts(linalgOp, reduced))
    return;
  for (unsigned index : {0, 1}) {
    // -0 times 0 is -0, which changes no sum.
    Type type = typeOf(op->getOperand(index)).getElementType();
    mask(index, reduced,
         index == 0 ? getNeutral(ReductionKind::Add, type)
                    : builder.getZeroAttr(type));
  }
}

/// Makes the loop indices in `copy`, a shard, those of the whole array.
void BodyPartitioner::makeIndicesGlobal(Operation *copy,
                                        const ShardingRule &rule,
                                        const Cut &cut) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(copy);
  SmallVector<Value> offsets(rule.factors.size());
  copy->walk([&](linalg::IndexOp index) {
    uint64_t loop = index.getDim();
    if (index->getParentOp() != copy || cut[loop].empty())
      return;
    if (!offsets[loop])
      offsets[loop] = getBlockBegin(rule.factors[loop].size, cut[loop]);
    OpBuilder inner(index->getContext());
    inner.setInsertionPointAfter(index);
    auto global =
        arith::AddIOp::create(inner, index.getLoc(), index, offsets[loop]);
    index.getResult().replaceAllUsesExcept(global, global);
  });
}

/// Returns `copy`, a shard that reduces `inputs`, with sums of f16 and bf16 in
/// f32.
Operation *BodyPartitioner::widenReduced(Operation *copy,
                                         const ShardingRule &rule,
                                         ArrayRef<Value> inputs,
                                         const KeptInits &kept) {
  if (llvm::none_of(copy->getResultTypes(), [](Type type) {
        return isWidened(getElementTypeOrSelf(type));
      }))
    return copy;
  SmallVector<Value> inits;
  for (std::optional<unsigned> init : rule.inits)
    inits.push_back(kept.contains(*init) ? kept.lookup(*init)
                                         : widen(inputs[*init]));
  IRRewriter rewriter(builder.getContext());
  copy->moveBefore(builder.getInsertionBlock(), builder.getInsertionPoint());
  return widenSums(rewriter, cast<linalg::LinalgOp>(copy), inits);
}

/// Returns `copy`, a shard, with a body that masks its padding.
Operation *BodyPartitioner::maskBody(linalg::LinalgOp copy,
                                     const ShardingRule &rule, const Cut &cut,
                                     ArrayRef<unsigned> padded) {
  if (padded.empty())
    return copy;
  SmallVector<unsigned> reduced = getReduced(rule, padded);
  bool isReduced = !reduced.empty() && !addsProducts(copy, reduced);
  if (!isReduced && !mayFailInBody(copy))
    return copy;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(copy);
  auto loops = llvm::to_vector(llvm::seq<int64_t>(0, rule.factors.size()));
  SmallVector<std::optional<ReductionKind>> reductions(copy->getNumResults());
  IRRewriter rewriter(builder.getContext());
  return maskInBody(rewriter, copy, getPadding(loops, rule, cut, padded),
                    isReduced ? rule.reductions : reductions);
}

void BodyPartitioner::cutByRule(Operation *op, const ShardingRule &rule) {
  explainGathers(op, rule);
  Cut cut = chooseCut(op, rule);
  SmallVector<StringAttr> reduced = getReducedAxes(rule, cut);
  KeptInits kept = keepInits(op, rule, cut, reduced);
  SmallVector<Value> inputs;
  for (auto [dims, operand] :
       llvm::zip_equal(rule.operands, op->getOperands())) {
    unsigned index = inputs.size();
    if (!isa<RankedTensorType>(operand.getType()))
      inputs.push_back(scalars.lookup(operand));
    else if (kept.contains(index))
      inputs.push_back(
          narrow(kept.lookup(index), typeOf(operand).getElementType()));
    else
      inputs.push_back(get(operand, getLayout(dims, cut)));
  }
  // Contributions start from the identity; the init is added once, at the end.
  SmallVector<Value> late(op->getNumResults());
  if (!reduced.empty())
    for (auto [index, init] : llvm::enumerate(rule.inits)) {
      ReductionKind kind = *rule.reductions[index];
      if (kept.contains(*init) || startsNeutral(op->getOperand(*init), kind))
        continue;
      auto type = cast<RankedTensorType>(inputs[*init].getType());
      late[index] = std::exchange(
          inputs[*init],
          makeFilled(getNeutral(kind, type.getElementType()), type));
    }

  SmallVector<unsigned> padded = getPaddedFactors(rule, cut);
  maskOperands(op, rule, cut, padded, inputs);

  SmallVector<Type> types;
  for (auto [dims, result] : llvm::zip_equal(rule.results, op->getResults()))
    types.push_back(layouts.getShardType(typeOf(result), getLayout(dims, cut)));
  Operation *copy = cloneShard(op, inputs, types);
  makeIndicesGlobal(copy, rule, cut);
  if (!reduced.empty())
    copy = widenReduced(copy, rule, inputs, kept);
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(copy))
    copy = maskBody(linalgOp, rule, cut, padded);

  for (auto [index, result] : llvm::enumerate(op->getResults())) {
    ShardingAttr made = getMade(rule, cut, index, reduced);
    Value local = copy->getResult(index);
    if (!late[index]) {
      define(result, local, made);
      continue;
    }
    ShardingAttr layout = made.withoutPartial();
    Value sum = layouts.convert(builder, local, typeOf(result), made, layout);
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
/// each shard looks up the slices that it has. Returns false if `op` is no such
/// look-up.
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
  if (!rule.harmless.empty())
    if (SmallVector<PaddedDim> padding = getPadding(
            rule.operands[1], rule, cut, getPaddedFactors(rule, cut));
        !padding.empty())
      indices = maskPadding(builder, indices, padding, rule.harmless[1]);
  Value begin = getBlockBegin(rule.factors.back().size, cut.back());
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

//===- BlockLookup.cpp - Look-ups in a block of a table -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A table that is cut along the dimension of the look-up stays where it is:
// each shard looks up the slices that it has, and the results are added up.
// That moves results instead of the table (Shoeybi et al., "Megatron-LM",
// 2019).
//
//===----------------------------------------------------------------------===//

#include "BlockLookup.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::pathways;

ReductionKind mlir::pathways::getLookupReduction(Type element) {
  return element.isInteger(1) ? ReductionKind::Max : ReductionKind::Add;
}

ShardingRule mlir::pathways::getBlockLookupRule(tensor::GatherOp op) {
  ShardingRule rule = *getShardingRule(op);
  int64_t dim = op.getGatherDims().front();
  rule.operands[0][dim] = rule.factors.size();
  ShardingRule::Factor factor{op.getSourceType().getDimSize(dim)};
  factor.isReduced = true;
  factor.allowsPadding = true; // no valid index is in it
  rule.factors.push_back(factor);
  rule.reductions[0] = getLookupReduction(op.getResultType().getElementType());
  return rule;
}

/// Returns whether 0 <= value - begin < size, and the difference.
static std::pair<Value, Value> isWithin(OpBuilder &b, Location loc, Value value,
                                        Value begin, int64_t size) {
  Value offset = arith::SubIOp::create(b, loc, value, begin);
  Value end = arith::ConstantIndexOp::create(b, loc, size);
  return {arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, offset, end),
          offset};
}

static Value toIndex(OpBuilder &b, Location loc, Value value) {
  if (value.getType().isInteger(1)) // true is 1
    return arith::IndexCastUIOp::create(b, loc, b.getIndexType(), value);
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), value);
}

/// Calls `make` for each element of `inputs` under `maps`.
static Value
mapElements(ImplicitLocOpBuilder &b, RankedTensorType type, ValueRange inputs,
            ArrayRef<AffineMap> maps,
            function_ref<Value(OpBuilder &, Location, ValueRange)> make) {
  Value empty =
      tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
  SmallVector<AffineMap> all(maps);
  all.push_back(b.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, type, inputs, empty, all, iterators,
             [&](OpBuilder &inner, Location loc, ValueRange elements) {
               linalg::YieldOp::create(inner, loc, make(inner, loc, elements));
             })
      .getResult(0);
}

Value mlir::pathways::lookUpInBlock(ImplicitLocOpBuilder &b,
                                    tensor::GatherOp op, Value block,
                                    Value indices, Value begin) {
  int64_t dim = op.getGatherDims().front();
  int64_t size = op.getSourceType().getDimSize(dim);
  auto blockType = cast<RankedTensorType>(block.getType());
  auto indexType = cast<RankedTensorType>(indices.getType());
  int64_t blockSize = blockType.getDimSize(dim);

  // An index of another block becomes 0. An index outside of the whole table
  // becomes -1, even if the padding of a block would have a place for it.
  auto local = indexType.clone(b.getI64Type());
  Value within = mapElements(
      b, local, indices, b.getMultiDimIdentityMap(local.getRank()),
      [&](OpBuilder &inner, Location loc, ValueRange elements) -> Value {
        Value index = toIndex(inner, loc, elements[0]);
        Value zero = arith::ConstantIndexOp::create(inner, loc, 0);
        Value none = arith::ConstantIndexOp::create(inner, loc, -1);
        auto [isHere, offset] = isWithin(inner, loc, index, begin, blockSize);
        Value isThere = isWithin(inner, loc, index, zero, size).first;
        Value mine = arith::SelectOp::create(inner, loc, isHere, offset, zero);
        Value chosen = arith::SelectOp::create(inner, loc, isThere, mine, none);
        return arith::IndexCastOp::create(inner, loc, inner.getI64Type(),
                                          chosen);
      });
  int64_t numLeading = indexType.getRank() - 1;
  SmallVector<int64_t> shape(indexType.getShape().drop_back());
  bool keepsDims =
      op.getResultType().getRank() == numLeading + blockType.getRank();
  for (auto [d, extent] : llvm::enumerate(blockType.getShape())) {
    if (static_cast<int64_t>(d) != dim)
      shape.push_back(extent);
    else if (keepsDims)
      shape.push_back(1);
  }
  auto type = RankedTensorType::get(shape, blockType.getElementType());
  Value slices = tensor::GatherOp::create(b, type, block, within,
                                          op.getGatherDims(), op.getUnique());

  // Slices of other blocks contribute the identity.
  Value neutral = arith::ConstantOp::create(
      b, getNeutral(getLookupReduction(type.getElementType()),
                    type.getElementType()));
  SmallVector<ReassociationIndices> groups;
  for (int64_t d = 0; d < numLeading; ++d)
    groups.push_back({d});
  if (numLeading > 0)
    groups.back().push_back(numLeading);
  Value flat = tensor::CollapseShapeOp::create(
      b,
      RankedTensorType::get(indexType.getShape().drop_back(),
                            indexType.getElementType()),
      indices, groups);
  AffineMap identity = b.getMultiDimIdentityMap(type.getRank());
  AffineMap leading = AffineMap::get(
      type.getRank(), 0, identity.getResults().take_front(numLeading),
      b.getContext());
  return mapElements(
      b, type, {slices, flat}, {identity, leading},
      [&](OpBuilder &inner, Location loc, ValueRange elements) -> Value {
        Value index = toIndex(inner, loc, elements[1]);
        Value isHere = isWithin(inner, loc, index, begin, blockSize).first;
        return arith::SelectOp::create(inner, loc, isHere, elements[0],
                                       neutral);
      });
}

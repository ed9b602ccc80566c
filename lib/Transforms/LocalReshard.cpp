//===- LocalReshard.cpp - From layout to layout ---------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LocalReshard.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::pathways;

int64_t LocalReshard::getNumBlocks(ArrayRef<Attribute> axes) const {
  int64_t blocks = 1;
  for (Attribute axis : axes)
    blocks *= mesh.getSizes()[mesh.getAxisIndex(cast<StringAttr>(axis))];
  return blocks;
}

ShardingAttr LocalReshard::normalize(ShardingAttr sharding) const {
  MLIRContext *context = sharding.getContext();
  auto filter = [&](auto axes) {
    SmallVector<Attribute> kept;
    for (Attribute axis : axes)
      if (getNumBlocks(axis) > 1)
        kept.push_back(axis);
    return kept;
  };
  SmallVector<ArrayAttr> dims;
  for (ArrayAttr axes : sharding.getDims())
    dims.push_back(ArrayAttr::get(context, filter(axes)));
  SmallVector<StringAttr> partial;
  for (Attribute axis : filter(sharding.getPartialAxes()))
    partial.push_back(cast<StringAttr>(axis));
  return ShardingAttr::get(
      context, dims, partial.empty() ? nullptr : sharding.getPartialKind(),
      partial);
}

ShardingAttr LocalReshard::getWhole(int64_t rank) const {
  MLIRContext *context = mesh.getContext();
  SmallVector<ArrayAttr> dims(rank, ArrayAttr::get(context, {}));
  return ShardingAttr::get(context, dims);
}

ShardingAttr LocalReshard::getEven(RankedTensorType type,
                                   ShardingAttr sharding) const {
  MLIRContext *context = mesh.getContext();
  SmallVector<ArrayAttr> dims;
  for (auto [size, axes] : llvm::zip_equal(type.getShape(), sharding.getDims()))
    dims.push_back(size % getNumBlocks(axes.getValue()) == 0
                       ? axes
                       : ArrayAttr::get(context, {}));
  return ShardingAttr::get(context, dims, sharding.getPartialKind(),
                           sharding.getPartialAxes());
}

RankedTensorType LocalReshard::getShardType(RankedTensorType type,
                                            ShardingAttr sharding) const {
  SmallVector<int64_t> shape;
  for (auto [size, axes] : llvm::zip_equal(type.getShape(), sharding.getDims()))
    shape.push_back(llvm::divideCeil(size, getNumBlocks(axes.getValue())));
  return RankedTensorType::get(shape, type.getElementType());
}

Value LocalReshard::getBlockNumber(ImplicitLocOpBuilder &builder,
                                   ArrayRef<Attribute> axes) const {
  Value number;
  for (Attribute axis : axes) {
    Value index = ShardIndexOp::create(builder, builder.getIndexType(),
                                       cast<StringAttr>(axis));
    if (number) {
      Value size = arith::ConstantIndexOp::create(builder, getNumBlocks(axis));
      number = arith::AddIOp::create(
          builder, arith::MulIOp::create(builder, number, size), index);
    } else {
      number = index;
    }
  }
  return number ? number : arith::ConstantIndexOp::create(builder, 0);
}

/// `type` with another size of `dim`.
static RankedTensorType withSize(RankedTensorType type, int64_t dim,
                                 int64_t size) {
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = size;
  return type.clone(shape);
}

Value LocalReshard::gather(ImplicitLocOpBuilder &builder, Value value,
                           int64_t dim, ArrayRef<Attribute> axes) const {
  auto type = cast<RankedTensorType>(value.getType());
  return AllGatherOp::create(
      builder, withSize(type, dim, type.getDimSize(dim) * getNumBlocks(axes)),
      value, dim, builder.getArrayAttr(axes));
}

/// The part of `value` of `type`, at `offset` of dimension `dim`.
static Value extract(ImplicitLocOpBuilder &builder, Value value,
                     RankedTensorType type, int64_t dim, OpFoldResult offset) {
  if (type.getNumElements() == 0) // No offset is inside of nothing.
    return tensor::EmptyOp::create(builder, type.getShape(),
                                   type.getElementType());
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0)),
      sizes, strides(type.getRank(), builder.getIndexAttr(1));
  offsets[dim] = offset;
  for (int64_t size : type.getShape())
    sizes.push_back(builder.getIndexAttr(size));
  return tensor::ExtractSliceOp::create(builder, type, value, offsets, sizes,
                                        strides);
}

Value LocalReshard::takeBlock(ImplicitLocOpBuilder &builder, Value value,
                              int64_t dim, ArrayRef<Attribute> axes) const {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t size = type.getDimSize(dim) / getNumBlocks(axes);
  Value extent = arith::ConstantIndexOp::create(builder, size);
  Value offset =
      arith::MulIOp::create(builder, getBlockNumber(builder, axes), extent);
  return extract(builder, value, withSize(type, dim, size), dim, offset);
}

/// `from` becomes the layout of what it returns.
Value LocalReshard::reduce(ImplicitLocOpBuilder &builder, Value value,
                           RankedTensorType type, ShardingAttr &from,
                           ShardingAttr to) const {
  ReductionKind kind = from.getPartialKind().getValue();
  SmallVector<Attribute> group(from.getPartialAxes().begin(),
                               from.getPartialAxes().end());
  ShardingAttr whole = from.withoutPartial();
  // Who wants a block of the sum need not get all of it.
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    SmallVector<Attribute> cut(whole.getDims()[dim].begin(),
                               whole.getDims()[dim].end());
    llvm::append_range(cut, group);
    if (ArrayRef<Attribute>(cut) != to.getDims()[dim].getValue())
      continue;
    SmallVector<ArrayAttr> dims(whole.getDims());
    dims[dim] = builder.getArrayAttr(cut);
    from = ShardingAttr::get(builder.getContext(), dims);
    auto shard = getShardType(type, from).clone(getElementTypeOrSelf(value));
    return ReduceScatterOp::create(builder, shard, value, kind, dim,
                                   builder.getArrayAttr(group));
  }
  from = whole;
  return AllReduceOp::create(builder, value.getType(), value, kind,
                             builder.getArrayAttr(group));
}

Value LocalReshard::convert(ImplicitLocOpBuilder &builder, Value value,
                            RankedTensorType type, ShardingAttr from,
                            ShardingAttr to) const {
  if (from.isPartial())
    value = reduce(builder, value, type, from, to);
  // Of each dimension: the axes that must go and those that come behind the
  // ones that stay.
  int64_t rank = type.getRank();
  SmallVector<ArrayRef<Attribute>> leaving, coming;
  for (auto [old, goal] : llvm::zip_equal(from.getDims(), to.getDims())) {
    size_t common = 0;
    while (common < std::min(old.size(), goal.size()) &&
           old[common] == goal[common])
      ++common;
    leaving.push_back(old.getValue().drop_front(common));
    coming.push_back(goal.getValue().drop_front(common));
  }
  // Axes that only go from one dimension to another.
  for (int64_t concat = 0; concat < rank; ++concat) {
    if (leaving[concat].empty() || !coming[concat].empty())
      continue;
    for (int64_t split = 0; split < rank; ++split) {
      if (coming[split] != leaving[concat] || !leaving[split].empty())
        continue;
      auto shard = cast<RankedTensorType>(value.getType());
      int64_t blocks = getNumBlocks(leaving[concat]);
      shard = withSize(shard, concat, shard.getDimSize(concat) * blocks);
      shard = withSize(shard, split, shard.getDimSize(split) / blocks);
      value = AllToAllOp::create(builder, shard, value, split, concat,
                                 builder.getArrayAttr(leaving[concat]));
      leaving[concat] = coming[split] = {};
      break;
    }
  }
  // Less is gathered of a block: but not over axes that made it.
  SmallVector<Attribute> gathered;
  for (ArrayRef<Attribute> axes : leaving)
    llvm::append_range(gathered, axes);
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (coming[dim].empty() || !leaving[dim].empty() ||
        llvm::any_of(coming[dim], [&](Attribute axis) {
          return llvm::is_contained(gathered, axis);
        }))
      continue;
    value = takeBlock(builder, value, dim, coming[dim]);
    coming[dim] = {};
  }
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!leaving[dim].empty())
      value = gather(builder, value, dim, leaving[dim]);
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!coming[dim].empty())
      value = takeBlock(builder, value, dim, coming[dim]);
  return value;
}

Value LocalReshard::makeEven(ImplicitLocOpBuilder &builder, Value value,
                             RankedTensorType type,
                             ShardingAttr sharding) const {
  ShardingAttr even = getEven(type, sharding);
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    ArrayRef<Attribute> axes = sharding.getDims()[dim].getValue();
    if (even.getDims()[dim].getValue() == axes)
      continue;
    // Blocks are as large as the first, so padding is behind the last element.
    value = gather(builder, value, dim, axes);
    auto padded = cast<RankedTensorType>(value.getType());
    value = extract(builder, value, withSize(padded, dim, type.getDimSize(dim)),
                    dim, builder.getIndexAttr(0));
  }
  return value;
}

Value LocalReshard::makeUneven(ImplicitLocOpBuilder &builder, Value value,
                               RankedTensorType type,
                               ShardingAttr sharding) const {
  ShardingAttr even = getEven(type, sharding);
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    ArrayRef<Attribute> axes = sharding.getDims()[dim].getValue();
    if (even.getDims()[dim].getValue() == axes)
      continue;
    auto shard = cast<RankedTensorType>(value.getType());
    int64_t blocks = getNumBlocks(axes);
    int64_t padded = llvm::divideCeil(shard.getDimSize(dim), blocks) * blocks;
    SmallVector<OpFoldResult> low(type.getRank(), builder.getIndexAttr(0)),
        high = low;
    high[dim] = builder.getIndexAttr(padded - shard.getDimSize(dim));
    Value zero = arith::ConstantOp::create(
        builder, cast<TypedAttr>(builder.getZeroAttr(type.getElementType())));
    value = tensor::PadOp::create(builder, withSize(shard, dim, padded), value,
                                  low, high, zero);
    value = takeBlock(builder, value, dim, axes);
  }
  return value;
}

//===- LocalReshard.cpp - Changes of layout in local view -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LocalReshard.h"
#include "ReshardReport.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::pathways;

ShardingAttr LocalReshard::getWhole(int64_t rank) const {
  MLIRContext *context = mesh.getContext();
  SmallVector<ArrayAttr> dims(rank, ArrayAttr::get(context, {}));
  return ShardingAttr::get(context, dims);
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

/// Returns `type` with another size of `dim`.
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

/// Returns the part of `value` that has `type`, at `offset` of dimension `dim`.
static Value extract(ImplicitLocOpBuilder &builder, Value value,
                     RankedTensorType type, int64_t dim, OpFoldResult offset) {
  if (type.getNumElements() == 0) // an empty value has no valid offset
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

/// Exchanges two axes of one size: each shard takes the value of the shard
/// whose coordinates on the two axes are swapped. The distance to it in ranks
/// is one of a few shifts over both axes.
Value LocalReshard::permute(ImplicitLocOpBuilder &builder, Value value,
                            ArrayRef<Attribute> axes) const {
  int64_t size = getNumBlocks(axes[0]), ranks = size * size;
  Value rank = getBlockNumber(builder, axes);
  Value source = getBlockNumber(builder, {axes[1], axes[0]});
  Value all = arith::ConstantIndexOp::create(builder, ranks);
  Value distance = arith::RemUIOp::create(
      builder,
      arith::SubIOp::create(builder, arith::AddIOp::create(builder, rank, all),
                            source),
      all);
  Value result = value;
  for (int64_t step = 1 - size; step < size; ++step) {
    if (step == 0)
      continue;
    int64_t shift = (step * (size - 1) + ranks) % ranks;
    Value shifted = PermuteOp::create(
        builder, value.getType(), value, builder.getI64IntegerAttr(shift),
        /*pairs=*/DenseI64ArrayAttr(), builder.getArrayAttr(axes),
        builder.getUnitAttr());
    Value isIt =
        arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, distance,
                              arith::ConstantIndexOp::create(builder, shift));
    result = arith::SelectOp::create(builder, isIt, shifted, result);
  }
  return result;
}

Value LocalReshard::make(ImplicitLocOpBuilder &builder, Value value,
                         RankedTensorType type, const MovementStep &step,
                         ReductionKind kind) const {
  // Contributions may have another element type.
  auto shard = getShardType(type, step.to).clone(getElementTypeOrSelf(value));
  ArrayAttr axes = builder.getArrayAttr(step.axes);
  switch (step.kind) {
  case MovementStep::Slice:
    return takeBlock(builder, value, step.dim, step.axes);
  case MovementStep::AllGather:
    return gather(builder, value, step.dim, step.axes);
  case MovementStep::AllToAll:
    return AllToAllOp::create(builder, shard, value, step.split, step.dim,
                              axes);
  case MovementStep::Permute:
    return permute(builder, value, step.axes);
  case MovementStep::ReduceScatter:
    return ReduceScatterOp::create(builder, shard, value, kind, step.dim, axes);
  case MovementStep::AllReduce:
    return AllReduceOp::create(builder, shard, value, kind, axes);
  case MovementStep::Pieces:
    break; // never in a body
  }
  llvm_unreachable("no step of a body");
}

/// Changes the sizes of dimensions of `value`: drops elements at the end, or
/// adds padding there.
static Value resize(ImplicitLocOpBuilder &builder, Value value,
                    ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> kept, added;
  for (auto [size, goal] : llvm::zip_equal(type.getShape(), shape)) {
    kept.push_back(std::min(size, goal));
    added.push_back(std::max<int64_t>(goal - size, 0));
  }
  if (ArrayRef(kept) != type.getShape())
    value = extract(builder, value, type.clone(kept), /*dim=*/0,
                    builder.getIndexAttr(0));
  if (ArrayRef(kept) == shape)
    return value;
  if (ShapedType::getNumElements(shape) == 0)
    return tensor::EmptyOp::create(builder, shape, type.getElementType());
  SmallVector<OpFoldResult> low(shape.size(), builder.getIndexAttr(0)), high;
  for (int64_t size : added)
    high.push_back(builder.getIndexAttr(size));
  Value zero = arith::ConstantOp::create(
      builder, cast<TypedAttr>(builder.getZeroAttr(type.getElementType())));
  return tensor::PadOp::create(builder, type.clone(shape), value, low, high,
                               zero);
}

void LocalReshard::explain(Location location, RankedTensorType type,
                           ShardingAttr from, ShardingAttr to) {
  auto print = [](auto... parts) {
    std::string text;
    llvm::raw_string_ostream os(text);
    ((os << parts), ...);
    return text;
  };
  ReshardChoice choice{"", print(type, " ", from), print(to), {}};
  for (const BodyReshard &reshard : reshards.list(type, from, to))
    choice.routes.push_back(describeRoute(reshard.getAllSteps(), reshard.cost));
  if (!choice.routes.front().steps.empty())
    reportReshard(location, std::move(choice), explanations.choices);
}

Value LocalReshard::convert(ImplicitLocOpBuilder &builder, Value value,
                            RankedTensorType type, ShardingAttr from,
                            ShardingAttr to) {
  if (from == to)
    return value;
  ReductionKindAttr kind = from.getPartialKind();
  auto move = [&](RankedTensorType padded, ArrayRef<MovementStep> steps) {
    for (const MovementStep &step : steps)
      value = make(builder, value, padded, step,
                   kind ? kind.getValue() : ReductionKind::Add);
  };
  auto wide = type.clone(getElementTypeOrSelf(value));
  if (explanations.reshards)
    explain(builder.getLoc(), wide, from, to);
  const BodyReshard &reshard = reshards.get(wide, from, to);
  value = resize(builder, value, getShardType(reshard.before, from).getShape());
  move(reshard.before, reshard.steps);
  value = resize(builder, value,
                 getShardType(reshard.after, reshard.between).getShape());
  move(reshard.after, reshard.lastSteps);
  return value;
}

//===- SteppedArrays.cpp - Stepped arrays of loops ------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SteppedArrays.h"

#include "pathways/Dialect/Pathways/Layouts.h"
#include "runtime/base/buffer_bytes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::pathways;

/// Adds a call of a generated function for shards. `build` makes its results.
static CallOp
addCall(ImplicitLocOpBuilder &builder, ShardFunctions &shards, StringRef name,
        ValueRange inputs, ArrayRef<Type> results,
        function_ref<SmallVector<Value>(ImplicitLocOpBuilder &, ValueRange)>
            build) {
  auto getShards = [&](auto &&arrays) {
    return llvm::map_to_vector(arrays, [&](Type type) -> Type {
      return shards.getShard(cast<ArrayType>(type));
    });
  };
  FlatSymbolRefAttr function = shards.get(
      builder, name,
      builder.getFunctionType(getShards(inputs.getTypes()), getShards(results)),
      cast<ArrayType>(results.front()).getSharding().isPartial(), build);
  return CallOp::create(builder, results, function.getValue(), inputs);
}

//===----------------------------------------------------------------------===//
// Parts as arrays
//===----------------------------------------------------------------------===//

namespace {
/// The part of a stacked shard that has `count` indices of the leading
/// dimension, from `index` on.
struct StackedPart {
  SmallVector<OpFoldResult> offsets, sizes, strides;

  StackedPart(Builder &builder, RankedTensorType stacked, int64_t index,
              int64_t count = 1)
      : offsets(stacked.getRank(), builder.getIndexAttr(0)),
        strides(stacked.getRank(), builder.getIndexAttr(1)) {
    offsets.front() = builder.getIndexAttr(index);
    for (int64_t size : stacked.getShape())
      sizes.push_back(builder.getIndexAttr(size));
    sizes.front() = builder.getIndexAttr(count);
  }
};
} // namespace

/// Returns index `index` of the leading dimension of `stacked`.
static Value extractPart(ImplicitLocOpBuilder &b, Value stacked,
                         RankedTensorType part, int64_t index) {
  if (part.getNumElements() == 0) // has no valid offset
    return tensor::EmptyOp::create(b, part.getShape(), part.getElementType());
  StackedPart place(b, cast<RankedTensorType>(stacked.getType()), index);
  return tensor::ExtractSliceOp::create(b, part, stacked, place.offsets,
                                        place.sizes, place.strides);
}

/// Most tensors that are inserted one after the other into another one, if that
/// is small: the time to find memory for such a chain is cubic in its length.
static constexpr size_t kMaxChain = 12;
static constexpr int64_t kMaxSmallElements = 1 << 14;

/// Returns a tensor of type `stacked` whose leading dimension has `parts`, each
/// `count` indices, except the last one, which may have fewer.
static Value insertParts(ImplicitLocOpBuilder &b, RankedTensorType stacked,
                         ValueRange parts, int64_t count) {
  Value all =
      tensor::EmptyOp::create(b, stacked.getShape(), stacked.getElementType());
  int64_t size = stacked.getDimSize(0);
  for (auto [number, value] : llvm::enumerate(parts)) {
    int64_t index = number * count;
    StackedPart part(b, stacked, index, std::min(count, size - index));
    all = tensor::InsertSliceOp::create(b, value, all, part.offsets, part.sizes,
                                        part.strides);
  }
  return all;
}

/// Stacks `parts` in groups, and the groups, if they are many and small.
static Value stackParts(ImplicitLocOpBuilder &b, RankedTensorType stacked,
                        ValueRange parts) {
  if (stacked.getNumElements() == 0)
    return tensor::EmptyOp::create(b, stacked.getShape(),
                                   stacked.getElementType());
  if (parts.size() <= kMaxChain || stacked.getNumElements() > kMaxSmallElements)
    return insertParts(b, stacked, parts, 1);
  size_t count =
      std::max<size_t>(kMaxChain, llvm::divideCeil(parts.size(), kMaxChain));
  SmallVector<Value> groups;
  for (size_t begin = 0; begin < parts.size(); begin += count) {
    ValueRange group =
        parts.slice(begin, std::min(count, parts.size() - begin));
    SmallVector<int64_t> shape(stacked.getShape());
    shape.front() = group.size();
    groups.push_back(stackParts(b, stacked.clone(shape), group));
  }
  return insertParts(b, stacked, groups, count);
}

ValueRange mlir::pathways::splitArray(ImplicitLocOpBuilder &builder,
                                      ShardFunctions &shards, Value whole,
                                      ArrayType part) {
  RankedTensorType stacked = shards.getShard(cast<ArrayType>(whole.getType())),
                   shard = shards.getShard(part);
  int64_t trips = stacked.getDimSize(0);
  auto build = [&](ImplicitLocOpBuilder &b, ValueRange arguments) {
    SmallVector<Value> values;
    for (int64_t i = 0; i < trips; ++i)
      values.push_back(extractPart(b, arguments[0], shard, i));
    return values;
  };
  return addCall(builder, shards, "pw_split", whole,
                 SmallVector<Type>(trips, part), build)
      .getOutputs();
}

Value mlir::pathways::stackArrays(ImplicitLocOpBuilder &builder,
                                  ShardFunctions &shards,
                                  ArrayRef<Value> elements, ArrayType whole) {
  RankedTensorType stacked = shards.getShard(whole);
  auto build = [&](ImplicitLocOpBuilder &b, ValueRange arguments) {
    return SmallVector<Value>{stackParts(b, stacked, arguments)};
  };
  return addCall(builder, shards, "pw_stack", elements, Type(whole), build)
      .getOutputs()
      .front();
}

/// Returns one index of the leading dimension of `whole` as an array.
static Value take(ImplicitLocOpBuilder &builder, ShardFunctions &shards,
                  Value whole, ArrayType part, int64_t index) {
  RankedTensorType shard = shards.getShard(part);
  auto build = [&](ImplicitLocOpBuilder &b, ValueRange arguments) {
    return SmallVector<Value>{extractPart(b, arguments[0], shard, index)};
  };
  return addCall(builder, shards, ("pw_take_" + Twine(index)).str(), whole,
                 Type(part), build)
      .getOutputs()
      .front();
}

void mlir::pathways::takeFromStacks(ForOp loop, ShardFunctions &shards) {
  ImplicitLocOpBuilder builder(loop.getLoc(), loop->getContext());
  builder.setInsertionPointAfter(loop);
  llvm::DenseMap<Value, unsigned> stacked;
  for (auto [index, value] : llvm::enumerate(loop.getYield().getValues()))
    if (loop.getResultUse(index) != LoopUse::Carried)
      stacked[value] = index;
  for (auto [index, value] : llvm::enumerate(loop.getYield().getValues())) {
    Value last = loop.getOutputs()[index];
    auto whole = stacked.find(value);
    if (loop.getResultUse(index) != LoopUse::Carried || last.use_empty() ||
        whole == stacked.end())
      continue;
    int64_t at =
        getPlace(loop, loop.getResultUse(whole->second), loop.getTrips() - 1);
    last.replaceAllUsesWith(take(builder, shards,
                                 loop.getOutputs()[whole->second],
                                 cast<ArrayType>(last.getType()), at));
  }
}

//===----------------------------------------------------------------------===//
// Aligned parts
//===----------------------------------------------------------------------===//

uint64_t mlir::pathways::getShardBytes(ArrayType type,
                                       const ShardFunctions &shards) {
  RankedTensorType shard = shards.getShard(type);
  return shard.getNumElements() * getElementBytes(shard.getElementType());
}

/// Returns true if parts of this type, one after the other, are aligned.
static bool areAligned(ArrayType type, const ShardFunctions &shards) {
  return getShardBytes(type, shards) % ::pathways::kBufferAlignment == 0;
}

/// Returns the type of an array that has, for each iteration, the elements of a
/// shard of `part` and then so many unused ones that the parts are aligned.
static ArrayType getSpread(ArrayType part, int64_t trips,
                           const ShardFunctions &shards) {
  Builder b(part.getContext());
  ShardingAttr sharding = part.getSharding();
  SmallVector<Attribute> axes;
  for (ArrayAttr dim : sharding.getDims())
    llvm::append_range(axes, dim);
  ArrayAttr cut = b.getArrayAttr(axes);
  RankedTensorType shard = shards.getShard(part);
  int64_t elements =
      llvm::alignTo(getShardBytes(part, shards), ::pathways::kBufferAlignment) /
      getElementBytes(shard.getElementType());
  FailureOr<int64_t> blocks = shards.getMesh(part).getGroupSize(cut);
  assert(succeeded(blocks) && "the program is verified");
  return ArrayType::get(
      {trips, *blocks * elements}, part.getElementType(), part.getSlice(),
      ShardingAttr::get(part.getContext(), {b.getArrayAttr({}), cut},
                        sharding.getPartialKind(), sharding.getPartialAxes()));
}

/// Returns the groups of dimensions that turn a stacked shard of `rank` into
/// one row of elements for each iteration, or back.
static SmallVector<ReassociationIndices> getRows(int64_t rank) {
  SmallVector<ReassociationIndices> rows{{0}, {}};
  for (int64_t d = 1; d < rank; ++d)
    rows.back().push_back(d);
  if (rank == 1) // the row of a scalar has one element
    rows = {{0, 1}};
  return rows;
}

namespace {
/// The rows of a stacked shard in its spread form, in which more elements
/// follow each row.
struct Rows {
  RankedTensorType type; ///< without these elements
  SmallVector<OpFoldResult> offsets, sizes, strides;

  Rows(Builder &b, RankedTensorType stacked)
      : type(RankedTensorType::get(
            {stacked.getDimSize(0),
             stacked.getNumElements() / stacked.getDimSize(0)},
            stacked.getElementType())),
        offsets(2, b.getIndexAttr(0)),
        sizes{b.getIndexAttr(type.getDimSize(0)),
              b.getIndexAttr(type.getDimSize(1))},
        strides(2, b.getIndexAttr(1)) {}
};
} // namespace

/// Returns `whole` in its spread form, which has type `type`.
static Value spread(ImplicitLocOpBuilder &builder, ShardFunctions &shards,
                    Value whole, ArrayType type) {
  RankedTensorType stacked = shards.getShard(cast<ArrayType>(whole.getType())),
                   target = shards.getShard(type);
  auto build = [&](ImplicitLocOpBuilder &b, ValueRange arguments) {
    Rows rows(b, stacked);
    Value value = arguments[0];
    if (stacked.getRank() == 1)
      value = tensor::ExpandShapeOp::create(b, rows.type, value, getRows(1));
    else if (stacked.getRank() > 2)
      value = tensor::CollapseShapeOp::create(b, rows.type, value,
                                              getRows(stacked.getRank()));
    Value all =
        tensor::EmptyOp::create(b, target.getShape(), target.getElementType());
    return SmallVector<Value>{tensor::InsertSliceOp::create(
        b, value, all, rows.offsets, rows.sizes, rows.strides)};
  };
  return addCall(builder, shards, "pw_spread", whole, Type(type), build)
      .getOutputs()
      .front();
}

/// Returns the array of type `type` whose spread form is `from`.
static Value pack(ImplicitLocOpBuilder &builder, ShardFunctions &shards,
                  Value from, ArrayType type) {
  RankedTensorType stacked = shards.getShard(type);
  auto build = [&](ImplicitLocOpBuilder &b, ValueRange arguments) {
    Rows rows(b, stacked);
    Value value = tensor::ExtractSliceOp::create(
        b, rows.type, arguments[0], rows.offsets, rows.sizes, rows.strides);
    if (stacked.getRank() == 1)
      value = tensor::CollapseShapeOp::create(b, stacked, value, getRows(1));
    else if (stacked.getRank() > 2)
      value = tensor::ExpandShapeOp::create(b, stacked, value,
                                            getRows(stacked.getRank()));
    return SmallVector<Value>{value};
  };
  return addCall(builder, shards, "pw_pack", from, Type(type), build)
      .getOutputs()
      .front();
}

void mlir::pathways::alignParts(ForOp loop, ShardFunctions &shards) {
  ImplicitLocOpBuilder builder(loop.getLoc(), loop);
  int64_t trips = loop.getTrips();
  for (BlockArgument argument : loop.getBody().getArguments()) {
    OpOperand &init = loop.getInitsMutable()[argument.getArgNumber()];
    auto part = cast<ArrayType>(argument.getType());
    if (!loop.getCarriedResult(argument.getArgNumber()) &&
        !areAligned(part, shards))
      init.set(
          spread(builder, shards, init.get(), getSpread(part, trips, shards)));
  }
  builder.setInsertionPointAfter(loop);
  for (auto [index, value] : llvm::enumerate(loop.getYield().getValues())) {
    auto part = cast<ArrayType>(value.getType());
    if (loop.getResultUse(index) == LoopUse::Carried ||
        areAligned(part, shards))
      continue;
    Value output = loop.getOutputs()[index];
    auto whole = cast<ArrayType>(output.getType());
    output.setType(getSpread(part, trips, shards));
    Value packed = pack(builder, shards, output, whole);
    output.replaceAllUsesExcept(packed, packed.getDefiningOp());
  }
}

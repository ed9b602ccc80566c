//===- Collectives.cpp - Collectives over axes of the mesh ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A collective of stablehlo names groups of partitions by their numbers, which
// are row-major over the mesh. Here each kind of group becomes a list of axes
// of the mesh.
//
//===----------------------------------------------------------------------===//

#include "MeshRefinement.h"
#include "Patterns.h"
#include "Types.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "pathways/Dialect/Pathways/Pathways.h"
#include "llvm/ADT/TypeSwitch.h"

#include <map>
#include <set>

using namespace mlir;
using namespace mlir::pathways;

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// Returns the mesh of the slices of the module that contains `op`, which is
/// the same for all slices; null if there is no such mesh.
static MeshAttr getMesh(Operation *op) {
  MeshAttr mesh;
  for (auto slice : op->getParentOfType<ModuleOp>().getOps<SliceOp>()) {
    if (mesh && slice.getMesh() != mesh)
      return nullptr;
    mesh = slice.getMesh();
  }
  return mesh;
}

/// Returns the numbers of the partitions that differ from partition `first`
/// only in their coordinates on `axes`, in the order of these: the last axis
/// runs fastest.
static SmallVector<int64_t> getMembers(MeshAttr mesh, int64_t first,
                                       ArrayRef<unsigned> axes) {
  SmallVector<int64_t> strides(mesh.getSizes().size(), 1);
  for (size_t i = strides.size(); i-- > 1;)
    strides[i - 1] = strides[i] * mesh.getSizes()[i];
  int64_t base = first;
  for (unsigned axis : axes)
    base -= first / strides[axis] % mesh.getSizes()[axis] * strides[axis];
  SmallVector<int64_t> members = {base};
  for (unsigned axis : axes) {
    SmallVector<int64_t> next;
    for (int64_t member : members)
      for (int64_t i = 0; i < mesh.getSizes()[axis]; ++i)
        next.push_back(member + i * strides[axis]);
    members = std::move(next);
  }
  return members;
}

/// Returns true if each row of `groups`, with `size` elements, lists the
/// members along `axes`.
static bool areGroups(MeshAttr mesh, ArrayRef<int64_t> groups, int64_t size,
                      ArrayRef<unsigned> axes) {
  for (size_t at = 0; at < groups.size(); at += size) {
    ArrayRef<int64_t> group = groups.slice(at, size);
    if (group[0] < 0 || group[0] >= mesh.getNumShards() ||
        group != ArrayRef<int64_t>(getMembers(mesh, group[0], axes)))
      return false;
  }
  return true;
}

/// Returns the axes that make up `groups`, with rows of `size`. Returns nothing
/// if there are none such.
static std::optional<SmallVector<unsigned>>
findAxes(MeshAttr mesh, ArrayRef<int64_t> groups, int64_t size) {
  SmallVector<int64_t> group(groups.take_front(size));
  for (int64_t &number : group) {
    if (number < 0 || number >= mesh.getNumShards())
      return std::nullopt;
    number -= groups.front();
  }
  std::optional<Digits> digits = findDigits(group);
  if (!digits)
    return std::nullopt;
  SmallVector<unsigned> axes;
  for (Digit digit : *digits) {
    int64_t stride = mesh.getNumShards();
    for (auto [axis, extent] : llvm::enumerate(mesh.getSizes())) {
      stride /= extent;
      if (extent > 1 && stride >= digit.stride &&
          stride < digit.stride * digit.size)
        axes.push_back(axis);
    }
  }
  if (!areGroups(mesh, groups, size, axes))
    return std::nullopt;
  return axes;
}

static ArrayAttr getNames(MeshAttr mesh, ArrayRef<unsigned> axes) {
  SmallVector<Attribute> names;
  for (unsigned axis : axes)
    names.push_back(mesh.getNames()[axis]);
  return ArrayAttr::get(mesh.getContext(), names);
}

/// Returns the axes over which a collective with `groups` communicates: none if
/// each group has one member. `channel` is null if the collective has none.
/// Fails, with a diagnostic, if axes of the mesh make no such groups.
static FailureOr<ArrayAttr> getAxes(Operation *op, DenseIntElementsAttr groups,
                                    stablehlo::ChannelHandleAttr channel) {
  MLIRContext *context = op->getContext();
  MeshAttr mesh = getMesh(op);
  if (!mesh)
    return op->emitOpError("needs a mesh");
  // Groups are of replicas if there is no channel, and there is one replica.
  if (!channel || channel.getHandle() <= 0) {
    if (groups && groups.getNumElements() <= 1)
      return ArrayAttr::get(context, {});
    return op->emitOpError("has no channel, so its groups are of replicas; "
                           "expected groups of partitions");
  }
  if (!groups || groups.getType().getRank() != 2)
    return op->emitOpError("has groups that are not lists of partitions");
  SmallVector<int64_t> numbers(
      llvm::map_range(groups.getValues<APInt>(), [](const APInt &number) {
        return number.getSExtValue();
      }));
  int64_t size = groups.getType().getDimSize(1);
  SmallVector<unsigned> axes;
  if (numbers.empty()) { // one group of all
    for (unsigned axis = 0; axis < mesh.getSizes().size(); ++axis)
      if (mesh.getSizes()[axis] > 1)
        axes.push_back(axis);
  } else {
    std::optional<SmallVector<unsigned>> found;
    if (static_cast<int64_t>(numbers.size()) == mesh.getNumShards())
      found = findAxes(mesh, numbers, size);
    if (!found)
      return op->emitOpError("has groups that are no axes of the mesh");
    axes = std::move(*found);
  }
  return getNames(mesh, axes);
}

/// Returns the axes of the manual computations that contain `op`, in the order
/// of `mesh`: all axes if there is none.
static SmallVector<unsigned> getManualAxes(Operation *op, MeshAttr mesh) {
  SmallVector<unsigned> axes;
  bool isInside = op->getParentOfType<ManualOp>() != nullptr;
  for (auto [axis, name] : llvm::enumerate(mesh.getNames()))
    if (!isInside || ManualOp::isManualAt(op, name))
      axes.push_back(axis);
  return axes;
}

/// Returns pairs of ranks along `axes` for `pairs` of partitions, if partitions
/// send in groups along these axes, and in each group the same way.
static std::optional<SmallVector<int64_t>>
getRankPairs(MeshAttr mesh, ArrayRef<int64_t> pairs, ArrayRef<unsigned> axes) {
  // Sender and receiver, by the first partition of their group.
  std::map<int64_t, std::set<std::pair<int64_t, int64_t>>> groups;
  int64_t size = 1;
  for (unsigned axis : axes)
    size *= mesh.getSizes()[axis];
  for (size_t i = 0; i + 1 < pairs.size(); i += 2) {
    int64_t from = pairs[i], to = pairs[i + 1];
    if (std::min(from, to) < 0 || std::max(from, to) >= mesh.getNumShards())
      return std::nullopt;
    SmallVector<int64_t> members = getMembers(mesh, from, axes);
    auto *receiver = llvm::find(members, to);
    if (receiver == members.end())
      return std::nullopt;
    groups[members.front()].insert({llvm::find(members, from) - members.begin(),
                                    receiver - members.begin()});
  }
  if (static_cast<int64_t>(groups.size()) * size != mesh.getNumShards())
    return std::nullopt;
  SmallVector<int64_t> ranks;
  for (auto [from, to] : groups.begin()->second)
    ranks.append({from, to});
  for (const auto &[first, group] : groups)
    if (group != groups.begin()->second)
      return std::nullopt;
  return ranks;
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

/// Returns how `region` combines two elements, or failure.
static FailureOr<ReductionKind> getKind(Region &region) {
  Operation *op = getOnlyOperation(region);
  if (!op)
    return failure();
  Type type = getElementTypeOrSelf(op->getOperand(0).getType());
  bool isBool = type.isInteger(1), isUnsigned = type.isUnsignedInteger();
  return TypeSwitch<Operation *, FailureOr<ReductionKind>>(op)
      .Case([&](stablehlo::AddOp) {
        return isBool ? ReductionKind::Or : ReductionKind::Add;
      })
      .Case([&](stablehlo::MulOp) {
        return isBool ? ReductionKind::And : ReductionKind::Mul;
      })
      .Case([&](stablehlo::MaxOp) {
        return isBool       ? ReductionKind::Or
               : isUnsigned ? ReductionKind::Umax
                            : ReductionKind::Max;
      })
      .Case([&](stablehlo::MinOp) {
        return isBool       ? ReductionKind::And
               : isUnsigned ? ReductionKind::Umin
                            : ReductionKind::Min;
      })
      .Case([](stablehlo::AndOp) { return ReductionKind::And; })
      .Case([](stablehlo::OrOp) { return ReductionKind::Or; })
      .Case([](stablehlo::XorOp) { return ReductionKind::Xor; })
      .Default(
          [](Operation *) -> FailureOr<ReductionKind> { return failure(); });
}

namespace {

/// Base of patterns: replaces each operand of a collective by what `emit` makes
/// of it, or keeps it if its group has one member.
template <typename Op> struct LowerCollective : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  using Adaptor = typename OpConversionPattern<Op>::OpAdaptor;

  LogicalResult
  replaceAll(Op op, ValueRange operands, ConversionPatternRewriter &rewriter,
             llvm::function_ref<Value(Value, Type, ArrayAttr)> emit) const {
    FailureOr<ArrayAttr> axes =
        getAxes(op, op.getGroups(), op.getChannelHandleAttr());
    if (failed(axes))
      return failure();
    SmallVector<Value> results;
    for (auto [operand, result] : llvm::zip_equal(operands, op->getResults())) {
      Type type = this->getTypeConverter()->convertType(result.getType());
      results.push_back(axes->empty() ? operand : emit(operand, type, *axes));
    }
    rewriter.replaceOp(op, results);
    return success();
  }
};

struct LowerAllReduce : LowerCollective<stablehlo::AllReduceOp> {
  using LowerCollective::LowerCollective;
  LogicalResult
  matchAndRewrite(stablehlo::AllReduceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    FailureOr<ReductionKind> kind = getKind(op.getComputation());
    if (failed(kind))
      return op.emitOpError("combines by more than one operation");
    return replaceAll(op, adaptor.getOperands(), rewriter,
                      [&](Value value, Type type, ArrayAttr axes) -> Value {
                        return mlir::pathways::AllReduceOp::create(
                            rewriter, op.getLoc(), type, value,
                            ReductionKindAttr::get(op.getContext(), *kind),
                            axes);
                      });
  }
};

struct LowerReduceScatter : LowerCollective<stablehlo::ReduceScatterOp> {
  using LowerCollective::LowerCollective;
  LogicalResult
  matchAndRewrite(stablehlo::ReduceScatterOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    FailureOr<ReductionKind> kind = getKind(op.getComputation());
    if (failed(kind))
      return op.emitOpError("combines by more than one operation");
    return replaceAll(
        op, adaptor.getOperand(), rewriter,
        [&](Value value, Type type, ArrayAttr axes) -> Value {
          return mlir::pathways::ReduceScatterOp::create(
              rewriter, op.getLoc(), type, value,
              ReductionKindAttr::get(op.getContext(), *kind),
              rewriter.getI64IntegerAttr(op.getScatterDimension()), axes);
        });
  }
};

struct LowerAllGather : LowerCollective<stablehlo::AllGatherOp> {
  using LowerCollective::LowerCollective;
  LogicalResult
  matchAndRewrite(stablehlo::AllGatherOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    return replaceAll(op, adaptor.getOperands(), rewriter,
                      [&](Value value, Type type, ArrayAttr axes) -> Value {
                        return mlir::pathways::AllGatherOp::create(
                            rewriter, op.getLoc(), type, value,
                            rewriter.getI64IntegerAttr(op.getAllGatherDim()),
                            axes);
                      });
  }
};

struct LowerCollectiveBroadcast
    : LowerCollective<stablehlo::CollectiveBroadcastOp> {
  using LowerCollective::LowerCollective;
  LogicalResult
  matchAndRewrite(stablehlo::CollectiveBroadcastOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    return replaceAll(op, adaptor.getOperand(), rewriter,
                      [&](Value value, Type type, ArrayAttr axes) -> Value {
                        return BroadcastOp::create(
                            rewriter, op.getLoc(), type, value,
                            rewriter.getI64IntegerAttr(0), axes);
                      });
  }
};

struct LowerAllToAll : LowerCollective<stablehlo::AllToAllOp> {
  using LowerCollective::LowerCollective;
  LogicalResult
  matchAndRewrite(stablehlo::AllToAllOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    return replaceAll(op, adaptor.getOperands(), rewriter,
                      [&](Value value, Type type, ArrayAttr axes) -> Value {
                        return mlir::pathways::AllToAllOp::create(
                            rewriter, op.getLoc(), type, value,
                            rewriter.getI64IntegerAttr(op.getSplitDimension()),
                            rewriter.getI64IntegerAttr(op.getConcatDimension()),
                            axes);
                      });
  }
};

struct LowerPermute : OpConversionPattern<stablehlo::CollectivePermuteOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(stablehlo::CollectivePermuteOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto channel = op.getChannelHandleAttr();
    MeshAttr mesh = getMesh(op);
    if (!mesh || !channel || channel.getHandle() <= 0)
      return op.emitOpError("needs a channel and a mesh");
    SmallVector<int64_t> pairs(llvm::map_range(
        op.getSourceTargetPairs().getValues<APInt>(),
        [](const APInt &number) { return number.getSExtValue(); }));
    if (mesh.getNumShards() == 1 && !pairs.empty()) {
      // The only device sends to itself.
      rewriter.replaceOp(op, adaptor.getOperand());
      return success();
    }
    SmallVector<unsigned> axes = getManualAxes(op, mesh);
    std::optional<SmallVector<int64_t>> ranks = getRankPairs(mesh, pairs, axes);
    if (!ranks)
      return op.emitOpError(
          "sends between partitions that differ on axes which are not manual, "
          "or not alike in all groups along manual axes");
    rewriter.replaceOpWithNewOp<PermuteOp>(
        op, adaptor.getOperand().getType(), adaptor.getOperand(),
        /*shift=*/nullptr, rewriter.getDenseI64ArrayAttr(*ranks),
        getNames(mesh, axes), /*wrap=*/nullptr);
    return success();
  }
};

struct LowerPartitionId : OpConversionPattern<stablehlo::PartitionIdOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(stablehlo::PartitionIdOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    MeshAttr mesh = getMesh(op);
    if (!mesh)
      return op.emitOpError("needs a mesh");
    Location loc = op.getLoc();
    // Only the coordinates along manual axes can matter to the shards that
    // compute this together: the others are 0.
    SmallVector<unsigned> manual = getManualAxes(op, mesh);
    Value number = arith::ConstantIndexOp::create(rewriter, loc, 0);
    for (auto [axis, size] : llvm::enumerate(mesh.getSizes())) {
      if (size == 1)
        continue;
      Value extent = arith::ConstantIndexOp::create(rewriter, loc, size);
      number = arith::MulIOp::create(rewriter, loc, number, extent);
      if (!llvm::is_contained(manual, axis))
        continue;
      Value index = ShardIndexOp::create(rewriter, loc, rewriter.getIndexType(),
                                         mesh.getNames()[axis]);
      number = arith::AddIOp::create(rewriter, loc, number, index);
    }
    auto type =
        cast<RankedTensorType>(getTypeConverter()->convertType(op.getType()));
    number = arith::IndexCastOp::create(rewriter, loc, type.getElementType(),
                                        number);
    rewriter.replaceOpWithNewOp<tensor::FromElementsOp>(op, type, number);
    return success();
  }
};

} // namespace

void mlir::pathways::populateCollectivePatterns(const TypeConverter &types,
                                                RewritePatternSet &patterns) {
  patterns
      .add<LowerAllReduce, LowerReduceScatter, LowerAllGather, LowerAllToAll,
           LowerCollectiveBroadcast, LowerPermute, LowerPartitionId>(
          types, patterns.getContext());
}

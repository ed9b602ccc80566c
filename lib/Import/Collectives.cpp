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

#include "Patterns.h"
#include "Types.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "pathways/Dialect/Pathways/Pathways.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::pathways;

/// Largest number of axes of a mesh whose subsets are tried.
static constexpr size_t kMaxAxes = 8;

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// Returns the mesh of the only slice of the module that contains `op`; null if
/// there is another number of slices.
static MeshAttr getMesh(Operation *op) {
  auto module = op->getParentOfType<ModuleOp>();
  auto slices = module.getOps<SliceOp>();
  if (!llvm::hasSingleElement(slices))
    return {};
  return (*slices.begin()).getMesh();
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

/// Extends `axes` by axes that are not in it until they make up `groups`.
/// Returns false if no order of axes does.
static bool findAxes(MeshAttr mesh, ArrayRef<int64_t> groups, int64_t size,
                     int64_t product, SmallVector<unsigned> &axes) {
  if (product == size && areGroups(mesh, groups, size, axes))
    return true;
  for (unsigned axis = 0; axis < mesh.getSizes().size(); ++axis) {
    int64_t extent = mesh.getSizes()[axis];
    if (extent == 1 || llvm::is_contained(axes, axis) ||
        size % (product * extent) != 0)
      continue;
    axes.push_back(axis);
    if (findAxes(mesh, groups, size, product * extent, axes))
      return true;
    axes.pop_back();
  }
  return false;
}

/// Returns the axes over which a collective with `groups` communicates: none if
/// each group has one member. `channel` is null if the collective has none.
/// Fails, with a diagnostic, if axes of the mesh make no such groups.
static FailureOr<ArrayAttr> getAxes(Operation *op, DenseIntElementsAttr groups,
                                    stablehlo::ChannelHandleAttr channel) {
  MLIRContext *context = op->getContext();
  MeshAttr mesh = getMesh(op);
  if (!mesh || mesh.getSizes().size() > kMaxAxes)
    return op->emitOpError("needs a mesh of at most ") << kMaxAxes << " axes";
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
  } else if (static_cast<int64_t>(numbers.size()) != mesh.getNumShards() ||
             !findAxes(mesh, numbers, size, 1, axes)) {
    return op->emitOpError("has groups that are no axes of the mesh");
  }
  SmallVector<Attribute> names;
  for (unsigned axis : axes)
    names.push_back(mesh.getNames()[axis]);
  return ArrayAttr::get(context, names);
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
    if (!mesh || mesh.getNames().empty() || !channel ||
        channel.getHandle() <= 0)
      return op.emitOpError("needs a channel and a mesh");
    SmallVector<int64_t> pairs(llvm::map_range(
        op.getSourceTargetPairs().getValues<APInt>(),
        [](const APInt &number) { return number.getSExtValue(); }));
    // Ranks over all axes are the numbers of partitions.
    SmallVector<Attribute> axes(mesh.getNames().begin(), mesh.getNames().end());
    rewriter.replaceOpWithNewOp<PermuteOp>(
        op, adaptor.getOperand().getType(), adaptor.getOperand(),
        /*shift=*/nullptr, rewriter.getDenseI64ArrayAttr(pairs),
        rewriter.getArrayAttr(axes), /*wrap=*/nullptr);
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
    Value number = arith::ConstantIndexOp::create(rewriter, loc, 0);
    for (auto [name, size] :
         llvm::zip_equal(mesh.getNames(), mesh.getSizes())) {
      Value extent = arith::ConstantIndexOp::create(rewriter, loc, size);
      Value index =
          ShardIndexOp::create(rewriter, loc, rewriter.getIndexType(), name);
      number = arith::MulIOp::create(rewriter, loc, number, extent);
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
  patterns.add<LowerAllReduce, LowerReduceScatter, LowerAllGather,
               LowerAllToAll, LowerPermute, LowerPartitionId>(
      types, patterns.getContext());
}

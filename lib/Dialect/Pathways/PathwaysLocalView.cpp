//===- PathwaysLocalView.cpp - Verifiers of the local view ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Verifies collectives, whose result shapes follow from the size of a group,
// and the operations that locate a shard. (C1), (C2), ... are the numbered
// constraints of the operations' descriptions. CallOp verifies what depends on
// the call.
//
//===----------------------------------------------------------------------===//

#include "pathways/Dialect/Pathways/Pathways.h"
#include "pathways/Dialect/Pathways/UniformControl.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::pathways;

/// Checks (C1) of operations of the local view that are in no `pw.manual`, and
/// returns the function; fails with a diagnostic.
static FailureOr<func::FuncOp> getLocalViewFunction(Operation *op) {
  auto function = op->getParentOfType<func::FuncOp>();
  if (function && function->hasAttr(PathwaysDialect::kLocalViewAttrName))
    return function;
  InFlightDiagnostic diagnostic =
      op->emitOpError("is only allowed in a 'func.func' with '")
      << PathwaysDialect::kLocalViewAttrName << "'";
  if (function)
    diagnostic.attachNote(function.getLoc())
        << "function '" << function.getSymName() << "' has a global view";
  return diagnostic;
}

/// Checks (C4): `dim` is a dimension of `type`.
static LogicalResult verifyDim(Operation *op, StringRef what, int64_t dim,
                               RankedTensorType type) {
  if (dim >= 0 && dim < type.getRank())
    return success();
  return op->emitOpError("expected ")
         << what << " to be a dimension of " << type << ", got " << dim;
}

/// Exclusive upper bound of the ranks of a group.
static constexpr int64_t kMostRank = int64_t{1} << 32;

/// Returns a group size for which `op` may be correct, by the sizes of source
/// and result. The actual size is known where the function is called.
static int64_t guessGroupSize(Operation *op, ArrayRef<int64_t> source,
                              ArrayRef<int64_t> result) {
  auto ratio = [](int64_t large, int64_t small) -> int64_t {
    return small > 0 && large > 0 ? llvm::divideCeil(large, small) : 1;
  };
  return TypeSwitch<Operation *, int64_t>(op)
      .Case([&](AllGatherOp gather) {
        return ratio(result[gather.getDim()], source[gather.getDim()]);
      })
      .Case([&](ReduceScatterOp scatter) {
        return ratio(source[scatter.getDim()], result[scatter.getDim()]);
      })
      .Case([&](AllToAllOp exchange) {
        int64_t split = exchange.getSplit(), concat = exchange.getConcat();
        if (split == concat)
          return int64_t{1};
        if (source[split] > 0)
          return ratio(source[split], result[split]);
        return ratio(result[concat], source[concat]);
      })
      .Case([](BroadcastOp broadcast) {
        return std::clamp<int64_t>(broadcast.getRoot(), 0, kMostRank) + 1;
      })
      .Case([](PermuteOp permute) {
        int64_t most = 0;
        for (int64_t rank : permute.getPairs().value_or(ArrayRef<int64_t>()))
          most = std::clamp(rank, most, kMostRank);
        return most + 1;
      })
      .Default([](Operation *) { return int64_t{1}; });
}

/// Checks (C1) of a collective that is in no `pw.manual`.
static LogicalResult verifyAlike(Operation *op) {
  FailureOr<func::FuncOp> function = getLocalViewFunction(op);
  if (failed(function))
    return failure();
  std::optional<Uncertain> around = findUncertain(op, *function);
  if (!around)
    return success();
  InFlightDiagnostic diagnostic = op->emitOpError(
      "is under control flow, where shards that do not reach it would block "
      "the other shards; move it to the top level of the function");
  diagnostic.attachNote(around->op->getLoc())
      << "it is inside this" << (around->reason.empty() ? "" : ", ")
      << around->reason;
  return diagnostic;
}

/// Checks (C7) of ManualOp for `axis`, which `op` in `around` names.
static LogicalResult verifyManualAxis(Operation *op, ManualOp around,
                                      Attribute axis) {
  if (ManualOp::isManualAt(op, axis))
    return success();
  InFlightDiagnostic diagnostic = op->emitOpError("names axis ")
                                  << axis << ", which is not manual here";
  diagnostic.attachNote(around.getLoc())
      << "the axes " << around.getAxes() << " are manual in this";
  return diagnostic;
}

LogicalResult mlir::pathways::detail::verifyCollective(Operation *op) {
  auto collective = cast<CollectiveOpInterface>(op);
  auto manual = op->getParentOfType<ManualOp>();
  if (!manual && failed(verifyAlike(op))) // (C1)
    return failure();
  if (collective.getAxes().empty()) // (C2)
    return op->emitOpError("names no axis to communicate over");
  llvm::StringSet<> seen;
  for (auto axis : collective.getAxes().getAsRange<StringAttr>()) {
    if (axis.empty()) // (C2)
      return op->emitOpError("names an axis without a name");
    if (!seen.insert(axis).second) // (C2)
      return op->emitOpError("names axis ") << axis << " twice";
    if (manual && failed(verifyManualAxis(op, manual, axis)))
      return failure();
  }
  RankedTensorType source = collective.getSource().getType();
  RankedTensorType result = collective.getResult().getType();
  for (RankedTensorType type : {source, result})
    if (!type.hasStaticShape()) // (C3)
      return op->emitOpError("expected static shapes, got ") << type;
  if (source.getElementType() != result.getElementType() ||
      source.getRank() != result.getRank())
    return op->emitOpError("expected source and result to have the same rank "
                           "and element type, got ")
           << source << " and " << result;

  LogicalResult dims = // (C4)
      TypeSwitch<Operation *, LogicalResult>(op)
          .Case<AllGatherOp, ReduceScatterOp>([&](auto concrete) {
            return verifyDim(op, "'dim'", concrete.getDim(), source);
          })
          .Case([&](AllToAllOp exchange) {
            return success(succeeded(verifyDim(op, "'split'",
                                               exchange.getSplit(), source)) &&
                           succeeded(verifyDim(op, "'concat'",
                                               exchange.getConcat(), source)));
          })
          .Default(success());
  if (failed(dims))
    return failure();

  std::optional<ReductionKind> reduction;
  if (auto reduce = dyn_cast<AllReduceOp>(op))
    reduction = reduce.getKind();
  if (auto scatter = dyn_cast<ReduceScatterOp>(op))
    reduction = scatter.getKind();
  if (reduction) {
    std::string wrong = whyNotReduced(*reduction, source.getElementType());
    if (!wrong.empty()) // (C3)
      return op->emitOpError(wrong);
  }

  int64_t groupSize = guessGroupSize(op, source.getShape(), result.getShape());
  FailureOr<SmallVector<int64_t>> shape =
      collective.getResultShape(groupSize, [&] { return op->emitOpError(); });
  if (failed(shape))
    return failure();
  if (result.getShape() != ArrayRef<int64_t>(*shape)) // (C5)
    return op->emitOpError("cannot turn ")
           << source << " into " << result
           << " for any size of the group; a group of " << groupSize
           << " gives "
           << RankedTensorType::get(*shape, source.getElementType());
  return success();
}

FailureOr<SmallVector<int64_t>>
AllReduceOp::getResultShape(int64_t, function_ref<InFlightDiagnostic()>) {
  return llvm::to_vector(getSource().getType().getShape());
}

FailureOr<SmallVector<int64_t>>
BroadcastOp::getResultShape(int64_t groupSize,
                            function_ref<InFlightDiagnostic()> emitError) {
  int64_t root = getRoot();
  if (root < 0 || root >= groupSize) // (C4)
    return emitError() << "broadcasts from rank " << root
                       << ", but groups have " << groupSize;
  return llvm::to_vector(getSource().getType().getShape());
}

LogicalResult PermuteOp::verify() {
  std::optional<ArrayRef<int64_t>> pairs = getPairs();
  if (getShift().has_value() == pairs.has_value()) // (C4)
    return emitOpError("expected either 'shift' or 'pairs'");
  if (!pairs)
    return success();
  if (getWrap()) // (C4)
    return emitOpError("expected no 'wrap' with 'pairs'");
  if (pairs->empty() || pairs->size() % 2 != 0) // (C4)
    return emitOpError("expected pairs of ranks, got ")
           << pairs->size() << " ranks";
  llvm::SmallDenseMap<int64_t, int64_t> senders;
  for (size_t i = 0; i < pairs->size(); i += 2) {
    int64_t from = (*pairs)[i], to = (*pairs)[i + 1];
    if (from < 0 || to < 0) // (C5)
      return emitOpError("expected ranks of at least 0, got the pair [")
             << from << ", " << to << "]";
    auto [known, isNew] = senders.try_emplace(to, from);
    if (!isNew) // (C5)
      return emitOpError("sends to rank ")
             << to << " from rank " << known->second << " and from rank "
             << from;
  }
  return success();
}

FailureOr<SmallVector<int64_t>>
PermuteOp::getResultShape(int64_t groupSize,
                          function_ref<InFlightDiagnostic()> emitError) {
  for (int64_t rank : getPairs().value_or(ArrayRef<int64_t>()))
    if (rank >= groupSize) // (C5)
      return emitError() << "permutes rank " << rank << ", but groups have "
                         << groupSize;
  return llvm::to_vector(getSource().getType().getShape());
}

/// Divides dimension `dim` of `shape` by the size of the group.
static LogicalResult cut(SmallVectorImpl<int64_t> &shape, int64_t dim,
                         int64_t groupSize,
                         function_ref<InFlightDiagnostic()> emitError) {
  if (shape[dim] % groupSize != 0)
    return emitError() << "dimension " << dim << " of " << shape[dim]
                       << " elements cannot be cut into " << groupSize
                       << " equal blocks";
  shape[dim] /= groupSize;
  return success();
}

static LogicalResult grow(SmallVectorImpl<int64_t> &shape, int64_t dim,
                          int64_t groupSize,
                          function_ref<InFlightDiagnostic()> emitError) {
  if (llvm::MulOverflow(shape[dim], groupSize, shape[dim]))
    return emitError() << "dimension " << dim << " is too large to gather";
  return success();
}

FailureOr<SmallVector<int64_t>>
AllGatherOp::getResultShape(int64_t groupSize,
                            function_ref<InFlightDiagnostic()> emitError) {
  SmallVector<int64_t> shape(getSource().getType().getShape());
  if (failed(grow(shape, getDim(), groupSize, emitError)))
    return failure();
  return shape;
}

FailureOr<SmallVector<int64_t>>
ReduceScatterOp::getResultShape(int64_t groupSize,
                                function_ref<InFlightDiagnostic()> emitError) {
  SmallVector<int64_t> shape(getSource().getType().getShape());
  if (failed(cut(shape, getDim(), groupSize, emitError)))
    return failure();
  return shape;
}

FailureOr<SmallVector<int64_t>>
AllToAllOp::getResultShape(int64_t groupSize,
                           function_ref<InFlightDiagnostic()> emitError) {
  SmallVector<int64_t> shape(getSource().getType().getShape());
  if (failed(cut(shape, getSplit(), groupSize, emitError)) ||
      failed(grow(shape, getConcat(), groupSize, emitError)))
    return failure();
  return shape;
}

LogicalResult ShardIndexOp::verify() {
  auto manual = (*this)->getParentOfType<ManualOp>();
  if (!manual && failed(getLocalViewFunction(*this))) // (C1)
    return failure();
  if (getAxis().empty()) // (C2)
    return emitOpError("names an axis without a name");
  return manual ? verifyManualAxis(*this, manual, getAxisAttr()) : success();
}

LogicalResult StepIndexOp::verify() {
  if ((*this)->getParentOfType<func::FuncOp>()) // (C1)
    return success();
  return emitOpError("is only allowed in a 'func.func'");
}

LogicalResult ValidExtentOp::verify() {
  FailureOr<func::FuncOp> function = getLocalViewFunction(*this); // (C1)
  if (failed(function))
    return failure();
  auto argument = dyn_cast<BlockArgument>(getSource());
  if (!argument || argument.getOwner()->getParentOp() != *function ||
      !argument.getOwner()->isEntryBlock()) // (C2)
    return emitOpError("expected an argument of function '")
           << function->getSymName() << "', got another value";
  return verifyDim(*this, "'dim'", getDim(), getSource().getType()); // (C3)
}

//===- TensorSharding.cpp - Rules for cutting tensor operations -----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Analysis/ShardingRule.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::pathways;

/// Adds a factor to `rule` and returns its number.
static int64_t addFactor(ShardingRule &rule, int64_t size,
                         bool allowsPadding = true) {
  ShardingRule::Factor &factor = rule.factors.emplace_back();
  factor.size = size;
  factor.allowsPadding = allowsPadding;
  return rule.factors.size() - 1;
}

/// A block of the major dimension of a group is a block of the collapsed
/// dimension.
static ShardingRule getReshapeRule(Operation *op, RankedTensorType expanded,
                                   ArrayRef<ReassociationIndices> groups) {
  ShardingRule rule = makeWholeRule(op);
  bool isExpansion = isa<tensor::ExpandShapeOp>(op);
  SmallVector<int64_t> &apart =
      isExpansion ? rule.results[0] : rule.operands[0];
  SmallVector<int64_t> &together =
      isExpansion ? rule.operands[0] : rule.results[0];
  for (auto [dim, group] : llvm::enumerate(groups)) {
    // Leading dimensions of size 1 are ignored.
    int64_t major = group.front();
    for (int64_t next : group)
      if (expanded.getDimSize(major) == 1)
        major = next;
    // Padding of the major dimension would land in the middle of the collapsed
    // one.
    int64_t size = expanded.getDimSize(major), product = 1;
    for (int64_t next : group)
      product *= expanded.getDimSize(next);
    apart[major] = together[dim] = addFactor(rule, size, size == product);
  }
  return rule;
}

/// Adds a factor for each dimension that a slice has all of: to the slice,
/// `part`, and to `wholes`, tensors with the shape of `whole`.
template <typename Slice>
static void matchSlice(Slice op, RankedTensorType whole,
                       ArrayRef<SmallVector<int64_t> *> wholes,
                       SmallVector<int64_t> &part, ShardingRule &rule) {
  llvm::SmallBitVector dropped = op.getDroppedDims();
  unsigned kept = 0;
  for (int64_t dim = 0; dim < whole.getRank(); ++dim) {
    if (dropped.test(dim))
      continue;
    int64_t size = whole.getDimSize(dim);
    if (op.getStaticOffsets()[dim] == 0 && op.getStaticSizes()[dim] == size &&
        op.getStaticStrides()[dim] == 1) {
      part[kept] = addFactor(rule, size);
      for (SmallVector<int64_t> *dims : wholes)
        (*dims)[dim] = part[kept];
    }
    ++kept;
  }
}

static std::optional<ShardingRule> getPadRule(tensor::PadOp op) {
  // A padding value that is not constant may depend on its position.
  if (!op.getConstantPaddingValue())
    return std::nullopt;
  ShardingRule rule = makeWholeRule(op);
  for (int64_t dim = 0; dim < op.getSourceType().getRank(); ++dim) {
    if (op.getStaticLow()[dim] != 0 || op.getStaticHigh()[dim] != 0)
      continue;
    rule.operands[0][dim] = rule.results[0][dim] =
        addFactor(rule, op.getSourceType().getDimSize(dim));
  }
  return rule;
}

static ShardingRule getConcatRule(tensor::ConcatOp op) {
  ShardingRule rule = makeWholeRule(op);
  for (int64_t dim = 0; dim < op.getResultType().getRank(); ++dim) {
    if (dim == static_cast<int64_t>(op.getDim()))
      continue;
    rule.results[0][dim] = addFactor(rule, op.getResultType().getDimSize(dim));
    for (SmallVector<int64_t> &dims : rule.operands)
      dims[dim] = rule.results[0][dim];
  }
  return rule;
}

/// Look-ups are independent of each other, and so are the elements of a slice
/// that is looked up. The dimensions in which the source is looked up stay
/// whole.
static ShardingRule getGatherRule(tensor::GatherOp op) {
  ShardingRule rule = makeWholeRule(op);
  int64_t numLeading = op.getIndicesType().getRank() - 1;
  int64_t sourceRank = op.getSourceType().getRank();
  bool keepsDims = op.getResultType().getRank() == numLeading + sourceRank;
  // Indices in padding look up the first slice, if there is one.
  bool hasFirst = llvm::all_of(op.getGatherDims(), [&](int64_t dim) {
    return op.getSourceType().getDimSize(dim) > 0;
  });
  if (hasFirst)
    rule.harmless = {TypedAttr(),
                     IntegerAttr::get(op.getIndicesType().getElementType(), 0)};
  for (int64_t dim = 0; dim < numLeading; ++dim)
    rule.operands[1][dim] = rule.results[0][dim] =
        addFactor(rule, op.getIndicesType().getDimSize(dim), hasFirst);
  int64_t position = numLeading;
  for (int64_t dim = 0; dim < sourceRank; ++dim) {
    if (llvm::is_contained(op.getGatherDims(), dim)) {
      position += keepsDims;
      continue;
    }
    rule.operands[0][dim] = rule.results[0][position++] =
        addFactor(rule, op.getSourceType().getDimSize(dim));
  }
  return rule;
}

/// The elements of a scattered slice are independent of each other. The
/// dimensions that are scattered into stay whole, and each shard has all
/// slices.
static ShardingRule getScatterRule(tensor::ScatterOp op) {
  ShardingRule rule = makeWholeRule(op);
  int64_t numLeading = op.getIndicesType().getRank() - 1;
  int64_t rank = op.getDestType().getRank();
  bool keepsDims = op.getSourceType().getRank() == numLeading + rank;
  int64_t position = numLeading;
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (llvm::is_contained(op.getScatterDims(), dim)) {
      position += keepsDims;
      continue;
    }
    rule.operands[0][position++] = rule.operands[1][dim] =
        rule.results[0][dim] =
            addFactor(rule, op.getDestType().getDimSize(dim));
  }
  return rule;
}

/// Sets the sizes of a slice of `whole` to those of a slice of `shard`: it has
/// all of each dimension that is cut.
template <typename Slice>
static void setSizes(Slice slice, RankedTensorType whole,
                     RankedTensorType shard) {
  SmallVector<int64_t> sizes(slice.getStaticSizes());
  for (int64_t dim = 0; dim < whole.getRank(); ++dim)
    if (whole.getDimSize(dim) != shard.getDimSize(dim))
      sizes[dim] = shard.getDimSize(dim);
  slice.setStaticSizes(sizes);
}

/// Rows are independent; the dimension that is summed over stays whole.
static ShardingRule getSoftmaxRule(linalg::SoftmaxOp op) {
  ShardingRule rule = makeWholeRule(op);
  RankedTensorType type = cast<RankedTensorType>(op.getResult()[0].getType());
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    if (dim == op.getDimension())
      continue;
    int64_t factor = addFactor(rule, size);
    for (SmallVector<int64_t> *dims :
         {&rule.operands[0], &rule.operands[1], &rule.results[0]})
      (*dims)[dim] = factor;
  }
  return rule;
}

/// Each channel, filter and image is transformed independently. These
/// dimensions have equal sizes in operand and result, at different positions.
/// Tiles stay whole.
static ShardingRule getWinogradRule(Operation *op) {
  ShardingRule rule = makeWholeRule(op);
  // Positions of one dimension in the operand and in the result.
  SmallVector<std::pair<unsigned, unsigned>> same;
  if (isa<linalg::WinogradFilterTransformOp>(op))
    same = {{0, 3}, {3, 2}}; // (f, h, w, c) to (h, w, c, f)
  else if (isa<linalg::WinogradInputTransformOp>(op))
    same = {{0, 4}, {3, 5}}; // (n, h, w, c) to (h, w, th, tw, n, c)
  else
    same = {{4, 0}, {5, 3}}; // (h, w, th, tw, n, f) to (n, h, w, f)
  auto source = cast<RankedTensorType>(op->getOperand(0).getType());
  for (auto [from, to] : same) {
    int64_t factor = addFactor(rule, source.getDimSize(from));
    rule.operands[0][from] = factor;
    rule.operands[1][to] = rule.results[0][to] = factor;
  }
  return rule;
}

namespace {

struct ShardableExpandShape
    : ShardableOpInterface::ExternalModel<ShardableExpandShape,
                                          tensor::ExpandShapeOp> {
  std::optional<ShardingRule> getShardingRule(Operation *op) const {
    auto expand = cast<tensor::ExpandShapeOp>(op);
    return getReshapeRule(op, expand.getResultType(),
                          expand.getReassociationIndices());
  }
  void becomeShardOf(Operation *op, Operation *) const {
    auto expand = cast<tensor::ExpandShapeOp>(op);
    expand.setStaticOutputShape(expand.getResultType().getShape());
  }
};

struct ShardableCollapseShape
    : ShardableOpInterface::ExternalModel<ShardableCollapseShape,
                                          tensor::CollapseShapeOp> {
  std::optional<ShardingRule> getShardingRule(Operation *op) const {
    auto collapse = cast<tensor::CollapseShapeOp>(op);
    return getReshapeRule(op, collapse.getSrcType(),
                          collapse.getReassociationIndices());
  }
};

struct ShardableExtractSlice
    : ShardableOpInterface::ExternalModel<ShardableExtractSlice,
                                          tensor::ExtractSliceOp> {
  std::optional<ShardingRule> getShardingRule(Operation *op) const {
    auto extract = cast<tensor::ExtractSliceOp>(op);
    ShardingRule rule = makeWholeRule(op);
    matchSlice(extract, extract.getSourceType(), {&rule.operands[0]},
               rule.results[0], rule);
    return rule;
  }
  void becomeShardOf(Operation *op, Operation *whole) const {
    auto extract = cast<tensor::ExtractSliceOp>(op);
    setSizes(extract, cast<tensor::ExtractSliceOp>(whole).getSourceType(),
             extract.getSourceType());
  }
};

struct ShardableInsertSlice
    : ShardableOpInterface::ExternalModel<ShardableInsertSlice,
                                          tensor::InsertSliceOp> {
  std::optional<ShardingRule> getShardingRule(Operation *op) const {
    auto insert = cast<tensor::InsertSliceOp>(op);
    ShardingRule rule = makeWholeRule(op);
    matchSlice(insert, insert.getDestType(),
               {&rule.operands[1], &rule.results[0]}, rule.operands[0], rule);
    return rule;
  }
  void becomeShardOf(Operation *op, Operation *whole) const {
    auto insert = cast<tensor::InsertSliceOp>(op);
    setSizes(insert, cast<tensor::InsertSliceOp>(whole).getDestType(),
             insert.getDestType());
  }
};

struct ShardableGather
    : ShardableOpInterface::ExternalModel<ShardableGather, tensor::GatherOp> {
  std::optional<ShardingRule> getShardingRule(Operation *op) const {
    return getGatherRule(cast<tensor::GatherOp>(op));
  }
};

struct ShardableScatter
    : ShardableOpInterface::ExternalModel<ShardableScatter, tensor::ScatterOp> {
  std::optional<ShardingRule> getShardingRule(Operation *op) const {
    return getScatterRule(cast<tensor::ScatterOp>(op));
  }
};

struct ShardablePad
    : ShardableOpInterface::ExternalModel<ShardablePad, tensor::PadOp> {
  std::optional<ShardingRule> getShardingRule(Operation *op) const {
    return getPadRule(cast<tensor::PadOp>(op));
  }
};

struct ShardableConcat
    : ShardableOpInterface::ExternalModel<ShardableConcat, tensor::ConcatOp> {
  std::optional<ShardingRule> getShardingRule(Operation *op) const {
    return getConcatRule(cast<tensor::ConcatOp>(op));
  }
};

struct ShardableSoftmax
    : ShardableOpInterface::ExternalModel<ShardableSoftmax, linalg::SoftmaxOp> {
  std::optional<ShardingRule> getShardingRule(Operation *op) const {
    return getSoftmaxRule(cast<linalg::SoftmaxOp>(op));
  }
};

template <typename Op>
struct ShardableWinograd
    : ShardableOpInterface::ExternalModel<ShardableWinograd<Op>, Op> {
  std::optional<ShardingRule> getShardingRule(Operation *op) const {
    return getWinogradRule(op);
  }
};

} // namespace

void mlir::pathways::registerTensorShardingModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, linalg::LinalgDialect *) {
    linalg::SoftmaxOp::attachInterface<ShardableSoftmax>(*context);
    linalg::WinogradFilterTransformOp::attachInterface<
        ShardableWinograd<linalg::WinogradFilterTransformOp>>(*context);
    linalg::WinogradInputTransformOp::attachInterface<
        ShardableWinograd<linalg::WinogradInputTransformOp>>(*context);
    linalg::WinogradOutputTransformOp::attachInterface<
        ShardableWinograd<linalg::WinogradOutputTransformOp>>(*context);
  });
  registry.addExtension(+[](MLIRContext *context, tensor::TensorDialect *) {
    tensor::CollapseShapeOp::attachInterface<ShardableCollapseShape>(*context);
    tensor::ConcatOp::attachInterface<ShardableConcat>(*context);
    tensor::ExpandShapeOp::attachInterface<ShardableExpandShape>(*context);
    tensor::ExtractSliceOp::attachInterface<ShardableExtractSlice>(*context);
    tensor::GatherOp::attachInterface<ShardableGather>(*context);
    tensor::InsertSliceOp::attachInterface<ShardableInsertSlice>(*context);
    tensor::PadOp::attachInterface<ShardablePad>(*context);
    tensor::ScatterOp::attachInterface<ShardableScatter>(*context);
  });
}

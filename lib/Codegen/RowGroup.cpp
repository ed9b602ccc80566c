//===- RowGroup.cpp - Ops that can run row by row together ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowGroup.h"

#include "Contraction.h"

#include "mlir/Dialect/Linalg/Utils/Utils.h"

using namespace mlir;
using namespace mlir::pathways;
using namespace mlir::pathways::kernel;

/// A row of the widest value: some of them must fit in the cache of one core.
constexpr int64_t kRowBytes = 256 << 10;
/// Fewer elements than this in a row leave vectors empty.
constexpr int64_t kLeastColumns = 16;

static int64_t bytesPer(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isIndex()
             ? 8
             : llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

int64_t kernel::rowBytes(RankedTensorType type, int64_t depth) {
  return llvm::product_of(type.getShape().drop_front(depth), bytesPer(type));
}

AffineMap kernel::resultMap(linalg::LinalgOp op, unsigned result) {
  return op.getMatchingIndexingMap(op.getDpsInitOperand(result));
}

int64_t kernel::loopAt(AffineMap map, int64_t d) {
  auto expr = dyn_cast<AffineDimExpr>(map.getResult(d));
  return expr ? static_cast<int64_t>(expr.getPosition()) : -1;
}

bool kernel::isProduct(linalg::LinalgOp op) {
  return isContraction(op) &&
         llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *operand) {
           return op.getMatchingIndexingMap(operand).getNumResults() <
                  op.getNumLoops();
         });
}

void kernel::forEachUse(Operation *op, llvm::function_ref<void(Value)> visit) {
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      visit(operand);
  });
}

/// The first `depth` dimensions of the result of `op`; none where one of them
/// is not simply a parallel loop.
static std::optional<RowLoops> rowsOfResult(linalg::LinalgOp op,
                                            int64_t depth) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (type.getRank() < depth)
    return std::nullopt;
  auto iterators = op.getIteratorTypesArray();
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  AffineMap map = resultMap(op);
  RowLoops rows;
  for (int64_t d = 0; d < depth; ++d) {
    int64_t loop = loopAt(map, d);
    if (loop < 0 || !linalg::isParallelIterator(iterators[loop]) ||
        ranges[loop] != type.getDimSize(d))
      return std::nullopt;
    rows.loops.push_back(loop);
    rows.extents.push_back(ranges[loop]);
  }
  return rows;
}

/// The same of a contraction that sums over the last of these dimensions and
/// no other one, in the order of its terms. That is the case when an operand
/// lies in memory along another dimension (see "Sums in lanes" in
/// docs/kernels.md for those that do not).
static std::optional<RowLoops> rowsOfSums(linalg::LinalgOp op, int64_t depth) {
  if (!isProduct(op) || op.getNumReductionLoops() != 1 || op->use_empty())
    return std::nullopt;
  std::optional<RowLoops> rows = rowsOfResult(op, depth - 1);
  if (!rows)
    return std::nullopt;
  SmallVector<unsigned> summed;
  op.getReductionDims(summed);
  const int64_t loop = summed[0];
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (OpOperand *operand : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(operand);
    int64_t inner = loopAt(map, map.getNumResults() - 1);
    if (inner < 0 || inner == loop || ranges[inner] == 1)
      return std::nullopt;
  }
  rows->loops.push_back(loop);
  rows->extents.push_back(ranges[loop]);
  rows->isSummed = true;
  return rows;
}

/// What `value` is with its dimensions in another order, and where they come
/// from: its dimension d is dimension order[d] of `value`. None if it is not
/// that.
static Value turnedFrom(Value value, SmallVectorImpl<unsigned> &order) {
  auto op = value.getDefiningOp<linalg::GenericOp>();
  if (!op || op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 ||
      !llvm::hasSingleElement(*op.getBody()) ||
      op.getBody()->getTerminator()->getOperand(0) !=
          op.getBody()->getArgument(0))
    return {};
  AffineMap from = op.getMatchingIndexingMap(op.getDpsInputOperand(0));
  if (!resultMap(op).isIdentity() || !from.isPermutation())
    return {};
  for (unsigned d = 0, e = from.getNumResults(); d < e; ++d)
    order.push_back(from.getDimPosition(d));
  return op.getDpsInputs()[0];
}

void kernel::readUnturned(linalg::LinalgOp op) {
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  if (!generic || !isProduct(op))
    return;
  for (OpOperand *operand : generic.getDpsInputOperands()) {
    SmallVector<unsigned> order;
    Value value = turnedFrom(operand->get(), order);
    if (!value || !value.getDefiningOp<linalg::LinalgOp>())
      continue;
    SmallVector<AffineMap> maps = generic.getIndexingMapsArray(), old = maps;
    AffineMap &map = maps[operand->getOperandNumber()];
    SmallVector<AffineExpr> results;
    for (unsigned d : order)
      results.push_back(map.getResult(d));
    map = AffineMap::get(map.getNumDims(), 0, results, op->getContext());
    Value turned = operand->get();
    operand->set(value);
    generic.setIndexingMapsAttr(OpBuilder(op).getAffineMapArrayAttr(maps));
    bool sums = false;
    for (int64_t depth = 1; depth <= map.getNumResults(); ++depth)
      sums |= rowsOfSums(op, depth).has_value();
    if (!sums) {
      operand->set(turned);
      generic.setIndexingMapsAttr(OpBuilder(op).getAffineMapArrayAttr(old));
    } else if (turned.use_empty()) {
      turned.getDefiningOp()->erase();
    }
  }
}

/// Whether a row of `op` is made of rows of the same iteration, and no others.
/// All of what `sums` add up is known behind the loop.
static bool takesRows(const RowGroup &group, linalg::LinalgOp op,
                      const RowLoops &rows,
                      const llvm::SmallPtrSetImpl<Operation *> &sums) {
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type)
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    Operation *def = operand.get().getDefiningOp();
    const bool isMember = group.contains(def),
               isTotal = rows.isSummed && op.isDpsInit(&operand);
    if (isMember && (isTotal || sums.contains(def)))
      return false;
    const bool isInside = isMember || (op.isDpsInit(&operand) && !isTotal);
    if (isInside && map.getNumResults() < rows.depth())
      return false;
    for (auto [g, loop] : llvm::enumerate(rows.loops)) {
      int64_t uses = 0;
      for (int64_t d = 0, e = map.getNumResults(); d < e; ++d)
        if (map.getResult(d).isFunctionOfDim(loop)) {
          ++uses;
          if (loopAt(map, d) != loop ||
              (isInside && d != static_cast<int64_t>(g)))
            return false;
        }
      if (uses > 1 || (isInside && uses != 1))
        return false;
    }
  }
  return true;
}

/// Whether adding a block to all of the sum moves less than it saves: the rows
/// need not be written and read again.
static bool isSumWorthIt(const RowGroup &group, linalg::LinalgOp op,
                         int64_t depth) {
  auto elements = [](Value value, int64_t depth) {
    auto type = cast<RankedTensorType>(value.getType());
    return llvm::product_of(type.getShape().drop_front(depth));
  };
  int64_t columns = 0;
  for (Value input : op.getDpsInputs())
    if (group.contains(input.getDefiningOp()))
      columns += elements(input, depth);
  return elements(op->getResult(0), depth - 1) <= 2 * kMostBlock * columns;
}

/// How each member of a group is part of it at that depth; none where one
/// cannot be.
static std::optional<SmallVector<RowLoops>>
rowsOf(const RowGroup &group, int64_t depth, bool hasProducts) {
  SmallVector<RowLoops> all;
  llvm::SmallPtrSet<Operation *, 8> sums;
  int64_t most = 0;
  for (linalg::LinalgOp op : group.members) {
    auto isPart = [&](const std::optional<RowLoops> &rows) {
      return rows && (all.empty() || rows->extents == all[0].extents) &&
             takesRows(group, op, *rows, sums);
    };
    std::optional<RowLoops> rows = rowsOfResult(op, depth);
    if (!isPart(rows)) {
      rows = rowsOfSums(op, depth);
      if (!isPart(rows) || !isSumWorthIt(group, op, depth))
        return std::nullopt;
      sums.insert(op);
      all.push_back(std::move(*rows));
      continue;
    }
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    if ((isProduct(op) && type.getRank() == depth) ||
        rowBytes(type, depth) > kRowBytes)
      return std::nullopt;
    int64_t columns = 1;
    for (auto [loop, range] : llvm::enumerate(op.getStaticLoopRanges()))
      if (!llvm::is_contained(rows->loops, static_cast<int64_t>(loop)))
        columns *= range;
    if (!isProduct(op))
      most = std::max(most, columns);
    all.push_back(std::move(*rows));
  }
  if (!hasProducts && most < kLeastColumns)
    return std::nullopt;
  return all;
}

void RowGroup::setDepth(bool hasProducts) {
  depth = std::numeric_limits<int64_t>::max();
  for (linalg::LinalgOp op : members)
    depth = std::min(
        depth, cast<RankedTensorType>(op->getResult(0).getType()).getRank());
  for (; depth > 0; --depth)
    if (auto found = rowsOf(*this, depth, hasProducts)) {
      rows = std::move(*found);
      return;
    }
}

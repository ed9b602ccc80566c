//===- Packing.cpp - Packing of the operands of products ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"
#include "Contraction/ContractionWriter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::pathways;
using namespace mlir::pathways::kernel;

bool kernel::isDenseAlong(Value buffer, AffineMap map, int64_t dim) {
  auto type = cast<MemRefType>(buffer.getType());
  if (type.getRank() == 0)
    return false;
  auto last = dyn_cast<AffineDimExpr>(map.getResults().back());
  if (!last || static_cast<int64_t>(last.getPosition()) != dim)
    return false;
  SmallVector<int64_t> strides;
  int64_t offset;
  return succeeded(type.getStridesAndOffset(strides, offset)) &&
         strides.back() == 1;
}

/// Returns the change of `expr`, which is linear, for one step of `dim`.
static int64_t factorOf(AffineExpr expr, int64_t dim) {
  if (auto each = dyn_cast<AffineDimExpr>(expr))
    return static_cast<int64_t>(each.getPosition()) == dim;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return 0;
  if (expr.getKind() == AffineExprKind::Add)
    return factorOf(binary.getLHS(), dim) + factorOf(binary.getRHS(), dim);
  return factorOf(binary.getLHS(), dim) *
         cast<AffineConstantExpr>(binary.getRHS()).getValue();
}

int64_t kernel::strideAlong(Value buffer, AffineMap map, int64_t dim) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return 0;
  int64_t bytes = 0;
  for (auto [stride, expr] : llvm::zip_equal(strides, map.getResults()))
    if (int64_t factor = factorOf(expr, dim))
      bytes += factor * stride * type.getElementTypeBitWidth() / 8;
  return bytes;
}

void ContractionWriter::turnAroundB(OpFoldResult begin, int64_t depth) {
  int64_t width = panelWidth(), full = size(n) / width;
  panelBegin = dyn_cast<Value>(begin);
  // Copies columns from `begin` on, as many as `count` panels have.
  auto copy = [&](int64_t panel, int64_t count, int64_t columns) {
    SmallVector<OpFoldResult> offsets, extents,
        strides(rhsMap.getNumResults(), b.getIndexAttr(1));
    SmallVector<int64_t> shape, split;
    // position of panel, k, column in the source
    SmallVector<AffineExpr> order;
    SmallVector<ReassociationIndices> groups;
    for (AffineExpr expr : rhsMap.getResults()) {
      int64_t dim = cast<AffineDimExpr>(expr).getPosition();
      offsets.push_back(dim == n   ? b.getIndexAttr(panel * width)
                        : dim == k ? begin
                                   : OpFoldResult(outer[dim]));
      int64_t extent = dim == n ? count * columns : dim == k ? depth : 1;
      extents.push_back(b.getIndexAttr(extent));
      if (dim != n && dim != k)
        continue;
      shape.push_back(extent);
      int64_t next = split.size();
      if (dim == k) {
        groups.push_back({next});
        split.push_back(extent);
        order.push_back(b.getAffineDimExpr(1));
        continue;
      }
      groups.push_back({next, next + 1});
      split.append({count, columns});
      order.append({b.getAffineDimExpr(0), b.getAffineDimExpr(2)});
    }
    auto sourceType = memref::SubViewOp::inferRankReducedResultType(
        shape, cast<MemRefType>(rhs.getType()), offsets, extents, strides);
    Value source = memref::SubViewOp::create(b, sourceType, rhs, offsets,
                                             extents, strides);
    source = memref::ExpandShapeOp::create(b, split, source, groups);
    Value target = memref::SubViewOp::create(
        b, panels,
        SmallVector<OpFoldResult>{b.getIndexAttr(panel), b.getIndexAttr(0),
                                  b.getIndexAttr(0)},
        SmallVector<OpFoldResult>{b.getIndexAttr(count), b.getIndexAttr(depth),
                                  b.getIndexAttr(columns)},
        SmallVector<OpFoldResult>(3, b.getIndexAttr(1)));
    linalg::GenericOp::create(
        b, ValueRange(source), ValueRange(target),
        ArrayRef<AffineMap>{AffineMap::get(3, 0, order, b.getContext()),
                            b.getMultiDimIdentityMap(3)},
        SmallVector<utils::IteratorType>(3, utils::IteratorType::parallel),
        [](OpBuilder &inner, Location loc, ValueRange args) {
          linalg::YieldOp::create(inner, loc, args.front());
        });
  };
  if (full > 0)
    copy(0, full, width);
  if (full * width < size(n))
    copy(full, 1, size(n) - full * width);
}

/// Returns true if both are the same part of a buffer.
static bool areSame(Value a, Value b) {
  if (a == b)
    return true;
  auto one = a.getDefiningOp<memref::SubViewOp>(),
       other = b.getDefiningOp<memref::SubViewOp>();
  return one && other &&
         OperationEquivalence::isEquivalentTo(
             one, other, OperationEquivalence::IgnoreLocations);
}

void ContractionWriter::turnAroundInFront() {
  SmallVector<int64_t> order;
  for (AffineExpr expr : rhsMap.getResults()) {
    int64_t dim = cast<AffineDimExpr>(expr).getPosition();
    order.push_back(dim == n ? 0 : dim == k ? 1 : 2);
  }
  // The last, smaller block of rows stands after the loop over the others.
  for (const Turned &each : turned) {
    Operation *maker = each.panels.getDefiningOp();
    Operation *user = maker->getBlock()->findAncestorOpInBlock(*op);
    if (each.panels.getType() != panelsType(size(k)) || each.order != order ||
        !areSame(each.rhs, rhs) || !user || !maker->isBeforeInBlock(user) ||
        !staysIn(rhs, maker->getParentOp()))
      continue;
    panels = each.panels;
    return;
  }
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(outermostUser(rhs, op));
  for (int64_t dim : others)
    outer[dim] = index(0);
  panels = memref::AllocOp::create(b, panelsType(size(k)));
  turnAroundB(b.getIndexAttr(0), size(k));
  turned.push_back({rhs, order, panels});
}

/// Packs the rows of B from `kBegin` on.
void ContractionWriter::packB(Value kBegin, Value kEnd) {
  panelBegin = kBegin;
  Lanes lanes = vectorsOf(rhs);
  loop(kBegin, kEnd, 1, [&](Value kv) {
    Value place = arith::SubIOp::create(b, kv, kBegin);
    forEachColumns([&](const Columns &columns) {
      int64_t offset = 0;
      for (int64_t width : columns.widths) {
        Value row = lanes.load(
            b, rhs, subscripts(rhsMap, {}, add(columns.first, offset), kv),
            width);
        lanes.store(b, row, panels, {columns.panel, place, index(offset)},
                    width);
        offset += width;
      }
    });
  });
}

/// Packs a block of A, in the order of its dimensions.
void ContractionWriter::packA(Value rowBegin, Value rowEnd, Value kBegin,
                              Value kEnd) {
  blockRow = rowBegin, blockBegin = kBegin;
  auto copy = [&](Value row, Value kv) {
    Value rowPlace = arith::SubIOp::create(b, row, rowBegin),
          kPlace = arith::SubIOp::create(b, kv, kBegin);
    Value value =
        memref::LoadOp::create(b, lhs, subscripts(lhsMap, row, {}, kv));
    if (isDenseAlong(lhs, lhsMap, k))
      memref::StoreOp::create(b, value, blockA, ValueRange{rowPlace, kPlace});
    else
      memref::StoreOp::create(b, value, blockA, ValueRange{kPlace, rowPlace});
  };
  if (isDenseAlong(lhs, lhsMap, k))
    loop(rowBegin, rowEnd, 1, [&](Value row) {
      loop(kBegin, kEnd, 1, [&](Value kv) { copy(row, kv); });
    });
  else
    loop(kBegin, kEnd, 1, [&](Value kv) {
      loop(rowBegin, rowEnd, 1, [&](Value row) { copy(row, kv); });
    });
}

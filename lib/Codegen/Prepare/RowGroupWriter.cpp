//===- RowGroupWriter.cpp - Loops over rows for groups of ops -------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodegenInternal.h"
#include "Prepare/RowGroup.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace mlir::pathways;
using namespace mlir::pathways::kernel;

namespace {

/// A part of an array.
struct Part {
  SmallVector<OpFoldResult> offsets, sizes;
  SmallVector<int64_t> shape;
  bool isWhole = true;
};

/// Writes the loop of one group in front of its last member.
class Writer {
public:
  explicit Writer(RowGroup &group)
      : group(group), extents(group.rows.front().extents),
        b(group.members.back()->getLoc(), group.members.back()),
        sizes(group.depth, 1) {}

  /// Moves ops between the members that need a member after the last one.
  void clearTheWay();
  void write(int64_t step);

private:
  Part partOf(const RowLoops &rows, AffineMap map, ArrayRef<int64_t> shape);
  Value tileOf(const RowLoops &rows, OpOperand &operand);
  /// Writes the rows of one member at `offsets`.
  void writeMember(linalg::LinalgOp op, const RowLoops &rows);
  /// Writes the loops from dimension `g` on.
  void nest(int64_t g, int64_t step);
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  SmallVector<OpFoldResult> ones(size_t count) {
    return SmallVector<OpFoldResult>(count, b.getIndexAttr(1));
  }

  RowGroup &group;
  SmallVector<int64_t> extents;
  ImplicitLocOpBuilder b;
  /// Values that are used after the loop, and their current state in the loop.
  SmallVector<Value> results, carried;
  IRMapping tiles; ///< the members' results of this iteration
  SmallVector<OpFoldResult> offsets;
  SmallVector<int64_t> sizes;
};

} // namespace

void Writer::clearTheWay() {
  Operation *last = group.members.back();
  llvm::SmallPtrSet<Operation *, 16> behind;
  SmallVector<Operation *> moved;
  for (Operation &op : llvm::make_range(group.members.front()->getIterator(),
                                        last->getIterator())) {
    if (group.contains(&op))
      continue;
    bool isBehind = false;
    forEachUse(&op, [&](Value value) {
      Operation *def = value.getDefiningOp();
      isBehind |= def && (group.contains(def) || behind.contains(def));
    });
    if (isBehind) {
      behind.insert(&op);
      moved.push_back(&op);
    }
  }
  Operation *after = last;
  for (Operation *op : moved) {
    op->moveAfter(after);
    after = op;
  }
}

Part Writer::partOf(const RowLoops &rows, AffineMap map,
                    ArrayRef<int64_t> shape) {
  Part part;
  for (int64_t d = 0, e = shape.size(); d < e; ++d) {
    part.offsets.push_back(b.getIndexAttr(0));
    part.shape.push_back(shape[d]);
    for (int64_t g = 0; g < group.depth; ++g)
      if (loopAt(map, d) == rows.loops[g]) {
        part.offsets.back() = offsets[g];
        part.shape.back() = sizes[g];
        part.isWhole = false;
      }
    part.sizes.push_back(b.getIndexAttr(part.shape.back()));
  }
  return part;
}

/// Returns the part of an operand that this iteration uses.
Value Writer::tileOf(const RowLoops &rows, OpOperand &operand) {
  auto op = cast<linalg::LinalgOp>(operand.getOwner());
  Value value = operand.get();
  if (rows.isSummed && op.isDpsInit(&operand))
    value = carried[llvm::find(results, op->getResult(0)) - results.begin()];
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return value;
  if (Value inside = tiles.lookupOrNull(value))
    return inside;
  Part part =
      partOf(rows, op.getMatchingIndexingMap(&operand), type.getShape());
  if (value.getDefiningOp<tensor::EmptyOp>())
    return tensor::EmptyOp::create(b, part.shape, type.getElementType());
  if (part.isWhole)
    return value;
  return tensor::ExtractSliceOp::create(b, type.clone(part.shape), value,
                                        part.offsets, part.sizes,
                                        ones(part.shape.size()));
}

void Writer::writeMember(linalg::LinalgOp op, const RowLoops &rows) {
  SmallVector<Value> operands;
  SmallVector<Type> types;
  for (OpOperand &operand : op->getOpOperands()) {
    operands.push_back(tileOf(rows, operand));
    if (op.isDpsInit(&operand))
      types.push_back(operands.back().getType());
  }
  auto made = cast<linalg::LinalgOp>(mlir::clone(b, op, types, operands));
  SmallVector<OpFoldResult> shifts(op.getNumLoops(), b.getIndexAttr(0));
  for (int64_t g = 0; g < group.depth; ++g)
    shifts[rows.loops[g]] = offsets[g];
  linalg::offsetIndices(b, made, shifts);
  for (unsigned i = 0, e = op->getNumResults(); i < e; ++i) {
    Value whole = op->getResult(i), tile = made->getResult(i);
    tiles.map(whole, tile);
    auto it = llvm::find(results, whole);
    if (it == results.end())
      continue;
    auto type = cast<RankedTensorType>(whole.getType());
    Part part = partOf(rows, resultMap(op, i), type.getShape());
    Value &to = carried[it - results.begin()];
    if (part.isWhole)
      to = tile;
    else
      to = tensor::InsertSliceOp::create(b, tile, to, part.offsets, part.sizes,
                                         ones(part.shape.size()));
  }
}

void Writer::nest(int64_t g, int64_t step) {
  if (g == group.depth) {
    tiles.clear();
    for (auto [op, rows] : llvm::zip_equal(group.members, group.rows))
      writeMember(op, rows);
    return;
  }
  const int64_t stride = g + 1 == group.depth ? step : 1,
                end = extents[g] / stride * stride;
  sizes[g] = stride;
  if (end == stride) {
    offsets.push_back(b.getIndexAttr(0));
    nest(g + 1, step);
    offsets.pop_back();
  } else {
    auto loop =
        scf::ForOp::create(b, index(0), index(end), index(stride), carried);
    loop->setAttr(kRowLoopAttrName, b.getUnitAttr());
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    carried.assign(loop.getRegionIterArgs().begin(),
                   loop.getRegionIterArgs().end());
    offsets.push_back(loop.getInductionVar());
    nest(g + 1, step);
    offsets.pop_back();
    scf::YieldOp::create(b, carried);
    carried.assign(loop.getResults().begin(), loop.getResults().end());
  }
  if (end == extents[g])
    return;
  sizes[g] = extents[g] - end;
  offsets.push_back(b.getIndexAttr(end));
  nest(g + 1, step);
  offsets.pop_back();
}

void Writer::write(int64_t step) {
  for (linalg::LinalgOp op : group.members)
    for (Value result : op->getResults()) {
      if (llvm::all_of(result.getUsers(),
                       [&](Operation *user) { return group.contains(user); }))
        continue;
      auto type = cast<RankedTensorType>(result.getType());
      results.push_back(result);
      carried.push_back(op.getDpsInits()[0]);
      if (!group.isSum(op))
        carried.back() =
            tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
    }
  nest(0, step);
  for (auto [result, whole] : llvm::zip_equal(results, carried))
    result.replaceUsesWithIf(
        whole, [&](OpOperand &use) { return !group.contains(use.getOwner()); });
  for (linalg::LinalgOp op : llvm::reverse(group.members))
    op->erase();
}

void RowGroup::write(int64_t step) {
  ArrayRef<int64_t> extents = rows.front().extents;
  step = std::min(step, extents.back());
  if (llvm::product_of(extents) == step)
    return; // The group is one block already.
  Writer writer(*this);
  writer.clearTheWay();
  writer.write(step);
}

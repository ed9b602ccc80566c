//===- MatrixUnitPacking.cpp - Operands of matrix units -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Packed operands are rows of 16 groups of four bytes, in the order
//
//   left    [row / 16][step][row % 16][group of the step]
//   right   [column / 16][group of k][column % 16]
//
// so that 16 rows of them are a tile. Elements beyond k are zero.
//
//===----------------------------------------------------------------------===//

#include "Contraction/ContractionWriter.h"
#include "Contraction/MatrixUnitWriter.h"
#include "Vectorize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::pathways;
using namespace mlir::pathways::kernel;

namespace {
constexpr int64_t kFarBytes = 2048;
/// Columns from which on rows are read often enough to pack them.
constexpr int64_t kWorthTilePacking = 128;
} // namespace

Value TileWriter::zeros(VectorType type) {
  return arith::ConstantOp::create(b, b.getZeroAttr(type));
}

Value TileWriter::loadSome(Value buffer, ValueRange where, int64_t span,
                           int64_t count) {
  Type element = getElementTypeOrSelf(buffer.getType());
  auto type = VectorType::get(span, element);
  if (count == 0)
    return zeros(type);
  if (count == span)
    return vector::LoadOp::create(b, type, buffer, where);
  SmallVector<bool> used(span, false);
  std::fill_n(used.begin(), count, true);
  Value mask = arith::ConstantOp::create(
      b, DenseElementsAttr::get(type.clone(b.getI1Type()), used));
  return vector::MaskedLoadOp::create(b, type, buffer, where, mask,
                                      zeros(type));
}

/// Interleaves units of elements of two registers, in one register if they fit.
SmallVector<Value> TileWriter::inTurns(Value first, Value second,
                                       int64_t unit) {
  int64_t count = cast<VectorType>(first.getType()).getDimSize(0);
  SmallVector<int64_t> order;
  for (int64_t i = 0; i < count; i += unit)
    for (int64_t from : {i, count + i})
      for (int64_t each = 0; each < unit; ++each)
        order.push_back(from + each);
  SmallVector<Value> both;
  int64_t most = std::min<int64_t>(2 * count, stepSize());
  for (int64_t i = 0; i < 2 * count; i += most)
    both.push_back(vector::ShuffleOp::create(b, first, second,
                                             ArrayRef(order).slice(i, most)));
  return both;
}

SmallVector<Value> TileWriter::loadGroups(const Operand &operand, Value at,
                                          Value kv, int64_t span, int64_t width,
                                          int64_t count) {
  SmallVector<Value> rows;
  for (int64_t i = 0; i < groupSize(); ++i)
    rows.push_back(loadSome(
        operand.buffer, subscripts(operand.map, operand.dim, at, add(kv, i)),
        span, i < count ? width : 0));
  SmallVector<Value> groups = inTurns(rows[0], rows[1], 1);
  if (groupSize() == 4) {
    SmallVector<Value> pairs = groups, others = inTurns(rows[2], rows[3], 1);
    groups.clear();
    for (auto [first, second] : llvm::zip_equal(pairs, others))
      llvm::append_range(groups, inTurns(first, second, 2));
  }
  for (Value &group : groups)
    group = vector::BitCastOp::create(b, groupsType(), group);
  return groups;
}

Value TileWriter::loadAlongK(const Operand &operand, Value at, Value kv,
                             int64_t count) {
  Value row =
      loadSome(operand.buffer, subscripts(operand.map, operand.dim, at, kv),
               stepSize(), count);
  return vector::BitCastOp::create(b, groupsType(), row);
}

/// Packs `width` rows along k, one after the other; 16 make a tile.
void TileWriter::packAlongK(const Operand &operand, Value at, Value tile,
                            int64_t width) {
  int64_t full = size(k) / stepSize(), rest = size(k) % stepSize();
  loop(0, width, 1, [&](Value i) {
    Value row = arith::AddIOp::create(b, at, i);
    auto packStep = [&](Value step, int64_t count) {
      Value kv = arith::MulIOp::create(b, step, index(stepSize())),
            place = arith::MulIOp::create(b, step, index(kSide));
      vector::StoreOp::create(
          b, loadAlongK(operand, row, kv, count), operand.packed,
          ValueRange{tile, arith::AddIOp::create(b, place, i), index(0)});
    };
    loop(0, full, 1, [&](Value step) { packStep(step, stepSize()); });
    if (rest > 0)
      packStep(index(full), rest);
  });
}

/// Packs `width` columns in groups of k, several tiles at a time.
void TileWriter::packGroups(const Operand &operand, Value at, Value tile,
                            int64_t span, int64_t width) {
  auto packGroup = [&](Value group, int64_t count) {
    Value kv = arith::MulIOp::create(b, group, index(groupSize()));
    SmallVector<Value> groups = loadGroups(operand, at, kv, span, width, count);
    for (int64_t i = 0; i * kSide < width; ++i)
      vector::StoreOp::create(b, groups[i], operand.packed,
                              ValueRange{add(tile, i), group, index(0)});
  };
  int64_t full = size(k) / groupSize(), rest = size(k) % groupSize();
  loop(0, full, 1, [&](Value group) { packGroup(group, groupSize()); });
  if (rest > 0)
    packGroup(index(full), rest);
  loop(llvm::divideCeil(size(k), groupSize()), numSteps() * kSide, 1,
       [&](Value group) {
         for (int64_t i = 0; i * kSide < width; ++i)
           vector::StoreOp::create(b, zeros(groupsType()), operand.packed,
                                   ValueRange{add(tile, i), group, index(0)});
       });
}

/// Transposes groups of k with rows or columns in the tiles `begin` to `end`.
void TileWriter::turn(const Operand &operand, Value begin, Value end) {
  auto turnTile = [&](Value tile, Value first) {
    SmallVector<Value> rows;
    for (int64_t i = 0; i < kSide; ++i)
      rows.push_back(
          vector::LoadOp::create(b, groupsType(), operand.packed,
                                 ValueRange{tile, add(first, i), index(0)}));
    turnAround(b, rows);
    for (auto [i, row] : llvm::enumerate(rows))
      vector::StoreOp::create(b, row, operand.packed,
                              ValueRange{tile, add(first, i), index(0)});
  };
  loop(begin, end, 1, [&](Value tile) {
    loop(0, numSteps() * kSide, kSide,
         [&](Value first) { turnTile(tile, first); });
  });
}

/// Packs rows or columns from `begin` up to `end`. There are `count` of them,
/// or a multiple of `count` and of `span`. Tiles are numbered from `begin` on.
void TileWriter::pack(const Operand &operand, Value begin, Value end,
                      int64_t count, int64_t span, bool isTurned) {
  bool isAlongK = isDenseIn(operand, k);
  if (isAlongK)
    span = kSide;
  auto packSpan = [&](Value at, int64_t width) {
    Value tile = arith::DivUIOp::create(b, arith::SubIOp::create(b, at, begin),
                                        index(kSide));
    if (isAlongK)
      packAlongK(operand, at, tile, width);
    else
      packGroups(operand, at, tile, span, width);
    if (isTurned)
      turn(operand, tile, add(tile, llvm::divideCeil(width, kSide)));
  };
  int64_t full = count / span * span;
  if (full > 0)
    loop(begin, full == count ? end : add(begin, full), span,
         [&](Value at) { packSpan(at, span); });
  if (full < count)
    packSpan(add(begin, full), count - full);
}

void TileWriter::bringTogether(Operand &operand) {
  if (isDenseIn(operand, k) || isDenseIn(operand, operand.dim))
    return;
  SmallVector<int64_t> shape = {size(k)};
  SmallVector<AffineExpr> exprs = {b.getAffineDimExpr(k)};
  if (operand.dim >= 0) {
    shape.insert(shape.begin(), size(operand.dim));
    exprs.insert(exprs.begin(), b.getAffineDimExpr(operand.dim));
  }
  Operand dense = operand;
  dense.map = AffineMap::get(sizes.size(), 0, exprs, b.getContext());
  dense.buffer = memref::AllocOp::create(
      b,
      MemRefType::get(shape, getElementTypeOrSelf(operand.buffer.getType())));
  auto placeIn = [&](const Operand &side, Value at, Value kv) {
    return subscripts(side.map, side.dim, at, kv);
  };
  loop(0, size(operand.dim), 1, [&](Value at) {
    loop(0, size(k), 1, [&](Value kv) {
      Value value =
          memref::LoadOp::create(b, operand.buffer, placeIn(operand, at, kv));
      memref::StoreOp::create(b, value, dense.buffer, placeIn(dense, at, kv));
    });
  });
  operand = dense;
}

void TileWriter::packRight() {
  bringTogether(right);
  int64_t count = llvm::divideCeil(size(n), kSide);
  right.packed = memref::AllocOp::create(
      b, MemRefType::get({count, numSteps() * kSide, kSide}, b.getI32Type()));
  pack(right, index(0), index(size(n)), size(n), stepSize(),
       /*isTurned=*/isDenseIn(right, k));
}

bool TileWriter::packsLeft() const {
  // Rows that are far apart share a few sets of a cache, and have a page each.
  bool areFar = strideAlong(left.buffer, left.map, m) >= kFarBytes &&
                size(m) >= kSide && size(n) >= kWorthTilePacking;
  return !isDenseIn(left, k) || areFar;
}

void TileWriter::allocateLeft() {
  int64_t rows = llvm::alignTo(std::min(size(m), kRowBlock), kSide);
  if (packsLeft())
    left.packed = memref::AllocOp::create(
        b, MemRefType::get({rows / kSide, numSteps() * kSide, kSide},
                           b.getI32Type()));
  else if (size(k) % stepSize() != 0)
    tail = memref::AllocOp::create(
        b, MemRefType::get({rows, kSide}, b.getI32Type()));
}

void TileWriter::packLeft(Value first, Value last, int64_t height) {
  if (tail) {
    int64_t full = size(k) / stepSize() * stepSize();
    loop(first, last, 1, [&](Value row) {
      vector::StoreOp::create(
          b, loadAlongK(left, row, index(full), size(k) - full), tail,
          ValueRange{arith::SubIOp::create(b, row, first), index(0)});
    });
  }
  if (left.packed)
    pack(left, first, last, height, 2 * kSide,
         /*isTurned=*/!isDenseIn(left, k));
}

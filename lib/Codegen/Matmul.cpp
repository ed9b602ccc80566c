//===- Matmul.cpp - Contractions as register-tiled vector code ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes C[b, m, n] += A[b, m, k] * B[b, k, n] (any order of dimensions, any
// number of each) as loops around a register tile: `rows` x `vectors` registers
// of C stay in registers while k runs. B and C must be dense along n; where B
// is not, it is copied first, and where m rather than n is innermost in C, A
// and B change places. k is cut so that the rows of B in use stay in the cache.
//
// Every element of C is the same sum in every tile, full or at an edge: from
// the value in C, products are added one by one in the order of k, with one
// rounding each where the target has fused multiply-add. So results do not
// depend on where in the matrix an element lies.
//
//===----------------------------------------------------------------------===//

#include "CodegenInternal.h"
#include "Contraction.h"
#include "LoopWriter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

using namespace mlir;
using namespace mlir::pathways;

namespace {

constexpr int64_t kDepthBlock = 256; // of k; a multiple of kUnroll
constexpr int64_t kRowBlock = 128;
constexpr int64_t kUnroll = 4;

/// One contraction being written.
class ContractionWriter : kernel::LoopWriter {
public:
  ContractionWriter(linalg::LinalgOp op, const kernel::MatmulTiles &tiles)
      : LoopWriter(op), op(op), tiles(tiles) {}

  /// Returns false, and changes nothing, when the op is not for it.
  bool match();
  void write();

private:
  /// Positions of the loop dimensions; -1: there is none.
  int64_t m = -1, n = -1, k = -1;

  int64_t size(int64_t dim) { return dim < 0 ? 1 : sizes[dim]; }

  /// Subscripts of an operand where the loop dimensions have the given values.
  SmallVector<Value> subscripts(AffineMap map, Value mv, Value nv, Value kv);
  void packB();
  void takeFill();
  /// All tiles for one block of k.
  void writeBlock(Value kBegin, Value kEnd);
  /// One register tile: `rows` rows from `row`, vectors of `widths` from
  /// `column`.
  void writeTile(Value kBegin, Value kEnd, Value row, int64_t rows,
                 Value column, ArrayRef<int64_t> widths);

  linalg::LinalgOp op;
  const kernel::MatmulTiles &tiles;
  Value lhs, rhs, out;
  AffineMap lhsMap, rhsMap, outMap;
  SmallVector<int64_t> sizes;
  SmallVector<int64_t> others; ///< loop dimensions other than m, n, k
  SmallVector<Value> outer;    ///< their values
  Type element;
  bool mustPack = false;
  Value fill; ///< what sums begin with; none: with what is in C
};

} // namespace

static bool isDenseAlong(Value buffer, AffineMap map, int64_t dim) {
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

bool ContractionWriter::match() {
  if (!op.hasPureBufferSemantics() || !kernel::isContraction(op))
    return false;
  sizes = op.getStaticLoopRanges();
  if (ShapedType::isDynamicShape(sizes) || llvm::is_contained(sizes, 0))
    return false;
  Block *body = op.getBlock();
  // The products are of the operands themselves, not of something made of them.
  if (!llvm::hasNItems(body->getOperations(), 3) ||
      !llvm::all_of(body->getArguments(),
                    [](Value argument) { return argument.hasOneUse(); }))
    return false;
  lhs = op.getDpsInputs()[0], rhs = op.getDpsInputs()[1];
  out = op.getDpsInits()[0];
  for (Value operand : {lhs, rhs, out}) {
    auto type = dyn_cast<MemRefType>(operand.getType());
    if (!type ||
        !(type.getElementType().isF32() || type.getElementType().isF64()))
      return false;
    element = type.getElementType();
  }
  if (llvm::any_of(body->getArgumentTypes(),
                   [&](Type type) { return type != element; }))
    return false;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (!llvm::all_of(maps,
                    [](AffineMap map) { return map.isProjectedPermutation(); }))
    return false;
  lhsMap = maps[0], rhsMap = maps[1], outMap = maps[2];

  // The dimension that is innermost in C is the one of vectors.
  if (outMap.getNumResults() == 0)
    return false;
  n = cast<AffineDimExpr>(outMap.getResults().back()).getPosition();
  if (!isDenseAlong(out, outMap, n))
    return false;
  if (!rhsMap.isFunctionOfDim(n)) {
    std::swap(lhs, rhs);
    std::swap(lhsMap, rhsMap);
  }
  if (!rhsMap.isFunctionOfDim(n) || lhsMap.isFunctionOfDim(n))
    return false;
  for (int64_t dim = 0, e = sizes.size(); dim < e; ++dim) {
    bool inLhs = lhsMap.isFunctionOfDim(dim),
         inRhs = rhsMap.isFunctionOfDim(dim),
         inOut = outMap.isFunctionOfDim(dim);
    if (!inLhs && !inRhs)
      return false;
    if (inLhs && inRhs && !inOut)
      k = dim; // The innermost such.
    if (inLhs && !inRhs && inOut)
      m = dim;
  }
  if (k < 0)
    return false;
  for (int64_t dim = 0, e = sizes.size(); dim < e; ++dim)
    if (dim != m && dim != n && dim != k)
      others.push_back(dim);
  mustPack = !isDenseAlong(rhs, rhsMap, n);
  // Packing costs as much as multiplying by one row.
  return !mustPack || size(m) >= 4;
}

SmallVector<Value> ContractionWriter::subscripts(AffineMap map, Value mv,
                                                 Value nv, Value kv) {
  SmallVector<Value> values;
  for (AffineExpr expr : map.getResults()) {
    int64_t dim = cast<AffineDimExpr>(expr).getPosition();
    values.push_back(dim == m   ? mv
                     : dim == n ? nv
                     : dim == k ? kv
                                : outer[dim]);
  }
  return values;
}

void ContractionWriter::packB() {
  // Rows apart by no power of two: those of one tile would share a cache set.
  int64_t lanes = 64 / (element.getIntOrFloatBitWidth() / 8);
  int64_t width = llvm::alignTo(size(n), lanes) + lanes;
  auto type = MemRefType::get({size(k), width}, element);
  Value packed = memref::AllocOp::create(b, type);
  SmallVector<OpFoldResult> offsets, extents,
      strides(rhsMap.getNumResults(), b.getIndexAttr(1));
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> order; // of the loops over k and n, in the source
  for (AffineExpr expr : rhsMap.getResults()) {
    int64_t dim = cast<AffineDimExpr>(expr).getPosition();
    bool isKept = dim == k || dim == n;
    offsets.push_back(isKept ? OpFoldResult(b.getIndexAttr(0)) : outer[dim]);
    extents.push_back(b.getIndexAttr(isKept ? size(dim) : 1));
    if (isKept) {
      shape.push_back(size(dim));
      order.push_back(b.getAffineDimExpr(dim == k ? 0 : 1));
    }
  }
  auto sourceType = memref::SubViewOp::inferRankReducedResultType(
      shape, cast<MemRefType>(rhs.getType()), offsets, extents, strides);
  Value source =
      memref::SubViewOp::create(b, sourceType, rhs, offsets, extents, strides);
  Value target = memref::SubViewOp::create(
      b, packed, SmallVector<OpFoldResult>(2, b.getIndexAttr(0)),
      SmallVector<OpFoldResult>{b.getIndexAttr(size(k)),
                                b.getIndexAttr(size(n))},
      SmallVector<OpFoldResult>(2, b.getIndexAttr(1)));
  linalg::GenericOp::create(
      b, ValueRange(source), ValueRange(target),
      ArrayRef<AffineMap>{AffineMap::get(2, 0, order, b.getContext()),
                          b.getMultiDimIdentityMap(2)},
      SmallVector<utils::IteratorType>(2, utils::IteratorType::parallel),
      [](OpBuilder &inner, Location loc, ValueRange args) {
        linalg::YieldOp::create(inner, loc, args.front());
      });
  rhs = packed;
  rhsMap = AffineMap::get(sizes.size(), 0,
                          {b.getAffineDimExpr(k), b.getAffineDimExpr(n)},
                          b.getContext());
}

void ContractionWriter::writeTile(Value kBegin, Value kEnd, Value row,
                                  int64_t rows, Value column,
                                  ArrayRef<int64_t> widths) {
  SmallVector<VectorType> types;
  SmallVector<Value> columns, rowValues, sums;
  int64_t offset = 0;
  for (int64_t width : widths) {
    types.push_back(VectorType::get(width, element));
    columns.push_back(add(column, offset));
    offset += width;
  }
  for (int64_t r = 0; r < rows; ++r) {
    rowValues.push_back(add(row, r));
    for (auto [type, cv] : llvm::zip_equal(types, columns))
      sums.push_back(
          fill ? vector::BroadcastOp::create(b, type, fill).getResult()
               : vector::LoadOp::create(
                     b, type, out, subscripts(outMap, rowValues[r], cv, {})));
  }
  auto step = [&](Value kv, SmallVectorImpl<Value> &sums) {
    SmallVector<Value> rights;
    for (auto [type, cv] : llvm::zip_equal(types, columns))
      rights.push_back(
          vector::LoadOp::create(b, type, rhs, subscripts(rhsMap, {}, cv, kv)));
    for (int64_t r = 0; r < rows; ++r) {
      Value left = memref::LoadOp::create(
          b, lhs, subscripts(lhsMap, rowValues[r], {}, kv));
      for (auto [i, type] : llvm::enumerate(types)) {
        Value &sum = sums[r * types.size() + i];
        Value lanes = vector::BroadcastOp::create(b, type, left);
        if (tiles.hasFma)
          // Not vector.fma, which may become two roundings.
          sum = math::FmaOp::create(b, lanes, rights[i], sum);
        else
          sum = arith::AddFOp::create(
              b, sum, arith::MulFOp::create(b, lanes, rights[i]));
      }
    }
  };
  auto depthLoop = [&](Value begin, Value end, int64_t unroll) {
    auto loop = scf::ForOp::create(b, begin, end, index(unroll), sums);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> inner(loop.getRegionIterArgs());
    for (int64_t u = 0; u < unroll; ++u)
      step(add(loop.getInductionVar(), u), inner);
    scf::YieldOp::create(b, inner);
    sums.assign(loop.getResults().begin(), loop.getResults().end());
  };
  // Only the last block of k can have a rest.
  if (size(k) < kUnroll) {
    depthLoop(kBegin, kEnd, 1);
  } else if (size(k) % kUnroll == 0) {
    depthLoop(kBegin, kEnd, kUnroll);
  } else {
    Value length = arith::SubIOp::create(b, kEnd, kBegin);
    Value rest = arith::RemUIOp::create(b, length, index(kUnroll));
    Value middle = arith::SubIOp::create(b, kEnd, rest);
    depthLoop(kBegin, middle, kUnroll);
    depthLoop(middle, kEnd, 1);
  }
  for (int64_t r = 0; r < rows; ++r)
    for (auto [i, cv] : llvm::enumerate(columns))
      vector::StoreOp::create(b, sums[r * columns.size() + i], out,
                              subscripts(outMap, rowValues[r], cv, {}));
}

void ContractionWriter::writeBlock(Value kBegin, Value kEnd) {
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  int64_t lanes = std::max<int64_t>(tiles.vectorBytes / bytes, 1);
  int64_t columns = lanes * tiles.vectors;
  int64_t fullRows = size(m) / tiles.rows * tiles.rows;
  int64_t fullColumns = size(n) / columns * columns;
  SmallVector<int64_t> full(tiles.vectors, lanes), rest;
  for (int64_t left = size(n) - fullColumns, width = lanes; left > 0;) {
    while (width > left)
      width /= 2;
    rest.push_back(width);
    left -= width;
  }
  auto strip = [&](int64_t begin, int64_t end, int64_t rows) {
    // Rows in blocks, so that those of A stay in the cache over all columns.
    loop(begin, end, rows == tiles.rows ? kRowBlock / rows * rows : rows,
         [&](Value block) {
           int64_t blockRows =
               rows == tiles.rows ? kRowBlock / rows * rows : rows;
           auto tilesAt = [&](Value column, ArrayRef<int64_t> widths) {
             if (end - begin <= rows)
               return writeTile(kBegin, kEnd, block, rows, column, widths);
             Value last = min(add(block, blockRows), index(end));
             loop(block, last, rows, [&](Value row) {
               writeTile(kBegin, kEnd, row, rows, column, widths);
             });
           };
           loop(0, fullColumns, columns,
                [&](Value column) { tilesAt(column, full); });
           if (!rest.empty())
             tilesAt(index(fullColumns), rest);
         });
  };
  strip(0, fullRows, tiles.rows);
  if (fullRows < size(m))
    strip(fullRows, size(m), size(m) - fullRows);
}

void ContractionWriter::takeFill() {
  // The first of several blocks of k, or of other sums around k, would need
  // code of its own.
  if (size(k) > kDepthBlock || llvm::any_of(others, [&](int64_t dim) {
        return !outMap.isFunctionOfDim(dim) && sizes[dim] > 1;
      }))
    return;
  fill = kernel::takeFill(op);
}

Value kernel::wholeOf(Value value) {
  while (auto view = value.getDefiningOp<ViewLikeOpInterface>())
    value = view.getViewSource();
  return value;
}

Value kernel::valueSetBy(Operation *op, Value buffer) {
  auto setter = dyn_cast<linalg::LinalgOp>(op);
  if (!setter || setter.getNumDpsInits() != 1 ||
      setter.getDpsInits()[0] != buffer ||
      !setter.getMatchingIndexingMap(setter.getDpsInitOperand(0))
           .isPermutation() ||
      !llvm::hasSingleElement(*setter.getBlock()))
    return {};
  Value value = setter.getBlock()->getTerminator()->getOperand(0);
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && argument.getOwner() == setter.getBlock())
    value = setter->getOperand(argument.getArgNumber());
  if (value.getType() != getElementTypeOrSelf(buffer.getType()) ||
      value.getParentBlock() == setter.getBlock())
    return {};
  return value;
}

Value kernel::takeFill(linalg::LinalgOp op) {
  Operation *before = op->getPrevNode();
  while (before && (isMemoryEffectFree(before) || isa<memref::AllocOp>(before)))
    before = before->getPrevNode();
  Value value = before ? valueSetBy(before, op.getDpsInits()[0]) : Value();
  if (value)
    before->erase();
  return value;
}

/// Whether something in `loop` may write to `buffer`, through any view of it.
static bool mayBeWritten(Value buffer, scf::ForOp loop) {
  for (OpOperand &use : buffer.getUses()) {
    Operation *user = use.getOwner();
    bool isView = isa<ViewLikeOpInterface>(user);
    if (isView && mayBeWritten(user->getResult(0), loop))
      return true;
    if (isView || !loop->isAncestor(user) ||
        isa<memref::LoadOp, vector::LoadOp>(user))
      continue;
    auto structured = dyn_cast<linalg::LinalgOp>(user);
    if (!structured || !structured.isDpsInput(&use))
      return true;
  }
  return false;
}

Operation *kernel::outermostUser(Value buffer, Operation *op) {
  Value whole = wholeOf(buffer);
  auto argument = dyn_cast<BlockArgument>(whole);
  bool isKnown =
      whole.getDefiningOp<memref::AllocOp>() ||
      (argument && isa<func::FuncOp>(argument.getOwner()->getParentOp()));
  while (isKnown) {
    auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
    if (!loop || !loop.isDefinedOutsideOfLoop(buffer) ||
        mayBeWritten(whole, loop))
      break;
    op = loop;
  }
  return op;
}

void ContractionWriter::write() {
  outer.resize(sizes.size());
  takeFill();
  // Where all are the same matrix it is packed once, before loops that keep it.
  if (mustPack &&
      llvm::all_of(others, [&](int64_t dim) { return sizes[dim] == 1; })) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(kernel::outermostUser(rhs, op));
    for (int64_t dim : others)
      outer[dim] = index(0);
    packB();
    mustPack = false;
  }
  // Loops over all other dimensions, outermost first.
  std::function<void(size_t)> nest = [&](size_t i) {
    if (i < others.size())
      return loop(0, sizes[others[i]], 1, [&](Value value) {
        outer[others[i]] = value;
        nest(i + 1);
      });
    if (mustPack)
      packB();
    loop(0, size(k), kDepthBlock, [&](Value begin) {
      Value end = size(k) <= kDepthBlock
                      ? index(size(k))
                      : min(add(begin, kDepthBlock), index(size(k)));
      writeBlock(begin, end);
    });
  };
  nest(0);
  op.erase();
}

void kernel::lowerContractions(func::FuncOp func, const MatmulTiles &tiles) {
  // Views of what stays the same leave the loops.
  func.walk([](LoopLikeOpInterface loop) { moveLoopInvariantCode(loop); });
  SmallVector<linalg::LinalgOp> ops;
  func.walk([&](linalg::LinalgOp op) { ops.push_back(op); });
  for (linalg::LinalgOp op : ops) {
    ContractionWriter writer(op, tiles);
    if (writer.match())
      writer.write();
  }
}

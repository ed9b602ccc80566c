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
// of C are live while k runs. C must be dense along n; if m rather than n is
// innermost in C, A and B are exchanged. k is cut into blocks so that the part
// of B in use stays in the cache.
//
// The columns of B of a tile are packed into a panel if B is not dense along n,
// or if its rows are so far apart that they would share a few sets of a cache
// and many pages. Blocks of rows of A are packed if they are far apart.
//
// Every element of C is the same sum in every tile, full or at an edge:
// starting from the value in C, products are added one by one in the order of
// k, with one rounding each where the target has fused multiply-add. So results
// do not depend on where in the matrix an element lies.
//
//===----------------------------------------------------------------------===//

#include "CodegenInternal.h"
#include "Contraction.h"
#include "Contraction/ContractionWriter.h"
#include "Paths.h"

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
using namespace mlir::pathways::kernel;

namespace {

constexpr int64_t kUnroll = 4;
/// Rows of an operand that are further apart than this are packed.
constexpr int64_t kFarStrideBytes = 3072;
/// Packing costs about as much as multiplying by this many rows or columns.
constexpr int64_t kWorthPacking = 32;

} // namespace

/// Returns true if the body multiplies the operands themselves, converted at
/// most.
bool ContractionWriter::matchBody() {
  Block *body = op.getBlock();
  for (Value operand : {lhs, rhs, out})
    if (!isa<MemRefType>(operand.getType()))
      return false;
  element = getElementTypeOrSelf(out.getType());
  if (!(element.isF32() || element.isF64() || element.isInteger(8) ||
        element.isInteger(16) || element.isInteger(32) ||
        element.isInteger(64)) ||
      !llvm::all_of(body->getArguments(),
                    [](Value argument) { return argument.hasOneUse(); }))
    return false;
  // sum, product, conversions, terminator
  int64_t count = 3;
  auto conversion = [&](unsigned i) -> Operation * {
    Operation *user = *body->getArgument(i).user_begin();
    bool isOne = isa<arith::ExtSIOp, arith::ExtUIOp>(user);
    count += isOne;
    return isOne ? user : nullptr;
  };
  convertsLhs = conversion(0), convertsRhs = conversion(1);
  return llvm::hasNItems(body->getOperations(), count) &&
         llvm::all_of(body->without_terminator(), [&](Operation &each) {
           return each.getResult(0).getType() == element;
         });
}

bool ContractionWriter::match() {
  if (!op.hasPureBufferSemantics() || !kernel::isContraction(op))
    return false;
  sizes = op.getStaticLoopRanges();
  if (ShapedType::isDynamicShape(sizes) || llvm::is_contained(sizes, 0))
    return false;
  lhs = op.getDpsInputs()[0], rhs = op.getDpsInputs()[1];
  out = op.getDpsInits()[0];
  if (!matchBody())
    return false;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (!llvm::all_of(maps,
                    [](AffineMap map) { return map.isProjectedPermutation(); }))
    return false;
  lhsMap = maps[0], rhsMap = maps[1], outMap = maps[2];

  // Vectors run along the dimension that is innermost in C.
  if (outMap.getNumResults() == 0)
    return false;
  n = cast<AffineDimExpr>(outMap.getResults().back()).getPosition();
  if (!isDenseAlong(out, outMap, n))
    return false;
  if (!rhsMap.isFunctionOfDim(n)) {
    std::swap(lhs, rhs);
    std::swap(lhsMap, rhsMap);
    std::swap(convertsLhs, convertsRhs);
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
      k = dim; // the innermost such dimension
    if (inLhs && !inRhs && inOut && (m < 0 || sizes[dim] > 1))
      m = dim;
  }
  if (k < 0)
    return false;
  for (int64_t dim = 0, e = sizes.size(); dim < e; ++dim)
    if (dim != m && dim != n && dim != k)
      others.push_back(dim);
  // Other sums run outside of that along k.
  if (tiles.addsInOrder && llvm::any_of(others, [&](int64_t dim) {
        return dim > k && sizes[dim] > 1 && !outMap.isFunctionOfDim(dim);
      }))
    return false;
  turnsB = !isDenseAlong(rhs, rhsMap, n);
  roundsOnce = tiles.hasFma && mayRoundOnce(op);
  // A product with a single row is computed as sums in lanes instead.
  // Transposing costs as much as multiplying by one row. But a product of
  // several rows must give the same bits for any number of rows, even where one
  // row is computed at a time.
  if (turnsB && op->hasAttr(kLoneRowAttrName))
    return false;
  chooseTile();
  return true;
}

void ContractionWriter::chooseTile() {
  vectors = Lanes(element, tiles.vectorBytes);
  tileVectors = std::clamp<int64_t>(llvm::divideCeil(size(n), vectors.most), 1,
                                    tiles.vectors);
  usesQuads = tiles.hasByteDots && element.isInteger(32) &&
              isa_and_nonnull<arith::ExtSIOp>(convertsLhs) &&
              isa_and_nonnull<arith::ExtSIOp>(convertsRhs) &&
              getElementTypeOrSelf(lhs.getType()).isInteger(8) &&
              getElementTypeOrSelf(rhs.getType()).isInteger(8) && size(k) >= 4;
  if (usesQuads) {
    vectors.areFull = true;
    // This is a tenth faster than tiles of more vectors.
    tileVectors = std::min<int64_t>(tileVectors, 2);
    tileRows = 16 / tileVectors;
    return;
  }
  packsB = !turnsB && size(m) >= kWorthPacking && size(k) >= kUnroll &&
           strideAlong(rhs, rhsMap, k) >= kFarStrideBytes;
  bool alongK = isDenseAlong(lhs, lhsMap, k);
  int64_t stride = strideAlong(lhs, lhsMap, alongK ? m : k);
  packsA = m >= 0 && size(n) >= kWorthPacking * 4 && size(k) >= kUnroll &&
           (alongK || isDenseAlong(lhs, lhsMap, m)) &&
           stride >= kFarStrideBytes;
  // More distant rows than a cache has ways would not stay in it.
  tileRows = tiles.rows;
  if (!packsA && stride >= kFarStrideBytes)
    return;
  // With few rows, minimize the number of passes over B.
  const int64_t most = tiles.rows * tiles.vectors;
  auto passes = [&](int64_t vectors) {
    return llvm::divideCeil(size(m), most / vectors);
  };
  if (size(m) < kWorthPacking)
    for (int64_t fewer = tileVectors - 1; fewer >= 2; --fewer)
      if (passes(fewer) < passes(tileVectors))
        tileVectors = fewer;
  tileRows = most / tileVectors;
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

void ContractionWriter::forEachColumns(
    llvm::function_ref<void(const Columns &)> body) {
  int64_t width = panelWidth(), full = size(n) / width;
  SmallVector<int64_t> widths(tileVectors, vectors.most);
  loop(0, full, 1, [&](Value panel) {
    Value first =
        full == 1 ? index(0)
                  : arith::MulIOp::create(b, panel, index(width)).getResult();
    body({first, panel, widths});
  });
  if (full * width < size(n))
    body({index(full * width), index(full),
          vectors.widthsOf(size(n) - full * width)});
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

Value ContractionWriter::converted(Value value, Operation *by) {
  if (!by)
    return value;
  Type type = element;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = vector.clone(element);
  return b.create(by->getLoc(), by->getName().getIdentifier(), value, type)
      ->getResult(0);
}

Value ContractionWriter::loadA(Value row, Value kv) {
  if (!packsA)
    return memref::LoadOp::create(b, lhs, subscripts(lhsMap, row, {}, kv));
  Value rowPlace = arith::SubIOp::create(b, row, blockRow),
        kPlace = arith::SubIOp::create(b, kv, blockBegin);
  SmallVector<Value> where = {rowPlace, kPlace};
  if (!isDenseAlong(lhs, lhsMap, k))
    std::swap(where[0], where[1]);
  return memref::LoadOp::create(b, blockA, where);
}

Value ContractionWriter::loadB(const Columns &columns, size_t v, Value kv) {
  int64_t offset = 0;
  for (size_t i = 0; i < v; ++i)
    offset += columns.widths[i];
  Lanes lanes = vectorsOf(rhs);
  if (!panels)
    return lanes.load(b, rhs,
                      subscripts(rhsMap, {}, add(columns.first, offset), kv),
                      columns.widths[v]);
  if (panelBegin)
    kv = arith::SubIOp::create(b, kv, panelBegin);
  return lanes.load(b, panels, {columns.panel, kv, index(offset)},
                    columns.widths[v]);
}

void ContractionWriter::addTerms(Value kBegin, Value kEnd, ArrayRef<Value> rows,
                                 const Columns &columns, Sums &sums) {
  size_t count = columns.widths.size();
  auto step = [&](Value kv, Sums &sums) {
    SmallVector<Value> rights;
    for (size_t v = 0; v < count; ++v)
      rights.push_back(converted(loadB(columns, v, kv), convertsRhs));
    for (auto [r, row] : llvm::enumerate(rows)) {
      Value left = converted(loadA(row, kv), convertsLhs);
      for (auto [v, right] : llvm::enumerate(rights)) {
        Value &sum = sums[r * count + v];
        Value lanes = vector::BroadcastOp::create(b, right.getType(), left);
        if (isa<IntegerType>(element))
          sum = arith::AddIOp::create(b, sum,
                                      arith::MulIOp::create(b, lanes, right));
        else if (roundsOnce)
          // vector.fma may become two roundings.
          sum = math::FmaOp::create(b, lanes, right, sum);
        else
          sum = arith::AddFOp::create(b, sum,
                                      arith::MulFOp::create(b, lanes, right));
      }
    }
  };
  auto depthLoop = [&](Value begin, Value end, int64_t unroll) {
    auto loop = scf::ForOp::create(b, begin, end, index(unroll), sums);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Sums inner(loop.getRegionIterArgs());
    for (int64_t u = 0; u < unroll; ++u)
      step(add(loop.getInductionVar(), u), inner);
    scf::YieldOp::create(b, inner);
    sums.assign(loop.getResults().begin(), loop.getResults().end());
  };
  const int64_t unroll =
      kernel::stepsPerTurn(op, size(k), sums.size(), kUnroll);
  // Only the last block of k can have a remainder: others are multiples of
  // kUnroll.
  if (unroll == 1 || size(k) < unroll) {
    depthLoop(kBegin, kEnd, 1);
  } else if (size(k) % unroll == 0) {
    depthLoop(kBegin, kEnd, unroll);
  } else {
    Value length = arith::SubIOp::create(b, kEnd, kBegin);
    Value rest = arith::RemUIOp::create(b, length, index(unroll));
    Value middle = arith::SubIOp::create(b, kEnd, rest);
    depthLoop(kBegin, middle, unroll);
    depthLoop(middle, kEnd, 1);
  }
}

void ContractionWriter::writeTile(Value kBegin, Value kEnd, Value row,
                                  int64_t rows, const Columns &columns) {
  size_t count = columns.widths.size();
  SmallVector<Value> firsts, rowValues;
  Sums sums;
  int64_t offset = 0;
  for (int64_t width : columns.widths) {
    firsts.push_back(add(columns.first, offset));
    offset += width;
  }
  for (int64_t r = 0; r < rows; ++r) {
    rowValues.push_back(add(row, r));
    for (auto [width, first] : llvm::zip_equal(columns.widths, firsts))
      sums.push_back(
          fill ? vector::BroadcastOp::create(b, vectors.typeOf(width), fill)
                     .getResult()
               : vectors.load(b, out,
                              subscripts(outMap, rowValues[r], first, {}),
                              width));
  }
  // Prefetch the next rows: they are not in a cache if C is larger than the
  // caches.
  if (!fill && m >= 0 && strideAlong(out, outMap, m) >= kFarStrideBytes)
    for (int64_t r = 0; r < rows; ++r) {
      Value next = min(add(row, rows + r), index(size(m) - 1));
      for (Value first : firsts)
        memref::PrefetchOp::create(b, out, subscripts(outMap, next, first, {}),
                                   /*isWrite=*/true, /*localityHint=*/3,
                                   /*isDataCache=*/true);
    }
  if (usesQuads)
    addQuads(kBegin, kEnd, rowValues, columns, sums);
  else
    addTerms(kBegin, kEnd, rowValues, columns, sums);
  for (int64_t r = 0; r < rows; ++r)
    for (size_t v = 0; v < count; ++v)
      vectors.store(b, sums[r * count + v], out,
                    subscripts(outMap, rowValues[r], firsts[v], {}),
                    columns.widths[v]);
}

void ContractionWriter::writeBlock(Value kBegin, Value kEnd) {
  if (usesQuads)
    packQuadsOfB(kBegin, kEnd);
  if (packsB)
    packB(kBegin, kEnd);
  // Blocks of rows keep those of A in the cache over all columns.
  auto strip = [&](int64_t begin, int64_t end, int64_t rows) {
    int64_t most = usesQuads ? kQuadRows : kRowBlock;
    int64_t blockRows = std::max<int64_t>(most / rows, 1) * rows;
    loop(begin, end, blockRows, [&](Value first) {
      Value last = end - begin <= blockRows
                       ? index(end)
                       : min(add(first, blockRows), index(end));
      if (usesQuads)
        packQuadsOfA(first, last, kBegin, kEnd);
      if (packsA)
        packA(first, last, kBegin, kEnd);
      forEachColumns([&](const Columns &columns) {
        if (end - begin <= rows)
          return writeTile(kBegin, kEnd, first, rows, columns);
        loop(first, last, rows,
             [&](Value row) { writeTile(kBegin, kEnd, row, rows, columns); });
      });
    });
  };
  // Use tiles of about the same height.
  int64_t count = llvm::divideCeil(size(m), tileRows);
  int64_t low = size(m) / count, higher = size(m) % count * (low + 1);
  strip(0, higher, low + 1);
  strip(higher, size(m), low);
}

void ContractionWriter::takeFill() {
  // The first of several blocks of k, or of other sums around k, would need
  // separate code.
  if (size(k) > depthBlock() || llvm::any_of(others, [&](int64_t dim) {
        return !outMap.isFunctionOfDim(dim) && sizes[dim] > 1;
      }))
    return;
  fill = kernel::takeFill(op);
}

/// Returns true if k can be cut into several blocks of one size that is not
/// much less than `depth`; sets `depth` to this size.
bool ContractionWriter::chooseTurned(int64_t &depth) const {
  if (size(k) <= depth)
    return false;
  for (int64_t each = depth; each >= depth / 2; --each)
    if (size(k) % each == 0 && each % kUnroll == 0) {
      depth = each;
      return true;
    }
  return false;
}

void ContractionWriter::write() {
  outer.resize(sizes.size());
  takeFill();
  // If there is only one matrix B, transpose it once, before the loops in which
  // it does not change.
  bool isOne =
      llvm::all_of(others, [&](int64_t dim) { return sizes[dim] == 1; });
  int64_t depth = std::min(size(k), depthBlock());
  // Blocks of B stay in the cache if all have the same size.
  const bool turnsBlocks =
      turnsB && isOne && outermostUser(rhs, op) == op && chooseTurned(depth);
  if (turnsB && isOne && !turnsBlocks)
    turnAroundInFront();
  if (usesQuads)
    allocateQuads();
  if (turnsB && !isOne)
    panels = memref::AllocOp::create(b, panelsType(size(k)));
  if (packsB || turnsBlocks)
    panels = memref::AllocOp::create(b, panelsType(depth));
  if (packsA) {
    // The row stride is not a power of two: rows of one tile would share a
    // cache set.
    bool alongK = isDenseAlong(lhs, lhsMap, k);
    blockA = memref::AllocOp::create(
        b, MemRefType::get({alongK ? kRowBlock : depth,
                            (alongK ? depth : kRowBlock) + vectors.most},
                           getElementTypeOrSelf(lhs.getType())));
  }
  // Loops over all other dimensions, outermost first.
  std::function<void(size_t)> nest = [&](size_t i) {
    if (i < others.size())
      return loop(0, sizes[others[i]], 1, [&](Value value) {
        outer[others[i]] = value;
        nest(i + 1);
      });
    if (turnsB && !isOne)
      turnAroundB(b.getIndexAttr(0), size(k));
    loop(0, size(k), depth, [&](Value begin) {
      Value end = size(k) == depth ? index(size(k))
                                   : min(add(begin, depth), index(size(k)));
      if (turnsBlocks)
        turnAroundB(begin, depth);
      writeBlock(begin, end);
    });
  };
  nest(0);
  op.erase();
}

void kernel::lowerContractions(func::FuncOp func, const MatmulTiles &tiles,
                               PathLog *log) {
  // Hoists views of unchanged buffers out of the loops.
  func.walk([](LoopLikeOpInterface loop) { moveLoopInvariantCode(loop); });
  SmallVector<linalg::LinalgOp> ops;
  func.walk([&](linalg::LinalgOp op) { ops.push_back(op); });
  SmallVector<Turned> turned;
  for (linalg::LinalgOp op : ops) {
    ContractionWriter writer(op, tiles, turned);
    if (!writer.match())
      continue;
    if (log)
      log->add(op, "product");
    writer.write();
  }
}

//===- Transpose.cpp - Ops that change the order of elements --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An op whose operand and result are dense along different dimensions touches a
// cache line for every element of one of them. Such ops run over square tiles,
// so that all of a line is used while it is in the cache. Ops that only move
// elements go through registers: a tile is loaded as rows, transposed by
// shuffles, and stored as rows.
//
//===----------------------------------------------------------------------===//

#include "CodegenInternal.h"
#include "Contraction.h"
#include "LoopWriter.h"
#include "Paths.h"
#include "Vectorize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace mlir::pathways;

namespace {

constexpr int64_t kTile = 16;
/// Rows that are read side by side. Results that bypass the caches are written
/// in whole lines, so they use fewer.
constexpr int64_t kBlock = 64, kFarBlock = 32;
/// Results of this size do not fit the caches of a core. Stores that bypass the
/// caches need not read their lines first.
constexpr int64_t kPastCachesBytes = 4 << 20;
/// Smaller tiles in registers gain nothing.
constexpr int64_t kLeastLanes = 4;

/// Writer of one op whose operand is dense along `m` and whose result is dense
/// along `n`.
class TransposeWriter : kernel::LoopWriter {
public:
  TransposeWriter(linalg::GenericOp op, const kernel::MatmulTiles &tiles)
      : LoopWriter(op), op(op), tiles(tiles) {}

  /// Returns false, and changes nothing, if this writer does not support the
  /// op.
  bool match();
  void write();

private:
  bool onlyMoves();
  void joinColumns();
  bool isWrittenPastCaches(int64_t bytesPer, int64_t lanes);
  SmallVector<Value> subscripts(AffineMap map, Value mv, Value nv) const;
  void writeTile(Value mv, Value nv, int64_t lanes);
  void writeElements(int64_t mBegin, int64_t mEnd, int64_t nBegin,
                     int64_t nEnd);

  linalg::GenericOp op;
  const kernel::MatmulTiles &tiles;
  int64_t m = -1, n = -1; ///< positions of loop dimensions
  Value in, out;
  AffineMap inMap, outMap;
  SmallVector<int64_t> sizes;
  SmallVector<Value> outer; ///< values of the other loop dimensions
  bool isFar = false;       ///< stores bypass the caches
};

} // namespace

static int64_t innermost(AffineMap map) {
  return map.getNumResults() == 0 ? -1
                                  : map.getDimPosition(map.getNumResults() - 1);
}

bool TransposeWriter::match() {
  if (!op.hasPureBufferSemantics() || op.getNumDpsInits() != 1 ||
      op.getNumLoops() != op.getNumParallelLoops())
    return false;
  sizes = op.getStaticLoopRanges();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  outMap = maps.back();
  if (ShapedType::isDynamicShape(sizes) || llvm::is_contained(sizes, 0) ||
      !outMap.isPermutation() || !llvm::all_of(maps, [](AffineMap map) {
        return map.isProjectedPermutation();
      }))
    return false;
  n = innermost(outMap);
  out = op.getDpsInits()[0];
  for (OpOperand *operand : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(operand);
    int64_t last = innermost(map);
    if (last < 0 || last == n || !map.isFunctionOfDim(n))
      continue;
    m = last;
    in = operand->get();
    inMap = map;
    return sizes[m] >= kLeastLanes && sizes[n] >= kLeastLanes;
  }
  return false;
}

bool TransposeWriter::onlyMoves() {
  return op.getNumDpsInputs() == 1 && inMap.isPermutation() &&
         kernel::isDense(in) && kernel::isDense(out) &&
         llvm::hasSingleElement(*op.getBody()) &&
         op.getBody()->getTerminator()->getOperand(0) ==
             op.getBody()->getArgument(0);
}

/// Joins `n` and the dimensions that precede it in both operands: this gives
/// few but long rows of the result.
void TransposeWriter::joinColumns() {
  while (true) {
    int64_t before = outMap.getNumResults() - 2;
    int64_t dim = before < 0 ? -1 : outMap.getDimPosition(before);
    if (dim < 0 || dim == m)
      return;
    int64_t place =
        *inMap.getResultPosition(getAffineDimExpr(n, op.getContext()));
    if (place == 0 || inMap.getDimPosition(place - 1) != dim)
      return;
    auto join = [&](Value &buffer, AffineMap &map, int64_t last) {
      SmallVector<ReassociationIndices> groups;
      for (int64_t d = 0, e = map.getNumResults(); d < e; ++d) {
        if (d != last)
          groups.emplace_back();
        groups.back().push_back(d);
      }
      if (!memref::CollapseShapeOp::isGuaranteedCollapsible(
              cast<MemRefType>(buffer.getType()), groups))
        return false;
      buffer = memref::CollapseShapeOp::create(b, buffer, groups);
      map = map.dropResult(last - 1);
      return true;
    };
    Value wholeIn = in, wholeOut = out;
    AffineMap wholeInMap = inMap, wholeOutMap = outMap;
    if (!join(in, inMap, place) || !join(out, outMap, before + 1)) {
      in = wholeIn, out = wholeOut, inMap = wholeInMap, outMap = wholeOutMap;
      return;
    }
    sizes[n] *= sizes[dim];
    sizes[dim] = 1;
  }
}

/// Returns true if rows of a tile are whole cache lines of a result that is too
/// large for the caches of a core.
bool TransposeWriter::isWrittenPastCaches(int64_t bytesPer, int64_t lanes) {
  constexpr int64_t kLineBytes = 64;
  const int64_t tileBytes = lanes * bytesPer;
  auto type = cast<MemRefType>(out.getType());
  return tiles.hasLineStores && tileBytes == kLineBytes &&
         isa<BlockArgument>(kernel::wholeOf(out)) &&
         type.getLayout().isIdentity() &&
         type.getShape().back() * bytesPer % kLineBytes == 0 &&
         type.getNumElements() * bytesPer >= kPastCachesBytes;
}

SmallVector<Value> TransposeWriter::subscripts(AffineMap map, Value mv,
                                               Value nv) const {
  SmallVector<Value> values;
  for (unsigned i = 0; i < map.getNumResults(); ++i) {
    int64_t dim = map.getDimPosition(i);
    values.push_back(dim == m ? mv : dim == n ? nv : outer[dim]);
  }
  return values;
}

void TransposeWriter::writeTile(Value mv, Value nv, int64_t lanes) {
  Type element = getElementTypeOrSelf(in.getType());
  auto type = VectorType::get(lanes, element);
  SmallVector<Value> rows;
  for (int64_t i = 0; i < lanes; ++i)
    rows.push_back(
        vector::LoadOp::create(b, type, in, subscripts(inMap, mv, add(nv, i))));
  kernel::turnAround(b, rows);
  for (int64_t i = 0; i < lanes; ++i)
    vector::StoreOp::create(b, rows[i], out, subscripts(outMap, add(mv, i), nv),
                            /*nontemporal=*/isFar,
                            isFar ? llvm::MaybeAlign(tiles.vectorBytes)
                                  : llvm::MaybeAlign());
}

void TransposeWriter::writeElements(int64_t mBegin, int64_t mEnd,
                                    int64_t nBegin, int64_t nEnd) {
  loop(mBegin, mEnd, 1, [&](Value mv) {
    loop(nBegin, nEnd, 1, [&](Value nv) {
      Value value = memref::LoadOp::create(b, in, subscripts(inMap, mv, nv));
      memref::StoreOp::create(b, value, out, subscripts(outMap, mv, nv));
    });
  });
}

void TransposeWriter::write() {
  if (!onlyMoves()) {
    linalg::LinalgTilingOptions options;
    SmallVector<int64_t> tile(sizes.size(), 0);
    tile[m] = tile[n] = kTile;
    options.setTileSizes(tile);
    IRRewriter rewriter(b);
    if (succeeded(linalg::tileLinalgOp(rewriter, op, options)))
      op->erase();
    return;
  }
  Type element = getElementTypeOrSelf(in.getType());
  int64_t bytes = element.isIndex() ? 8 : element.getIntOrFloatBitWidth() / 8;
  int64_t lanes = std::min(tiles.vectorBytes / bytes, kTile);
  while (lanes > sizes[m] || lanes > sizes[n])
    lanes /= 2;
  joinColumns();
  isFar = isWrittenPastCaches(bytes, lanes);
  const int64_t block = isFar ? kFarBlock : kBlock;
  outer.resize(sizes.size());
  SmallVector<int64_t> others;
  for (int64_t dim = 0, e = sizes.size(); dim < e; ++dim)
    if (dim != m && dim != n)
      others.push_back(dim);
  std::function<void(size_t)> nest = [&](size_t i) {
    if (i < others.size())
      return loop(0, sizes[others[i]], 1, [&](Value value) {
        outer[others[i]] = value;
        nest(i + 1);
      });
    int64_t mTiles = 0, nTiles = 0; // end of the full tiles
    if (lanes >= kLeastLanes) {
      mTiles = sizes[m] / lanes * lanes;
      nTiles = sizes[n] / lanes * lanes;
    }
    // Processes few rows at a time, so that each is read from one end to the
    // other and their pages stay in the TLB.
    loop(0, nTiles, block, [&](Value first) {
      Value last = nTiles <= block ? index(nTiles)
                                   : min(add(first, block), index(nTiles));
      loop(0, mTiles, lanes, [&](Value mv) {
        loop(first, last, lanes, [&](Value nv) { writeTile(mv, nv, lanes); });
      });
    });
    writeElements(0, mTiles, nTiles, sizes[n]);
    writeElements(mTiles, sizes[m], 0, sizes[n]);
  };
  nest(0);
  if (isFar) // Makes the stores visible before the step is reported as done.
    LLVM::CallIntrinsicOp::create(b, b.getStringAttr("llvm.x86.sse.sfence"),
                                  ValueRange());
  op->erase();
}

void kernel::lowerTransposes(func::FuncOp func, const MatmulTiles &tiles,
                             PathLog *log) {
  SmallVector<linalg::GenericOp> ops;
  func.walk([&](linalg::GenericOp op) { ops.push_back(op); });
  for (linalg::GenericOp op : ops) {
    TransposeWriter writer(op, tiles);
    if (!writer.match())
      continue;
    if (log)
      log->addWhole(op, "transposed in tiles");
    writer.write();
  }
}

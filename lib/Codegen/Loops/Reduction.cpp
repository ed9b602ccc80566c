//===- Reduction.cpp - Reductions in lanes --------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes reductions along a dimension of which their operands are dense, such
// as sums of rows, products of matrices and vectors, and reductions of whole
// arrays. Dimensions that lie in memory like one dimension are joined.
//
// The order in which floating-point terms are added is guaranteed:
// docs/kernels.md, "Sums in lanes".
//
//===----------------------------------------------------------------------===//

#include "CodegenInternal.h"
#include "Contraction.h"
#include "LoopWriter.h"
#include "Paths.h"
#include "Vectorize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace mlir::pathways;
using namespace mlir::pathways::kernel;

namespace {

constexpr int64_t kMostSums = 8, kMostSumsOfLongTerms = 4;
/// Shorter rows stay plain loops.
constexpr int64_t kLeastRow = 4;

/// An operand that is read, with the loop dimension of each of its dimensions.
struct Source {
  BlockArgument argument;
  Value buffer;
  SmallVector<int64_t> dims;

  bool has(int64_t dim) const { return llvm::is_contained(dims, dim); }
};

/// Writer of one op.
class ReductionWriter : LoopWriter {
public:
  ReductionWriter(linalg::LinalgOp op, const MatmulTiles &tiles)
      : LoopWriter(op), op(op), tiles(tiles) {}

  /// Returns false, and changes nothing, if this writer does not support the
  /// op.
  bool match();
  void write();

private:
  bool matchBody();
  bool isReduced(int64_t dim) {
    return op.getIteratorTypesArray()[dim] == utils::IteratorType::reduction;
  }
  bool isAlong(int64_t dim) const;
  /// Joins `dim` and the row if all operands allow it.
  void join(int64_t dim);

  Value load(const Source &source, Value at, int64_t width);
  /// Adds the terms from `at` on to `sum`; a null `sum` begins with them.
  Value addTerms(Value sum, Value at, int64_t width);
  Value combine(Value sum, Value with);
  Value addIntegers(Value sum, int64_t at);
  Value addRow();

  linalg::LinalgOp op;
  const MatmulTiles &tiles;
  /// op that combines the old value and the term
  Operation *combiner = nullptr;
  Value ofTerm;         ///< the combiner's operand that is the term
  bool isFused = false; ///< multiplies and adds with one rounding
  SmallVector<Source> sources;
  SmallVector<int64_t> sizes;
  int64_t row = -1;   ///< the dimension that is added in lanes
  int64_t joined = 0; ///< dimensions in front of `row` that are joined to it
  SmallVector<int64_t> others; ///< other dimensions, outermost first
  SmallVector<Value> outer;    ///< values of `others`
  int64_t lanes = 1, sums = 1;
};

} // namespace

static SmallVector<int64_t> dimsOf(AffineMap map) {
  return llvm::map_to_vector(map.getResults(), [](AffineExpr expr) -> int64_t {
    return cast<AffineDimExpr>(expr).getPosition();
  });
}

/// Returns true if lanes may be combined in any order, up to rounding of sums.
static bool isCombiner(Operation *op) {
  return isa_and_nonnull<arith::AddFOp, arith::MaximumFOp, arith::MinimumFOp,
                         arith::MaxNumFOp, arith::MinNumFOp, arith::AddIOp,
                         arith::MulIOp, arith::MaxSIOp, arith::MinSIOp,
                         arith::MaxUIOp, arith::MinUIOp, arith::AndIOp,
                         arith::OrIOp, arith::XOrIOp>(op);
}

bool ReductionWriter::matchBody() {
  Block *body = op.getBlock();
  Value result = body->getTerminator()->getOperand(0);
  BlockArgument before = op.getMatchingBlockArgument(op.getDpsInitOperand(0));
  combiner = result.getDefiningOp();
  if (!isCombiner(combiner) || combiner->getBlock() != body ||
      !combiner->hasOneUse() || !before.hasOneUse() ||
      (tiles.addsInOrder && isa<arith::AddFOp>(combiner)))
    return false;
  if (combiner->getOperand(0) == before)
    ofTerm = combiner->getOperand(1);
  else if (combiner->getOperand(1) == before)
    ofTerm = combiner->getOperand(0);
  else
    return false;
  if (!canBeInLanes(*body, tiles.hasHalves))
    return false;
  auto product = ofTerm.getDefiningOp<arith::MulFOp>();
  isFused = tiles.hasFma && mayRoundOnce(product, combiner) &&
            product->getBlock() == body && product->hasOneUse();
  return true;
}

bool ReductionWriter::isAlong(int64_t dim) const {
  bool isThere = false;
  for (const Source &source : sources) {
    if (!source.has(dim))
      continue;
    isThere = true;
    if (source.dims.back() != dim || !isDense(source.buffer))
      return false;
  }
  return isThere;
}

void ReductionWriter::join(int64_t dim) {
  ++joined;
  bool canJoin = llvm::all_of(sources, [&](const Source &source) {
    if (!source.has(row))
      return !source.has(dim);
    int64_t place = static_cast<int64_t>(source.dims.size()) - 1 - joined;
    return place >= 0 && source.dims[place] == dim &&
           isDenseAsOne(source.buffer, groupsOf(source.dims.size(), joined));
  });
  if (!canJoin) {
    --joined;
    return;
  }
  sizes[row] *= sizes[dim];
  sizes[dim] = 0;
}

bool ReductionWriter::match() {
  if (!op.hasPureBufferSemantics() || op.getNumDpsInits() != 1 ||
      op.getNumReductionLoops() == 0)
    return false;
  sizes = op.getStaticLoopRanges();
  if (ShapedType::isDynamicShape(sizes) || llvm::is_contained(sizes, 0) ||
      !llvm::all_of(op.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isProjectedPermutation(); }))
    return false;
  Type element = getElementTypeOrSelf(op.getDpsInits()[0].getType());
  if (!isa<MemRefType>(op.getDpsInits()[0].getType()) || !matchBody())
    return false;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(operand);
    if (argument.use_empty())
      continue;
    if (!isa<MemRefType>(operand->get().getType()))
      return false;
    sources.push_back(
        {argument, operand->get(), dimsOf(op.getMatchingIndexingMap(operand))});
  }
  for (int64_t dim = 0, e = sizes.size(); dim < e; ++dim)
    if (isReduced(dim) && isAlong(dim))
      row = dim;
  if (row < 0)
    return false;
  for (int64_t dim = row; dim-- > 0;)
    if (isReduced(dim))
      join(dim);
  if (sizes[row] < kLeastRow)
    return false;
  for (int64_t dim = 0, e = sizes.size(); dim < e; ++dim)
    if (dim != row && sizes[dim] > 0) // otherwise it was joined to the row
      others.push_back(dim);
  int64_t bytes = std::max<int64_t>(element.getIntOrFloatBitWidth() / 8, 1);
  lanes = std::max<int64_t>(tiles.vectorBytes / bytes, 1);
  while (lanes > sizes[row])
    lanes /= 2;
  bool isLong = llvm::range_size(op.getBlock()->without_terminator()) > 3;
  sums = isLong ? kMostSumsOfLongTerms : kMostSums;
  while (sums > sizes[row] / lanes)
    sums /= 2;
  return true;
}

Value ReductionWriter::load(const Source &source, Value at, int64_t width) {
  SmallVector<Value> where;
  for (int64_t dim : source.dims) {
    if (dim == row)
      where.push_back(at);
    else if (outer[dim])
      where.push_back(outer[dim]);
  }
  if (source.has(row))
    return vector::LoadOp::create(
        b,
        VectorType::get(width, getElementTypeOrSelf(source.buffer.getType())),
        source.buffer, where);
  Value value = memref::LoadOp::create(b, source.buffer, where);
  return vector::BroadcastOp::create(b, VectorType::get(width, value.getType()),
                                     value);
}

Value ReductionWriter::combine(Value sum, Value with) {
  return b
      .create(op.getLoc(), combiner->getName().getIdentifier(),
              ValueRange{sum, with}, TypeRange(sum.getType()),
              combiner->getAttrs())
      ->getResult(0);
}

Value ReductionWriter::addTerms(Value sum, Value at, int64_t width) {
  IRMapping values;
  for (const Source &source : sources)
    values.map(source.argument, load(source, at, width));
  auto get = [&](Value value) {
    return inLanes(b, value, *op.getBlock(), values, width);
  };
  if (!sum)
    return get(ofTerm);
  if (!isFused)
    return combine(sum, get(ofTerm));
  // vector.fma may become two roundings.
  auto product = ofTerm.getDefiningOp<arith::MulFOp>();
  Value left = get(product.getLhs()), right = get(product.getRhs());
  return math::FmaOp::create(b, left, right, sum);
}

/// Adds the lanes of `sum` and the terms from `at` to the end of a row.
/// Integers may be added in any order. LLVM 22 compiles sums of lanes by ever
/// narrower shuffles, as addRow has them, wrongly where it uses vpdpbusd: the
/// instruction adds four products, and the sum of its results is missing.
Value ReductionWriter::addIntegers(Value sum, int64_t at) {
  auto addLanes = [&](Value values) -> Value {
    return vector::ReductionOp::create(b, vector::CombiningKind::ADD, values);
  };
  Value total = addLanes(sum);
  for (int64_t width = lanes / 2; width > 0; width /= 2)
    if (sizes[row] - at >= width) {
      Value terms = addLanes(addTerms({}, index(at), width));
      total = arith::AddIOp::create(b, total, terms);
      at += width;
    }
  return total;
}

/// Adds all terms of one row.
Value ReductionWriter::addRow() {
  int64_t vectors = sizes[row] / lanes, step = sums * lanes;
  SmallVector<Value> partial;
  for (int64_t i = 0; i < sums; ++i)
    partial.push_back(addTerms({}, index(i * lanes), lanes));
  int64_t full = vectors / sums * sums;
  if (full > sums) {
    auto loop = scf::ForOp::create(b, index(step), index(full * lanes),
                                   index(step), partial);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> running(loop.getRegionIterArgs());
    for (auto [i, sum] : llvm::enumerate(running))
      sum = addTerms(sum, add(loop.getInductionVar(), i * lanes), lanes);
    scf::YieldOp::create(b, running);
    partial.assign(loop.getResults().begin(), loop.getResults().end());
  }
  for (int64_t v = full; v < vectors; ++v)
    partial[v - full] = addTerms(partial[v - full], index(v * lanes), lanes);
  for (int64_t count = sums / 2; count > 0; count /= 2)
    for (int64_t i = 0; i < count; ++i)
      partial[i] = combine(partial[i], partial[i + count]);
  Value sum = partial.front();
  int64_t at = vectors * lanes;
  if (isa<arith::AddIOp>(combiner))
    return addIntegers(sum, at);
  for (int64_t width = lanes;; width /= 2) {
    if (width < lanes && sizes[row] - at >= width) {
      sum = addTerms(sum, index(at), width);
      at += width;
    }
    if (width == 1)
      break;
    auto half = [&](int64_t begin) {
      return vector::ShuffleOp::create(
          b, sum, sum,
          llvm::to_vector(llvm::seq<int64_t>(begin, begin + width / 2)));
    };
    Value low = half(0), high = half(width / 2);
    sum = combine(low, high);
  }
  return vector::ExtractOp::create(b, sum, int64_t{0});
}

void ReductionWriter::write() {
  outer.resize(sizes.size());
  // With several rows per sum, the first one would need separate code.
  Value fill;
  if (llvm::all_of(others, [&](int64_t dim) {
        return !isReduced(dim) || sizes[dim] == 1;
      }))
    fill = takeFill(op);
  b.setInsertionPoint(op);
  for (Source &source : sources)
    if (joined > 0 && source.has(row))
      source.buffer = memref::CollapseShapeOp::create(
          b, source.buffer, groupsOf(source.dims.size(), joined));
  Value out = op.getDpsInits()[0];
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  std::function<void(size_t)> nest = [&](size_t i) {
    if (i < others.size())
      return loop(0, sizes[others[i]], 1, [&](Value value) {
        outer[others[i]] = value;
        nest(i + 1);
      });
    Value sum = addRow();
    SmallVector<Value> where;
    for (int64_t dim : dimsOf(map))
      where.push_back(outer[dim]);
    Value before =
        fill ? fill : memref::LoadOp::create(b, out, where).getResult();
    memref::StoreOp::create(b, combine(before, sum), out, where);
  };
  nest(0);
  op.erase();
}

void kernel::lowerReductions(func::FuncOp func, const MatmulTiles &tiles,
                             PathLog *log) {
  SmallVector<linalg::LinalgOp> ops;
  func.walk([&](linalg::LinalgOp op) { ops.push_back(op); });
  for (linalg::LinalgOp op : ops) {
    ReductionWriter writer(op, tiles);
    if (!writer.match())
      continue;
    if (log)
      log->add(op, "reduction in lanes");
    writer.write();
  }
}

//===- Elementwise.cpp - Elementwise ops as vector code -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes loops whose innermost elements are adjacent in memory, or do not
// change, with vectors. LLVM can vectorize plain loops too, but takes several
// times as long: it has to prove facts that are known here, and it needs a loop
// of its own for the remainder after the last full vector.
//
// Every element is computed from the same operands by the same operations in
// the same order as in plain loops, so no bit changes.
//
//===----------------------------------------------------------------------===//

#include "CodegenInternal.h"
#include "LoopWriter.h"
#include "Vectorize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::pathways;
using namespace mlir::pathways::kernel;

namespace {

/// Vectors per iteration of a loop if they take few operations, and the largest
/// number of operations per iteration.
constexpr int64_t kMostVectors = 4, kOperationsPerTurn = 16;
/// Vectors per iteration if a loop runs only once, where more code costs
/// compile time and gains less. A loop of at most kFewVectors vectors, which
/// fit the nearest cache, has one vector per iteration: this costs some
/// nanoseconds of a step.
constexpr int64_t kMostVectorsOnce = 2, kFewVectors = 512;
/// Operations that a function of the dialect math counts as.
constexpr int64_t kFunctionCost = 8;
/// Arrays of at least this size are prefetched: while functions of one row are
/// computed, which takes long enough, the next row is fetched. Rows may be at
/// most so large that some of them fit the nearest cache.
constexpr int64_t kFetchedAheadBytes = 1 << 20, kMostRowBytes = 16 << 10;
constexpr int64_t kLineBytes = 64;

/// Writer of one op.
class ElementwiseWriter : LoopWriter {
public:
  ElementwiseWriter(linalg::LinalgOp op, const MatmulTiles &tiles)
      : LoopWriter(op), op(op), tiles(tiles) {}

  /// Returns false, and changes nothing, if this writer does not support the
  /// op.
  bool match();
  void write();

private:
  struct Operand {
    BlockArgument argument;
    Value buffer;
    /// Loop dimension of each dimension of the operand.
    SmallVector<int64_t> dims;
    bool isRead = false;
    bool isFetched = false; ///< The data after its row is prefetched too.
    Value yielded; ///< Value stored to the operand; null if it is not written.

    bool has(int64_t dim) const { return llvm::is_contained(dims, dim); }
  };

  bool addOperand(OpOperand &operand);
  void join(int64_t dim);
  void chooseVectors();
  bool isDoneOnce();
  bool isRowOfMany(const Operand &operand) const;
  Lanes lanesOf(const Operand &operand) const;
  SmallVector<Value> subscripts(const Operand &operand, Value at) const;
  void writeRow();
  void writeVector(Value at, int64_t width);

  linalg::LinalgOp op;
  const MatmulTiles &tiles;
  SmallVector<Operand> operands;
  SmallVector<int64_t> sizes;
  int64_t inner = -1; ///< the dimension of vectors
  int64_t joined = 0; ///< dimensions in front of `inner` that are joined to it
  SmallVector<Value> outer; ///< values of the other dimensions
  IRMapping constant; ///< values that do not change along the inner dimension
  int64_t lanes = 1, vectors = 1;
  bool hasMasks = false;
};

} // namespace

bool ElementwiseWriter::addOperand(OpOperand &operand) {
  Operand &added = operands.emplace_back();
  added.argument = op.getMatchingBlockArgument(&operand);
  added.isRead = !added.argument.use_empty();
  if (op.isDpsInit(&operand))
    added.yielded = op.getMatchingYieldValue(&operand)->get();
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  if (!type || (!added.isRead && !added.yielded)) {
    operands.pop_back();
    return !isa<ShapedType>(operand.get().getType()) || type;
  }
  added.buffer = operand.get();
  for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim || added.has(dim.getPosition()))
      return false;
    added.dims.push_back(dim.getPosition());
  }
  if (type.getElementType().isInteger(1) || type.getElementType().isIndex())
    return false;
  if (!added.has(inner))
    return !added.yielded;
  return added.dims.back() == inner && isDense(added.buffer);
}

/// Joins `dim` and the inner dimension if all operands allow it.
void ElementwiseWriter::join(int64_t dim) {
  ++joined;
  bool canJoin = llvm::all_of(operands, [&](const Operand &operand) {
    if (!operand.has(inner))
      return !operand.has(dim);
    int64_t place = static_cast<int64_t>(operand.dims.size()) - 1 - joined;
    return place >= 0 && operand.dims[place] == dim &&
           isDenseAsOne(operand.buffer, groupsOf(operand.dims.size(), joined));
  });
  if (!canJoin) {
    --joined;
    return;
  }
  sizes[inner] *= sizes[dim];
  sizes[dim] = 1;
}

bool ElementwiseWriter::match() {
  if (!op.hasPureBufferSemantics() || op.getNumLoops() == 0 ||
      !canBeInLanes(*op.getBlock(), tiles.hasHalves))
    return false;
  sizes = op.getStaticLoopRanges();
  if (ShapedType::isDynamicShape(sizes) || llvm::is_contained(sizes, 0))
    return false;
  inner = static_cast<int64_t>(sizes.size()) - 1;
  if (op.getIteratorTypesArray()[inner] != utils::IteratorType::parallel)
    return false;
  for (OpOperand &operand : op->getOpOperands())
    if (!addOperand(operand))
      return false;
  // Only adjacent dimensions are joined: one between them could not be skipped.
  for (int64_t dim = inner; dim-- > 0 && joined == inner - 1 - dim;)
    join(dim);
  chooseVectors();
  return sizes[inner] > 1;
}

void ElementwiseWriter::chooseVectors() {
  int64_t widest = 8, narrowest = 64;
  auto consider = [&](Type type) {
    if (!type.isInteger(1))
      widest = std::max<int64_t>(widest, type.getIntOrFloatBitWidth());
  };
  for (const Operand &operand : operands) {
    Type element = getElementTypeOrSelf(operand.buffer.getType());
    consider(element);
    narrowest = std::min<int64_t>(narrowest, element.getIntOrFloatBitWidth());
  }
  int64_t cost = 0;
  for (Operation &each : op.getBlock()->without_terminator()) {
    consider(each.getResult(0).getType());
    if (!each.hasTrait<OpTrait::ConstantLike>())
      cost += isa<math::MathDialect>(each.getDialect()) ? kFunctionCost : 1;
  }
  lanes = tiles.vectorBytes * 8 / widest;
  hasMasks = tiles.vectorBytes == 64 && narrowest >= 32;
  if (cost > kFunctionCost)
    for (Operand &operand : operands)
      operand.isFetched = isRowOfMany(operand);
  const bool isOnce = isDoneOnce();
  vectors = isOnce ? kMostVectorsOnce : kMostVectors;
  if (isOnce && sizes[inner] / lanes <= kFewVectors)
    vectors = 1;
  while (vectors > 1 && (vectors * cost > kOperationsPerTurn ||
                         vectors > sizes[inner] / lanes))
    vectors /= 2;
}

/// Returns true if there is no loop around the one along the inner dimension.
bool ElementwiseWriter::isDoneOnce() {
  for (auto [dim, size] : llvm::enumerate(sizes))
    if (static_cast<int64_t>(dim) != inner && size != 1)
      return false;
  return !op->getParentOfType<LoopLikeOpInterface>();
}

/// Returns true if `operand` is a row of a large array that is directly
/// followed by the next row.
bool ElementwiseWriter::isRowOfMany(const Operand &operand) const {
  auto row = operand.buffer.getDefiningOp<memref::SubViewOp>();
  auto loop = op->getParentOfType<scf::ForOp>();
  if (!operand.isRead || !operand.has(inner) || !row || !loop ||
      !loop->hasAttr(kRowLoopAttrName) || tiles.vectorBytes != kLineBytes ||
      !isa<BlockArgument>(row.getSource()))
    return false;
  MemRefType whole = row.getSourceType();
  const int64_t bytes = whole.getElementTypeBitWidth() / 8;
  return whole.hasStaticShape() && whole.getLayout().isIdentity() &&
         row.getType().getNumElements() == sizes[inner] &&
         lanes * bytes == kLineBytes && sizes[inner] * bytes <= kMostRowBytes &&
         whole.getNumElements() * bytes >= kFetchedAheadBytes;
}

Lanes ElementwiseWriter::lanesOf(const Operand &operand) const {
  Lanes made(getElementTypeOrSelf(operand.buffer.getType()), tiles.vectorBytes);
  made.most = lanes;
  made.hasMasks = hasMasks;
  return made;
}

SmallVector<Value> ElementwiseWriter::subscripts(const Operand &operand,
                                                 Value at) const {
  SmallVector<Value> where;
  bool isJoined = operand.has(inner);
  for (int64_t dim : operand.dims) {
    if (dim == inner)
      where.push_back(at);
    else if (!isJoined || dim < inner - joined)
      where.push_back(outer[dim]);
  }
  return where;
}

/// Writes the elements from `at` on.
void ElementwiseWriter::writeVector(Value at, int64_t width) {
  IRMapping values = constant;
  int64_t count = width;
  for (const Operand &operand : operands) {
    Lanes own = lanesOf(operand);
    count = own.typeOf(width).getDimSize(0);
    if (!operand.isRead)
      continue;
    if (operand.has(inner))
      values.map(operand.argument,
                 own.load(b, operand.buffer, subscripts(operand, at), width));
    if (operand.isFetched)
      memref::PrefetchOp::create(
          b, operand.buffer, subscripts(operand, add(at, sizes[inner])),
          /*isWrite=*/false, /*localityHint=*/3, /*isDataCache=*/true);
  }
  for (BlockArgument argument : op.getBlock()->getArguments())
    if (Value scalar = constant.lookupOrNull(argument))
      values.map(argument,
                 vector::BroadcastOp::create(
                     b, VectorType::get(count, scalar.getType()), scalar));
  SmallVector<Value> results;
  for (const Operand &operand : operands)
    if (operand.yielded)
      results.push_back(
          inLanes(b, operand.yielded, *op.getBlock(), values, count));
  size_t next = 0;
  for (const Operand &operand : operands)
    if (operand.yielded)
      lanesOf(operand).store(b, results[next++], operand.buffer,
                             subscripts(operand, at), width);
}

void ElementwiseWriter::writeRow() {
  for (const Operand &operand : operands)
    if (!operand.has(inner))
      constant.map(
          operand.argument,
          memref::LoadOp::create(b, operand.buffer, subscripts(operand, {})));
  int64_t size = sizes[inner], full = size / lanes * lanes;
  int64_t turn = vectors * lanes, turns = size / turn * turn;
  loop(0, turns, turn, [&](Value at) {
    for (int64_t v = 0; v < vectors; ++v)
      writeVector(add(at, v * lanes), lanes);
  });
  loop(turns, full, lanes, [&](Value at) { writeVector(at, lanes); });
  if (full == size)
    return;
  Lanes rest;
  rest.most = lanes;
  rest.hasMasks = hasMasks;
  int64_t at = full;
  for (int64_t width : rest.widthsOf(size - full)) {
    writeVector(index(at), width);
    at += width;
  }
}

void ElementwiseWriter::write() {
  outer.resize(sizes.size());
  for (OpOperand &operand : op->getOpOperands())
    if (!isa<MemRefType>(operand.get().getType()))
      constant.map(op.getMatchingBlockArgument(&operand), operand.get());
  for (Operand &operand : operands)
    if (joined > 0 && operand.has(inner))
      operand.buffer = memref::CollapseShapeOp::create(
          b, operand.buffer, groupsOf(operand.dims.size(), joined));
  std::function<void(int64_t)> nest = [&](int64_t dim) {
    if (dim < inner - joined)
      return loop(0, sizes[dim], 1, [&](Value value) {
        outer[dim] = value;
        nest(dim + 1);
      });
    writeRow();
  };
  nest(0);
  op.erase();
}

void kernel::lowerElementwise(ModuleOp module, const MatmulTiles &tiles) {
  SmallVector<linalg::LinalgOp> ops;
  module.walk([&](linalg::LinalgOp op) { ops.push_back(op); });
  for (linalg::LinalgOp op : ops) {
    ElementwiseWriter writer(op, tiles);
    if (writer.match())
      writer.write();
  }
}

//===- MatrixUnit.cpp - Products on matrix units --------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes products of bytes and of bf16 with sums of 32 bits by AMX. AMX has
// eight registers of 16 rows of 64 bytes, used as follows:
//
//   0 to 3  2 x 2 tiles of the result, live while k runs
//   4, 5    16 rows of A each, 64 bytes of k
//   6, 7    16 columns of B each, as 16 groups of k: [k / 4][column][k % 4];
//           for bf16, two instead of four
//
// A is read in place if it is dense along k and its rows are not far apart. If
// its last step along k has less than 64 bytes, that step is copied and padded
// with zeros. B is packed once, before the loops in which it does not change.
// Edges of the result have smaller tiles, so nothing beyond it is read or
// written.
//
// For bf16, an instruction adds the products of the even steps of k and those
// of the odd steps, each in order with one rounding per product, then adds both
// sums and adds this to the result. So k is cut every 32 steps from its
// beginning, and all products of bf16 are computed this way: docs/kernels.md
// promises the order.
//
// The registers are named, not allocated: LLVM keeps the order of these
// instructions, and nothing else uses them.
//
//===----------------------------------------------------------------------===//

#include "Contraction/MatrixUnitWriter.h"

#include "Contraction.h"
#include "Contraction/ContractionWriter.h"
#include "Paths.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

using namespace mlir;
using namespace mlir::pathways;
using namespace mlir::pathways::kernel;

namespace {
constexpr int64_t kLeft = 4, kRight = 6; ///< first registers of the operands
/// For smaller products of bytes, vectors are as fast.
constexpr int64_t kLeastSide = 8, kLeastDepth = 16;
} // namespace

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

bool TileWriter::matchBody() {
  Block *body = op.getBlock();
  Type sum = getElementTypeOrSelf(out.getType());
  const bool isFloat = sum.isF32();
  // two conversions, product, sum, terminator
  if (!(isFloat ? unit.hasFloats && mayRoundOnce(op)
                : unit.hasBytes && sum.isInteger(32)) ||
      !llvm::hasNItems(body->getOperations(), 5))
    return false;
  for (auto [i, operand] : {std::pair(0, &left), std::pair(1, &right)}) {
    BlockArgument argument = body->getArgument(i);
    if (!argument.hasOneUse() || !(isFloat ? argument.getType().isBF16()
                                           : argument.getType().isInteger(8)))
      return false;
    Operation *user = *argument.user_begin();
    if (!isa<arith::ExtSIOp, arith::ExtUIOp, arith::ExtFOp>(user) ||
        user->getResult(0).getType() != sum)
      return false;
    operand->isSigned = isa<arith::ExtSIOp>(user);
  }
  elementBytes = isFloat ? 2 : 1;
  instruction = isFloat ? "llvm.x86.tdpbf16ps"
                        : std::string("llvm.x86.tdpb") +
                              (left.isSigned ? "s" : "u") +
                              (right.isSigned ? "s" : "u") + "d";
  return true;
}

bool TileWriter::isDenseIn(const Operand &operand, int64_t dim) const {
  return isDenseAlong(operand.buffer, operand.map, dim);
}

/// Chooses rows and columns. The innermost dimension of the result is that of
/// columns if it belongs to exactly one operand. Otherwise there is one column,
/// which requires nothing of the layout of the result.
void TileWriter::chooseSides() {
  auto isOfOne = [&](int64_t dim) {
    return left.map.isFunctionOfDim(dim) != right.map.isFunctionOfDim(dim) &&
           outMap.isFunctionOfDim(dim);
  };
  auto longest = [&](const Operand *of) {
    int64_t found = -1;
    for (int64_t dim = 0, e = sizes.size(); dim < e; ++dim)
      if (dim != n && isOfOne(dim) && size(dim) >= size(found) &&
          (!of || of->map.isFunctionOfDim(dim)))
        found = dim;
    return found;
  };
  if (outMap.getNumResults() > 0) {
    int64_t last = outMap.getDimPosition(outMap.getNumResults() - 1);
    if (isOfOne(last) && isDenseAlong(out, outMap, last))
      n = last;
  }
  if (n >= 0 && !right.map.isFunctionOfDim(n))
    std::swap(left, right);
  m = longest(n >= 0 ? &left : nullptr);
  // A single row becomes a column: the other operand is then read in place.
  if (n >= 0 && size(m) == 1 && isDenseIn(right, k)) {
    m = n, n = -1;
    std::swap(left, right);
  }
  if (m >= 0 && !left.map.isFunctionOfDim(m))
    std::swap(left, right);
  left.dim = m, right.dim = n;
}

bool TileWriter::matchDims() {
  k = dimOfSteps(op);
  if (k < 0)
    return false;
  chooseSides();
  // Summed dimensions keep their order, whichever operand is on the right.
  auto isOuter = [&](int64_t dim) {
    return right.map.isFunctionOfDim(dim) || !outMap.isFunctionOfDim(dim);
  };
  for (bool areOuter : {true, false})
    for (int64_t dim = 0, e = sizes.size(); dim < e; ++dim)
      if (dim != m && dim != n && dim != k && isOuter(dim) == areOuter) {
        others.push_back(dim);
        if (right.map.isFunctionOfDim(dim) && sizes[dim] > 1)
          numOfRight = others.size();
      }
  return true;
}

static bool hasStaticStrides(Value buffer) {
  auto [strides, offset] =
      cast<MemRefType>(buffer.getType()).getStridesAndOffset();
  return !ShapedType::isDynamicShape(strides);
}

/// Returns true if the matrix unit is worth using. The sums of bytes are the
/// same in any order, so small products of bytes can use vectors. bf16 has one
/// fixed order, so every product of bf16 must be computed here.
bool TileWriter::isWorthIt() const {
  if (elementBytes == 2)
    return true;
  if (!hasStaticStrides(left.buffer) || !hasStaticStrides(right.buffer) ||
      !hasStaticStrides(out))
    return false;
  auto isRead = [&](const Operand &operand) {
    return isDenseIn(operand, k) || isDenseIn(operand, operand.dim);
  };
  return size(m) >= kLeastSide && size(n) >= kLeastSide &&
         size(k) >= kLeastDepth && isRead(left) && isRead(right);
}

bool TileWriter::match() {
  if (!op.hasPureBufferSemantics() || !kernel::isContraction(op))
    return false;
  sizes = op.getStaticLoopRanges();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (ShapedType::isDynamicShape(sizes) || llvm::is_contained(sizes, 0))
    return false;
  left.buffer = op.getDpsInputs()[0], left.map = maps[0];
  right.buffer = op.getDpsInputs()[1], right.map = maps[1];
  out = op.getDpsInits()[0], outMap = maps[2];
  return llvm::all_of(op->getOperandTypes(), llvm::IsaPred<MemRefType>) &&
         matchBody() && matchDims() && isWorthIt();
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

Value TileWriter::subscript(AffineExpr expr, int64_t dim, Value at, Value kv) {
  if (auto each = dyn_cast<AffineDimExpr>(expr)) {
    int64_t d = each.getPosition();
    return d == dim ? at : d == k ? kv : outer[d];
  }
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return index(constant.getValue());
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value lhs = subscript(binary.getLHS(), dim, at, kv),
        rhs = subscript(binary.getRHS(), dim, at, kv);
  if (expr.getKind() == AffineExprKind::Add)
    return arith::AddIOp::create(b, lhs, rhs);
  return arith::MulIOp::create(b, lhs, rhs);
}

SmallVector<Value> TileWriter::subscripts(AffineMap map, int64_t dim, Value at,
                                          Value kv) {
  return llvm::map_to_vector(map.getResults(), [&](AffineExpr expr) {
    return subscript(expr, dim, at, kv);
  });
}

Value TileWriter::addressOf(Value buffer, ValueRange where) {
  auto type = cast<MemRefType>(buffer.getType());
  auto [strides, offset] = type.getStridesAndOffset();
  Value place = index(0);
  if (ShapedType::isDynamic(offset))
    place = memref::ExtractStridedMetadataOp::create(b, buffer).getOffset();
  else
    place = index(offset);
  for (auto [stride, at] : llvm::zip_equal(strides, where))
    place = arith::AddIOp::create(b, place,
                                  arith::MulIOp::create(b, at, index(stride)));
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  Value address = arith::AddIOp::create(
      b, memref::ExtractAlignedPointerAsIndexOp::create(b, buffer),
      arith::MulIOp::create(b, place, index(bytes)));
  address = arith::IndexCastOp::create(b, b.getI64Type(), address);
  return LLVM::IntToPtrOp::create(b, LLVM::LLVMPointerType::get(b.getContext()),
                                  address);
}

Value TileWriter::addressOfSums(Value row, Value column) {
  SmallVector<Value> where;
  for (AffineExpr expr : outMap.getResults()) {
    int64_t d = cast<AffineDimExpr>(expr).getPosition();
    where.push_back(d == m ? row : d == n ? column : outer[d]);
  }
  return addressOf(out, where);
}

Value TileWriter::number(int64_t value, unsigned bits) {
  return LLVM::ConstantOp::create(b, b.getIntegerType(bits), value);
}

void TileWriter::call(StringRef name, ValueRange arguments) {
  LLVM::CallIntrinsicOp::create(b, b.getStringAttr(name), arguments);
}

/// Moves a tile between a register and memory, whose rows are `stride` bytes
/// apart.
void TileWriter::moveTile(StringRef name, int64_t tile, Value address,
                          int64_t stride) {
  call(name, {number(tile, 8), address, number(stride, 64)});
}

void TileWriter::configure(const Shape &shape) {
  SmallVector<int8_t> bytes(64, 0);
  bytes[0] = 1; // palette
  auto set = [&](int64_t tile, int64_t rows, int64_t rowBytes) {
    bytes[16 + 2 * tile] = rowBytes;
    bytes[48 + tile] = rows;
  };
  for (auto [i, rows] : llvm::enumerate(shape.rows)) {
    set(kLeft + i, rows, kRowBytes);
    for (auto [j, columns] : llvm::enumerate(shape.columns))
      set(2 * i + j, rows, columns * kGroupBytes);
  }
  for (auto [j, columns] : llvm::enumerate(shape.columns))
    set(kRight + j, kSide, columns * kGroupBytes);
  auto type = VectorType::get(64, b.getI8Type());
  Value value = arith::ConstantOp::create(
      b, DenseElementsAttr::get(type, ArrayRef<int8_t>(bytes)));
  vector::StoreOp::create(b, value, configuration, index(0));
  call("llvm.x86.ldtilecfg", addressOf(configuration, index(0)));
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

void TileWriter::moveSums(StringRef name, const Place &place,
                          const Shape &shape) {
  int64_t stride = strideAlong(out, outMap, m);
  for (size_t i = 0; i < shape.rows.size(); ++i)
    for (size_t j = 0; j < shape.columns.size(); ++j)
      moveTile(name, 2 * i + j,
               addressOfSums(add(place.row, i * kSide),
                             add(place.column, j * kSide)),
               stride);
}

void TileWriter::beginSums(const Place &place, Value beginStep,
                           const Shape &shape) {
  auto zero = [&] {
    for (size_t i = 0; i < shape.rows.size(); ++i)
      for (size_t j = 0; j < shape.columns.size(); ++j)
        call("llvm.x86.tilezero", number(2 * i + j, 8));
  };
  auto load = [&] { moveSums("llvm.x86.tileloadd64", place, shape); };
  if (!startsAtZero)
    return load();
  if (getConstantIntValue(beginStep) == 0)
    return zero();
  Value isFirst =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, beginStep, index(0));
  auto choice = scf::IfOp::create(b, isFirst, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  zero();
  b.setInsertionPointToStart(choice.elseBlock());
  load();
}

void TileWriter::multiply(const Place &place, Value step, bool isTail,
                          const Shape &shape) {
  constexpr llvm::StringLiteral load = "llvm.x86.tileloadd64";
  Value group = arith::MulIOp::create(b, step, index(kSide));
  for (size_t i = 0; i < shape.rows.size(); ++i) {
    Value row = add(place.row, i * kSide);
    if (!left.packed && !isTail) {
      Value kv = arith::MulIOp::create(b, step, index(stepSize()));
      moveTile(load, kLeft + i,
               addressOf(left.buffer, subscripts(left.map, m, row, kv)),
               strideAlong(left.buffer, left.map, m));
      continue;
    }
    row = arith::SubIOp::create(b, row, place.firstRow);
    Value tile = arith::DivUIOp::create(b, row, index(kSide));
    moveTile(load, kLeft + i,
             isTail ? addressOf(tail, {row, index(0)})
                    : addressOf(left.packed, {tile, group, index(0)}),
             kRowBytes);
  }
  for (size_t j = 0; j < shape.columns.size(); ++j) {
    Value tile = add(arith::DivUIOp::create(b, place.column, index(kSide)), j);
    moveTile(load, kRight + j, addressOf(right.packed, {tile, group, index(0)}),
             kRowBytes);
  }
  for (size_t i = 0; i < shape.rows.size(); ++i)
    for (size_t j = 0; j < shape.columns.size(); ++j)
      call(instruction,
           {number(2 * i + j, 8), number(kLeft + i, 8), number(kRight + j, 8)});
}

void TileWriter::writeBlock(const Place &place, Value beginStep, Value endStep,
                            const Shape &shape) {
  beginSums(place, beginStep, shape);
  if (plainSteps() > 0)
    loop(beginStep, endStep, 1,
         [&](Value step) { multiply(place, step, /*isTail=*/false, shape); });
  auto writeTail = [&] {
    multiply(place, index(plainSteps()), /*isTail=*/true, shape);
  };
  if (tail && getConstantIntValue(endStep) == plainSteps()) {
    writeTail();
  } else if (tail) {
    Value isLast = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, endStep,
                                         index(plainSteps()));
    auto choice = scf::IfOp::create(b, isLast, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(choice.thenBlock());
    writeTail();
  }
  moveSums("llvm.x86.tilestored64", place, shape);
}

void TileWriter::writeColumns(Value firstRow, Value lastRow, Value column,
                              const Shape &shape) {
  int64_t height = llvm::sum_of(shape.rows), steps = plainSteps();
  auto block = [&](Value begin) {
    Value end = steps <= kStepBlock ? index(steps)
                                    : min(add(begin, kStepBlock), index(steps));
    loop(firstRow, lastRow, height, [&](Value row) {
      writeBlock({row, column, firstRow}, begin, end, shape);
    });
  };
  if (steps <= kStepBlock)
    block(index(0));
  else
    loop(0, steps, kStepBlock, block);
}

int64_t TileWriter::edgeOf(int64_t dim) const {
  int64_t step = dim >= 0 && dim == m ? height : 2 * kSide;
  return size(dim) / step * step;
}

/// Chooses equal blocks of rows if possible. Tiles of rows may then begin
/// anywhere.
void TileWriter::chooseHeight() {
  int64_t blocks = llvm::divideCeil(size(m), 2 * kSide);
  if (!packsLeft() && size(m) % blocks == 0 && blocks > 1)
    height = size(m) / blocks;
}

TileWriter::Sides TileWriter::sidesOf(int64_t count) const {
  Sides sides;
  for (; count > 0 && sides.size() < 2; count -= sides.back())
    sides.push_back(std::min(count, kSide));
  return sides;
}

/// Returns true if all blocks are equal, so that the registers are configured
/// only once: configuring takes as long as the product of a block.
bool TileWriter::hasOneShape() const {
  return llvm::all_of(ArrayRef{m, n}, [&](int64_t dim) {
    return edgeOf(dim) == 0 || edgeOf(dim) == size(dim);
  });
}

void TileWriter::writeRows(Value first, Value last, const Sides &rows) {
  packLeft(first, last, llvm::sum_of(rows));
  int64_t edge = edgeOf(n);
  if (edge > 0) {
    Shape shape{rows, {kSide, kSide}};
    if (!hasOneShape())
      configure(shape);
    loop(0, edge, 2 * kSide,
         [&](Value column) { writeColumns(first, last, column, shape); });
  }
  if (edge < size(n)) {
    Shape shape{rows, sidesOf(size(n) - edge)};
    if (!hasOneShape())
      configure(shape);
    writeColumns(first, last, index(edge), shape);
  }
}

void TileWriter::writeMatrix() {
  bringTogether(left);
  allocateLeft();
  int64_t edge = edgeOf(m);
  const int64_t most = kRowBlock / height * height;
  loop(0, edge, most, [&](Value first) {
    Value last =
        edge <= most ? index(edge) : min(add(first, most), index(edge));
    writeRows(first, last, sidesOf(height));
  });
  if (edge < size(m))
    writeRows(index(edge), index(size(m)), sidesOf(size(m) - edge));
}

void TileWriter::takeFill() {
  if (llvm::any_of(others, [&](int64_t dim) {
        return !outMap.isFunctionOfDim(dim) && sizes[dim] > 1;
      }))
    return;
  Value fill = kernel::takeFill(op);
  startsAtZero = fill && (matchPattern(fill, m_Zero()) ||
                          matchPattern(fill, m_PosZeroFloat()));
  if (fill && !startsAtZero)
    linalg::FillOp::create(b, fill, out);
}

/// Copies a buffer whose strides are only known at run time: it may be one of
/// several buffers.
void TileWriter::copyIfStridesAreOpen(Value &buffer) {
  if (hasStaticStrides(buffer))
    return;
  auto type = cast<MemRefType>(buffer.getType());
  Value copy = memref::AllocOp::create(
      b, MemRefType::get(type.getShape(), type.getElementType()));
  memref::CopyOp::create(b, buffer, copy);
  buffer = copy;
}

void TileWriter::write() {
  b.setInsertionPoint(op);
  const Value result = out;
  for (Value *buffer : {&left.buffer, &right.buffer, &out})
    copyIfStridesAreOpen(*buffer);
  outer.resize(sizes.size());
  for (int64_t dim : others)
    outer[dim] = index(0);
  configuration =
      memref::AllocOp::create(b, MemRefType::get({64}, b.getI8Type()));
  takeFill();
  chooseHeight();
  if (numOfRight == 0) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(outermostUser(right.buffer, op));
    for (int64_t dim : others)
      outer[dim] = index(0);
    packRight();
  }
  if (hasOneShape())
    configure({sidesOf(std::min(size(m), height)), sidesOf(size(n))});
  std::function<void(int64_t)> nest = [&](int64_t i) {
    if (i > 0 && i == numOfRight)
      packRight();
    if (i == static_cast<int64_t>(others.size()))
      return writeMatrix();
    loop(0, sizes[others[i]], 1, [&](Value value) {
      outer[others[i]] = value;
      nest(i + 1);
    });
  };
  nest(0);
  call("llvm.x86.tilerelease", {});
  if (out != result)
    memref::CopyOp::create(b, out, result);
  op.erase();
}

void kernel::lowerToTiles(func::FuncOp func, const MatrixUnit &unit,
                          PathLog *log) {
  if (!unit.hasBytes && !unit.hasFloats)
    return;
  // Hoists views of unchanged buffers out of the loops.
  func.walk([](LoopLikeOpInterface loop) { moveLoopInvariantCode(loop); });
  SmallVector<linalg::LinalgOp> ops;
  func.walk([&](linalg::LinalgOp op) { ops.push_back(op); });
  for (linalg::LinalgOp op : ops) {
    TileWriter writer(op, unit);
    if (!writer.match())
      continue;
    if (log)
      log->add(op, "product of tiles");
    writer.write();
  }
}

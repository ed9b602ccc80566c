//===- Convolution.cpp - Windows as register-tiled vector code ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes reductions over windows: convolutions of any layout, dense, grouped
// and depthwise, their gradients, and pooling. Such an op reads at least one
// operand at sums of loop dimensions, such as [y * 2 + ky, x * 2 + kx, c].
//
// Vectors run along the dimension `n` that is innermost in the result. A tile
// of `rows` values of another dimension, m, times some vectors stays in
// registers while the loops over the summed dimensions run. An operand without
// n is read element by element; one that is not dense along n is transposed
// first.
//
//   nhwc, hwcf:  n = f, m = x   the image by element, the filter by vector
//   nchw, fchw:  n = x, m = f   the filter by element, the image by vector
//   depthwise:   n = c, m = x   both by vector
//
// Every element of the result is the same sum in every tile, full or at an
// edge. It starts from the value that was there and adds one term after the
// other, in the order in which plain loops over the dimensions of the op would.
// A term that is a product is added with one rounding where the target has
// fused multiply-add.
//
// Padding before such an op is not materialized: where a window leaves the
// operand, the code reads a row of padding instead. The terms of padding are
// added like all others, because infinities and NaN in a filter require it.
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"
#include "Contraction/WindowWriter.h"
#include "Paths.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::pathways;
using namespace mlir::pathways::kernel;

namespace {

/// Largest number of terms of one sum that are unrolled.
constexpr int64_t kWrittenOut = 24;
/// Bytes of an operand that the tiles of one block of terms use repeatedly.
constexpr int64_t kStripBytes = 96 << 10;
/// A filter up to this size stays in the nearest cache in any order of loops.
constexpr int64_t kSmallFilterBytes = 128 << 10;
/// Rows shorter than this are padded in memory.
constexpr int64_t kLeastRow = 8;
/// Elements further apart than this are loaded one by one.
constexpr int64_t kMostStride = 4;

} // namespace

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

/// Adds `factor` * `expr` to `to`. Returns false if `expr` is not a sum of
/// dimensions. Dimensions of one step count as 0.
static bool addTo(Subscript &to, AffineExpr expr, int64_t factor,
                  ArrayRef<int64_t> sizes) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    to.constant += factor * constant.getValue();
    return true;
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    if (sizes[dim.getPosition()] > 1)
      to.factors[dim.getPosition()] += factor;
    return true;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (expr.getKind() == AffineExprKind::Add)
    return addTo(to, binary.getLHS(), factor, sizes) &&
           addTo(to, binary.getRHS(), factor, sizes);
  auto by = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return expr.getKind() == AffineExprKind::Mul && by &&
         addTo(to, binary.getLHS(), factor * by.getValue(), sizes);
}

/// Returns true if `body` multiplies two of its arguments and adds to the last
/// one.
static bool isProduct(Block &body) {
  if (!llvm::hasNItems(body.getOperations(), 3))
    return false;
  auto product = dyn_cast<arith::MulFOp>(body.front());
  auto sum = dyn_cast<arith::AddFOp>(*std::next(body.begin()));
  Value last = body.getArguments().back();
  auto isOperand = [&](Value value) {
    return isa<BlockArgument>(value) && value.getParentBlock() == &body &&
           value != last && value.hasOneUse();
  };
  return product && sum && isOperand(product.getLhs()) &&
         isOperand(product.getRhs()) &&
         body.getTerminator()->getOperand(0) == sum &&
         ((sum.getLhs() == last && sum.getRhs() == product) ||
          (sum.getRhs() == last && sum.getLhs() == product));
}

bool WindowWriter::matchBody() {
  Block *body = op.getBlock();
  for (Operation &each : body->without_terminator())
    if (!isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::MaximumFOp,
             arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp,
             arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::MaxSIOp,
             arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp>(each) ||
        each.getResult(0).getType() != element)
      return false;
  isFused = tiles.hasFma && isProduct(*body) && mayRoundOnce(op);
  return true;
}

bool WindowWriter::matchInputs() {
  bool hasWindow = false;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(operand);
    if (argument.use_empty())
      continue;
    auto type = dyn_cast<MemRefType>(operand->get().getType());
    if (!type || type.getElementType() != element || type.getRank() == 0)
      return false;
    Input &input = inputs.emplace_back();
    input.number = argument.getArgNumber();
    input.buffer = operand->get();
    for (AffineExpr expr : op.getMatchingIndexingMap(operand).getResults()) {
      hasWindow |= !isa<AffineDimExpr>(expr);
      Subscript &subscript = input.subscripts.emplace_back();
      subscript.factors.resize(sizes.size());
      if (!addTo(subscript, expr, 1, sizes))
        return false;
    }
    if (!input.isFunctionOf(n))
      continue;
    auto isAlong = [&](const Subscript &subscript) {
      return subscript.factors[n] != 0;
    };
    int64_t along = llvm::find_if(input.subscripts, isAlong)->factors[n];
    if (llvm::count_if(input.subscripts, isAlong) != 1 || along < 1 ||
        along > kMostStride)
      input.isGathered = true;
    else if (isAlong(input.subscripts.back()) && isDense(input.buffer))
      input.along = along;
  }
  return hasWindow;
}

bool WindowWriter::match() {
  if (!op.hasPureBufferSemantics() || op.getNumDpsInits() != 1 ||
      op.getNumReductionLoops() == 0)
    return false;
  sizes = op.getStaticLoopRanges();
  if (ShapedType::isDynamicShape(sizes) || llvm::is_contained(sizes, 0))
    return false;
  out = op.getDpsInits()[0];
  outMap = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  auto type = cast<MemRefType>(out.getType());
  element = type.getElementType();
  if (!(element.isF32() || element.isF64() || element.isInteger(8) ||
        element.isInteger(16) || element.isInteger(32) ||
        element.isInteger(64)) ||
      !outMap.isProjectedPermutation() || outMap.getNumResults() == 0 ||
      outMap.getNumResults() != op.getNumParallelLoops() || !isDense(out))
    return false;
  n = outMap.getDimPosition(outMap.getNumResults() - 1);
  if (!matchBody() || !matchInputs())
    return false;
  chooseTile();
  return true;
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

/// Returns true if every operand is read by vector, as in depthwise
/// convolutions and pooling.
bool WindowWriter::isByVector() const {
  return llvm::all_of(
      inputs, [&](const Input &input) { return input.isFunctionOf(n); });
}

void WindowWriter::chooseTile() {
  // Prefer a dimension of rows on which some vector operand does not depend.
  auto isShared = [&](int64_t dim) {
    return llvm::any_of(inputs, [&](const Input &input) {
      return input.isFunctionOf(n) && !input.isFunctionOf(dim);
    });
  };
  for (AffineExpr expr : llvm::reverse(outMap.getResults().drop_back())) {
    int64_t dim = cast<AffineDimExpr>(expr).getPosition();
    if (sizes[dim] == 1)
      continue;
    if (m < 0)
      m = dim;
    if (isShared(dim)) {
      m = dim;
      break;
    }
  }
  for (AffineExpr expr : outMap.getResults()) {
    int64_t dim = cast<AffineDimExpr>(expr).getPosition();
    if (dim != n && dim != m)
      others.push_back(dim);
  }
  vectors = Lanes(element, tiles.vectorBytes);
  int64_t lanes = vectors.most;
  int64_t most = tiles.rows * tiles.vectors, fewest = tiles.vectors;
  // No load is shared by several vectors, and registers must also hold the part
  // of the window that several rows share.
  if (isByVector())
    most = std::min<int64_t>(most, 6), fewest = std::min<int64_t>(fewest, 2);
  int64_t wanted = std::max(fewest, most / size(m));
  mostVectors = std::clamp<int64_t>(llvm::divideCeil(size(n), lanes), 1,
                                    std::min<int64_t>(wanted, 8));
  mostRows = std::min(size(m), most / mostVectors);
}

void WindowWriter::chooseBlocks() {
  SmallVector<int64_t> reductions;
  for (auto [dim, iterator] : llvm::enumerate(op.getIteratorTypesArray()))
    if (iterator == utils::IteratorType::reduction && sizes[dim] > 1)
      reductions.push_back(dim);
  int64_t most =
      kStripBytes / bytes() / std::max(mostRows, mostVectors * vectors.most);
  int64_t terms = 1;
  size_t first = reductions.size();
  while (first > 0 && terms * sizes[reductions[first - 1]] <= most)
    terms *= sizes[reductions[--first]];
  if (first > 0) {
    int64_t extent = sizes[reductions[first - 1]];
    // Use as few blocks as possible, all but the last of equal length.
    int64_t longest = std::max<int64_t>(most / terms, 1);
    block = llvm::divideCeil(extent, llvm::divideCeil(extent, longest));
    if (terms == 1)
      block = llvm::alignTo(block, kUnroll);
    if (block == 1)
      block = 0;
    else
      --first;
  }
  outside.assign(reductions.begin(), reductions.begin() + first);
  inner.assign(reductions.begin() + first, reductions.end());
  writtenOut = inner.size();
  terms = 1;
  // Elements that several rows read one by one are cheaper to reload than to
  // keep.
  auto meetsRows = [&](int64_t dim) {
    return m >= 0 && llvm::any_of(inputs, [&](const Input &input) {
             return !input.isFunctionOf(n) &&
                    llvm::any_of(input.subscripts, [&](const Subscript &s) {
                      return s.factors[m] != 0 && s.factors[dim] != 0;
                    });
           });
  };
  while (writtenOut > 0 && !meetsRows(inner[writtenOut - 1]) &&
         terms * sizes[inner[writtenOut - 1]] <= kWrittenOut)
    terms *= sizes[inner[--writtenOut]];
}

void WindowWriter::chooseOrder() {
  // Data that other dimensions of the result reuse is used up while it is in
  // the cache.
  const Input *filter = nullptr;
  for (const Input &input : inputs)
    if (llvm::any_of(others, [&](int64_t dim) {
          return sizes[dim] > 1 && !input.isFunctionOf(dim);
        }))
      filter = &input;
  if (filter &&
      cast<MemRefType>(filter->buffer.getType()).getNumElements() * bytes() <=
          kSmallFilterBytes)
    filter = nullptr;
  bool columnsFirst = filter && filter->isFunctionOf(n);
  bool rowsFirst = filter && m >= 0 && filter->isFunctionOf(m);
  if (columnsFirst)
    levels.push_back({Level::Columns, n});
  if (rowsFirst)
    levels.push_back({Level::Rows, m});
  for (int64_t dim : outside)
    levels.push_back({Level::Outside, dim});
  if (block > 0)
    levels.push_back({Level::Block, inner.front()});
  for (int64_t dim : others)
    levels.push_back({Level::Other, dim});
  // If everything is read by vector, read it in memory order.
  const bool columnsLast = !columnsFirst && isByVector();
  if (!columnsFirst && !columnsLast)
    levels.push_back({Level::Columns, n});
  if (!rowsFirst)
    levels.push_back({Level::Rows, m});
  if (columnsLast)
    levels.push_back({Level::Columns, n});
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Copies an operand into a buffer that is dense along n.
void WindowWriter::turnAround(Input &input) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(kernel::outermostUser(input.buffer, op));
  auto type = cast<MemRefType>(input.buffer.getType());
  SmallVector<int64_t> order, shape;
  int64_t last = 0;
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (input.subscripts[d].factors[n] == 0)
      order.push_back(d);
    else
      last = d;
  order.push_back(last);
  SmallVector<Subscript> subscripts;
  for (int64_t d : order) {
    shape.push_back(type.getDimSize(d));
    subscripts.push_back(input.subscripts[d]);
  }
  Value turned = memref::AllocOp::create(b, MemRefType::get(shape, element));
  AffineMap map = AffineMap::getPermutationMap(order, b.getContext());
  linalg::GenericOp::create(
      b, ValueRange(input.buffer), ValueRange(turned),
      ArrayRef<AffineMap>{inversePermutation(map),
                          b.getMultiDimIdentityMap(order.size())},
      SmallVector<utils::IteratorType>(order.size(),
                                       utils::IteratorType::parallel),
      [](OpBuilder &inner, Location loc, ValueRange args) {
        linalg::YieldOp::create(inner, loc, args.front());
      });
  input.buffer = turned;
  input.subscripts = subscripts;
  input.along = subscripts.back().factors[n];
}

/// If `input` is a buffer that was set to one number and then partly
/// overwritten by a copy, and is only read here, reads the source of the copy
/// instead.
void WindowWriter::takePadding(Input &input) {
  auto alloc = input.buffer.getDefiningOp<memref::AllocOp>();
  if (!alloc || input.along > 1 || input.isGathered)
    return;
  Operation *setter = nullptr;
  memref::SubViewOp inside;
  for (Operation *user : alloc->getUsers()) {
    if (user == op)
      continue;
    if (auto view = dyn_cast<memref::SubViewOp>(user); view && !inside)
      inside = view;
    else if (!setter && kernel::valueSetBy(user, alloc))
      setter = user;
    else
      return;
  }
  if (!setter || !inside || !inside->hasOneUse() ||
      llvm::count(op->getOperands(), input.buffer) != 1)
    return;
  auto copy = dyn_cast<memref::CopyOp>(*inside->user_begin());
  if (!copy || copy.getTarget() != inside)
    return;
  Value source = copy.getSource();
  auto sourceType = cast<MemRefType>(source.getType());
  auto paddedType = alloc.getType();
  int64_t rank = paddedType.getRank();
  if (setter->getBlock() != op->getBlock() ||
      copy->getBlock() != op->getBlock() || !setter->isBeforeInBlock(copy) ||
      !copy->isBeforeInBlock(op) || sourceType.getRank() != rank ||
      !sourceType.hasStaticShape() || !isDense(source) ||
      sourceType.getNumElements() == 0 ||
      ShapedType::isDynamicShape(inside.getStaticOffsets()) ||
      !llvm::all_of(inside.getStaticStrides(),
                    [](int64_t stride) { return stride == 1; }) ||
      sourceType.getDimSize(rank - 1) != paddedType.getDimSize(rank - 1) ||
      sourceType.getDimSize(rank - 1) < kLeastRow || !areApart(source, out))
    return;
  // Nothing may change the source before it is read.
  for (Operation *each = copy->getNextNode(); each != op;
       each = each->getNextNode()) {
    auto structured = dyn_cast<linalg::LinalgOp>(each);
    if (isMemoryEffectFree(each) || isa<memref::AllocOp>(each) ||
        (structured && llvm::all_of(structured.getDpsInits(), [&](Value init) {
           return areApart(init, source);
         })))
      continue;
    return;
  }
  SmallVector<bool> checked;
  for (int64_t d = 0; d < rank; ++d) {
    checked.push_back(sourceType.getDimSize(d) != paddedType.getDimSize(d));
    // Rows are looked up before the loop that reads them.
    if (d + 1 < rank && isStepped() &&
        input.subscripts[d].factors[inner.back()] != 0)
      return;
  }
  input.checked = checked;
  input.low.assign(inside.getStaticOffsets().begin(),
                   inside.getStaticOffsets().end());
  input.buffer = source;
  Value padding = kernel::valueSetBy(setter, alloc);
  auto rowType = MemRefType::get({sourceType.getDimSize(rank - 1)}, element);
  Value row = memref::AllocOp::create(b, rowType);
  linalg::FillOp::create(b, padding, row);
  auto viewType = MemRefType::get(
      rowType.getShape(), element,
      StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, {1}));
  input.border = memref::CastOp::create(b, viewType, row);
  setter->erase();
  copy->erase();
  inside->erase();
}

/// If the next op only changes the elements of the result one by one, as bias
/// and activation do, applies it before the elements are stored.
void WindowWriter::takeTail() {
  Operation *next = op->getNextNode();
  while (next && (isMemoryEffectFree(next) || isa<memref::AllocOp>(next)))
    next = next->getNextNode();
  auto user = dyn_cast_or_null<linalg::GenericOp>(next);
  if (!user || user.getNumDpsInits() != 1 ||
      user.getNumParallelLoops() != user.getNumLoops())
    return;
  OpOperand *init = user.getDpsInitOperand(0);
  Value buffer = init->get();
  AffineMap map = user.getMatchingIndexingMap(init);
  if (!map.isPermutation() || user.payloadUsesValueFromOperand(init) ||
      cast<MemRefType>(buffer.getType()).getElementType() != element ||
      !isDense(buffer))
    return;
  bool isRead = false;
  for (OpOperand *operand : user.getDpsInputOperands()) {
    auto type = dyn_cast<MemRefType>(operand->get().getType());
    AffineMap own = user.getMatchingIndexingMap(operand);
    if (!type || type.getElementType() != element ||
        !own.isProjectedPermutation())
      return;
    if (operand->get() == out) {
      isRead = true;
      if (own != map)
        return;
      continue;
    }
    auto last = cast<AffineDimExpr>(map.getResults().back());
    if (own.isFunctionOfDim(last.getPosition()) &&
        (own.getResults().back() != last || !isDense(operand->get())))
      return;
    // Each element must be read before it is written.
    if (!areApart(operand->get(), buffer) &&
        (operand->get() != buffer || own != map))
      return;
  }
  if (!isRead)
    return;
  // No other op may need the result in its old state.
  if (buffer != out && (!out.getDefiningOp<memref::AllocOp>() ||
                        !llvm::all_of(out.getUsers(),
                                      [&](Operation *each) {
                                        return each == op || each == user;
                                      }) ||
                        !llvm::all_of(inputs, [&](const Input &input) {
                          return areApart(input.buffer, buffer);
                        })))
    return;
  for (Operation &each : user.getBody()->without_terminator())
    if (!isa<arith::ArithDialect>(each.getDialect()) ||
        !OpTrait::hasElementwiseMappableTraits(&each) ||
        each.getNumResults() != 1 || !isSpeculatable(&each))
      return;
  while (op->getNextNode() != user)
    op->getNextNode()->moveBefore(op);
  tail = user;
  target = buffer;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

Operation *WindowWriter::write() {
  chooseBlocks();
  chooseOrder();
  for (Input &input : inputs) {
    if (input.isFunctionOf(n) && !input.isVector())
      turnAround(input);
    else
      takePadding(input);
  }
  steady = inner.size();
  auto movesRows = [&](int64_t dim) {
    return llvm::any_of(inputs, [&](const Input &input) {
      return input.isPadded() &&
             llvm::any_of(llvm::drop_end(input.subscripts),
                          [&](const Subscript &subscript) {
                            return subscript.factors[dim] != 0;
                          });
    });
  };
  while (steady > 0 && !movesRows(inner[steady - 1]))
    --steady;
  target = out;
  if (outside.empty() && block == 0) {
    fill = kernel::takeFill(op);
    takeTail();
  }
  at.resize(sizes.size());
  b.setInsertionPoint(op);
  nest(0);
  op.erase();
  if (tail)
    tail.erase();
  return tail;
}

void kernel::lowerConvolutions(func::FuncOp func, const MatmulTiles &tiles,
                               PathLog *log) {
  SmallVector<linalg::LinalgOp> ops;
  func.walk([&](linalg::LinalgOp op) { ops.push_back(op); });
  Operation *taken = nullptr;
  for (linalg::LinalgOp op : ops) {
    if (op == taken)
      continue;
    WindowWriter writer(op, tiles);
    if (!writer.match())
      continue;
    if (log)
      log->add(op, "windows");
    taken = writer.write();
  }
}

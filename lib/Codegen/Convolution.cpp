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
// The dimension `n` that is innermost in the result is the one of vectors.
// `rows` values of another one, m, times some vectors stay in registers while
// the dimensions that are summed up run. An operand without n is read by
// element; one that is not dense along n is turned around first.
//
//   nhwc, hwcf:  n = f, m = x   the image by element, the filter by vector
//   nchw, fchw:  n = x, m = f   the filter by element, the image by vector
//   depthwise:   n = c, m = x   both by vector
//
// Every element of the result is the same sum in every tile, full or at an
// edge: from the value that was there, one term after the other in the order in
// which plain loops over the dimensions of the op would add them, and with one
// rounding for a term that is a product where the target has fused
// multiply-add.
//
// Padding that is written in front of such an op is not made: where a window
// leaves the operand, the code reads a row of padding instead. Its terms are
// added like all others, as infinities and NaN in a filter ask for.
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
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::pathways;

namespace {

/// Terms of one sum that are written out.
constexpr int64_t kWrittenOut = 24;
/// Of a longer innermost dimension, at a time.
constexpr int64_t kUnroll = 4;
/// Of an operand, what the tiles of one block of terms use again and again.
constexpr int64_t kStripBytes = 96 << 10;
/// A filter up to this size is in the nearest cache in any order of loops.
constexpr int64_t kSmallFilterBytes = 32 << 10;
/// Rows shorter than this are padded in memory.
constexpr int64_t kLeastRow = 8;
/// Elements of one vector are at most this far apart.
constexpr int64_t kMostStride = 4;

/// A sum of loop dimensions, each times a number, and a constant.
struct Subscript {
  SmallVector<int64_t> factors;
  int64_t constant = 0;
};

/// The value of a loop dimension: `base`, if there is one, plus `offset`.
struct Position {
  Value base;
  int64_t offset = 0;
};

/// An operand that is read.
struct Input {
  unsigned number = 0; ///< of the argument of the body
  Value buffer;
  SmallVector<Subscript> subscripts;
  int64_t along = 0; ///< elements from one of n to the next; 0: n is not in it

  // Where it is what lies inside of padding:
  SmallVector<int64_t> low;  ///< elements in front, by dimension
  SmallVector<bool> checked; ///< dimensions with padding
  Value border;              ///< a row of padding

  bool isPadded() const { return static_cast<bool>(border); }
  bool isFunctionOf(int64_t dim) const {
    return llvm::any_of(subscripts, [&](const Subscript &subscript) {
      return subscript.factors[dim] != 0;
    });
  }
};

/// One op being written.
class WindowWriter : kernel::LoopWriter {
public:
  WindowWriter(linalg::LinalgOp op, const kernel::MatmulTiles &tiles)
      : LoopWriter(op), op(op), tiles(tiles) {}

  /// Returns false, and changes nothing, when the op is not for it.
  bool match();
  /// Returns the op behind it that went with it, if one did.
  Operation *write();

private:
  using Next = llvm::function_ref<void()>;
  using Sums = SmallVector<Value>;

  bool matchBody();
  bool matchInputs();
  void turnAround(Input &input);
  void takePadding(Input &input);
  void takeTail();
  void chooseTile();
  void chooseBlocks();
  void chooseOrder();

  int64_t size(int64_t dim) const { return dim < 0 ? 1 : sizes[dim]; }
  int64_t bytes() const { return element.getIntOrFloatBitWidth() / 8; }
  /// Whether the innermost dimension of a sum is a loop of its own.
  bool isStepped() const {
    return !inner.empty() && writtenOut == inner.size();
  }

  /// `next` with `dim` at begin, begin + step, ...
  void over(int64_t dim, int64_t begin, int64_t end, int64_t step, Next next);
  void nest(size_t level);
  void columns(size_t level);
  void rowTiles(size_t level);

  Value valueOf(const Subscript &subscript);
  SmallVector<Value> subscriptsOf(const Input &input);
  SmallVector<Value> resultSubscripts();
  /// Whether no window of the tile leaves an operand.
  Value isInside();
  /// The row of `input` at the current position, or one of padding.
  Value rowOf(const Input &input);
  /// The rows of all operands with padding, for all rows of the tile.
  void findRows();
  VectorType vectorOf(int64_t width) const {
    return VectorType::get(llvm::isPowerOf2_64(width) ? width : lanes, element);
  }
  Value maskOf(int64_t width);
  Value loadLanes(Value buffer, ValueRange where, int64_t width);
  Value load(const Input &input, int64_t row, int64_t width);

  void writeTile();
  void writeSums(bool isGuarded);
  void addTerms(size_t i, Sums &sums);
  void addTerm(Sums &sums);
  /// What `body` yields for vectors as long as `type`, some of them known.
  Value evaluate(Block *body, IRMapping &values, VectorType type);
  Value combine(Value sum, ArrayRef<Value> terms, VectorType type);
  Value finish(Value sum, int64_t width);

  linalg::LinalgOp op;
  const kernel::MatmulTiles &tiles;
  SmallVector<int64_t> sizes;
  AffineMap outMap;
  Value out;
  Type element;
  bool isFused = false; ///< multiplies and adds with one rounding
  SmallVector<Input> inputs;

  int64_t m = -1, n = -1;       ///< positions of loop dimensions; -1: none
  SmallVector<int64_t> others;  ///< parallel ones besides
  SmallVector<int64_t> outside; ///< reductions around the tiles
  SmallVector<int64_t> inner; ///< reductions inside, those of one step left out
  size_t writtenOut = 0;      ///< from here on, inner ones are written out
  size_t steady = 0; ///< from here on, inner ones leave rows where they are
  int64_t block = 0; ///< steps of inner[0] at a time; 0: all of them
  Value blockEnd;

  enum class Level { Other, Outside, Block, Columns, Rows };
  SmallVector<std::pair<Level, int64_t>> levels;

  int64_t mostRows = 1, mostVectors = 1, lanes = 1;
  SmallVector<Position> at; ///< where the loops are
  int64_t rows = 1;
  /// Of the vectors of the tile; of one that is no power of two, as many lanes
  /// of a full one are used.
  SmallVector<int64_t> widths;
  Value fill; ///< what sums begin with; none: with what is in the result
  linalg::GenericOp tail; ///< elementwise, on sums that are complete; or none
  Value target;           ///< where they go
  bool isGuarded = false;
  SmallVector<SmallVector<Value>> found; ///< by input and row
};

} // namespace

//===----------------------------------------------------------------------===//
// What is taken
//===----------------------------------------------------------------------===//

/// Adds `factor` * `expr` to `to`; false when it is no sum of dimensions.
/// Dimensions of one step are 0.
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

static bool isDense(Value buffer) {
  SmallVector<int64_t> strides;
  int64_t offset;
  auto type = cast<MemRefType>(buffer.getType());
  return type.getRank() > 0 &&
         succeeded(type.getStridesAndOffset(strides, offset)) &&
         strides.back() == 1;
}

/// Whether `body` multiplies two of its arguments and adds to the last one.
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
  isFused = tiles.hasFma && isProduct(*body);
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
      return false;
    if (isAlong(input.subscripts.back()) && isDense(input.buffer))
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
        element.isInteger(32) || element.isInteger(64)) ||
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

void WindowWriter::chooseTile() {
  // Rows are for what some operand that is read by vector does not depend on.
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
  lanes = std::max<int64_t>(tiles.vectorBytes / bytes(), 1);
  int64_t most = tiles.rows * tiles.vectors;
  int64_t wanted = std::max(tiles.vectors, most / size(m));
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
      kStripBytes / bytes() / std::max(mostRows, mostVectors * lanes);
  int64_t terms = 1;
  size_t first = reductions.size();
  while (first > 0 && terms * sizes[reductions[first - 1]] <= most)
    terms *= sizes[reductions[--first]];
  if (first > 0) {
    int64_t extent = sizes[reductions[first - 1]];
    // As few blocks as that takes, all but the last as long as each other.
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
  // What several rows read by element is cheaper to load again than to keep.
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
  // What other dimensions of the result use again is best used up while it is
  // near.
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
  if (!columnsFirst)
    levels.push_back({Level::Columns, n});
  if (!rowsFirst)
    levels.push_back({Level::Rows, m});
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

/// The buffer of which `value` is a view.
static Value wholeOf(Value value) {
  while (auto view = value.getDefiningOp<ViewLikeOpInterface>())
    value = view.getViewSource();
  return value;
}

/// Whether the two are known not to meet.
static bool areApart(Value a, Value b) {
  a = wholeOf(a), b = wholeOf(b);
  auto isKnown = [](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return value.getDefiningOp<memref::AllocOp>() ||
           (argument && isa<func::FuncOp>(argument.getOwner()->getParentOp()));
  };
  return a != b && isKnown(a) && isKnown(b);
}

/// Where `input` is a buffer that was set to one number and then partly
/// overwritten by a copy, only to be read here: reads what was copied.
void WindowWriter::takePadding(Input &input) {
  auto alloc = input.buffer.getDefiningOp<memref::AllocOp>();
  if (!alloc || input.along > 1)
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
    // Rows are looked for before the loop that reads them.
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

/// Where what comes next only changes the elements of the result one by one, as
/// bias and activation do: does that before they are stored.
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
    // Each element is read before it is written.
    if (!areApart(operand->get(), buffer) &&
        (operand->get() != buffer || own != map))
      return;
  }
  if (!isRead)
    return;
  // Nobody else needs the result as it was.
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
// Subscripts
//===----------------------------------------------------------------------===//

Value WindowWriter::valueOf(const Subscript &subscript) {
  Value sum;
  int64_t constant = subscript.constant;
  for (auto [factor, position] : llvm::zip_equal(subscript.factors, at)) {
    constant += factor * position.offset;
    if (factor == 0 || !position.base)
      continue;
    Value term = factor == 1
                     ? position.base
                     : arith::MulIOp::create(b, position.base, index(factor))
                           .getResult();
    sum = sum ? arith::AddIOp::create(b, sum, term).getResult() : term;
  }
  return sum ? add(sum, constant) : index(constant);
}

SmallVector<Value> WindowWriter::subscriptsOf(const Input &input) {
  return llvm::map_to_vector(input.subscripts, [&](const Subscript &subscript) {
    return valueOf(subscript);
  });
}

SmallVector<Value> WindowWriter::resultSubscripts() {
  SmallVector<Value> values;
  for (AffineExpr expr : outMap.getResults()) {
    const Position &position = at[cast<AffineDimExpr>(expr).getPosition()];
    values.push_back(position.base ? add(position.base, position.offset)
                                   : index(position.offset));
  }
  return values;
}

Value WindowWriter::isInside() {
  Value all;
  auto require = [&](Value value, int64_t extent) {
    Value ok = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, value,
                                     index(extent));
    all = all ? arith::AndIOp::create(b, all, ok).getResult() : ok;
  };
  SmallVector<Position> before = at;
  for (const Input &input : inputs) {
    if (!input.isPadded())
      continue;
    for (auto [d, subscript] : llvm::enumerate(input.subscripts)) {
      if (!input.checked[d])
        continue;
      int64_t extent = cast<MemRefType>(input.buffer.getType()).getDimSize(d);
      for (bool isLargest : {false, true}) {
        auto place = [&](int64_t dim, int64_t last) {
          bool isAtEnd = (subscript.factors[dim] > 0) == isLargest;
          return isAtEnd ? last : 0;
        };
        for (int64_t dim : inner)
          at[dim] = {{}, place(dim, sizes[dim] - 1)};
        if (m >= 0)
          at[m].offset = before[m].offset + place(m, rows - 1);
        require(add(valueOf(subscript), -input.low[d]), extent);
        at = before;
      }
    }
  }
  return all;
}

Value WindowWriter::rowOf(const Input &input) {
  auto type = cast<MemRefType>(input.buffer.getType());
  int64_t rank = type.getRank();
  SmallVector<OpFoldResult> offsets, extents(rank, b.getIndexAttr(1)),
      strides(rank, b.getIndexAttr(1));
  Value isThere;
  for (int64_t d = 0; d + 1 < rank; ++d) {
    Value value = add(valueOf(input.subscripts[d]), -input.low[d]);
    offsets.push_back(value);
    if (!input.checked[d])
      continue;
    Value ok = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, value,
                                     index(type.getDimSize(d)));
    isThere = isThere ? arith::AndIOp::create(b, isThere, ok).getResult() : ok;
  }
  offsets.push_back(b.getIndexAttr(0));
  extents.back() = b.getIndexAttr(type.getDimSize(rank - 1));
  auto rowType = cast<MemRefType>(input.border.getType());
  auto viewType = memref::SubViewOp::inferRankReducedResultType(
      rowType.getShape(), type, offsets, extents, strides);
  Value row = memref::SubViewOp::create(b, viewType, input.buffer, offsets,
                                        extents, strides);
  if (viewType != rowType)
    row = memref::CastOp::create(b, rowType, row);
  return arith::SelectOp::create(b, isThere, row, input.border);
}

void WindowWriter::findRows() {
  found.assign(inputs.size(), {});
  for (auto [rowsOfInput, input] : llvm::zip_equal(found, inputs)) {
    if (!isGuarded || !input.isPadded())
      continue;
    int64_t count = m >= 0 && input.isFunctionOf(m) ? rows : 1;
    Position first = m >= 0 ? at[m] : Position();
    for (int64_t r = 0; r < count; ++r) {
      if (m >= 0)
        at[m].offset = first.offset + r;
      rowsOfInput.push_back(rowOf(input));
    }
    if (m >= 0)
      at[m] = first;
  }
}

//===----------------------------------------------------------------------===//
// One tile
//===----------------------------------------------------------------------===//

/// Lanes of a full vector, of which `width` are used.
Value WindowWriter::maskOf(int64_t width) {
  SmallVector<bool> used(lanes, false);
  std::fill_n(used.begin(), width, true);
  auto type = VectorType::get(lanes, b.getI1Type());
  return arith::ConstantOp::create(b, DenseElementsAttr::get(type, used));
}

Value WindowWriter::loadLanes(Value buffer, ValueRange where, int64_t width) {
  VectorType type = vectorOf(width);
  if (type.getDimSize(0) == width)
    return vector::LoadOp::create(b, type, buffer, where);
  Value zeros = arith::ConstantOp::create(b, b.getZeroAttr(type));
  return vector::MaskedLoadOp::create(b, type, buffer, where, maskOf(width),
                                      zeros);
}

Value WindowWriter::load(const Input &input, int64_t row, int64_t width) {
  const SmallVector<Value> &views = found[&input - inputs.data()];
  Value buffer = input.buffer;
  SmallVector<Value> where;
  if (views.empty()) {
    where = subscriptsOf(input);
    if (input.isPadded())
      for (auto [value, low] : llvm::zip_equal(where, input.low))
        value = add(value, -low);
  } else {
    buffer = views[std::min<int64_t>(row, views.size() - 1)];
    where = {valueOf(input.subscripts.back())};
  }
  if (input.along == 0)
    return memref::LoadOp::create(b, buffer, where);
  if (input.along == 1)
    return loadLanes(buffer, where, width);
  auto wide = VectorType::get((width - 1) * input.along + 1, element);
  Value all = vector::LoadOp::create(b, wide, buffer, where);
  SmallVector<int64_t> kept(vectorOf(width).getDimSize(0), 0);
  for (int64_t lane = 0; lane < width; ++lane)
    kept[lane] = lane * input.along;
  return vector::ShuffleOp::create(b, all, all, kept);
}

Value WindowWriter::evaluate(Block *body, IRMapping &values, VectorType type) {
  auto get = [&](Value value) -> Value {
    if (Value known = values.lookupOrNull(value))
      return known;
    Value lanes =
        vector::BroadcastOp::create(b, type.clone(value.getType()), value);
    values.map(value, lanes);
    return lanes;
  };
  for (Operation &each : body->without_terminator()) {
    SmallVector<Value> operands = llvm::map_to_vector(each.getOperands(), get);
    Operation *made = b.create(
        each.getLoc(), each.getName().getIdentifier(), operands,
        TypeRange(type.clone(each.getResult(0).getType())), each.getAttrs());
    values.map(each.getResult(0), made->getResult(0));
  }
  return get(body->getTerminator()->getOperand(0));
}

Value WindowWriter::combine(Value sum, ArrayRef<Value> terms, VectorType type) {
  if (isFused)
    // Not vector.fma, which may become two roundings.
    return math::FmaOp::create(b, terms[0], terms[1], sum);
  IRMapping values;
  for (auto [input, term] : llvm::zip_equal(inputs, terms))
    values.map(op.getBlock()->getArgument(input.number), term);
  values.map(op.getBlock()->getArguments().back(), sum);
  return evaluate(op.getBlock(), values, type);
}

Value WindowWriter::finish(Value sum, int64_t width) {
  AffineMap map = tail.getMatchingIndexingMap(tail.getDpsInitOperand(0));
  SmallVector<Value> where = resultSubscripts();
  IRMapping values;
  for (OpOperand *operand : tail.getDpsInputOperands()) {
    Value argument = tail.getMatchingBlockArgument(operand), value = sum;
    if (operand->get() != out) {
      AffineMap own = tail.getMatchingIndexingMap(operand);
      SmallVector<Value> subscripts;
      for (AffineExpr expr : own.getResults())
        subscripts.push_back(where[*map.getResultPosition(expr)]);
      if (own.isFunctionOfDim(map.getDimPosition(map.getNumResults() - 1)))
        value = loadLanes(operand->get(), subscripts, width);
      else
        value = vector::BroadcastOp::create(
            b, vectorOf(width),
            memref::LoadOp::create(b, operand->get(), subscripts));
    }
    values.map(argument, value);
  }
  return evaluate(tail.getBody(), values, vectorOf(width));
}

void WindowWriter::addTerm(Sums &sums) {
  Position row = m >= 0 ? at[m] : Position(), column = at[n];
  // By input, row and vector; what does not depend on one is there once.
  SmallVector<SmallVector<SmallVector<Value>>> loaded(inputs.size());
  auto termOf = [&](size_t i, int64_t r, size_t v) -> Value {
    const Input &input = inputs[i];
    bool hasRows = m >= 0 && input.isFunctionOf(m);
    auto &ofInput = loaded[i];
    ofInput.resize(rows);
    auto &ofRow = ofInput[hasRows ? r : 0];
    ofRow.resize(widths.size());
    Value &term = ofRow[input.along ? v : 0];
    if (!term)
      term = load(input, r, widths[v]);
    if (input.along)
      return term;
    return vector::BroadcastOp::create(b, vectorOf(widths[v]), term);
  };
  for (int64_t r = 0; r < rows; ++r) {
    if (m >= 0)
      at[m].offset = row.offset + r;
    at[n] = column;
    for (auto [v, width] : llvm::enumerate(widths)) {
      SmallVector<Value> terms;
      for (size_t i = 0; i < inputs.size(); ++i)
        terms.push_back(termOf(i, r, v));
      Value &sum = sums[r * widths.size() + v];
      sum = combine(sum, terms, vectorOf(width));
      at[n].offset += width;
    }
  }
  if (m >= 0)
    at[m] = row;
  at[n] = column;
}

void WindowWriter::addTerms(size_t i, Sums &sums) {
  if (i == steady)
    findRows();
  if (i == inner.size())
    return addTerm(sums);
  int64_t dim = inner[i];
  if (i >= writtenOut) {
    for (int64_t value = 0; value < sizes[dim]; ++value) {
      at[dim] = {{}, value};
      addTerms(i + 1, sums);
    }
    return;
  }
  bool isLast = i + 1 == inner.size();
  auto loopOver = [&](Value begin, Value end, int64_t step) {
    auto loop = scf::ForOp::create(b, begin, end, index(step), sums);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Sums running(loop.getRegionIterArgs());
    for (int64_t u = 0; u < step; ++u) {
      at[dim] = {loop.getInductionVar(), u};
      addTerms(i + 1, running);
    }
    scf::YieldOp::create(b, running);
    sums.assign(loop.getResults().begin(), loop.getResults().end());
  };
  bool isBlocked = i == 0 && block > 0;
  Value begin = isBlocked ? at[dim].base : index(0);
  if (isBlocked && !begin)
    begin = index(at[dim].offset);
  Value end = isBlocked ? blockEnd : index(sizes[dim]);
  Position before = at[dim];
  if (!isLast) {
    loopOver(begin, end, 1);
  } else if (sizes[dim] % kUnroll == 0) {
    loopOver(begin, end, kUnroll);
  } else {
    // Only the last block can have a rest.
    Value length = arith::SubIOp::create(b, end, begin);
    Value rest = arith::RemUIOp::create(b, length, index(kUnroll));
    Value middle = arith::SubIOp::create(b, end, rest);
    loopOver(begin, middle, kUnroll);
    loopOver(middle, end, 1);
  }
  at[dim] = before;
}

void WindowWriter::writeSums(bool guarded) {
  isGuarded = guarded;
  found.assign(inputs.size(), {});
  Position row = m >= 0 ? at[m] : Position(), column = at[n];
  auto forEach = [&](llvm::function_ref<void(int64_t, size_t)> body) {
    for (int64_t r = 0; r < rows; ++r) {
      if (m >= 0)
        at[m].offset = row.offset + r;
      at[n] = column;
      for (auto [v, width] : llvm::enumerate(widths)) {
        body(width, r * widths.size() + v);
        at[n].offset += width;
      }
    }
    if (m >= 0)
      at[m] = row;
    at[n] = column;
  };
  Sums sums;
  forEach([&](int64_t width, size_t) {
    sums.push_back(
        fill ? vector::BroadcastOp::create(b, vectorOf(width), fill).getResult()
             : loadLanes(out, resultSubscripts(), width));
  });
  addTerms(0, sums);
  if (tail)
    forEach([&](int64_t width, size_t i) { sums[i] = finish(sums[i], width); });
  forEach([&](int64_t width, size_t i) {
    if (vectorOf(width).getDimSize(0) == width)
      vector::StoreOp::create(b, sums[i], target, resultSubscripts());
    else
      vector::MaskedStoreOp::create(b, target, resultSubscripts(),
                                    maskOf(width), sums[i]);
  });
}

void WindowWriter::writeTile() {
  bool hasPadding =
      llvm::any_of(inputs, [](const Input &input) { return input.isPadded(); });
  // Terms of one row are the same code wherever the row is. Where each term has
  // its own, it is less to know that all are there.
  if (!hasPadding || steady <= writtenOut || block > 0)
    return writeSums(hasPadding);
  auto branch = scf::IfOp::create(b, isInside(), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenBlock()->getTerminator());
  writeSums(/*guarded=*/false);
  b.setInsertionPoint(branch.elseBlock()->getTerminator());
  writeSums(/*guarded=*/true);
}

//===----------------------------------------------------------------------===//
// Loops around the tiles
//===----------------------------------------------------------------------===//

void WindowWriter::over(int64_t dim, int64_t begin, int64_t end, int64_t step,
                        Next next) {
  loop(begin, end, step, [&](Value value) {
    bool isOnly = end - begin <= step;
    at[dim] = isOnly ? Position{{}, begin} : Position{value, 0};
    next();
  });
}

void WindowWriter::columns(size_t level) {
  int64_t wide = lanes * mostVectors;
  int64_t full = size(n) / wide * wide;
  widths.assign(mostVectors, lanes);
  over(n, 0, full, wide, [&] { nest(level + 1); });
  if (full == size(n))
    return;
  widths.clear();
  int64_t left = size(n) - full;
  for (; left >= lanes; left -= lanes)
    widths.push_back(lanes);
  // One vector in part is less than several small ones.
  bool hasMasks = tiles.vectorBytes == 64 && bytes() >= 4;
  if (hasMasks && left > 0)
    widths.push_back(left);
  for (int64_t width = lanes; !hasMasks && left > 0; left -= width) {
    while (width > left)
      width /= 2;
    widths.push_back(width);
  }
  at[n] = {{}, full};
  nest(level + 1);
}

void WindowWriter::rowTiles(size_t level) {
  if (m < 0)
    return nest(level + 1);
  // Tiles of about the same height.
  int64_t count = llvm::divideCeil(size(m), mostRows);
  int64_t low = size(m) / count, higher = size(m) % count;
  rows = low + 1;
  over(m, 0, higher * rows, rows, [&] { nest(level + 1); });
  int64_t begin = higher * rows;
  rows = low;
  over(m, begin, size(m), rows, [&] { nest(level + 1); });
}

void WindowWriter::nest(size_t level) {
  if (level == levels.size())
    return writeTile();
  auto [kind, dim] = levels[level];
  switch (kind) {
  case Level::Other:
  case Level::Outside:
    return over(dim, 0, sizes[dim], 1, [&] { nest(level + 1); });
  case Level::Block:
    return over(dim, 0, sizes[dim], block, [&] {
      blockEnd = at[dim].base ? min(add(at[dim].base, block), index(sizes[dim]))
                              : index(sizes[dim]);
      nest(level + 1);
    });
  case Level::Columns:
    return columns(level);
  case Level::Rows:
    return rowTiles(level);
  }
}

Operation *WindowWriter::write() {
  chooseBlocks();
  chooseOrder();
  for (Input &input : inputs) {
    if (input.isFunctionOf(n) && input.along == 0)
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

void kernel::lowerConvolutions(func::FuncOp func, const MatmulTiles &tiles) {
  SmallVector<linalg::LinalgOp> ops;
  func.walk([&](linalg::LinalgOp op) { ops.push_back(op); });
  Operation *taken = nullptr;
  for (linalg::LinalgOp op : ops) {
    if (op == taken)
      continue;
    WindowWriter writer(op, tiles);
    if (writer.match())
      taken = writer.write();
  }
}

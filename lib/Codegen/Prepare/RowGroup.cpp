//===- RowGroup.cpp - Groups of ops that can run row by row ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Prepare/RowGroup.h"

#include "Contraction.h"

#include "mlir/Dialect/Linalg/Utils/Utils.h"

using namespace mlir;
using namespace mlir::pathways;
using namespace mlir::pathways::kernel;

/// Largest bytes of a row of the widest value: several rows must fit in the
/// cache of one core.
constexpr int64_t kRowBytes = 256 << 10;
/// Number of products whose rows are tried.
constexpr size_t kMostProducts = 3;
/// A row with fewer elements than this leaves vectors empty.
constexpr int64_t kLeastColumns = 16;

RowLimits &kernel::rowLimits() {
  static RowLimits limits;
  return limits;
}

static int64_t bytesPer(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isIndex()
             ? 8
             : llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

int64_t kernel::bytesOf(RankedTensorType type) {
  return llvm::product_of(type.getShape(), bytesPer(type));
}

int64_t RowLoops::rowElements(RankedTensorType type) const {
  int64_t elements = 1;
  for (auto [d, extent] : llvm::enumerate(type.getShape()))
    if (!llvm::is_contained(dims, static_cast<int64_t>(d)))
      elements *= extent;
  return elements;
}

int64_t RowLoops::rowBytes(RankedTensorType type) const {
  return rowElements(type) * bytesPer(type);
}

AffineMap kernel::resultMap(linalg::LinalgOp op, unsigned result) {
  return op.getMatchingIndexingMap(op.getDpsInitOperand(result));
}

int64_t kernel::loopAt(AffineMap map, int64_t d) {
  auto expr = dyn_cast<AffineDimExpr>(map.getResult(d));
  return expr ? static_cast<int64_t>(expr.getPosition()) : -1;
}

bool kernel::isProduct(linalg::LinalgOp op) {
  return isContraction(op) &&
         llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *operand) {
           return op.getMatchingIndexingMap(operand).getNumResults() <
                  op.getNumLoops();
         });
}

void kernel::forEachUse(Operation *op, llvm::function_ref<void(Value)> visit) {
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      visit(operand);
  });
}

static RankedTensorType resultType(linalg::LinalgOp op) {
  return cast<RankedTensorType>(op->getResult(0).getType());
}

/// Returns the dimension of the value that `map` describes that is `loop`, or
/// -1.
static int64_t dimOf(AffineMap map, int64_t loop) {
  for (int64_t d = 0, e = map.getNumResults(); d < e; ++d)
    if (loopAt(map, d) == loop)
      return d;
  return -1;
}

/// Returns true if `op` is a product that sums over `loop` alone, in the order
/// of its terms. It does so if its operands are dense along other dimensions
/// (see "Sums in lanes" in docs/kernels.md for the other case).
static bool sumsInOrder(linalg::LinalgOp op, int64_t loop) {
  if (!isProduct(op) || op.getNumReductionLoops() != 1 || op->use_empty() ||
      linalg::isParallelIterator(op.getIteratorTypesArray()[loop]))
    return false;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  return llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *operand) {
    AffineMap map = op.getMatchingIndexingMap(operand);
    if (map.getNumResults() == 0)
      return false;
    int64_t inner = loopAt(map, map.getNumResults() - 1);
    return inner >= 0 && inner != loop && ranges[inner] != 1;
  });
}

/// Returns the value of which `value` is a transpose, or a null value if it is
/// none. Dimension d of the result is dimension order[d] of `value`.
static Value turnedFrom(Value value, SmallVectorImpl<unsigned> &order) {
  auto op = value.getDefiningOp<linalg::GenericOp>();
  if (!op || op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 ||
      !llvm::hasSingleElement(*op.getBody()) ||
      op.getBody()->getTerminator()->getOperand(0) !=
          op.getBody()->getArgument(0))
    return {};
  AffineMap from = op.getMatchingIndexingMap(op.getDpsInputOperand(0));
  if (!resultMap(op).isIdentity() || !from.isPermutation())
    return {};
  for (unsigned d = 0, e = from.getNumResults(); d < e; ++d)
    order.push_back(from.getDimPosition(d));
  return op.getDpsInputs()[0];
}

void kernel::readUnturned(linalg::LinalgOp op) {
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  if (!generic || !isProduct(op))
    return;
  for (OpOperand *operand : generic.getDpsInputOperands()) {
    SmallVector<unsigned> order;
    Value value = turnedFrom(operand->get(), order);
    if (!value || !value.getDefiningOp<linalg::LinalgOp>())
      continue;
    SmallVector<AffineMap> maps = generic.getIndexingMapsArray(), old = maps;
    AffineMap &map = maps[operand->getOperandNumber()];
    SmallVector<AffineExpr> results;
    for (unsigned d : order)
      results.push_back(map.getResult(d));
    map = AffineMap::get(map.getNumDims(), 0, results, op->getContext());
    Value turned = operand->get();
    operand->set(value);
    generic.setIndexingMapsAttr(OpBuilder(op).getAffineMapArrayAttr(maps));
    SmallVector<unsigned> summed;
    op.getReductionDims(summed);
    if (summed.size() != 1 || !sumsInOrder(op, summed[0])) {
      operand->set(turned);
      generic.setIndexingMapsAttr(OpBuilder(op).getAffineMapArrayAttr(old));
    } else if (turned.use_empty()) {
      turned.getDefiningOp()->erase();
    }
  }
}

namespace {

/// Finds the loops of all members of a group, starting with one member whose
/// leading dimensions are the shared ones, by following the values that members
/// hand over.
class Placement {
public:
  Placement(const RowGroup &group, int64_t depth, bool hasProducts)
      : group(group), depth(depth), hasProducts(hasProducts) {}

  bool setFrom(linalg::LinalgOp first);
  SmallVector<RowLoops> take() {
    return llvm::map_to_vector(group.members, [&](linalg::LinalgOp op) {
      return std::move(rows[op]);
    });
  }

private:
  bool place(linalg::LinalgOp op, ArrayRef<int64_t> loops);
  /// Places the producers of the rows of `op`, and their consumers.
  bool spread(linalg::LinalgOp op);
  bool spreadTo(linalg::LinalgOp user, OpOperand &operand, bool isBack);
  bool isPart(linalg::LinalgOp op, const RowLoops &own) const;
  bool takesRows(linalg::LinalgOp op, const RowLoops &own) const;
  bool isSumWorthIt(linalg::LinalgOp op, const RowLoops &own) const;
  bool isRow(linalg::LinalgOp op, const RowLoops &own) const;

  const RowGroup &group;
  const int64_t depth;
  const bool hasProducts;
  llvm::SmallDenseMap<Operation *, RowLoops, 8> rows;
  /// placed members whose neighbors are not placed yet
  SmallVector<linalg::LinalgOp> open;
};

} // namespace

bool Placement::place(linalg::LinalgOp op, ArrayRef<int64_t> loops) {
  if (auto it = rows.find(op); it != rows.end())
    return ArrayRef<int64_t>(it->second.loops) == loops;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  auto iterators = op.getIteratorTypesArray();
  RowLoops own;
  for (auto [g, loop] : llvm::enumerate(loops)) {
    if (loop < 0 || llvm::is_contained(own.loops, loop))
      return false;
    int64_t dim = dimOf(resultMap(op), loop);
    if (dim < 0 || !linalg::isParallelIterator(iterators[loop])) {
      own.isSummed = dim < 0 && g + 1 == loops.size() && sumsInOrder(op, loop);
      if (!own.isSummed)
        return false;
    }
    own.loops.push_back(loop);
    own.extents.push_back(ranges[loop]);
    own.dims.push_back(dim);
  }
  if (!rows.empty() && rows.begin()->second.extents != own.extents)
    return false;
  rows[op] = std::move(own);
  open.push_back(op);
  return true;
}

/// Places the neighbor of a member along `operand` of `user`, which a member
/// makes: the producer if `isBack`, otherwise the user.
bool Placement::spreadTo(linalg::LinalgOp user, OpOperand &operand,
                         bool isBack) {
  auto result = cast<OpResult>(operand.get());
  auto maker = cast<linalg::LinalgOp>(result.getOwner());
  AffineMap from = resultMap(maker, result.getResultNumber()),
            to = user.getMatchingIndexingMap(&operand);
  if (!isBack)
    std::swap(from, to);
  SmallVector<int64_t> loops;
  const RowLoops own = rows[isBack ? user : maker];
  for (int64_t loop : own.loops) {
    int64_t dim = dimOf(to, loop);
    loops.push_back(dim < 0 ? -1 : loopAt(from, dim));
  }
  return place(isBack ? maker : user, loops);
}

bool Placement::spread(linalg::LinalgOp op) {
  const bool isSummed = rows[op].isSummed;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!group.contains(operand.get().getDefiningOp()))
      continue;
    // The initial values of a sum exist before the loop.
    if ((isSummed && op.isDpsInit(&operand)) ||
        !spreadTo(op, operand, /*isBack=*/true))
      return false;
  }
  for (OpOperand &use : op->getUses()) {
    if (!group.contains(use.getOwner()))
      continue;
    // The total of a sum is known only after the loop.
    if (isSummed || !spreadTo(cast<linalg::LinalgOp>(use.getOwner()), use,
                              /*isBack=*/false))
      return false;
  }
  return true;
}

/// Returns true if a row of `op` depends on rows of the same iteration only.
bool Placement::takesRows(linalg::LinalgOp op, const RowLoops &own) const {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    const bool isTotal = own.isSummed && op.isDpsInit(&operand),
               isInside = group.contains(operand.get().getDefiningOp()) ||
                          (op.isDpsInit(&operand) && !isTotal);
    for (int64_t loop : own.loops) {
      int64_t uses = llvm::count_if(map.getResults(), [&](AffineExpr expr) {
        return expr.isFunctionOfDim(loop);
      });
      if (uses > 1 || (isInside && uses != 1) ||
          (uses == 1 && dimOf(map, loop) < 0))
        return false;
    }
  }
  return true;
}

/// Returns true if adding a block to the whole sum moves less memory than it
/// saves: the rows need not be written and read again.
bool Placement::isSumWorthIt(linalg::LinalgOp op, const RowLoops &own) const {
  int64_t columns = 0;
  for (Value input : op.getDpsInputs())
    if (Operation *def = input.getDefiningOp(); group.contains(def))
      columns +=
          rows.at(def).rowElements(cast<RankedTensorType>(input.getType()));
  return own.rowElements(resultType(op)) <= 2 * rowLimits().mostBlock * columns;
}

/// Returns true if computing one row, or some rows, of `op` at a time is worth
/// it.
bool Placement::isRow(linalg::LinalgOp op, const RowLoops &own) const {
  RankedTensorType type = resultType(op);
  if ((isProduct(op) && type.getRank() == depth) ||
      own.rowBytes(type) > kRowBytes)
    return false;
  if (llvm::equal(own.dims, llvm::seq<int64_t>(0, depth)))
    return true;
  // The shared dimensions of products need not be leading ones: heads, for
  // example, may lie between rows and columns. But a row of an iteration must
  // be contiguous in memory, and all rows of a block of a product must use the
  // other operand.
  if (!hasProducts || (type.getRank() > depth &&
                       llvm::is_contained(own.dims, type.getRank() - 1)))
    return false;
  return !isProduct(op) || type.getRank() != depth + 1 ||
         llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *operand) {
           return !op.getMatchingIndexingMap(operand).isFunctionOfDim(
               own.loops.back());
         });
}

bool Placement::isPart(linalg::LinalgOp op, const RowLoops &own) const {
  return takesRows(op, own) &&
         (own.isSummed ? isSumWorthIt(op, own) : isRow(op, own));
}

bool Placement::setFrom(linalg::LinalgOp first) {
  rows.clear(), open.clear();
  if (isProduct(first) && resultType(first).getRank() == depth)
    return false;
  SmallVector<int64_t> loops;
  for (int64_t d = 0; d < depth; ++d)
    loops.push_back(loopAt(resultMap(first), d));
  if (!place(first, loops))
    return false;
  while (!open.empty())
    if (!spread(open.pop_back_val()))
      return false;
  int64_t most = 0;
  for (linalg::LinalgOp op : group.members) {
    auto it = rows.find(op);
    if (it == rows.end() || !isPart(op, it->second))
      return false;
    int64_t columns = 1;
    for (auto [loop, range] : llvm::enumerate(op.getStaticLoopRanges()))
      if (!llvm::is_contained(it->second.loops, static_cast<int64_t>(loop)))
        columns *= range;
    if (!isProduct(op))
      most = std::max(most, columns);
  }
  return hasProducts || most >= kLeastColumns;
}

void RowGroup::setDepth(bool hasProducts) {
  depth = std::numeric_limits<int64_t>::max();
  for (linalg::LinalgOp op : members)
    depth = std::min(depth, resultType(op).getRank());
  // Tries the rows of products first: other members may have another order.
  SmallVector<linalg::LinalgOp> firsts = {members.front()};
  if (hasProducts) {
    llvm::copy_if(members, std::back_inserter(firsts), isProduct);
    firsts.resize(std::min<size_t>(firsts.size(), kMostProducts + 1));
    std::rotate(firsts.begin(), firsts.begin() + 1, firsts.end());
  }
  for (; depth > 0; --depth) {
    Placement placement(*this, depth, hasProducts);
    for (linalg::LinalgOp first : firsts)
      if (placement.setFrom(first)) {
        rows = placement.take();
        return;
      }
  }
}

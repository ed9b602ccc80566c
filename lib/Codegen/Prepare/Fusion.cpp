//===- Fusion.cpp - Fusion of chains of ops row by row --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fuses ops of linalg that hand values to each other and run over the same
// dimensions into one loop over these dimensions. In this loop each op computes
// only the rows of the iteration, so the values that they hand over stay in the
// cache.
//
//   %m = max of the rows of %x     ->   for %i: %xi = row %i of %x
//   %e = exp(%x - %m)                           %mi = max of %xi
//   %s = sum of the rows of %e                  %ei = exp(%xi - %mi), ...
//   %r = %e / %s                                row %i of %r = %ei / %si
//
// The stage runs twice. First it fuses around contractions, in blocks of many
// rows, so that reading the other matrix once per block pays off. If the other
// matrix stays in a cache, a block has only the rows of one register tile, so
// that the values that are handed over stay in a nearer cache. Then it fuses
// what is left, inside large blocks too, one row at a time. No element is
// computed twice or in another order.
//
// A contraction may also sum over the rows, as those of a gradient do: a block
// then adds to its whole result. In the gradient of attention, only a block of
// the N x N matrices of scores and of their gradient exists at a time. The
// gradients of keys and values, which sum over the rows of scores, need N x D
// elements per block.
//
//===----------------------------------------------------------------------===//

#include "CodegenInternal.h"
#include "Contraction.h"
#include "Prepare/RowGroup.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::pathways;
using namespace mlir::pathways::kernel;

namespace {

/// Bytes that determine the rows of a block around a contraction: a block of
/// the widest value should have about this size.
constexpr int64_t kBlockBytes = 512 << 10;
/// The number of rows of a block is a multiple of this.
constexpr int64_t kBlockStep = 8;
/// Products of bf16 that are summed over the rows are added in groups of this
/// many rows, which must stay whole.
constexpr int64_t kNarrowStep = 32;
/// Bytes that the products of a row may read of other matrices in all if a
/// block is to have few rows: each block then reads them from the second-level
/// cache.
constexpr int64_t kNearBytes = 512 << 10;
/// Rows of a block must hand over this many times more bytes before they are
/// worth a loop of their own: ops that run one after the other do not wait for
/// each other's sums.
constexpr int64_t kLeastInBlock = 3;
/// Limits that keep the time to compile linear in the size of a body.
constexpr size_t kMostMembers = 64, kMostBetween = 1024;

/// Fuses the ops of one block.
class BlockFuser {
public:
  BlockFuser(Block &block, bool aroundContractions, int64_t tileRows)
      : block(block), aroundContractions(aroundContractions),
        tileRows(tileRows) {}
  void run();

private:
  bool isCandidate(linalg::LinalgOp op) const;
  bool isConvex(const RowGroup &group) const;
  bool isWorthIt(const RowGroup &group) const;
  void unshareFills();
  std::optional<RowGroup> merged(const RowGroup &a, const RowGroup &b) const;
  bool readsLittle(const RowGroup &group) const;
  int64_t stepOf(const RowGroup &group) const;

  Block &block;
  bool aroundContractions;
  int64_t tileRows; ///< 0 if not known
};

} // namespace

static bool isFill(linalg::LinalgOp op) {
  return llvm::none_of(op.getDpsInputs(), [](Value input) {
    return isa<ShapedType>(input.getType());
  });
}

bool BlockFuser::isCandidate(linalg::LinalgOp op) const {
  if (!op.hasPureTensorSemantics() || op->getNumResults() == 0 ||
      !isMemoryEffectFree(op))
    return false;
  if (isProduct(op) && !aroundContractions)
    return false;
  // The subscripts of an extract in the body would have to be shifted.
  bool usesTensors = false;
  op->walk([&](Operation *inner) {
    if (inner != op)
      usesTensors |=
          llvm::any_of(inner->getOperandTypes(), llvm::IsaPred<TensorType>);
  });
  if (usesTensors)
    return false;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  return !ShapedType::isDynamicShape(ranges) && !llvm::is_contained(ranges, 0);
}

/// Returns true if no op between the members both needs a member and is needed
/// by another one.
bool BlockFuser::isConvex(const RowGroup &group) const {
  llvm::SmallPtrSet<Operation *, 16> behind;
  auto last = group.members.back()->getIterator();
  size_t between = 0;
  for (auto it = group.members.front()->getIterator();; ++it) {
    if (++between > kMostBetween)
      return false;
    bool isMember = group.contains(&*it), needsMember = false,
         needsBehind = false;
    forEachUse(&*it, [&](Value value) {
      Operation *def = value.getDefiningOp();
      needsMember |= def && group.contains(def);
      needsBehind |= def && behind.contains(def);
    });
    if (isMember && needsBehind)
      return false;
    if (!isMember && (needsMember || needsBehind)) {
      if (!isMemoryEffectFree(&*it))
        return false;
      behind.insert(&*it);
    }
    if (it == last)
      return true;
  }
}

std::optional<RowGroup> BlockFuser::merged(const RowGroup &a,
                                           const RowGroup &b) const {
  if (a.members.size() + b.members.size() > kMostMembers)
    return std::nullopt;
  RowGroup both;
  both.members = a.members;
  llvm::append_range(both.members, b.members);
  both.sort();
  both.setDepth(aroundContractions);
  if (both.depth == 0 || !isConvex(both))
    return std::nullopt;
  return both;
}

bool BlockFuser::isWorthIt(const RowGroup &group) const {
  int64_t handedOver = 0;
  bool hasContraction = false;
  for (linalg::LinalgOp op : group.members) {
    hasContraction |= isProduct(op);
    if (isFill(op))
      continue;
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(),
                       [&](Operation *user) { return group.contains(user); }))
        handedOver += bytesOf(cast<RankedTensorType>(result.getType()));
  }
  if (block.getParentOp()->hasAttr(kRowLoopAttrName))
    handedOver /= kLeastInBlock;
  return handedOver >= rowLimits().leastBytes &&
         hasContraction == aroundContractions;
}

/// Returns true if all products of a group compute rows only, are of floats
/// that no matrix unit multiplies, and read so little for any block that it
/// stays in a cache.
bool BlockFuser::readsLittle(const RowGroup &group) const {
  int64_t bytes = 0;
  for (auto [member, rows] : llvm::zip_equal(group.members, group.rows)) {
    linalg::LinalgOp op = member;
    if (rows.isSummed)
      return false;
    if (!isProduct(op))
      continue;
    for (OpOperand *operand : op.getDpsInputOperands()) {
      auto type = cast<RankedTensorType>(operand->get().getType());
      if (!type.getElementType().isF32() && !type.getElementType().isF64())
        return false;
      int64_t part = bytesOf(type);
      AffineMap map = op.getMatchingIndexingMap(operand);
      for (auto [d, extent] : llvm::enumerate(type.getShape()))
        if (llvm::is_contained(rows.loops, loopAt(map, d)))
          part /= extent;
      bytes += part;
    }
  }
  return bytes <= kNearBytes;
}

/// Returns the rows of the innermost shared dimension that are computed
/// together.
int64_t BlockFuser::stepOf(const RowGroup &group) const {
  const RowLimits &limits = rowLimits();
  int64_t row = 1, multiple = std::min(kBlockStep, limits.mostBlock);
  bool areRows = false;
  for (auto [op, rows] : llvm::zip_equal(group.members, group.rows)) {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    if (rows.isSummed) {
      areRows = true;
      if (getElementTypeOrSelf(op->getOperand(0).getType()).isBF16())
        multiple = kNarrowStep;
      continue;
    }
    row = std::max(row, rows.rowBytes(type));
    // True for a product of rows of a matrix, not of whole matrices.
    areRows |= isProduct(op) && type.getRank() == group.depth + 1;
  }
  if (!areRows)
    return 1;
  const int64_t few = limits.fewRows > 0 ? limits.fewRows : tileRows;
  if (few > 0 && group.rows.front().extents.back() > limits.leastBlock &&
      readsLittle(group))
    return std::min(few, limits.mostBlock);
  int64_t step =
      std::clamp(kBlockBytes / row, limits.leastBlock, limits.mostBlock);
  return std::max(step / multiple * multiple, multiple);
}

/// Gives each user a fill of its own: filling twice is cheaper than handing the
/// value over.
void BlockFuser::unshareFills() {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto fill = dyn_cast<linalg::LinalgOp>(op);
    if (!fill || !isFill(fill) || fill->getNumResults() != 1 ||
        !isCandidate(fill))
      continue;
    if (fill->hasOneUse())
      continue;
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : fill->getUses())
      if (use.getOwner()->getBlock() == &block)
        uses.push_back(&use);
    // Place each fill at its use; otherwise many of them would be live at a
    // time.
    for (OpOperand *use : uses)
      use->set(OpBuilder(use->getOwner()).clone(op)->getResult(0));
    if (fill->use_empty())
      fill->erase();
  }
}

void BlockFuser::run() {
  unshareFills();
  if (aroundContractions)
    for (auto op : block.getOps<linalg::LinalgOp>())
      if (isCandidate(op))
        readUnturned(op);
  std::vector<RowGroup> groups;
  llvm::DenseMap<Operation *, size_t> groupOf;
  for (Operation &each : block) {
    auto op = dyn_cast<linalg::LinalgOp>(each);
    if (!op || !isCandidate(op))
      continue;
    RowGroup group;
    group.members.push_back(op);
    group.setDepth(aroundContractions);
    SmallVector<size_t> joined;
    for (Value operand : op->getOperands()) {
      if (group.isSum(op) && operand == op.getDpsInits()[0])
        continue; // The op that initializes it runs once, before the loop.
      Operation *def = operand.getDefiningOp();
      auto it = groupOf.find(def);
      if (!def || it == groupOf.end() || llvm::is_contained(joined, it->second))
        continue;
      if (std::optional<RowGroup> both = merged(groups[it->second], group)) {
        group = std::move(*both);
        joined.push_back(it->second);
      }
    }
    size_t number = groups.size();
    for (size_t other : joined)
      groups[other].members.clear();
    for (linalg::LinalgOp member : group.members)
      groupOf[member] = number;
    groups.push_back(std::move(group));
  }
  for (RowGroup &group : groups) {
    if (group.members.size() < 2 || !isWorthIt(group))
      continue;
    // Writing earlier groups may have put an op between the members of this
    // one.
    group.sort();
    group.setDepth(aroundContractions);
    if (isConvex(group))
      group.write(stepOf(group));
  }
}

/// Returns true if the operand that does not lie along the innermost dimension
/// of the result adds no other dimension to the result, except dimensions of
/// one element.
static bool isLoneRow(linalg::LinalgOp op) {
  AffineMap out = resultMap(op);
  if (out.getNumResults() == 0)
    return false;
  int64_t column = loopAt(out, out.getNumResults() - 1);
  AffineMap left = op.getMatchingIndexingMap(op.getDpsInputOperand(0)),
            right = op.getMatchingIndexingMap(op.getDpsInputOperand(1));
  if (column < 0)
    return false;
  if (!right.isFunctionOfDim(column))
    std::swap(left, right);
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (int64_t loop = 0, e = ranges.size(); loop < e; ++loop)
    if (ranges[loop] != 1 && out.isFunctionOfDim(loop) &&
        left.isFunctionOfDim(loop) && !right.isFunctionOfDim(loop))
      return false;
  return true;
}

void kernel::fuseRows(func::FuncOp func, int64_t tileRows) {
  // A program may use these attribute names for its own purposes.
  func.walk([](Operation *op) {
    op->removeDiscardableAttr(kRowLoopAttrName);
    op->removeDiscardableAttr(kLoneRowAttrName);
    // Decide before the op is cut: the order of addition is that of the whole
    // op.
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
        linalgOp && isContraction(linalgOp) && isLoneRow(linalgOp))
      op->setDiscardableAttr(kLoneRowAttrName, UnitAttr::get(op->getContext()));
  });
  for (bool aroundContractions : {true, false}) {
    SmallVector<Block *> blocks;
    func.walk([&](Block *block) {
      if (!isa<linalg::LinalgOp>(block->getParentOp()))
        blocks.push_back(block);
    });
    for (Block *block : blocks)
      BlockFuser(*block, aroundContractions, tileRows).run();
  }
}

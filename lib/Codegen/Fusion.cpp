//===- Fusion.cpp - Chains of ops row by row ------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops of linalg that hand values to each other and all run over the same
// leading dimensions become one loop over these dimensions, in which each op
// makes only the rows of that iteration: what they hand over stays in the
// cache.
//
//   %m = max of the rows of %x     ->   for %i: %xi = row %i of %x
//   %e = exp(%x - %m)                           %mi = max of %xi
//   %s = sum of the rows of %e                  %ei = exp(%xi - %mi), ...
//   %r = %e / %s                                row %i of %r = %ei / %si
//
// This is done twice. First around contractions, in blocks of many rows, so
// that a block's use of the other matrix pays off; then for what is left, in
// the blocks too, one row at a time. No element is computed twice or in another
// order.
//
//===----------------------------------------------------------------------===//

#include "CodegenInternal.h"
#include "Contraction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::pathways;
using kernel::isContraction;

namespace {

/// What is handed over from op to op, in all, before cutting it up is worth it.
constexpr int64_t kLeastBytes = 16 << 10;
/// A row of the widest value: some of them must fit in the cache of one core.
constexpr int64_t kRowBytes = 256 << 10;
/// Fewer elements than this in a row leave vectors empty.
constexpr int64_t kLeastColumns = 16;
/// Rows of a block around a contraction: the widest value should be about this
/// large.
constexpr int64_t kBlockBytes = 512 << 10;
constexpr int64_t kLeastBlock = 64, kMostBlock = 128;
/// Keep the time to compile linear in the size of a body.
constexpr size_t kMostMembers = 64, kMostBetween = 1024;

/// Ops that can become one loop, in the order of the block.
struct Group {
  SmallVector<linalg::LinalgOp> members;
  int64_t depth = 0; ///< leading dimensions that are shared

  bool contains(Operation *op) const { return llvm::is_contained(members, op); }
  void sort() {
    llvm::sort(members, [](linalg::LinalgOp a, linalg::LinalgOp b) {
      return a->isBeforeInBlock(b);
    });
  }
};

/// Fuses in one block.
class BlockFuser {
public:
  BlockFuser(Block &block, bool aroundContractions)
      : block(block), aroundContractions(aroundContractions) {}
  void run();

private:
  bool isCandidate(linalg::LinalgOp op) const;
  /// The largest depth that fits all members, or 0.
  int64_t depthOf(const Group &group) const;
  bool fits(const Group &group, int64_t depth) const;
  bool isConvex(const Group &group) const;
  bool isWorthIt(const Group &group) const;
  void unshareFills();
  std::optional<Group> merged(const Group &a, const Group &b) const;
  int64_t stepOf(const Group &group) const;
  void rewrite(Group &group);

  Block &block;
  bool aroundContractions;
};

} // namespace

static bool isFill(linalg::LinalgOp op) {
  return llvm::none_of(op.getDpsInputs(), [](Value input) {
    return isa<ShapedType>(input.getType());
  });
}

static int64_t bytesPer(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isIndex()
             ? 8
             : llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

static int64_t rowBytes(RankedTensorType type, int64_t depth) {
  return llvm::product_of(type.getShape().drop_front(depth), bytesPer(type));
}

static AffineMap resultMap(linalg::LinalgOp op, unsigned result = 0) {
  return op.getMatchingIndexingMap(op.getDpsInitOperand(result));
}

/// Position of the loop that is dimension `d` of what `map` describes; -1: more
/// than one loop, or none.
static int64_t loopAt(AffineMap map, int64_t d) {
  auto expr = dyn_cast<AffineDimExpr>(map.getResult(d));
  return expr ? static_cast<int64_t>(expr.getPosition()) : -1;
}

/// Calls `visit` for every value that `op`, or an op inside, uses from outside.
static void forEachUse(Operation *op, llvm::function_ref<void(Value)> visit) {
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      visit(operand);
  });
}

bool BlockFuser::isCandidate(linalg::LinalgOp op) const {
  if (!op.hasPureTensorSemantics() || op->getNumResults() == 0 ||
      !isMemoryEffectFree(op))
    return false;
  if (isContraction(op) && !aroundContractions)
    return false;
  // An extract in the body would need its own subscripts shifted.
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

bool BlockFuser::fits(const Group &group, int64_t depth) const {
  ArrayRef<int64_t> extents;
  int64_t most = 0;
  for (linalg::LinalgOp op : group.members) {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    if (type.getRank() < depth ||
        (isContraction(op) && type.getRank() == depth))
      return false;
    if (extents.empty())
      extents = type.getShape().take_front(depth);
    if (type.getShape().take_front(depth) != extents)
      return false;
    auto iterators = op.getIteratorTypesArray();
    SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    AffineMap map = resultMap(op);
    SmallVector<int64_t> loops;
    for (int64_t d = 0; d < depth; ++d) {
      int64_t loop = loopAt(map, d);
      if (loop < 0 || !linalg::isParallelIterator(iterators[loop]) ||
          ranges[loop] != extents[d])
        return false;
      loops.push_back(loop);
    }
    // The row of an iteration is made of rows of that iteration, no others.
    for (OpOperand &operand : op->getOpOperands()) {
      auto operandType = dyn_cast<RankedTensorType>(operand.get().getType());
      if (!operandType)
        continue;
      AffineMap map = op.getMatchingIndexingMap(&operand);
      bool isInside = op.isDpsInit(&operand) ||
                      group.contains(operand.get().getDefiningOp());
      if (isInside && map.getNumResults() < depth)
        return false;
      for (auto [g, loop] : llvm::enumerate(loops)) {
        int64_t uses = 0;
        for (int64_t d = 0, e = map.getNumResults(); d < e; ++d)
          if (map.getResult(d).isFunctionOfDim(loop)) {
            ++uses;
            if (loopAt(map, d) != loop ||
                (isInside && d != static_cast<int64_t>(g)))
              return false;
          }
        if (uses > 1 || (isInside && uses != 1))
          return false;
      }
    }
    int64_t columns = 1;
    for (auto [loop, range] : llvm::enumerate(ranges))
      if (!llvm::is_contained(loops, static_cast<int64_t>(loop)))
        columns *= range;
    if (!isContraction(op))
      most = std::max(most, columns);
    if (rowBytes(type, depth) > kRowBytes)
      return false;
  }
  return aroundContractions || most >= kLeastColumns;
}

int64_t BlockFuser::depthOf(const Group &group) const {
  int64_t depth = std::numeric_limits<int64_t>::max();
  for (linalg::LinalgOp op : group.members)
    depth = std::min(
        depth, cast<RankedTensorType>(op->getResult(0).getType()).getRank());
  while (depth > 0 && !fits(group, depth))
    --depth;
  return depth;
}

/// Nothing between the members needs one of them and is needed by another.
bool BlockFuser::isConvex(const Group &group) const {
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

std::optional<Group> BlockFuser::merged(const Group &a, const Group &b) const {
  if (a.members.size() + b.members.size() > kMostMembers)
    return std::nullopt;
  Group both;
  both.members = a.members;
  llvm::append_range(both.members, b.members);
  both.sort();
  both.depth = depthOf(both);
  if (both.depth == 0 || !isConvex(both))
    return std::nullopt;
  return both;
}

bool BlockFuser::isWorthIt(const Group &group) const {
  int64_t handedOver = 0;
  bool hasContraction = false;
  for (linalg::LinalgOp op : group.members) {
    hasContraction |= isContraction(op);
    if (isFill(op))
      continue;
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(),
                       [&](Operation *user) { return group.contains(user); }))
        handedOver += rowBytes(cast<RankedTensorType>(result.getType()), 0);
  }
  return handedOver >= kLeastBytes && hasContraction == aroundContractions;
}

/// Rows of the innermost shared dimension that are made together.
int64_t BlockFuser::stepOf(const Group &group) const {
  int64_t row = 1, step = 1;
  for (linalg::LinalgOp op : group.members) {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    row = std::max(row, rowBytes(type, group.depth));
    // The rows of a matrix, rather than whole matrices.
    if (isContraction(op) && type.getRank() == group.depth + 1)
      step = kMostBlock;
  }
  if (step == 1)
    return step;
  return std::clamp(kBlockBytes / row / 8 * 8, kLeastBlock, kMostBlock);
}

void BlockFuser::rewrite(Group &group) {
  auto firstType =
      cast<RankedTensorType>(group.members.front()->getResult(0).getType());
  SmallVector<int64_t> extents(firstType.getShape().take_front(group.depth));
  int64_t step = std::min(stepOf(group), extents.back());
  if (llvm::product_of(extents) == step)
    return; // It is one block already.

  // What is between and needs a member goes behind the last one.
  Operation *last = group.members.back();
  llvm::SmallPtrSet<Operation *, 16> behind;
  SmallVector<Operation *> moved;
  for (Operation &op : llvm::make_range(group.members.front()->getIterator(),
                                        last->getIterator())) {
    if (group.contains(&op))
      continue;
    bool isBehind = false;
    forEachUse(&op, [&](Value value) {
      Operation *def = value.getDefiningOp();
      isBehind |= def && (group.contains(def) || behind.contains(def));
    });
    if (isBehind) {
      behind.insert(&op);
      moved.push_back(&op);
    }
  }
  Operation *after = last;
  for (Operation *op : moved) {
    op->moveAfter(after);
    after = op;
  }

  ImplicitLocOpBuilder b(last->getLoc(), last);
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  SmallVector<Value> results, carried;
  for (linalg::LinalgOp op : group.members)
    for (Value result : op->getResults())
      if (!llvm::all_of(result.getUsers(), [&](Operation *user) {
            return group.contains(user);
          })) {
        auto type = cast<RankedTensorType>(result.getType());
        results.push_back(result);
        carried.push_back(
            tensor::EmptyOp::create(b, type.getShape(), type.getElementType()));
      }

  // Writes the members for the rows at `offsets`; updates `carried`.
  auto writeTile = [&](ArrayRef<OpFoldResult> offsets, ArrayRef<int64_t> sizes,
                       SmallVectorImpl<Value> &carried) {
    IRMapping tiles;
    for (linalg::LinalgOp op : group.members) {
      AffineMap out = resultMap(op);
      auto place = [&](AffineMap map, ArrayRef<int64_t> shape,
                       SmallVectorImpl<OpFoldResult> &begin,
                       SmallVectorImpl<OpFoldResult> &size,
                       SmallVectorImpl<int64_t> &tile) {
        bool isWhole = true;
        for (int64_t d = 0, e = shape.size(); d < e; ++d) {
          begin.push_back(b.getIndexAttr(0));
          tile.push_back(shape[d]);
          for (int64_t g = 0; g < group.depth; ++g)
            if (loopAt(map, d) >= 0 && loopAt(map, d) == loopAt(out, g)) {
              begin.back() = offsets[g];
              tile.back() = sizes[g];
              isWhole = false;
            }
          size.push_back(b.getIndexAttr(tile.back()));
        }
        return isWhole;
      };
      SmallVector<Value> operands;
      SmallVector<Type> types;
      for (OpOperand &operand : op->getOpOperands()) {
        Value value = operand.get();
        auto type = dyn_cast<RankedTensorType>(value.getType());
        if (!type) {
          operands.push_back(value);
          continue;
        }
        SmallVector<OpFoldResult> begin, size;
        SmallVector<int64_t> tile;
        bool isWhole = place(op.getMatchingIndexingMap(&operand),
                             type.getShape(), begin, size, tile);
        if (Value inside = tiles.lookupOrNull(value))
          operands.push_back(inside);
        else if (value.getDefiningOp<tensor::EmptyOp>())
          operands.push_back(
              tensor::EmptyOp::create(b, tile, type.getElementType()));
        else if (isWhole)
          operands.push_back(value);
        else
          operands.push_back(tensor::ExtractSliceOp::create(
              b, type.clone(tile), value, begin, size,
              SmallVector<OpFoldResult>(tile.size(), b.getIndexAttr(1))));
        if (op.isDpsInit(&operand))
          types.push_back(type.clone(tile));
      }
      auto part = cast<linalg::LinalgOp>(mlir::clone(b, op, types, operands));
      SmallVector<OpFoldResult> shifts(op.getNumLoops(), b.getIndexAttr(0));
      for (int64_t g = 0; g < group.depth; ++g)
        shifts[loopAt(out, g)] = offsets[g];
      linalg::offsetIndices(b, part, shifts);
      for (auto [i, pair] : llvm::enumerate(
               llvm::zip_equal(op->getResults(), part->getResults()))) {
        auto [whole, made] = pair;
        tiles.map(whole, made);
        auto it = llvm::find(results, whole);
        if (it == results.end())
          continue;
        auto type = cast<RankedTensorType>(whole.getType());
        SmallVector<OpFoldResult> begin, size;
        SmallVector<int64_t> tile;
        place(resultMap(op, i), type.getShape(), begin, size, tile);
        Value &to = carried[it - results.begin()];
        to = tensor::InsertSliceOp::create(
            b, made, to, begin, size,
            SmallVector<OpFoldResult>(tile.size(), b.getIndexAttr(1)));
      }
    }
  };

  SmallVector<OpFoldResult> offsets;
  SmallVector<int64_t> sizes(group.depth, 1);
  std::function<void(int64_t, SmallVectorImpl<Value> &)> nest =
      [&](int64_t g, SmallVectorImpl<Value> &carried) {
        if (g == group.depth)
          return writeTile(offsets, sizes, carried);
        bool isInner = g + 1 == group.depth;
        int64_t stride = isInner ? step : 1;
        int64_t end = extents[g] / stride * stride;
        sizes[g] = stride;
        if (end == stride) {
          offsets.push_back(b.getIndexAttr(0));
          nest(g + 1, carried);
          offsets.pop_back();
        } else {
          auto loop = scf::ForOp::create(b, index(0), index(end), index(stride),
                                         carried);
          loop->setAttr(kernel::kRowLoopAttrName, b.getUnitAttr());
          OpBuilder::InsertionGuard guard(b);
          b.setInsertionPointToStart(loop.getBody());
          SmallVector<Value> inner(loop.getRegionIterArgs());
          offsets.push_back(loop.getInductionVar());
          nest(g + 1, inner);
          offsets.pop_back();
          scf::YieldOp::create(b, inner);
          carried.assign(loop.getResults().begin(), loop.getResults().end());
        }
        if (end == extents[g])
          return;
        sizes[g] = extents[g] - end;
        offsets.push_back(b.getIndexAttr(end));
        nest(g + 1, carried);
        offsets.pop_back();
      };
  nest(0, carried);

  for (auto [result, whole] : llvm::zip_equal(results, carried))
    result.replaceUsesWithIf(
        whole, [&](OpOperand &use) { return !group.contains(use.getOwner()); });
  for (linalg::LinalgOp op : llvm::reverse(group.members))
    op->erase();
}

/// A fill of its own for each user: to fill twice is less than to hand it over.
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
    // Where it is used: there are many of them at a time otherwise.
    for (OpOperand *use : uses)
      use->set(OpBuilder(use->getOwner()).clone(op)->getResult(0));
    if (fill->use_empty())
      fill->erase();
  }
}

void BlockFuser::run() {
  unshareFills();
  SmallVector<Group> groups;
  llvm::DenseMap<Operation *, size_t> groupOf;
  for (Operation &each : block) {
    auto op = dyn_cast<linalg::LinalgOp>(each);
    if (!op || !isCandidate(op))
      continue;
    Group group;
    group.members.push_back(op);
    group.depth = depthOf(group);
    SmallVector<size_t> joined;
    for (Value operand : op->getOperands()) {
      Operation *def = operand.getDefiningOp();
      auto it = groupOf.find(def);
      if (!def || it == groupOf.end() || llvm::is_contained(joined, it->second))
        continue;
      if (std::optional<Group> both = merged(groups[it->second], group)) {
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
  for (Group &group : groups) {
    if (group.members.size() < 2 || !isWorthIt(group))
      continue;
    // Groups before this one may have become one op in its way.
    group.sort();
    if (isConvex(group))
      rewrite(group);
  }
}

void kernel::fuseRows(func::FuncOp func) {
  // In a program the mark is a name like any other.
  func.walk([](Operation *op) {
    op->removeDiscardableAttr(kernel::kRowLoopAttrName);
  });
  for (bool aroundContractions : {true, false}) {
    SmallVector<Block *> blocks;
    func.walk([&](Block *block) {
      if (!isa<linalg::LinalgOp>(block->getParentOp()))
        blocks.push_back(block);
    });
    for (Block *block : blocks)
      BlockFuser(*block, aroundContractions).run();
  }
}

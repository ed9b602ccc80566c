//===- Contraction.cpp - Facts about products and their surroundings ------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::pathways;

/// With fewer channels than this, most of a matrix unit stays empty.
static constexpr int64_t kLeastChannels = 16;

/// Returns true if `expr` is a sum of dimensions times constants.
static bool isLinear(AffineExpr expr) {
  if (isa<AffineDimExpr, AffineConstantExpr>(expr))
    return true;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary || !isLinear(binary.getLHS()) || !isLinear(binary.getRHS()))
    return false;
  return expr.getKind() == AffineExprKind::Add ||
         (expr.getKind() == AffineExprKind::Mul &&
          isa<AffineConstantExpr>(binary.getRHS()));
}

/// Returns the innermost dimension of `image` if that subscript is this
/// dimension alone and no other subscript uses it. Otherwise returns -1.
static int64_t channelsOf(AffineMap image) {
  if (image.getNumResults() == 0 || !llvm::all_of(image.getResults(), isLinear))
    return -1;
  auto last = dyn_cast<AffineDimExpr>(image.getResults().back());
  if (!last || llvm::any_of(image.getResults().drop_back(), [&](AffineExpr e) {
        return e.isFunctionOfDim(last.getPosition());
      }))
    return -1;
  return last.getPosition();
}

bool kernel::mayRoundOnce(linalg::LinalgOp op) {
  for (auto product : op.getBlock()->getOps<arith::MulFOp>())
    return mayRoundOnce(product, *product->user_begin());
  return false;
}

int64_t kernel::dimOfSteps(linalg::LinalgOp op) {
  if (!isContraction(op))
    return -1;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  auto isSummed = [&](int64_t dim) {
    return maps[0].isFunctionOfDim(dim) && maps[1].isFunctionOfDim(dim) &&
           !maps[2].isFunctionOfDim(dim);
  };
  for (unsigned dim = 0; dim < op.getNumLoops(); ++dim)
    if (!maps[0].isFunctionOfDim(dim) && !maps[1].isFunctionOfDim(dim))
      return -1;
  auto isPlain = [](AffineMap map) { return map.isProjectedPermutation(); };
  if (!isPlain(maps[2]) || (!isPlain(maps[0]) && !isPlain(maps[1])))
    return -1;
  for (AffineMap image : ArrayRef(maps).take_front(2))
    if (!isPlain(image)) {
      int64_t dim = channelsOf(image);
      return dim >= 0 && isSummed(dim) && ranges[dim] >= kLeastChannels ? dim
                                                                        : -1;
    }
  int64_t found = -1;
  for (int64_t dim = 0, e = op.getNumLoops(); dim < e; ++dim)
    if (isSummed(dim) && (found < 0 || ranges[dim] >= ranges[found]))
      found = dim;
  return found;
}

Value kernel::wholeOf(Value value) {
  while (auto view = value.getDefiningOp<ViewLikeOpInterface>())
    value = view.getViewSource();
  return value;
}

void kernel::forEachUser(Value value,
                         llvm::function_ref<void(Operation *)> visit) {
  SmallVector<Value> values = {value};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!values.empty()) {
    Value each = values.pop_back_val();
    bool isAddress = !isa<BaseMemRefType>(each.getType());
    for (Operation *user : each.getUsers()) {
      visit(user);
      if ((isAddress || isa<memref::ExtractAlignedPointerAsIndexOp>(user)) &&
          seen.insert(user).second)
        llvm::append_range(values, user->getResults());
    }
  }
}

/// Returns true if a buffer is an argument of the function or was allocated in
/// it.
static bool isOwnBuffer(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return value.getDefiningOp<memref::AllocOp>() ||
         (argument && isa<func::FuncOp>(argument.getOwner()->getParentOp()));
}

bool kernel::areApart(Value a, Value b) {
  a = wholeOf(a), b = wholeOf(b);
  return a != b && isOwnBuffer(a) && isOwnBuffer(b);
}

Value kernel::valueSetBy(Operation *op, Value buffer) {
  auto setter = dyn_cast<linalg::LinalgOp>(op);
  if (!setter || setter.getNumDpsInits() != 1 ||
      setter.getDpsInits()[0] != buffer ||
      !setter.getMatchingIndexingMap(setter.getDpsInitOperand(0))
           .isPermutation() ||
      !llvm::hasSingleElement(*setter.getBlock()))
    return {};
  Value value = setter.getBlock()->getTerminator()->getOperand(0);
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && argument.getOwner() == setter.getBlock())
    value = setter->getOperand(argument.getArgNumber());
  if (value.getType() != getElementTypeOrSelf(buffer.getType()) ||
      value.getParentBlock() == setter.getBlock())
    return {};
  return value;
}

/// Returns true if `op` neither reads nor writes any of `buffer`.
static bool isApartFrom(Operation *op, Value buffer) {
  if (isMemoryEffectFree(op) || isa<memref::AllocOp>(op))
    return true;
  if (!isa<linalg::LinalgOp, memref::CopyOp>(op) ||
      !llvm::all_of(op->getOperands(), [&](Value operand) {
        return !isa<MemRefType>(operand.getType()) ||
               kernel::areApart(operand, buffer);
      }))
    return false;
  WalkResult walked = op->walk([&](Operation *inner) {
    return inner == op || isMemoryEffectFree(inner) ? WalkResult::advance()
                                                    : WalkResult::interrupt();
  });
  return !walked.wasInterrupted();
}

Value kernel::takeFill(linalg::LinalgOp op) {
  Value out = op.getDpsInits()[0];
  Operation *before = op->getPrevNode();
  while (before && isApartFrom(before, out))
    before = before->getPrevNode();
  Value value = before ? valueSetBy(before, out) : Value();
  if (value)
    before->erase();
  return value;
}

/// Returns true if something in `parent` may write to `buffer`, through any
/// view of it.
static bool mayBeWritten(Value buffer, Operation *parent) {
  for (OpOperand &use : buffer.getUses()) {
    Operation *user = use.getOwner();
    bool isView = isa<ViewLikeOpInterface>(user);
    if (isView && mayBeWritten(user->getResult(0), parent))
      return true;
    if (isa<memref::ExtractAlignedPointerAsIndexOp>(user)) {
      bool isUsed = false;
      kernel::forEachUser(user->getResult(0), [&](Operation *each) {
        isUsed |= parent->isAncestor(each) && !isMemoryEffectFree(each);
      });
      if (isUsed)
        return true;
    }
    if (isView || !parent->isAncestor(user) ||
        isa<memref::LoadOp, vector::LoadOp>(user))
      continue;
    auto structured = dyn_cast<linalg::LinalgOp>(user);
    if (!structured || !structured.isDpsInput(&use))
      return true;
  }
  return false;
}

/// Returns how often the body of `op` runs. Unknown factors count as one.
static int64_t countRuns(linalg::LinalgOp op) {
  uint64_t runs = 1;
  for (int64_t size : op.getStaticLoopRanges())
    runs = llvm::SaturatingMultiply<uint64_t>(runs, std::max<int64_t>(size, 1));
  for (auto loop = op->getParentOfType<scf::ForOp>(); loop;
       loop = loop->getParentOfType<scf::ForOp>())
    if (std::optional<APInt> turns = loop.getStaticTripCount())
      runs = llvm::SaturatingMultiply<uint64_t>(runs, turns->getZExtValue());
  return static_cast<int64_t>(std::min<uint64_t>(runs, INT64_MAX));
}

int64_t kernel::stepsPerTurn(linalg::LinalgOp op, int64_t steps, int64_t sums,
                             int64_t most) {
  // This is about 5 us of a processor. An iteration with few steps wastes a
  // tenth of it.
  constexpr int64_t kFewRuns = 1 << 18, kSums = 16;
  // LLVM would unroll this many steps completely.
  constexpr int64_t kFewSteps = 8;
  if (steps <= kFewSteps || countRuns(op) > kFewRuns)
    return most;
  while (most > 1 && most * sums > kSums)
    most /= 2;
  return most;
}

Operation *kernel::outermostUser(Value buffer, Operation *op) {
  Value whole = wholeOf(buffer);
  while (isOwnBuffer(whole)) {
    auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
    if (!loop || !loop.isDefinedOutsideOfLoop(buffer) ||
        mayBeWritten(whole, loop))
      break;
    op = loop;
  }
  return op;
}

bool kernel::staysIn(Value buffer, Operation *parent) {
  Value whole = wholeOf(buffer);
  return isOwnBuffer(whole) && !mayBeWritten(whole, parent);
}

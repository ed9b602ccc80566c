//===- Paths.cpp - Code paths of the ops of a kernel ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM vectorizes a loop that no stage took if the innermost loop runs over
// adjacent elements, its iterations do not wait for each other (or form a sum
// that may be added in any order), and its body has no calls and looks up no
// single elements. All other loops are plain. The slowdown of a plain loop is
// an estimate in operations: a vector does as many at a time as it has lanes.
//
//===----------------------------------------------------------------------===//

#include "Paths.h"

#include "Contraction.h"
#include "Vectorize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "pathways/Support/SourcePlace.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::pathways;
using namespace mlir::pathways::kernel;

/// A larger slowdown than this gets a remark.
static constexpr double kMuchSlower = 4;
/// Estimated operations of a call of the C library, and of the same function on
/// vectors.
static constexpr int64_t kCallCost = 40, kFunctionCost = 15;

//===----------------------------------------------------------------------===//
// Remaining loops
//===----------------------------------------------------------------------===//

namespace {

/// A structured op on buffers, viewed as the loops that it becomes.
class LoopJudge {
public:
  LoopJudge(linalg::LinalgOp op, const MatmulTiles &tiles)
      : op(op), tiles(tiles), sizes(op.getStaticLoopRanges()) {
    for (auto [dim, size] : llvm::enumerate(sizes))
      if (size != 1)
        inner = dim;
  }

  /// Returns true if nothing runs more than once.
  bool isSingle() { return inner < 0 || llvm::is_contained(sizes, 0); }
  bool isReduction() {
    return op.getIteratorTypesArray()[inner] == utils::IteratorType::reduction;
  }
  /// Returns true if the op divides integers, for which no target has vectors.
  bool dividesIntegers();
  /// Returns why LLVM cannot vectorize the op; empty if it can, as far as the
  /// target has the vectors.
  std::string getObstacle();
  double getSlowdown();

private:
  std::string getObstacle(Operation &each);
  /// Step of a subscript for one iteration of the innermost loop: no element,
  /// one element, or anything else.
  enum class Step { None, One, Other };
  Step stepOf(AffineExpr expr);
  Step stepOf(AffineMap map, Value buffer);
  /// Returns the step of a value in the body.
  Step stepOf(Value value);

  linalg::LinalgOp op;
  const MatmulTiles &tiles;
  SmallVector<int64_t> sizes;
  int64_t inner = -1;
};

} // namespace

LoopJudge::Step LoopJudge::stepOf(AffineExpr expr) {
  if (!expr.isFunctionOfDim(inner))
    return Step::None;
  AffineExpr rest = simplifyAffineExpr(
      expr - getAffineDimExpr(inner, op.getContext()), sizes.size(), 0);
  return rest.isFunctionOfDim(inner) ? Step::Other : Step::One;
}

LoopJudge::Step LoopJudge::stepOf(AffineMap map, Value buffer) {
  Step step = Step::None;
  for (auto [d, expr] : llvm::enumerate(map.getResults())) {
    Step own = stepOf(expr);
    if (own == Step::None)
      continue;
    if (step != Step::None || own == Step::Other ||
        d + 1 != map.getNumResults() || !isDense(buffer))
      return Step::Other;
    step = own;
  }
  return step;
}

LoopJudge::Step LoopJudge::stepOf(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() != op.getBlock())
      return Step::None;
    OpOperand *operand = op.getMatchingOpOperand(argument);
    return stepOf(op.getMatchingIndexingMap(operand), operand->get()) ==
                   Step::None
               ? Step::None
               : Step::Other;
  }
  Operation *each = value.getDefiningOp();
  if (each->getBlock() != op.getBlock())
    return Step::None;
  if (auto index = dyn_cast<linalg::IndexOp>(each))
    return static_cast<int64_t>(index.getDim()) == inner ? Step::One
                                                         : Step::None;
  bool moves = llvm::any_of(each->getOperands(), [&](Value operand) {
    return stepOf(operand) != Step::None;
  });
  return moves ? Step::Other : Step::None;
}

std::string LoopJudge::getObstacle(Operation &each) {
  std::string name = each.getName().getStringRef().str();
  if (each.hasTrait<OpTrait::ConstantLike>() || isa<linalg::IndexOp>(each))
    return {};
  if (auto load = dyn_cast<memref::LoadOp>(each)) {
    for (auto [d, index] : llvm::enumerate(load.getIndices())) {
      Step step = stepOf(index);
      bool isLast = d + 1 == load.getIndices().size();
      if (step == Step::Other ||
          (step == Step::One && !(isLast && isDense(load.getMemRef()))))
        return "looks up one element at a time";
    }
    return {};
  }
  // A check that may be reported late does not fix the order.
  if (isa<cf::AssertOp>(each) &&
      (each.hasAttr(kLateAssertAttrName) || dividesIntegers()))
    return {};
  if (each.getNumRegions() > 0 || isa<cf::AssertOp>(each))
    return "has " + name + " in it";
  if (isa<math::MathDialect>(each.getDialect()) ? !isWrittenOut(each)
                                                : isa<arith::RemFOp>(each))
    return "calls the C library for " + name;
  return {};
}

bool LoopJudge::dividesIntegers() {
  return llvm::any_of(op.getBlock()->without_terminator(), [](Operation &each) {
    return isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(
        each);
  });
}

std::string LoopJudge::getObstacle() {
  for (Operation &each : op.getBlock()->without_terminator())
    if (std::string obstacle = getObstacle(each); !obstacle.empty())
      return obstacle;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()) ||
        (op.isDpsInput(&operand) &&
         op.getMatchingBlockArgument(&operand).use_empty()))
      continue;
    Step step = stepOf(op.getMatchingIndexingMap(&operand), operand.get());
    if (step == Step::Other)
      return llvm::formatv("elements of operand {0} are not contiguous",
                           operand.getOperandNumber());
    if (step == Step::None && op.isDpsInit(&operand) && !isReduction())
      return "all iterations write the same element";
  }
  if (!isReduction())
    return {};
  for (Value yielded : op.getBlock()->getTerminator()->getOperands()) {
    Operation *combiner = yielded.getDefiningOp();
    bool isAnyOrder =
        (isa_and_nonnull<arith::AddFOp>(combiner) && !tiles.addsInOrder &&
         !isWindowed(op)) ||
        (combiner && isa<arith::ArithDialect>(combiner->getDialect()) &&
         combiner->hasTrait<OpTrait::IsCommutative>() &&
         isa<IntegerType>(yielded.getType()));
    if (!isAnyOrder)
      return "combines elements one after another";
  }
  return {};
}

double LoopJudge::getSlowdown() {
  int64_t calls = 0, others = op->getNumOperands();
  for (Operation &each : op.getBlock()->without_terminator())
    (StringRef(getObstacle(each)).starts_with("calls") ? calls : others) += 1;
  int64_t bytes = 1;
  for (Value init : op.getDpsInits()) {
    Type element = getElementTypeOrSelf(init.getType());
    bytes = std::max<int64_t>(
        bytes, element.isIndex() ? 8 : element.getIntOrFloatBitWidth() / 8);
  }
  int64_t count = sizes[inner], lanes = tiles.vectorBytes / bytes;
  double plain = static_cast<double>(count) * (others + kCallCost * calls);
  double vectors = static_cast<double>(llvm::divideCeil(count, lanes)) *
                   (others + kFunctionCost * calls);
  return plain / vectors;
}

//===----------------------------------------------------------------------===//
// The log
//===----------------------------------------------------------------------===//

/// Calls `use` for each location in `loc` that is not a fusion of others.
static void forEachPlace(Location loc, function_ref<void(Location)> use) {
  loc->walk([&](Location each) {
    if (!isa<FusedLoc, UnknownLoc>(each)) {
      use(each);
      return WalkResult::skip();
    }
    return WalkResult::advance();
  });
}

StringRef PathLog::save(const Twine &text) {
  return texts.insert(text.str()).first->getKey();
}

void PathLog::add(Operation *op, StringRef path, double slowdown) {
  StringRef saved = save(path);
  auto addPlace = [&](Location loc) {
    Entry &entry = entries[loc];
    if (!llvm::is_contained(entry.paths, saved))
      entry.paths.push_back(saved);
    entry.slowdown = std::max(entry.slowdown, slowdown);
  };
  op->walk([&](Operation *each) {
    if (!each->hasTrait<OpTrait::ConstantLike>() &&
        !each->hasTrait<OpTrait::IsTerminator>())
      forEachPlace(each->getLoc(), addPlace);
  });
}

/// Attribute of ops whose path `addWhole` has recorded completely.
static constexpr llvm::StringLiteral kIsKnownAttrName = "path_is_known";

void PathLog::addWhole(Operation *op, StringRef path) {
  add(op, path);
  op->setAttr(kIsKnownAttrName, UnitAttr::get(op->getContext()));
}

void PathLog::addRest(func::FuncOp func) {
  func.walk([&](memref::CopyOp op) {
    auto type = cast<MemRefType>(op.getTarget().getType());
    bool isDenseCopy = type.getRank() == 0 ||
                       (isDense(op.getSource()) && isDense(op.getTarget()));
    if (isDenseCopy || type.getDimSize(type.getRank() - 1) == 1)
      return add(op, "copy");
    add(op, "plain loop: elements are not contiguous",
        std::min<double>(type.getDimSize(type.getRank() - 1), kMuchSlower));
  });
  func.walk([&](linalg::LinalgOp op) {
    if (op->hasAttr(kIsKnownAttrName))
      return;
    if (op.getNumDpsInits() == 1 && valueSetBy(op, op.getDpsInits()[0]))
      return add(op, "fill");
    LoopJudge judge(op, tiles);
    if (judge.isSingle())
      return add(op, "one element");
    std::string obstacle = judge.getObstacle();
    if (!obstacle.empty())
      return add(op, "plain loop: " + obstacle, judge.getSlowdown());
    if (judge.dividesIntegers())
      return add(op, "one element at a time, because integers are divided");
    add(op, judge.isReduction() ? "reduction in vectors" : "vectors");
  });
}

/// Returns true if `op` of a body computes or moves elements instead of only
/// describing where they are.
static bool makesElements(Operation *op) {
  if (op->getNumResults() == 0 ||
      !llvm::all_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>) ||
      op->hasTrait<OpTrait::ConstantLike>())
    return false;
  return isa<linalg::LinalgDialect, arith::ArithDialect, math::MathDialect>(
             op->getDialect()) ||
         isa<tensor::PadOp, tensor::ConcatOp, tensor::GatherOp,
             tensor::ScatterOp, tensor::InsertSliceOp, tensor::GenerateOp>(op);
}

void PathLog::describe(func::FuncOp original,
                       std::vector<OpPath> &paths) const {
  original.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!makesElements(op))
      return WalkResult::advance();
    OpPath &path = paths.emplace_back();
    path.where = getSourcePlace(op->getLoc());
    path.op = op->getName().getStringRef().str();
    SmallVector<StringRef> parts;
    forEachPlace(op->getLoc(), [&](Location loc) {
      auto entry = entries.find(loc);
      if (entry == entries.end())
        return;
      path.slowdown = std::max(path.slowdown, entry->second.slowdown);
      for (StringRef part : entry->second.paths)
        if (!llvm::is_contained(parts, part))
          parts.push_back(part);
    });
    path.path = parts.empty() ? "no loop of its own" : llvm::join(parts, ", ");
    if (path.slowdown > kMuchSlower)
      op->emitRemark() << path.path << "; vectors would be about "
                       << llvm::formatv("{0:F0}", path.slowdown).str()
                       << " times as fast";
    return WalkResult::skip(); // skips the bodies of structured ops
  });
}

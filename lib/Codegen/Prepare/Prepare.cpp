//===- Prepare.cpp - Stages on tensors ------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reduces the ops that a user may write to the few forms that the stages on
// buffers take, and turns arguments and results into buffers.
//
//===----------------------------------------------------------------------===//

#include "CodegenInternal.h"
#include "Contraction.h"
#include "Prepare/HalfPrecisionOperands.h"
#include "Rewrite.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "pathways/Codegen/Segments.h"
#include "pathways/Dialect/Pathways/Pathways.h"
#include "pathways/Support/ElementTypes.h"

using namespace mlir;
using namespace mlir::pathways;

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static constexpr int64_t kMaxTensorBytes = int64_t{1} << 48;

/// Returns true if a tensor inside a body may have elements of `type`. Tensors
/// at its boundary are checked separately.
static bool isElement(Type type) {
  return type.isIndex() || isTensorElementType(type);
}

/// Returns the reason why a kernel cannot have a value of `type`, or "".
static std::string reasonAgainst(Type type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    Type element = tensor.getElementType();
    if (!tensor.hasStaticShape()) {
      os << "has " << type << ", whose shape is not known at compile time";
      return text;
    }
    if (tensor.getEncoding()) {
      os << "has " << type << ", and encodings are not supported";
      return text;
    }
    if (!isElement(element)) {
      os << "has elements of " << element << ", expected "
         << kTensorElementNames;
      return text;
    }
    int64_t bytes = 8;
    for (int64_t size : tensor.getShape())
      if (size > 0 &&
          (llvm::MulOverflow(bytes, size, bytes) || bytes > kMaxTensorBytes)) {
        os << "has " << type << ", which is larger than 2^48 bytes";
        return text;
      }
    return text;
  }
  bool isScalar = type.isF16() || type.isBF16() || type.isF32() ||
                  type.isF64() || type.isIndex();
  if (auto integer = dyn_cast<IntegerType>(type))
    isScalar = integer.isSignless() && integer.getWidth() <= 64;
  if (!isScalar)
    os << "has a value of type " << type
       << ", expected tensors and scalars of f16, bf16, f32, f64 and integers "
          "of at most 64 bits";
  return text;
}

/// Returns the least and the largest value of `expr` if the dimensions run from
/// 0 to below `sizes`, none of which is 0. Fails if 64 bits cannot hold them or
/// if a divisor is not a positive constant.
static FailureOr<std::pair<int64_t, int64_t>> rangeOf(AffineExpr expr,
                                                      ArrayRef<int64_t> sizes) {
  using Range = std::pair<int64_t, int64_t>;
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return Range{0, sizes[dim.getPosition()] - 1};
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return Range{constant.getValue(), constant.getValue()};
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return failure();
  FailureOr<Range> lhs = rangeOf(binary.getLHS(), sizes),
                   rhs = rangeOf(binary.getRHS(), sizes);
  if (failed(lhs) || failed(rhs))
    return failure();
  Range range;
  if (expr.getKind() == AffineExprKind::Add) {
    if (llvm::AddOverflow(lhs->first, rhs->first, range.first) ||
        llvm::AddOverflow(lhs->second, rhs->second, range.second))
      return failure();
    return range;
  }
  int64_t by = rhs->first;
  if (rhs->second != by || (expr.getKind() != AffineExprKind::Mul && by < 1))
    return failure();
  switch (expr.getKind()) {
  case AffineExprKind::Mul:
    if (llvm::MulOverflow(lhs->first, by, range.first) ||
        llvm::MulOverflow(lhs->second, by, range.second))
      return failure();
    if (by < 0)
      std::swap(range.first, range.second);
    return range;
  case AffineExprKind::FloorDiv:
    return Range{llvm::divideFloorSigned(lhs->first, by),
                 llvm::divideFloorSigned(lhs->second, by)};
  case AffineExprKind::CeilDiv:
    return Range{llvm::divideCeilSigned(lhs->first, by),
                 llvm::divideCeilSigned(lhs->second, by)};
  case AffineExprKind::Mod:
    if (lhs->first >= 0 && lhs->second < by)
      return *lhs;
    return Range{0, by - 1};
  default:
    return failure();
  }
}

/// Checks that subscripts stay inside of their operands. The verifier checks
/// only the first and the last iteration of an op; a subscript that decreases,
/// as in `y - k`, may leave the operand in between.
static LogicalResult checkSubscripts(linalg::LinalgOp op) {
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  if (ShapedType::isDynamicShape(sizes) || llvm::is_contained(sizes, 0))
    return success();
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type)
      continue;
    for (auto [d, expr] :
         llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults())) {
      auto range = rangeOf(expr, sizes);
      if (succeeded(range) && range->first >= 0 &&
          range->second < type.getDimSize(d))
        continue;
      std::string text;
      llvm::raw_string_ostream(text) << expr;
      InFlightDiagnostic diag = op.emitOpError("subscript ")
                                << text << " of dimension " << d
                                << " of operand " << operand.getOperandNumber();
      if (failed(range))
        return diag << " is not supported in a kernel";
      return diag << " runs from " << range->first << " to " << range->second
                  << ", expected it within the " << type.getDimSize(d)
                  << " elements";
    }
  }
  return success();
}

bool mlir::pathways::isKernelOp(OperationName name) {
  auto isOneOf = [&]<typename... Ops>() {
    return ((name.getTypeID() == TypeID::get<Ops>()) || ...);
  };
  // These ops are known but have no form on buffers.
  if (isOneOf.operator()<linalg::PackOp, linalg::UnPackOp, tensor::BitcastOp,
                         ub::PoisonOp>())
    return false;
  return isa_and_nonnull<linalg::LinalgDialect, tensor::TensorDialect,
                         arith::ArithDialect, math::MathDialect, ub::UBDialect,
                         affine::AffineDialect>(name.getDialect()) ||
         isOneOf
             .operator()<scf::ForOp, scf::IfOp, scf::WhileOp, scf::ConditionOp,
                         scf::YieldOp, scf::IndexSwitchOp, cf::AssertOp,
                         func::ReturnOp, ShardIndexOp, StepIndexOp>();
}

LogicalResult kernel::checkSegment(func::FuncOp func) {
  if (!llvm::hasSingleElement(func.getBody()))
    return func.emitOpError("expected a body of one block, got ")
           << func.getBody().getBlocks().size();
  for (auto [kind, types] : {std::pair{"argument", func.getArgumentTypes()},
                             std::pair{"result", func.getResultTypes()}}) {
    for (auto [i, type] : llvm::enumerate(types)) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      std::string reason = reasonAgainst(type);
      if (reason.empty() && tensor && !tensor.getElementType().isIndex())
        continue;
      InFlightDiagnostic diag = func.emitOpError(kind)
                                << " " << i
                                << " cannot be passed to a kernel: ";
      if (!reason.empty())
        return diag << "it " << reason;
      return diag << "expected a tensor of " << kTensorElementNames << ", got "
                  << type;
    }
  }
  // Checks outer operations first, because the reason is theirs.
  WalkResult walk =
      func.walk<WalkOrder::PreOrder>([&](Operation *op) -> WalkResult {
        if (op == func)
          return WalkResult::advance();
        if (isa<func::CallOp>(op))
          return op->emitOpError("is a call that was not inlined");
        if (!isKernelOp(op->getName()))
          return op->emitOpError("is not supported in a kernel");
        auto check = [&](Type type) -> LogicalResult {
          std::string reason = reasonAgainst(type);
          return reason.empty() ? success() : op->emitOpError(reason);
        };
        for (Type type : op->getResultTypes())
          if (failed(check(type)))
            return WalkResult::interrupt();
        for (Region &region : op->getRegions())
          for (Block &block : region)
            for (Type type : block.getArgumentTypes())
              if (failed(check(type)))
                return WalkResult::interrupt();
        if (auto structured = dyn_cast<linalg::LinalgOp>(op))
          if (failed(checkSubscripts(structured)))
            return WalkResult::interrupt();
        if (auto pad = dyn_cast<tensor::PadOp>(op))
          if (ShapedType::isDynamicShape(pad.getStaticLow()) ||
              ShapedType::isDynamicShape(pad.getStaticHigh()))
            return pad.emitOpError("has padding that is not constant, which a "
                                   "kernel does not support");
        if (auto pad = dyn_cast<tensor::PadOp>(op))
          for (ArrayRef<int64_t> widths :
               {pad.getStaticLow(), pad.getStaticHigh()})
            for (int64_t width : widths)
              if (width < 0)
                return pad.emitOpError("expected padding of at least 0, got ")
                       << width;
        return WalkResult::advance();
      });
  return failure(walk.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Reduction to fewer forms
//===----------------------------------------------------------------------===//

namespace {

/// Turns splat constants into fills: a large splat would be written out in the
/// code.
struct FillFromSplat : OpRewritePattern<arith::ConstantOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ConstantOp op,
                                PatternRewriter &rewriter) const override {
    auto splat = dyn_cast<SplatElementsAttr>(op.getValue());
    auto type = dyn_cast<RankedTensorType>(op.getType());
    if (!splat || !type || type.getNumElements() == 0)
      return failure();
    Location loc = op.getLoc();
    Value scalar = arith::ConstantOp::create(
        rewriter, loc, cast<TypedAttr>(splat.getSplatValue<Attribute>()));
    Value empty = tensor::EmptyOp::create(rewriter, loc, type.getShape(),
                                          type.getElementType());
    rewriter.replaceOpWithNewOp<linalg::FillOp>(op, scalar, empty);
    return success();
  }
};

/// MLIR converts other tests of floats to LLVM, but not this one.
struct CompareWithInfinity : OpRewritePattern<math::IsInfOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::IsInfOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type type = op.getOperand().getType();
    auto element = cast<FloatType>(getElementTypeOrSelf(type));
    TypedAttr infinity =
        FloatAttr::get(element, APFloat::getInf(element.getFloatSemantics()));
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      infinity = DenseElementsAttr::get(tensor, Attribute(infinity));
    rewriter.replaceOpWithNewOp<arith::CmpFOp>(
        op, arith::CmpFPredicate::OEQ, math::AbsFOp::create(b, op.getOperand()),
        arith::ConstantOp::create(b, infinity));
    return success();
  }
};

struct DecomposeSoftmax : OpRewritePattern<linalg::SoftmaxOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::SoftmaxOp op,
                                PatternRewriter &rewriter) const override {
    FailureOr<SmallVector<Value>> values = op.decomposeOperation(rewriter);
    if (failed(values))
      return failure();
    rewriter.replaceOp(op, *values);
    return success();
  }
};

} // namespace

/// Limit on the ops of a body, which becomes one loop. Compile time grows
/// faster than the size of larger bodies, also here, where each fusion copies
/// them, and they are no faster.
static constexpr size_t kMostFused = 128;

/// Returns the number of ops in the body of `op`, at most kMostFused.
static size_t countUpToMost(linalg::GenericOp op) {
  size_t count = 0;
  op.getRegion().walk([&](Operation *) {
    return ++count < kMostFused ? WalkResult::advance()
                                : WalkResult::interrupt();
  });
  return count;
}

/// Returns true if `op` sums up floats.
static bool addsFloats(linalg::GenericOp op) {
  return op.getNumReductionLoops() > 0 &&
         llvm::any_of(op.getBody()->getTerminator()->getOperands(),
                      [](Value v) { return v.getDefiningOp<arith::AddFOp>(); });
}

/// Returns true if the producer of `operand` should be fused into its user.
/// Fusion must not compute an element twice, and contractions are worth more as
/// a whole. Strict sums have no lanes, which functions need.
static bool shouldFuse(OpOperand *operand, Rounding rounding) {
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
  if (!producer || !consumer || !producer->hasOneUse())
    return false;
  if (kernel::isContraction(consumer))
    return false;
  if (rounding == Rounding::Strict && addsFloats(consumer) &&
      llvm::any_of(producer.getBody()->getOperations(), [](Operation &each) {
        return isa<math::MathDialect>(each.getDialect());
      }))
    return false;
  return consumer.getMatchingIndexingMap(operand).isPermutation() &&
         countUpToMost(producer) + countUpToMost(consumer) <= kMostFused;
}

/// Returns true if `op` does so little with its operands that computing it
/// again is less work than storing and loading its result.
static bool isCheap(linalg::GenericOp op) {
  if (op->getNumResults() != 1 ||
      op.getNumParallelLoops() != op.getNumLoops() ||
      op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)) ||
      !llvm::hasNItems(op.getBody()->getOperations(), 2) ||
      !isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(op.getBody()->front()))
    return false;
  // If its producers were fused into it too, more and more would be computed
  // again.
  return llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *operand) {
    auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
    return !producer || producer.getNumReductionLoops() > 0 ||
           !op.getMatchingIndexingMap(operand).isPermutation();
  });
}

/// Clones a cheap op for every user, so that it is fused into each of them.
static void unshareCheapOps(ModuleOp module) {
  SmallVector<linalg::GenericOp> ops;
  module.walk([&](linalg::GenericOp op) { ops.push_back(op); });
  for (linalg::GenericOp op : ops) {
    if (op->hasOneUse() || op->use_empty() || !isCheap(op))
      continue;
    bool areInside = llvm::all_of(op->getUses(), [&](OpOperand &use) {
      auto user = dyn_cast<linalg::GenericOp>(use.getOwner());
      return user && user->getBlock() == op->getBlock() &&
             !kernel::isContraction(user) && user.isDpsInput(&use) &&
             user.getMatchingIndexingMap(&use).isPermutation() &&
             llvm::count(user->getOperands(), op->getResult(0)) == 1;
    });
    if (!areInside)
      continue;
    for (OpOperand &use :
         llvm::make_early_inc_range(llvm::drop_begin(op->getUses())))
      use.set(OpBuilder(use.getOwner()).clone(*op)->getResult(0));
  }
}

static bool hasNoElements(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getNumElements() == 0;
}

/// Removes ops that make or move no element: a slice of nothing may begin after
/// the end of its source, which does not verify. Lookups, and slices whose
/// place the program computes, stay, because their indices are checked even if
/// nothing is moved.
static void dropWhatIsEmpty(ModuleOp module) {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    auto slice = dyn_cast<OffsetSizeAndStrideOpInterface>(op);
    if (slice && ShapedType::isDynamicShape(slice.getStaticOffsets()))
      return;
    if (isa<linalg::LinalgOp, linalg::SoftmaxOp, tensor::PadOp,
            tensor::ConcatOp, tensor::ExtractSliceOp, tensor::InsertSliceOp>(
            op))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    OpBuilder b(op);
    if (llvm::all_of(op->getResults(), hasNoElements)) {
      for (OpResult result : op->getResults()) {
        auto type = cast<RankedTensorType>(result.getType());
        result.replaceAllUsesWith(tensor::EmptyOp::create(
            b, op->getLoc(), type.getShape(), type.getElementType()));
      }
      op->erase();
    } else if (auto sum = dyn_cast<linalg::LinalgOp>(op);
               sum && llvm::is_contained(sum.getStaticLoopRanges(), 0)) {
      // The sum has no terms. Later stages assume that a body without uses of
      // an operand does not read it.
      op->replaceAllUsesWith(sum.getDpsInits());
      op->erase();
    } else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
      if (!hasNoElements(insert.getSource()))
        continue;
      insert.replaceAllUsesWith(insert.getDest());
      insert.erase();
    } else if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
      auto parts = llvm::to_vector(llvm::make_filter_range(
          concat.getInputs(), [](Value part) { return !hasNoElements(part); }));
      concat.getInputsMutable().assign(parts);
    }
  }
}

/// Groups the dimensions of `sizes`, those of a whole slice. There is one group
/// for each dimension that is not `dropped`.
static SmallVector<ReassociationIndices>
groupDropped(ArrayRef<int64_t> sizes, const llvm::SmallBitVector &dropped) {
  SmallVector<ReassociationIndices> groups(1);
  bool hasKept = false;
  for (int64_t dim = 0, rank = sizes.size(); dim < rank; ++dim) {
    if (!dropped.test(dim) && std::exchange(hasKept, true))
      groups.emplace_back();
    groups.back().push_back(dim);
  }
  return groups;
}

/// Gives slices strides that their buffers can have. Upstream finds the
/// dimensions that a view drops by the strides that the view lacks. A slice
/// with steps changes strides; if one of several dimensions of one element is
/// dropped, upstream then finds none and accesses memory that does not exist.
/// So a dimension of at most one element gets the step 1, and slices that still
/// have other steps drop dimensions in a separate op after the view.
static void simplifySteps(ModuleOp module) {
  SmallVector<Operation *> slices;
  module.walk([&](Operation *op) {
    if (isa<tensor::ExtractSliceOp, tensor::InsertSliceOp>(op))
      slices.push_back(op);
  });
  for (Operation *op : slices) {
    auto slice = cast<OffsetSizeAndStrideOpInterface>(op);
    SmallVector<int64_t> steps(slice.getStaticStrides());
    SmallVector<int64_t> sizes(slice.getStaticSizes());
    // insertChecks refuses dynamic sizes and steps, and steps below 1.
    if (ShapedType::isDynamicShape(sizes) || ShapedType::isDynamicShape(steps))
      continue;
    for (auto [step, size] : llvm::zip_equal(steps, sizes))
      if (size <= 1 && step > 1)
        step = 1;
    auto extract = dyn_cast<tensor::ExtractSliceOp>(op);
    auto insert = dyn_cast<tensor::InsertSliceOp>(op);
    if (extract)
      extract.setStaticStrides(steps);
    else
      insert.setStaticStrides(steps);
    llvm::SmallBitVector dropped =
        extract ? extract.getDroppedDims() : insert.getDroppedDims();
    if (dropped.none() || dropped.count() == size_t(llvm::count(sizes, 1)) ||
        llvm::all_of(steps, [](int64_t step) { return step == 1; }))
      continue;
    ImplicitLocOpBuilder b(op->getLoc(), op);
    SmallVector<ReassociationIndices> groups = groupDropped(sizes, dropped);
    if (extract) {
      auto type = extract.getType();
      Value whole = tensor::ExtractSliceOp::create(
          b, type.clone(sizes), extract.getSource(), extract.getMixedOffsets(),
          extract.getMixedSizes(), extract.getMixedStrides());
      extract.replaceAllUsesWith(
          tensor::CollapseShapeOp::create(b, type, whole, groups).getResult());
      extract.erase();
    } else {
      Value whole = tensor::ExpandShapeOp::create(
          b, insert.getSourceType().clone(sizes), insert.getSource(), groups);
      insert.getSourceMutable().assign(whole);
    }
  }
}

/// Writes elementwise ops and named ops as linalg.generic.
static void writeAsGeneric(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  linalg::populateElementwiseToLinalgConversionPatterns(patterns);
  linalg::populateLinalgNamedOpsGeneralizationPatterns(patterns);
  // No pattern makes an op that another one matches.
  walkAndApplyPatterns(module, std::move(patterns));
}

LogicalResult kernel::normalizeTensors(ModuleOp module, Rounding rounding) {
  MLIRContext *context = module.getContext();
  dropWhatIsEmpty(module);
  simplifySteps(module);
  {
    RewritePatternSet patterns(context);
    tensor::populateDecomposeTensorConcatPatterns(patterns);
    patterns.add<CompareWithInfinity, DecomposeSoftmax>(context);
    addGatherPatterns(patterns);
    // Constants are still whole here, so values computed from them fold too.
    foldAndApplyPatternsToEnd(module, std::move(patterns));
  }
  // affine.apply contains divisions; later stages must see them to check them.
  if (failed(lowerAffine(module)))
    return failure();
  writeAsGeneric(module);
  markProducts(module, rounding);
  simplify(module);
  // Runs before fusion, which may join a rounding to bf16 with the op that
  // widens it again.
  takeNarrowOperands(module);
  // Runs before splats become fills: fusion folds a splat into its user.
  auto fuse = [&] {
    RewritePatternSet patterns(context);
    linalg::populateElementwiseOpsFusionPatterns(
        patterns,
        [&](OpOperand *operand) { return shouldFuse(operand, rounding); });
    applyPatternsToEnd(module, std::move(patterns));
  };
  fuse();
  unshareCheapOps(module);
  fuse();
  if (rounding == Rounding::Excess)
    dropRoundings(module);
  RewritePatternSet fills(context);
  fills.add<FillFromSplat>(context);
  applyPatternsToEnd(module, std::move(fills));
  return success();
}

//===----------------------------------------------------------------------===//
// Booleans
//===----------------------------------------------------------------------===//

static RankedTensorType asBytes(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.getElementType().isInteger(1))
    return {};
  return tensor.clone(IntegerType::get(type.getContext(), 8));
}

LogicalResult kernel::storeBooleansAsBytes(func::FuncOp func) {
  OpBuilder b(func.getContext());
  Type byte = b.getI8Type(), bit = b.getI1Type();
  auto toByte = [&](Operation *at, Value value) -> Value {
    b.setInsertionPoint(at);
    return arith::ExtUIOp::create(b, at->getLoc(), byte, value);
  };
  auto toBit = [&](Location loc, Value value) -> Value {
    Value zero = arith::ConstantOp::create(b, loc, b.getIntegerAttr(byte, 0));
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value, zero);
  };
  // Converts bits where they enter or leave a tensor. Looks at the operands of
  // an op before types change.
  WalkResult walk = func.walk([&](Operation *op) -> WalkResult {
    if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      Block *body = generic.getBody();
      for (OpOperand &operand : op->getOpOperands()) {
        if (!asBytes(operand.get().getType()))
          continue;
        BlockArgument argument = generic.getMatchingBlockArgument(&operand);
        argument.setType(byte);
        b.setInsertionPointToStart(body);
        if (!argument.use_empty()) {
          Value value = toBit(op->getLoc(), argument);
          argument.replaceUsesWithIf(value, [&](OpOperand &use) {
            return use.getOwner() != value.getDefiningOp();
          });
        }
        if (generic.isDpsInit(&operand)) {
          Operation *yield = body->getTerminator();
          OpOperand &result = yield->getOpOperand(operand.getOperandNumber() -
                                                  generic.getNumDpsInputs());
          result.set(toByte(yield, result.get()));
        }
      }
      return WalkResult::advance();
    }
    if (auto fill = dyn_cast<linalg::FillOp>(op)) {
      if (asBytes(fill.output().getType())) {
        fill.getInputsMutable().assign(toByte(op, fill.value()));
        for (BlockArgument argument : fill.getRegion().getArguments())
          argument.setType(byte);
      }
      return WalkResult::advance();
    }
    if (isa<linalg::LinalgOp>(op) &&
        llvm::any_of(op->getOperandTypes(),
                     [](Type t) { return !!asBytes(t); }))
      return op->emitOpError("of i1 is not supported in a kernel");
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      RankedTensorType type = asBytes(constant.getType());
      if (!type)
        return WalkResult::advance();
      auto dense = dyn_cast<DenseIntElementsAttr>(constant.getValue());
      if (!dense)
        return constant.emitOpError(
            "expected a dense list of elements of type i1");
      constant.setValueAttr(dense.mapValues(
          byte, [](const APInt &value) { return value.zext(8); }));
      return WalkResult::advance();
    }
    if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
      if (!asBytes(extract.getTensor().getType()))
        return WalkResult::advance();
      Value result = extract.getResult();
      result.setType(byte);
      b.setInsertionPointAfter(op);
      Value value = toBit(op->getLoc(), result);
      result.replaceUsesWithIf(value, [&](OpOperand &use) {
        return use.getOwner() != value.getDefiningOp();
      });
      return WalkResult::advance();
    }
    if (auto insert = dyn_cast<tensor::InsertOp>(op)) {
      if (asBytes(insert.getType()))
        insert.getScalarMutable().assign(toByte(op, insert.getScalar()));
      return WalkResult::advance();
    }
    if (isa<tensor::FromElementsOp, tensor::SplatOp>(op)) {
      if (asBytes(op->getResult(0).getType()))
        for (OpOperand &operand : op->getOpOperands())
          if (operand.get().getType() == bit)
            operand.set(toByte(op, operand.get()));
      return WalkResult::advance();
    }
    if (isa<tensor::GenerateOp, tensor::PadOp>(op)) {
      if (asBytes(op->getResult(0).getType())) {
        Operation *yield = op->getRegion(0).front().getTerminator();
        yield->setOperand(0, toByte(yield, yield->getOperand(0)));
      }
      return WalkResult::advance();
    }
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  auto retype = [](Value value) {
    if (RankedTensorType type = asBytes(value.getType()))
      value.setType(type);
  };
  func.walk([&](Operation *op) {
    for (Value result : op->getResults())
      retype(result);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), retype);
  });
  func.setType(FunctionType::get(
      func.getContext(), func.getBody().getArgumentTypes(),
      func.getBody().front().getTerminator()->getOperandTypes()));
  return success();
}

//===----------------------------------------------------------------------===//
// Buffers at the boundary
//===----------------------------------------------------------------------===//

static MemRefType bufferOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return MemRefType::get(tensor.getShape(), tensor.getElementType());
}

LogicalResult kernel::takeBuffers(func::FuncOp func) {
  MLIRContext *context = func.getContext();
  Location loc = func.getLoc();
  Block &body = func.getBody().front();
  Operation *terminator = body.getTerminator();
  SmallVector<Value> results(terminator->getOperands());
  unsigned numInputs = body.getNumArguments();

  if (auto pairs =
          func->getAttrOfType<DenseI64ArrayAttr>(kSegmentAliasAttrName)) {
    for (size_t i = 0; i + 1 < static_cast<size_t>(pairs.size()); i += 2) {
      int64_t input = pairs[i], output = pairs[i + 1];
      if (input < 0 || input >= numInputs || output < 0 ||
          output >= static_cast<int64_t>(results.size()))
        return func.emitOpError("may share memory between input ")
               << input << " and output " << output << ", but has " << numInputs
               << " inputs and " << results.size() << " outputs";
    }
  }

  OpBuilder b(context);
  b.setInsertionPointToStart(&body);
  DenseMap<Value, Value> tensors; // tensors of the arguments
  for (BlockArgument argument : body.getArguments()) {
    Type type = argument.getType();
    argument.setType(bufferOf(type));
    auto tensor = bufferization::ToTensorOp::create(b, loc, type, argument,
                                                    /*restrict=*/true);
    argument.replaceAllUsesExcept(tensor, tensor);
    tensors[argument] = tensor;
  }
  for (Value &result : results)
    if (Value tensor = tensors.lookup(result))
      result = tensor;
  b.setInsertionPoint(terminator);
  for (Value result : results) {
    Value output = body.addArgument(bufferOf(result.getType()), loc);
    auto write = bufferization::MaterializeInDestinationOp::create(
        b, loc, result, output);
    write.setRestrict(true);
    write.setWritable(true);
  }

  auto mesh = func->getAttrOfType<MeshAttr>(kSegmentMeshAttrName);
  int64_t numAxes = mesh ? mesh.getSizes().size() : 0;
  Value coordinates =
      body.addArgument(MemRefType::get({numAxes}, b.getI32Type()), loc);
  WalkResult walk = func.walk([&](ShardIndexOp op) -> WalkResult {
    int64_t axis = mesh ? mesh.getAxisIndex(op.getAxis()) : -1;
    if (axis < 0)
      return op.emitOpError("names axis '")
             << op.getAxis() << "', which the mesh of the segment lacks";
    b.setInsertionPoint(op);
    Value position = arith::ConstantIndexOp::create(b, op.getLoc(), axis);
    Value value = memref::LoadOp::create(b, op.getLoc(), coordinates, position);
    op.replaceAllUsesWith(
        arith::IndexCastOp::create(b, op.getLoc(), b.getIndexType(), value)
            .getResult());
    op.erase();
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  Value step = body.addArgument(b.getIndexType(), loc);
  func.walk([&](StepIndexOp op) {
    op.replaceAllUsesWith(step);
    op.erase();
  });
  terminator->setOperands(ValueRange());
  func.removeArgAttrsAttr();
  func.removeResAttrsAttr();
  func->setDiscardableAttrs(DictionaryAttr::get(context));
  func.setType(FunctionType::get(context, body.getArgumentTypes(), {}));
  return success();
}

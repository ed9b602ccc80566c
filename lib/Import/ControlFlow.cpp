//===- ControlFlow.cpp - Branches, and values without elements ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Regions move into operations of scf as they are, and their operations are
// converted after that. A stablehlo.return becomes the terminator that its new
// parent needs.
//
//===----------------------------------------------------------------------===//

#include "ControlFlow.h"
#include "Patterns.h"
#include "Shape.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::pathways;

void mlir::pathways::moveBlock(ConversionPatternRewriter &rewriter, Block &from,
                               Block *to, Block::iterator before,
                               ArrayRef<Values> arguments) {
  for (auto [argument, values] :
       llvm::zip_equal(from.getArguments(), arguments))
    rewriter.replaceAllUsesWith(argument, values);
  for (Operation &op : llvm::make_early_inc_range(from))
    rewriter.moveOpBefore(&op, to, before);
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

/// Returns the types that the results of `op` become.
static FailureOr<SmallVector<Type>> convertResults(const TypeConverter &types,
                                                   Operation *op) {
  SmallVector<Type> converted;
  if (failed(types.convertTypes(op->getResultTypes(), converted)))
    return failure();
  return converted;
}

/// Replaces `op` by the results of `converted`, which are what the results of
/// `op` became, one after the other.
static void replaceByResults(ConversionPatternRewriter &rewriter,
                             const TypeConverter &types, Operation *op,
                             ValueRange converted) {
  SmallVector<Values> results;
  for (Type type : op->getResultTypes()) {
    SmallVector<Type> parts;
    (void)types.convertType(type, parts);
    results.emplace_back(converted.take_front(parts.size()));
    converted = converted.drop_front(parts.size());
  }
  rewriter.replaceOpWithMultiple(op, std::move(results));
}

namespace {

struct LowerReturn : OpConversionPattern<stablehlo::ReturnOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(stablehlo::ReturnOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Values values;
    for (ValueRange range : adaptor.getResults())
      llvm::append_range(values, range);
    Operation *parent = op->getParentOp();
    if (isa<func::FuncOp>(parent)) {
      rewriter.replaceOpWithNewOp<func::ReturnOp>(op, values);
      return success();
    }
    if (auto loop = dyn_cast<scf::WhileOp>(parent);
        loop && op->getParentRegion() == &loop.getBefore()) {
      Value runs = readScalar(rewriter, op.getLoc(), values.front());
      rewriter.replaceOpWithNewOp<scf::ConditionOp>(
          op, runs, loop.getBefore().getArguments());
      return success();
    }
    if (!isa<scf::ForOp, scf::IfOp, scf::IndexSwitchOp, scf::WhileOp>(parent))
      return rewriter.notifyMatchFailure(op, "expected a parent of scf");
    rewriter.replaceOpWithNewOp<scf::YieldOp>(op, values);
    return success();
  }
};

struct LowerIf : OpConversionPattern<stablehlo::IfOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(stablehlo::IfOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto types = convertResults(*getTypeConverter(), op);
    if (failed(types))
      return failure();
    Value pred = readScalar(rewriter, op.getLoc(), adaptor.getPred().front());
    auto branch = scf::IfOp::create(rewriter, op.getLoc(), *types, pred,
                                    /*addThenBlock=*/true,
                                    /*addElseBlock=*/true);
    moveBlock(rewriter, op.getTrueBranch().front(), branch.thenBlock(),
              branch.thenBlock()->end(), {});
    moveBlock(rewriter, op.getFalseBranch().front(), branch.elseBlock(),
              branch.elseBlock()->end(), {});
    replaceByResults(rewriter, *getTypeConverter(), op, branch.getResults());
    return success();
  }
};

struct LowerCase : OpConversionPattern<stablehlo::CaseOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(stablehlo::CaseOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto types = convertResults(*getTypeConverter(), op);
    if (failed(types))
      return failure();
    Value scalar = readScalar(rewriter, loc, adaptor.getIndex().front());
    int64_t numOthers = op.getBranches().size() - 1;
    if (numOthers == 0) {
      Block &only = op.getBranches().front().front();
      Operation *end = only.getTerminator();
      moveBlock(rewriter, only, op->getBlock(), op->getIterator(), {});
      rewriter.replaceOp(op, end->getOperands());
      rewriter.eraseOp(end);
      return success();
    }
    Operation *branch;
    if (numOthers == 1) {
      Value zero = arith::ConstantOp::create(
          rewriter, loc, rewriter.getZeroAttr(scalar.getType()));
      Value isFirst = arith::CmpIOp::create(
          rewriter, loc, arith::CmpIPredicate::eq, scalar, zero);
      branch = scf::IfOp::create(rewriter, loc, *types, isFirst,
                                 /*addThenBlock=*/true,
                                 /*addElseBlock=*/true);
    } else {
      // Numbers below 0 and numbers that are not in range are in no case.
      Type type = rewriter.getIndexType();
      bool isUnsigned =
          op.getIndex().getType().getElementType().isUnsignedInteger();
      Value index =
          isUnsigned ? arith::IndexCastUIOp::create(rewriter, loc, type, scalar)
                           .getResult()
                     : arith::IndexCastOp::create(rewriter, loc, type, scalar)
                           .getResult();
      auto cases = llvm::to_vector(llvm::seq<int64_t>(0, numOthers));
      auto choice = scf::IndexSwitchOp::create(rewriter, loc, *types, index,
                                               cases, numOthers);
      for (Region &region : choice->getRegions())
        region.emplaceBlock();
      branch = choice;
    }
    // The default region of a switch comes before its cases.
    for (auto [number, region] : llvm::enumerate(op.getBranches())) {
      int64_t place = number;
      if (numOthers >= 2)
        place = place == numOthers ? 0 : place + 1;
      Block *block = &branch->getRegion(place).front();
      moveBlock(rewriter, region.front(), block, block->end(), {});
    }
    replaceByResults(rewriter, *getTypeConverter(), op, branch->getResults());
    return success();
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Values that pass through
//===----------------------------------------------------------------------===//

namespace {

struct LowerBarrier : OpConversionPattern<stablehlo::OptimizationBarrierOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(stablehlo::OptimizationBarrierOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithMultiple(op, adaptor.getOperands());
    return success();
  }
};

struct LowerTuple : OpConversionPattern<stablehlo::TupleOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(stablehlo::TupleOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Values> values(1);
    for (ValueRange range : adaptor.getVal())
      llvm::append_range(values.front(), range);
    rewriter.replaceOpWithMultiple(op, std::move(values));
    return success();
  }
};

struct LowerGetTupleElement
    : OpConversionPattern<stablehlo::GetTupleElementOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(stablehlo::GetTupleElementOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto tuple = cast<TupleType>(op.getOperand().getType());
    ValueRange values = adaptor.getOperand();
    for (int64_t i = 0, index = op.getIndex(); i <= index; ++i) {
      SmallVector<Type> parts;
      if (failed(getTypeConverter()->convertType(tuple.getType(i), parts)) ||
          parts.size() > values.size())
        return failure();
      if (i == index)
        values = values.take_front(parts.size());
      else
        values = values.drop_front(parts.size());
    }
    rewriter.replaceOpWithMultiple(op, SmallVector<Values>{Values(values)});
    return success();
  }
};

/// A token carries no data.
template <typename TokenOp> struct LowerToken : OpConversionPattern<TokenOp> {
  using OpConversionPattern<TokenOp>::OpConversionPattern;
  LogicalResult
  matchAndRewrite(TokenOp op,
                  typename OpConversionPattern<TokenOp>::OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithMultiple(op, SmallVector<Values>(1));
    return success();
  }
};

/// Calls that say where a value should be and that return the value.
struct LowerPlacementCall : OpConversionPattern<stablehlo::CustomCallOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(stablehlo::CustomCallOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    bool isPlacement =
        llvm::StringSwitch<bool>(op.getCallTargetName())
            .Cases({"annotate_device_placement", "LayoutConstraint",
                    "MoveToDevice", "MoveToHost", "PinToDevice",
                    "PinToDeviceSram", "PinToHost"},
                   true)
            .Default(false);
    if (!isPlacement || op.getInputs().getTypes() != op.getResultTypes())
      return rewriter.notifyMatchFailure(op,
                                         "expected a call that only places");
    rewriter.replaceOpWithMultiple(op, adaptor.getInputs());
    return success();
  }
};

} // namespace

void mlir::pathways::populateControlFlowPatterns(const TypeConverter &types,
                                                 RewritePatternSet &patterns) {
  patterns
      .add<LowerBarrier, LowerCase, LowerGetTupleElement, LowerIf,
           LowerPlacementCall, LowerReturn, LowerToken<stablehlo::AfterAllOp>,
           LowerToken<stablehlo::CreateTokenOp>, LowerTuple>(
          types, patterns.getContext());
  populateWhilePatterns(types, patterns);
}

//===- HalfPrecision.cpp - f16 and bf16 in kernels ------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// f16 and bf16 are formats of storage. A segment widens its inputs to f32,
// computes in f32, and rounds its outputs once, to nearest even. An
// arith.truncf that the program wrote stays in its place, and an arith.bitcast
// takes the bits of the rounded value.
//
//===----------------------------------------------------------------------===//

#include "CodegenInternal.h"
#include "Rewrite.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::pathways;

static bool isNarrow(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isF16() || element.isBF16();
}

/// Returns f32, or a tensor or vector of f32, for a narrow type, and any other
/// type unchanged.
static Type widened(Type type) {
  if (!isNarrow(type))
    return type;
  Type f32 = Float32Type::get(type.getContext());
  if (auto shaped = dyn_cast<ShapedType>(type))
    return shaped.clone(f32);
  return f32;
}

static APFloat widened(APFloat value) {
  bool losesInfo;
  value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value;
}

static LogicalResult widenConstant(arith::ConstantOp op) {
  if (!isNarrow(op.getType()))
    return success();
  Type f32 = Float32Type::get(op.getContext());
  if (auto scalar = dyn_cast<FloatAttr>(op.getValue())) {
    op.setValueAttr(FloatAttr::get(f32, widened(scalar.getValue())));
    return success();
  }
  auto dense = dyn_cast<DenseFPElementsAttr>(op.getValue());
  if (!dense)
    return op.emitOpError("expected a dense list of elements of type ")
           << getElementTypeOrSelf(op.getType());
  op.setValueAttr(dense.mapValues(f32, [](const APFloat &value) {
    return widened(value).bitcastToAPInt();
  }));
  return success();
}

LogicalResult kernel::widenNarrowFloats(func::FuncOp func) {
  Block &body = func.getBody().front();
  OpBuilder b(func.getContext());
  SmallVector<Operation *> widenings;
  SmallVector<std::pair<arith::TruncFOp, Type>> roundings;
  SmallVector<std::tuple<arith::BitcastOp, Type, Type>> casts;
  WalkResult walk = func.walk([&](Operation *op) -> WalkResult {
    if (auto extension = dyn_cast<arith::ExtFOp>(op))
      if (isNarrow(extension.getIn().getType()) &&
          getElementTypeOrSelf(extension.getType()).isF32())
        widenings.push_back(op);
    if (auto rounding = dyn_cast<arith::TruncFOp>(op))
      if (isNarrow(rounding.getType())) {
        if (getElementTypeOrSelf(rounding.getIn().getType()).isF64())
          return rounding.emitOpError("rounds f64 to ")
                 << getElementTypeOrSelf(rounding.getType())
                 << ", which a kernel does not support; round to f32 first";
        roundings.push_back({rounding, rounding.getType()});
      }
    if (auto cast = dyn_cast<arith::BitcastOp>(op))
      if (isNarrow(cast.getIn().getType()) || isNarrow(cast.getType()))
        casts.push_back({cast, cast.getIn().getType(), cast.getType()});
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      if (failed(widenConstant(constant)))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();

  SmallVector<Type> arguments(func.getArgumentTypes()),
      results(func.getResultTypes());
  func.walk([&](Operation *op) {
    if (op == func)
      return;
    for (Value result : op->getResults())
      result.setType(widened(result.getType()));
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments())
        argument.setType(widened(argument.getType()));
  });
  for (Operation *op : widenings) {
    op->replaceAllUsesWith(op->getOperands());
    op->erase();
  }
  for (auto [op, type] : roundings) {
    op.getResult().setType(type);
    b.setInsertionPointAfter(op);
    auto wide =
        arith::ExtFOp::create(b, op.getLoc(), widened(type), op.getResult());
    op.getResult().replaceAllUsesExcept(wide, wide);
  }
  b.setInsertionPointToStart(&body);
  for (auto [argument, type] :
       llvm::zip_equal(body.getArguments(), arguments)) {
    if (!isNarrow(type))
      continue;
    auto wide =
        arith::ExtFOp::create(b, func.getLoc(), widened(type), argument);
    argument.replaceAllUsesExcept(wide, wide);
  }
  for (auto [op, from, to] : casts) {
    b.setInsertionPoint(op);
    if (isNarrow(from))
      op.setOperand(arith::TruncFOp::create(b, op.getLoc(), from, op.getIn()));
    if (!isNarrow(to))
      continue;
    op.getResult().setType(to);
    b.setInsertionPointAfter(op);
    auto wide =
        arith::ExtFOp::create(b, op.getLoc(), widened(to), op.getResult());
    op.getResult().replaceAllUsesExcept(wide, wide);
  }
  Operation *terminator = body.getTerminator();
  b.setInsertionPoint(terminator);
  for (auto [operand, type] :
       llvm::zip_equal(terminator->getOpOperands(), results))
    if (isNarrow(type))
      operand.set(
          arith::TruncFOp::create(b, func.getLoc(), type, operand.get()));
  return success();
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

namespace {

using Predicate = arith::CmpIPredicate;

/// Builder for the two conversions of a scalar f16.
struct Bits : ImplicitLocOpBuilder {
  Bits(Location loc, OpBuilder &rewriter)
      : ImplicitLocOpBuilder(loc, rewriter) {}

  Value constant(uint32_t value) {
    return arith::ConstantOp::create(
        *this, IntegerAttr::get(getI32Type(), APInt(32, value)));
  }
  Value both(Value a, uint32_t mask) {
    return arith::AndIOp::create(*this, a, constant(mask));
  }
  Value either(Value a, Value c) { return arith::OrIOp::create(*this, a, c); }
  Value plus(Value a, Value c) { return arith::AddIOp::create(*this, a, c); }
  Value left(Value a, uint32_t by) {
    return arith::ShLIOp::create(*this, a, constant(by));
  }
  Value right(Value a, uint32_t by) {
    return arith::ShRUIOp::create(*this, a, constant(by));
  }
  Value is(Predicate predicate, Value a, uint32_t value) {
    return arith::CmpIOp::create(*this, predicate, a, constant(value));
  }
  Value choose(Value condition, Value a, Value c) {
    return arith::SelectOp::create(*this, condition, a, c);
  }
  Value asFloat(Value a) {
    return arith::BitcastOp::create(*this, getF32Type(), a);
  }
  Value asBits(Value a) {
    return arith::BitcastOp::create(*this, getI32Type(), a);
  }
};

struct ExtendHalf : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getIn().getType().isF16() || !op.getType().isF32())
      return failure();
    Bits b(op.getLoc(), rewriter);
    Value half = arith::BitcastOp::create(b, b.getI16Type(), op.getIn());
    Value bits = arith::ExtUIOp::create(b, b.getI32Type(), half);
    Value sign = b.left(b.both(bits, 0x8000), 16);
    Value size = b.both(bits, 0x7fff);
    // Compute the exponent by a product, which is exact and also makes the
    // smallest f16 normal.
    Value scale = b.asFloat(b.constant((127 + 112) << 23));
    Value scaled =
        b.asBits(arith::MulFOp::create(b, b.asFloat(b.left(size, 13)), scale));
    Value isFinite = b.is(Predicate::ult, size, 0x7c00);
    Value wide =
        b.choose(isFinite, scaled, b.either(scaled, b.constant(0x7f800000)));
    rewriter.replaceOp(op, b.asFloat(b.either(wide, sign)));
    return success();
  }
};

struct RoundToHalf : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getIn().getType().isF32() || !op.getType().isF16())
      return failure();
    Bits b(op.getLoc(), rewriter);
    Value bits = b.asBits(op.getIn());
    Value sign = b.right(b.both(bits, 0x80000000), 16);
    Value size = b.both(bits, 0x7fffffff);
    // Below the smallest normal f16, the sum with 0.5 rounds at the right bit.
    constexpr uint32_t kOneHalf = 126u << 23;
    Value sum = arith::AddFOp::create(b, b.asFloat(size),
                                      b.asFloat(b.constant(kOneHalf)));
    Value tiny = b.plus(b.asBits(sum), b.constant(-kOneHalf));
    // For normal results, set the new exponent and round to even.
    Value odd = b.both(b.right(size, 13), 1);
    Value normal = b.right(
        b.plus(b.plus(size, b.constant(0u - (112u << 23) + 0xfff)), odd), 13);
    Value isNaN = b.is(Predicate::ugt, size, 0x7f800000);
    Value large = b.choose(isNaN, b.constant(0x7e00), b.constant(0x7c00));
    Value isTiny = b.is(Predicate::ult, size, 113u << 23);
    Value isLarge = b.is(Predicate::uge, size, 143u << 23);
    Value result = b.choose(isLarge, large, b.choose(isTiny, tiny, normal));
    Value half =
        arith::TruncIOp::create(b, b.getI16Type(), b.either(result, sign));
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, b.getF16Type(), half);
    return success();
  }
};

/// Converts between integers and narrow floats through f32: canonicalization
/// joins the two conversions into one where it can.
template <typename FromInteger>
struct RoundFromF32 : OpRewritePattern<FromInteger> {
  using OpRewritePattern<FromInteger>::OpRewritePattern;

  LogicalResult matchAndRewrite(FromInteger op,
                                PatternRewriter &rewriter) const override {
    if (!isNarrow(op.getType()))
      return failure();
    auto wide = FromInteger::create(rewriter, op.getLoc(),
                                    widened(op.getType()), op.getIn());
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), wide);
    return success();
  }
};

template <typename ToInteger> struct ExtendToF32 : OpRewritePattern<ToInteger> {
  using OpRewritePattern<ToInteger>::OpRewritePattern;

  LogicalResult matchAndRewrite(ToInteger op,
                                PatternRewriter &rewriter) const override {
    if (!isNarrow(op.getIn().getType()))
      return failure();
    auto wide = arith::ExtFOp::create(
        rewriter, op.getLoc(), widened(op.getIn().getType()), op.getIn());
    rewriter.replaceOpWithNewOp<ToInteger>(op, op.getType(), wide);
    return success();
  }
};

} // namespace

static void populateThroughF32Patterns(RewritePatternSet &patterns) {
  patterns.add<RoundFromF32<arith::SIToFPOp>, RoundFromF32<arith::UIToFPOp>,
               ExtendToF32<arith::FPToSIOp>, ExtendToF32<arith::FPToUIOp>>(
      patterns.getContext());
}

void kernel::expandNarrowConversions(ModuleOp module, bool hasF16) {
  RewritePatternSet patterns(module.getContext());
  arith::populateExpandBFloat16Patterns(patterns);
  populateThroughF32Patterns(patterns);
  if (!hasF16)
    patterns.add<ExtendHalf, RoundToHalf>(module.getContext());
  applyPatternsToEnd(module, std::move(patterns));
}

//===----------------------------------------------------------------------===//
// Storage
//===----------------------------------------------------------------------===//

/// Returns i16, or a vector or buffer of i16, for a narrow type, and any other
/// type unchanged.
static Type asInteger(Type type) {
  if (!isNarrow(type))
    return type;
  Type i16 = IntegerType::get(type.getContext(), 16);
  if (auto shaped = dyn_cast<ShapedType>(type))
    return shaped.clone(i16);
  return i16;
}

static void makeConstantInteger(arith::ConstantOp op) {
  if (!isNarrow(op.getType()))
    return;
  Type type = asInteger(op.getType());
  if (auto scalar = dyn_cast<FloatAttr>(op.getValue()))
    op.setValueAttr(IntegerAttr::get(type, scalar.getValue().bitcastToAPInt()));
  else if (auto dense = dyn_cast<DenseFPElementsAttr>(op.getValue()))
    op.setValueAttr(dense.bitcast(getElementTypeOrSelf(type)));
}

/// Constants whose elements differ are stored in globals of the module.
static void makeGlobalInteger(memref::GlobalOp op) {
  if (!isNarrow(op.getType()))
    return;
  op.setType(cast<MemRefType>(asInteger(op.getType())));
  if (auto dense =
          dyn_cast_or_null<DenseFPElementsAttr>(op.getInitialValueAttr()))
    op.setInitialValueAttr(
        dense.bitcast(IntegerType::get(op.getContext(), 16)));
}

/// LLVM rounds the operands of copysign(x, y) instead of its result. If y was
/// rounded to f32 from f64, it then rounds from f64 to f16 at once, for which
/// x86 has no instruction. A fence before the rounding prevents this. LLVM does
/// not do this to vectors, so they need no fence.
static void fenceRounding(OpBuilder &b, arith::TruncFOp op) {
  Value in = op.getIn();
  if (!in.getType().isF32() || !op.getType().isF16())
    return;
  auto fence = LLVM::CallIntrinsicOp::create(
      b, op.getLoc(), in.getType(),
      b.getStringAttr("llvm.arithmetic.fence.f32"), ValueRange(in));
  op.setOperand(fence.getResult(0));
}

void kernel::storeNarrowFloatsAsIntegers(ModuleOp module) {
  OpBuilder b(module.getContext());
  bool copiesSigns =
      module.walk([](math::CopySignOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  RewritePatternSet patterns(module.getContext());
  populateThroughF32Patterns(patterns);
  applyPatternsToEnd(module, std::move(patterns));
  // Conversions in registers, with the type that they convert.
  SmallVector<std::pair<Operation *, Type>> conversions;
  module.walk([&](Operation *op) {
    if (isa<arith::ExtFOp>(op) && isNarrow(op->getOperand(0).getType()))
      conversions.push_back({op, op->getOperand(0).getType()});
    if (isa<arith::TruncFOp>(op) && isNarrow(op->getResult(0).getType()))
      conversions.push_back({op, op->getResult(0).getType()});
  });
  module.walk([&](Operation *op) {
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      makeConstantInteger(constant);
    if (auto global = dyn_cast<memref::GlobalOp>(op))
      makeGlobalInteger(global);
    for (Value result : op->getResults())
      result.setType(asInteger(result.getType()));
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          argument.setType(asInteger(argument.getType()));
    if (auto func = dyn_cast<func::FuncOp>(op))
      func.setType(b.getFunctionType(
          llvm::map_to_vector(func.getArgumentTypes(), asInteger),
          llvm::map_to_vector(func.getResultTypes(), asInteger)));
  });
  for (auto [op, narrow] : conversions) {
    b.setInsertionPoint(op);
    if (isa<arith::ExtFOp>(op)) {
      op->setOperand(0, arith::BitcastOp::create(b, op->getLoc(), narrow,
                                                 op->getOperand(0)));
      continue;
    }
    Value result = op->getResult(0);
    Type stored = result.getType();
    result.setType(narrow);
    if (copiesSigns)
      fenceRounding(b, cast<arith::TruncFOp>(op));
    b.setInsertionPointAfter(op);
    auto bits = arith::BitcastOp::create(b, op->getLoc(), stored, result);
    result.replaceAllUsesExcept(bits, bits);
  }
}

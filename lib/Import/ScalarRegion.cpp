//===- ScalarRegion.cpp - Regions of scalar computations ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Regions of reductions, scatters and sorts compute on tensors of rank 0. They
// are emitted on scalars, inside of loops.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::pathways;

namespace {

bool isScalar(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 0;
}

/// Returns the type of the scalar for the tensor type `type` of the program.
Type getScalarType(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (auto integer = dyn_cast<IntegerType>(element))
    return IntegerType::get(type.getContext(), integer.getWidth());
  return element;
}

class ScalarEmitter {
public:
  explicit ScalarEmitter(ConversionPatternRewriter &rewriter)
      : rewriter(rewriter) {}

  /// Emits the only block of `region` at the place of the rewriter.
  FailureOr<SmallVector<Value>> emit(Region &region, ValueRange arguments);

private:
  LogicalResult emit(Operation &op);
  LogicalResult emitWhile(stablehlo::WhileOp op);
  LogicalResult emitCase(stablehlo::CaseOp op, Value index, unsigned branch,
                         SmallVector<Value> &results);
  LogicalResult
  emitChoice(Location loc, Value condition, TypeRange types,
             function_ref<FailureOr<SmallVector<Value>>()> onTrue,
             function_ref<FailureOr<SmallVector<Value>>()> onFalse,
             SmallVector<Value> &results);
  FailureOr<Value> read(Operation &op, Value value);

  ConversionPatternRewriter &rewriter;
  IRMapping scalars;
};

} // namespace

/// Returns the scalar of `value`, an operand of `op`.
FailureOr<Value> ScalarEmitter::read(Operation &op, Value value) {
  if (Value scalar = scalars.lookupOrNull(value))
    return scalar;
  if (!isScalar(value.getType()))
    return op.emitError() << "expected scalars in this region, got "
                          << value.getType();
  Value outer = rewriter.getRemappedValue(value);
  if (!outer)
    return op.emitError() << "'" << op.getName()
                          << "' reads a value that cannot be converted";
  return tensor::ExtractOp::create(rewriter, op.getLoc(), outer, ValueRange())
      .getResult();
}

LogicalResult
ScalarEmitter::emitChoice(Location loc, Value condition, TypeRange types,
                          function_ref<FailureOr<SmallVector<Value>>()> onTrue,
                          function_ref<FailureOr<SmallVector<Value>>()> onFalse,
                          SmallVector<Value> &results) {
  auto choice = scf::IfOp::create(rewriter, loc, types, condition,
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(rewriter);
  const function_ref<FailureOr<SmallVector<Value>>()> branches[] = {onTrue,
                                                                    onFalse};
  for (auto [region, branch] :
       llvm::zip_equal(choice->getRegions(), branches)) {
    Block &block = region.front();
    rewriter.setInsertionPointToEnd(&block);
    FailureOr<SmallVector<Value>> values = branch();
    if (failed(values))
      return failure();
    if (block.empty() || !block.back().hasTrait<OpTrait::IsTerminator>())
      scf::YieldOp::create(rewriter, loc, *values);
  }
  results.assign(choice.result_begin(), choice.result_end());
  return success();
}

LogicalResult ScalarEmitter::emitCase(stablehlo::CaseOp op, Value index,
                                      unsigned branch,
                                      SmallVector<Value> &results) {
  auto emitBranch = [&] { return emit(op->getRegion(branch), ValueRange()); };
  // Indices that are no branch choose the last one.
  if (branch + 1 == op->getNumRegions()) {
    FailureOr<SmallVector<Value>> values = emitBranch();
    if (failed(values))
      return failure();
    results = *values;
    return success();
  }
  Value number =
      createConstant(rewriter, op.getLoc(), index.getType(), APInt(64, branch));
  Value isBranch = arith::CmpIOp::create(
      rewriter, op.getLoc(), arith::CmpIPredicate::eq, index, number);
  auto emitRest = [&]() -> FailureOr<SmallVector<Value>> {
    SmallVector<Value> values;
    if (failed(emitCase(op, index, branch + 1, values)))
      return failure();
    return values;
  };
  SmallVector<Type> types =
      llvm::map_to_vector(op->getResultTypes(), getScalarType);
  return emitChoice(op.getLoc(), isBranch, types, emitBranch, emitRest,
                    results);
}

LogicalResult ScalarEmitter::emitWhile(stablehlo::WhileOp op) {
  SmallVector<Value> inits;
  for (Value operand : op->getOperands()) {
    FailureOr<Value> value = read(*op, operand);
    if (failed(value))
      return failure();
    inits.push_back(*value);
  }
  Location loc = op.getLoc();
  SmallVector<Type> types =
      llvm::map_to_vector(inits, [](Value value) { return value.getType(); });
  auto loop = scf::WhileOp::create(rewriter, loc, types, inits);
  SmallVector<Location> locations(types.size(), loc);
  OpBuilder::InsertionGuard guard(rewriter);
  Block *before = rewriter.createBlock(&loop.getBefore(), {}, types, locations);
  FailureOr<SmallVector<Value>> condition =
      emit(op->getRegion(0), before->getArguments());
  if (failed(condition))
    return failure();
  scf::ConditionOp::create(rewriter, loc, condition->front(),
                           before->getArguments());
  Block *after = rewriter.createBlock(&loop.getAfter(), {}, types, locations);
  FailureOr<SmallVector<Value>> next =
      emit(op->getRegion(1), after->getArguments());
  if (failed(next))
    return failure();
  scf::YieldOp::create(rewriter, loc, *next);
  scalars.map(op->getResults(), loop.getResults());
  return success();
}

LogicalResult ScalarEmitter::emit(Operation &op) {
  for (Type type : op.getResultTypes())
    if (!isScalar(type))
      return op.emitError() << "expected scalars in this region, got " << type;
  if (auto loop = dyn_cast<stablehlo::WhileOp>(op))
    return emitWhile(loop);
  SmallVector<Value> operands;
  for (Value operand : op.getOperands()) {
    FailureOr<Value> value = read(op, operand);
    if (failed(value))
      return failure();
    operands.push_back(*value);
  }
  if (isElementwise(&op)) {
    Value result = emitElementwise(rewriter, &op, operands);
    if (!result)
      return op.emitError() << "'" << op.getName() << "' has no scalar form";
    scalars.map(op.getResult(0), result);
    return success();
  }
  if (auto constant = dyn_cast<stablehlo::ConstantOp>(op)) {
    auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!elements)
      return op.emitError() << "expected a dense constant in this region";
    Type type = getScalarType(elements.getType());
    TypedAttr attribute;
    if (auto number = dyn_cast<FloatAttr>(*elements.value_begin<Attribute>()))
      attribute = number;
    else
      attribute = rewriter.getIntegerAttr(type, *elements.value_begin<APInt>());
    Value result = arith::ConstantOp::create(rewriter, op.getLoc(), attribute);
    scalars.map(op.getResult(0), result);
    return success();
  }
  if (isa<stablehlo::BroadcastInDimOp, stablehlo::ReshapeOp,
          stablehlo::OptimizationBarrierOp, stablehlo::TransposeOp>(op)) {
    scalars.map(op.getResults(), operands);
    return success();
  }
  SmallVector<Value> results;
  if (auto choice = dyn_cast<stablehlo::IfOp>(op)) {
    SmallVector<Type> types =
        llvm::map_to_vector(op.getResultTypes(), getScalarType);
    if (failed(emitChoice(
            op.getLoc(), operands.front(), types,
            [&] { return emit(op.getRegion(0), ValueRange()); },
            [&] { return emit(op.getRegion(1), ValueRange()); }, results)))
      return failure();
    scalars.map(op.getResults(), results);
    return success();
  }
  if (auto choice = dyn_cast<stablehlo::CaseOp>(op)) {
    if (failed(emitCase(choice, operands.front(), 0, results)))
      return failure();
    scalars.map(op.getResults(), results);
    return success();
  }
  if (isa<stablehlo::MapOp>(op)) {
    FailureOr<SmallVector<Value>> values = emit(op.getRegion(0), operands);
    if (failed(values))
      return failure();
    scalars.map(op.getResults(), *values);
    return success();
  }
  return op.emitError() << "'" << op.getName()
                        << "' is not supported in a region of scalars";
}

FailureOr<SmallVector<Value>> ScalarEmitter::emit(Region &region,
                                                  ValueRange arguments) {
  Block &block = region.front();
  scalars.map(block.getArguments(), arguments);
  for (Operation &op : block.without_terminator())
    if (failed(emit(op)))
      return failure();
  SmallVector<Value> results;
  for (Value operand : block.getTerminator()->getOperands()) {
    FailureOr<Value> value = read(*block.getTerminator(), operand);
    if (failed(value))
      return failure();
    results.push_back(*value);
  }
  return results;
}

FailureOr<SmallVector<Value>>
mlir::pathways::emitScalarRegion(ConversionPatternRewriter &rewriter,
                                 Region &region, ValueRange arguments) {
  return ScalarEmitter(rewriter).emit(region, arguments);
}

Operation *mlir::pathways::getOnlyOperation(Region &region) {
  Block &block = region.front();
  if (block.getNumArguments() != 2 || !llvm::hasNItems(block, 2))
    return nullptr;
  Operation *op = &block.front(), *terminator = block.getTerminator();
  if (!isElementwise(op) || op->getNumOperands() != 2 ||
      terminator->getNumOperands() != 1 ||
      terminator->getOperand(0) != op->getResult(0))
    return nullptr;
  Value left = block.getArgument(0), right = block.getArgument(1);
  if (op->getOperand(0) == left && op->getOperand(1) == right)
    return op;
  using namespace stablehlo;
  bool isCommutative = isa<AddOp, MulOp, MaxOp, MinOp, AndOp, OrOp, XorOp>(op);
  return isCommutative && op->getOperand(0) == right &&
                 op->getOperand(1) == left
             ? op
             : nullptr;
}

/// Returns true if `op` is in a region that is emitted on scalars.
static bool isInScalarRegion(Operation *op) {
  using namespace stablehlo;
  for (op = op->getParentOp(); op; op = op->getParentOp())
    if (isa_and_present<StableHloDialect>(op->getDialect()) &&
        !isa<IfOp, CaseOp, WhileOp>(op))
      return true;
  return false;
}

void mlir::pathways::inlineScalarCalls(Operation *module) {
  // A function that calls itself never ends, so the depth is limited: calls
  // that stay are refused.
  constexpr int kMaxDepth = 64;
  SymbolTableCollection symbols;
  for (int depth = 0; depth < kMaxDepth; ++depth) {
    SmallVector<func::CallOp> calls;
    module->walk([&](func::CallOp call) {
      if (isInScalarRegion(call))
        calls.push_back(call);
    });
    bool changes = false;
    for (func::CallOp call : calls) {
      auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(
          call, call.getCalleeAttr());
      if (!callee || !callee.getBody().hasOneBlock() ||
          callee->isAncestor(call))
        continue;
      OpBuilder b(call);
      IRMapping values;
      Block &body = callee.getBody().front();
      values.map(body.getArguments(), call.getOperands());
      for (Operation &op : body.without_terminator())
        b.clone(op, values);
      for (auto [result, value] : llvm::zip_equal(
               call.getResults(), body.getTerminator()->getOperands()))
        result.replaceAllUsesWith(values.lookupOrDefault(value));
      call.erase();
      changes = true;
    }
    if (!changes)
      return;
  }
}

//===- LowerChlo.cpp - Replacement of operations by definitions -----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CustomCalls.h"
#include "pathways/Dialect/StableHlo/StableHlo.h"
#include "pathways/Import/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::pathways {
#define GEN_PASS_DEF_LOWERCHLO
#include "pathways/Import/Passes.h.inc"
} // namespace mlir::pathways

using namespace mlir;
using namespace mlir::pathways;

//===----------------------------------------------------------------------===//
// Composites
//===----------------------------------------------------------------------===//

namespace {

/// Replaces composites by the bodies of their decompositions.
class Inliner {
public:
  explicit Inliner(ModuleOp module) : symbols(module) {}

  /// Replaces the composites of `function`. Fails with a diagnostic.
  LogicalResult expand(func::FuncOp function);

  /// Erases private functions that only composites used.
  void eraseUnused(ModuleOp module);

private:
  LogicalResult inlineBody(stablehlo::CompositeOp op);

  enum class State { Expanding, Expanded };
  SymbolTable symbols;
  DenseMap<func::FuncOp, State> states;
  /// Decompositions that were inlined, callers of composites after callees.
  llvm::SetVector<func::FuncOp> decompositions;
};

} // namespace

LogicalResult Inliner::inlineBody(stablehlo::CompositeOp op) {
  auto callee = symbols.lookup<func::FuncOp>(op.getDecomposition());
  if (!callee || !callee.getBody().hasOneBlock())
    return op.emitOpError("expected decomposition @")
           << op.getDecomposition() << " to be a function with one block";
  auto state = states.find(callee);
  if (state != states.end() && state->second == State::Expanding)
    return op.emitOpError("expected decomposition @")
           << op.getDecomposition() << " not to contain itself";
  if (failed(expand(callee)))
    return failure();
  decompositions.insert(callee);

  OpBuilder b(op);
  IRMapping values;
  Block &body = callee.getBody().front();
  values.map(body.getArguments(), op.getInputs());
  for (Operation &inner : body.without_terminator())
    b.clone(inner, values);
  for (auto [result, returned] :
       llvm::zip_equal(op.getResults(), body.getTerminator()->getOperands()))
    result.replaceAllUsesWith(values.lookupOrDefault(returned));
  op.erase();
  return success();
}

LogicalResult Inliner::expand(func::FuncOp function) {
  auto [state, isNew] = states.try_emplace(function, State::Expanding);
  if (!isNew)
    return success();
  SmallVector<stablehlo::CompositeOp> composites;
  function.walk([&](stablehlo::CompositeOp op) { composites.push_back(op); });
  for (stablehlo::CompositeOp op : composites) {
    if (succeeded(lowerKnownComposite(op)))
      continue;
    if (failed(inlineBody(op)))
      return failure();
  }
  states[function] = State::Expanded;
  return success();
}

void Inliner::eraseUnused(ModuleOp module) {
  for (func::FuncOp function : llvm::reverse(decompositions))
    if (function.isPrivate() && function.symbolKnownUseEmpty(module))
      function.erase();
}

//===----------------------------------------------------------------------===//
// top_k
//===----------------------------------------------------------------------===//

void mlir::pathways::lowerTopK(Operation *op, Value operand, bool isLargest) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  auto type = cast<RankedTensorType>(operand.getType());
  auto valuesType = cast<RankedTensorType>(op->getResult(0).getType());
  auto indicesType = cast<RankedTensorType>(op->getResult(1).getType());
  int64_t last = type.getRank() - 1;
  auto allIndicesType = type.clone(indicesType.getElementType());
  Value iota = stablehlo::IotaOp::create(b, allIndicesType, last);
  auto sort = stablehlo::SortOp::create(b, TypeRange{type, allIndicesType},
                                        ValueRange{operand, iota}, last,
                                        /*is_stable=*/true);

  OpBuilder::InsertionGuard guard(b);
  auto scalar = RankedTensorType::get({}, type.getElementType());
  auto index = RankedTensorType::get({}, allIndicesType.getElementType());
  Location loc = op->getLoc();
  Block *block =
      b.createBlock(&sort.getComparator(), {}, {scalar, scalar, index, index},
                    {loc, loc, loc, loc});
  // The total order puts NaN before infinity, and -NaN last.
  stablehlo::ComparisonTypeAttr kind;
  if (isa<FloatType>(type.getElementType()))
    kind = stablehlo::ComparisonTypeAttr::get(
        b.getContext(), stablehlo::ComparisonType::TOTALORDER);
  Value isBefore = stablehlo::CompareOp::create(
      b, RankedTensorType::get({}, b.getI1Type()), block->getArgument(0),
      block->getArgument(1),
      isLargest ? stablehlo::ComparisonDirection::GT
                : stablehlo::ComparisonDirection::LT,
      kind);
  stablehlo::ReturnOp::create(b, isBefore);

  b.setInsertionPoint(op);
  SmallVector<int64_t> starts(type.getRank(), 0), strides(type.getRank(), 1);
  ArrayRef<int64_t> limits = valuesType.getShape();
  for (auto [result, sorted] :
       llvm::zip_equal(op->getResults(), sort.getResults())) {
    Value slice = stablehlo::SliceOp::create(b, result.getType(), sorted,
                                             starts, limits, strides);
    result.replaceAllUsesWith(slice);
  }
  op->erase();
}

//===----------------------------------------------------------------------===//
// Batch normalization
//===----------------------------------------------------------------------===//

namespace {

/// Emits arithmetic of tensors that a batch normalization needs. f16 and bf16
/// are computed in f32, and results are rounded once.
class BatchNorm {
public:
  BatchNorm(Operation *op, int64_t feature, APFloat epsilon)
      : b(op->getLoc(), op), op(op), feature(feature),
        epsilon(epsilon.convertToFloat()) {
    auto operand = cast<RankedTensorType>(op->getOperand(0).getType());
    element = operand.getElementType();
    if (element.getIntOrFloatBitWidth() == 16)
      element = b.getF32Type();
    type = operand.clone(element);
    for (int64_t dim = 0; dim < operand.getRank(); ++dim)
      if (dim != feature) {
        others.push_back(dim);
        count *= operand.getDimSize(dim);
      }
  }

  /// Returns operand `i` with the elements that are computed.
  Value read(unsigned i) { return convert(op->getOperand(i), element); }

  Value add(Value x, Value y) { return emit<stablehlo::AddOp>(x, y); }
  Value subtract(Value x, Value y) { return emit<stablehlo::SubtractOp>(x, y); }
  Value multiply(Value x, Value y) { return emit<stablehlo::MulOp>(x, y); }
  Value divide(Value x, Value y) { return emit<stablehlo::DivOp>(x, y); }

  /// Returns `vector`, which has a value per feature, with the operand's shape.
  Value broadcast(Value vector) {
    return stablehlo::BroadcastInDimOp::create(b, type, vector, feature);
  }

  /// Returns the sums of `tensor` over all dimensions but that of features.
  Value sum(Value tensor) {
    auto scalar = RankedTensorType::get({}, element);
    Value zero = constant(scalar, 0.0);
    auto reduce = stablehlo::ReduceOp::create(
        b, RankedTensorType::get(type.getDimSize(feature), element), tensor,
        zero, others);
    OpBuilder::InsertionGuard guard(b);
    Block *block = b.createBlock(&reduce.getBody(), {}, {scalar, scalar},
                                 {op->getLoc(), op->getLoc()});
    Value result = add(block->getArgument(0), block->getArgument(1));
    stablehlo::ReturnOp::create(b, result);
    return reduce.getResult(0);
  }

  /// Returns the means of `tensor` over all dimensions but that of features.
  Value mean(Value tensor) {
    Value total = sum(tensor);
    return divide(total, constant(total.getType(), count));
  }

  Value addEpsilon(Value variance) {
    return add(variance, constant(variance.getType(), epsilon));
  }
  Value sqrt(Value x) {
    return stablehlo::SqrtOp::create(b, x.getType(), x,
                                     /*result_accuracy=*/Attribute());
  }

  /// Returns the number of elements per feature, with the shape of `vector`.
  Value elementsPerFeature(Value vector) {
    return constant(vector.getType(), count);
  }

  /// Replaces the operation by `results`.
  void replace(ArrayRef<Value> results) {
    for (auto [old, result] : llvm::zip_equal(op->getResults(), results))
      old.replaceAllUsesWith(
          convert(result, getElementTypeOrSelf(old.getType())));
    op->erase();
  }

private:
  template <typename Op> Value emit(Value x, Value y) {
    return Op::create(b, x.getType(), x, y);
  }
  Value convert(Value x, Type to) {
    auto from = cast<RankedTensorType>(x.getType());
    if (from.getElementType() == to)
      return x;
    return stablehlo::ConvertOp::create(b, from.clone(to), x);
  }
  Value constant(Type type, double value) {
    Attribute attribute = b.getFloatAttr(element, value);
    auto elements =
        DenseElementsAttr::get(cast<RankedTensorType>(type), attribute);
    return stablehlo::ConstantOp::create(b, type, elements);
  }

  ImplicitLocOpBuilder b;
  Operation *op;
  int64_t feature;
  double epsilon;
  /// Type of the operand, with elements that are computed.
  RankedTensorType type;
  Type element;
  SmallVector<int64_t> others;
  double count = 1;
};

} // namespace

static void lower(stablehlo::BatchNormInferenceOp op) {
  BatchNorm b(op, op.getFeatureIndex(), op.getEpsilon());
  Value centered = b.subtract(b.read(0), b.broadcast(b.read(3)));
  Value deviation = b.sqrt(b.addEpsilon(b.read(4)));
  Value normalized = b.divide(centered, b.broadcast(deviation));
  Value scaled = b.multiply(normalized, b.broadcast(b.read(1)));
  b.replace(b.add(scaled, b.broadcast(b.read(2))));
}

static void lower(stablehlo::BatchNormTrainingOp op) {
  BatchNorm b(op, op.getFeatureIndex(), op.getEpsilon());
  Value operand = b.read(0);
  Value mean = b.mean(operand);
  Value centered = b.subtract(operand, b.broadcast(mean));
  Value variance = b.mean(b.multiply(centered, centered));
  Value deviation = b.sqrt(b.addEpsilon(variance));
  Value normalized = b.divide(centered, b.broadcast(deviation));
  Value scaled = b.multiply(normalized, b.broadcast(b.read(1)));
  Value output = b.add(scaled, b.broadcast(b.read(2)));
  b.replace({output, mean, variance});
}

static void lower(stablehlo::BatchNormGradOp op) {
  BatchNorm b(op, op.getFeatureIndex(), op.getEpsilon());
  Value scale = b.read(1), grad = b.read(4);
  Value centered = b.subtract(b.read(0), b.broadcast(b.read(2)));
  Value variance = b.addEpsilon(b.read(3));
  Value deviation = b.sqrt(variance);
  Value normalized = b.divide(centered, b.broadcast(deviation));
  Value gradScale = b.sum(b.multiply(grad, normalized));
  Value gradOffset = b.sum(grad);
  // With n elements per feature, the gradient of the operand is
  // scale / deviation / n * (n grad - sum(grad)
  //   - centered sum(grad centered) / variance).
  Value n = b.elementsPerFeature(scale);
  Value slope = b.divide(b.sum(b.multiply(grad, centered)), variance);
  Value difference =
      b.subtract(b.multiply(grad, b.broadcast(n)), b.broadcast(gradOffset));
  difference = b.subtract(difference, b.multiply(centered, b.broadcast(slope)));
  Value factor = b.divide(b.divide(scale, deviation), n);
  b.replace(
      {b.multiply(difference, b.broadcast(factor)), gradScale, gradOffset});
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

namespace {

class LowerChloPass
    : public mlir::pathways::impl::LowerChloBase<LowerChloPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    Inliner inliner(module);
    for (auto function : llvm::to_vector(module.getOps<func::FuncOp>()))
      if (failed(inliner.expand(function)))
        return signalPassFailure();
    inliner.eraseUnused(module);

    module.walk([](Operation *op) {
      if (auto call = dyn_cast<stablehlo::CustomCallOp>(op))
        (void)lowerKnownCall(call);
      else if (auto topK = dyn_cast<chlo::TopKOp>(op))
        lowerTopK(topK, topK.getOperand(), /*isLargest=*/true);
      else if (auto norm = dyn_cast<stablehlo::BatchNormInferenceOp>(op))
        lower(norm);
      else if (auto norm = dyn_cast<stablehlo::BatchNormTrainingOp>(op))
        lower(norm);
      else if (auto norm = dyn_cast<stablehlo::BatchNormGradOp>(op))
        lower(norm);
    });
  }
};

} // namespace

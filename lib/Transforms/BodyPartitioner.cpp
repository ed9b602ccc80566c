//===- BodyPartitioner.cpp - From global to local view --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Walks a body once, backward to see what results are wanted like, and once
// forward. There each operation with a rule is cut as its operands are, the
// largest first, else as its results are wanted; an operand in another layout
// is brought there. What comes without work, as constants, is made in the
// layout that is asked for.
//
//===----------------------------------------------------------------------===//

#include "BodyPartitioner.h"

#include "LocalReshard.h"
#include "WidenSums.h"
#include "pathways/Analysis/ShardingRule.h"
#include "pathways/Dialect/Pathways/Layouts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::pathways;

/// A body of more operations, with what it calls, is refused.
static constexpr int64_t kMaxOps = 1 << 18;

namespace {

/// Axes of the factors of a rule.
using Cut = SmallVector<ArrayRef<Attribute>>;

class BodyPartitioner {
public:
  BodyPartitioner(func::FuncOp body, MeshAttr mesh,
                  ArrayRef<ArrayType> operands, ArrayRef<ArrayType> results,
                  SymbolTable &symbols)
      : body(body), mesh(mesh), operands(operands), results(results),
        symbols(symbols), layouts(mesh), builder(body.getLoc(), body) {}

  FailureOr<func::FuncOp> run();

private:
  /// A tensor of the body in one layout.
  struct Local {
    /// The shard; null for what is made anew in each layout. Contributions to
    /// a sum of f16 or bf16 are f32.
    Value value;
    ShardingAttr sharding;
    bool isFree() const { return !value; }
  };

  LogicalResult inlineCalls(Block &block);
  void wish(Operation *op);
  void wishLike(Value value, ShardingAttr sharding) {
    if (isa<RankedTensorType>(value.getType()))
      wanted.try_emplace(value, sharding);
  }

  void partition(Operation *op);
  /// Whether the result of `op` costs nothing to make in any layout.
  bool isFree(Operation *op);
  void cutByRule(Operation *op, const ShardingRule &rule);
  void explainGathers(Operation *op, const ShardingRule &rule);
  void computeWhole(Operation *op);

  /// Axes for the factors of `op`.
  Cut chooseCut(Operation *op, const ShardingRule &rule);
  void takeAxes(Cut &cut, const ShardingRule &rule, ArrayRef<int64_t> dims,
                ShardingAttr sharding);
  ShardingAttr getLayout(ArrayRef<int64_t> dims, const Cut &cut);
  /// Whether `init` is a tensor of what changes nothing.
  bool startsNeutral(Value init, ReductionKind kind);
  Value makeFilled(TypedAttr value, RankedTensorType type);
  /// `value` with other elements, if it has others.
  Value narrow(Value value, Type element);
  Value widen(Value value);

  RankedTensorType typeOf(Value value) {
    return cast<RankedTensorType>(value.getType());
  }
  /// `value` of the body in the layout `sharding`.
  Value get(Value value, ShardingAttr sharding);
  Value getWhole(Value value);
  Value makeFree(Operation *op, RankedTensorType type);
  void define(Value value, Value local, ShardingAttr sharding);
  void mapCaptured(Operation *op, IRMapping &mapping);

  func::FuncOp body;
  MeshAttr mesh;
  ArrayRef<ArrayType> operands, results;
  SymbolTable &symbols;
  LocalReshard layouts;
  ImplicitLocOpBuilder builder;
  OwningOpRef<func::FuncOp> inlined; // what is walked
  llvm::DenseMap<Value, ShardingAttr> wanted;
  llvm::DenseMap<Value, Local> locals;
  llvm::DenseMap<std::pair<Value, Attribute>, Value> versions;
  llvm::DenseMap<Value, Value> scalars;
};

} // namespace

//===----------------------------------------------------------------------===//
// Before
//===----------------------------------------------------------------------===//

/// Puts what the block calls in the place of the calls.
LogicalResult BodyPartitioner::inlineCalls(Block &block) {
  int64_t numOps = 0;
  for (auto it = block.begin(); it != block.end();) {
    Operation *op = &*it++;
    if (++numOps > kMaxOps)
      return body.emitOpError("has more than ")
             << kMaxOps << " operations after inlining what it calls";
    auto call = dyn_cast<func::CallOp>(op);
    if (!call)
      continue;
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    if (!callee || callee.isExternal() || !callee.getBody().hasOneBlock())
      return call.emitOpError("calls '")
             << call.getCallee() << "', which has no body of one block";
    IRMapping mapping;
    mapping.map(callee.getArguments(), call.getOperands());
    OpBuilder inner(call);
    Operation *first = nullptr;
    for (Operation &inlinedOp : callee.front().without_terminator()) {
      Operation *copy = inner.clone(inlinedOp, mapping);
      if (!first)
        first = copy;
    }
    for (auto [result, value] : llvm::zip_equal(
             call.getResults(), callee.front().getTerminator()->getOperands()))
      result.replaceAllUsesWith(mapping.lookup(value));
    // What came in may call in turn.
    if (first)
      it = first->getIterator();
    call.erase();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

/// Gives to factors without axes those of a tensor, where these cut it into
/// equal blocks and cut no other factor.
void BodyPartitioner::takeAxes(Cut &cut, const ShardingRule &rule,
                               ArrayRef<int64_t> dims, ShardingAttr sharding) {
  for (auto [factor, axes] : llvm::zip_equal(dims, sharding.getDims())) {
    if (factor == ShardingRule::kWhole || axes.empty() ||
        !rule.factors[factor].isCuttable || !cut[factor].empty() ||
        rule.factors[factor].size % layouts.getNumBlocks(axes.getValue()) != 0)
      continue;
    bool isTaken = llvm::any_of(cut, [&](ArrayRef<Attribute> others) {
      return llvm::any_of(axes, [&](Attribute axis) {
        return llvm::is_contained(others, axis);
      });
    });
    if (!isTaken)
      cut[factor] = axes.getValue();
  }
}

Cut BodyPartitioner::chooseCut(Operation *op, const ShardingRule &rule) {
  Cut cut(rule.factors.size());
  SmallVector<unsigned> order;
  for (auto [index, operand] : llvm::enumerate(op->getOperands()))
    if (isa<RankedTensorType>(operand.getType()) &&
        !locals.lookup(operand).isFree())
      order.push_back(index);
  llvm::stable_sort(order, [&](unsigned a, unsigned b) {
    return typeOf(op->getOperand(a)).getNumElements() >
           typeOf(op->getOperand(b)).getNumElements();
  });
  for (unsigned index : order)
    takeAxes(cut, rule, rule.operands[index],
             locals.lookup(op->getOperand(index)).sharding);
  for (auto [dims, result] : llvm::zip_equal(rule.results, op->getResults()))
    if (ShardingAttr sharding = wanted.lookup(result))
      takeAxes(cut, rule, dims, sharding);
  return cut;
}

ShardingAttr BodyPartitioner::getLayout(ArrayRef<int64_t> dims,
                                        const Cut &cut) {
  SmallVector<ArrayAttr> axes;
  for (int64_t factor : dims)
    axes.push_back(factor == ShardingRule::kWhole
                       ? builder.getArrayAttr({})
                       : builder.getArrayAttr(cut[factor]));
  return ShardingAttr::get(builder.getContext(), axes);
}

/// What results of `op` are wanted like says what its operands are.
void BodyPartitioner::wish(Operation *op) {
  std::optional<ShardingRule> rule = getShardingRule(op);
  if (!rule)
    return;
  Cut cut(rule->factors.size());
  for (auto [dims, result] : llvm::zip_equal(rule->results, op->getResults()))
    if (ShardingAttr sharding = wanted.lookup(result))
      takeAxes(cut, *rule, dims, sharding);
  for (auto [dims, operand] :
       llvm::zip_equal(rule->operands, op->getOperands()))
    wishLike(operand, getLayout(dims, cut));
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

void BodyPartitioner::define(Value value, Value local, ShardingAttr sharding) {
  locals[value] = {local, sharding};
  versions[{value, sharding}] = local;
}

bool BodyPartitioner::isFree(Operation *op) {
  if (op->getNumResults() != 1)
    return false;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || !type.hasStaticShape() || type.getEncoding() ||
      !isCommunicable(type.getElementType()))
    return false;
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return fill.getInputs()[0].getType() == type.getElementType();
  DenseElementsAttr constant;
  return isa<tensor::EmptyOp, tensor::SplatOp>(op) ||
         (matchPattern(op, m_Constant(&constant)) && constant.isSplat());
}

Value BodyPartitioner::makeFilled(TypedAttr value, RankedTensorType type) {
  return arith::ConstantOp::create(
      builder, cast<TypedAttr>(DenseElementsAttr::get(type, value)));
}

Value BodyPartitioner::narrow(Value value, Type element) {
  RankedTensorType type = typeOf(value);
  if (type.getElementType() == element)
    return value;
  return arith::TruncFOp::create(builder, type.clone(element), value);
}

Value BodyPartitioner::widen(Value value) {
  RankedTensorType type = typeOf(value);
  if (!isWidened(type.getElementType()))
    return value;
  return arith::ExtFOp::create(builder, type.clone(builder.getF32Type()),
                               value);
}

/// The result of `op` on a tensor of `type`.
Value BodyPartitioner::makeFree(Operation *op, RankedTensorType type) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](tensor::EmptyOp) -> Value {
        return tensor::EmptyOp::create(builder, type.getShape(),
                                       type.getElementType());
      })
      .Case([&](tensor::SplatOp splat) -> Value {
        return tensor::SplatOp::create(builder,
                                       scalars.lookup(splat.getInput()), type);
      })
      .Case([&](linalg::FillOp fill) -> Value {
        Value empty = tensor::EmptyOp::create(builder, type.getShape(),
                                              type.getElementType());
        return linalg::FillOp::create(
                   builder, scalars.lookup(fill.getInputs()[0]), empty)
            .getResult(0);
      })
      .Default([&](Operation *op) -> Value {
        DenseElementsAttr constant;
        matchPattern(op, m_Constant(&constant));
        return arith::ConstantOp::create(
            builder,
            cast<TypedAttr>(constant.resizeSplat(cast<ShapedType>(type))));
      });
}

Value BodyPartitioner::get(Value value, ShardingAttr sharding) {
  Value &version = versions[{value, sharding}];
  if (version)
    return version;
  const Local &local = locals.find(value)->second;
  if (local.isFree())
    return version = makeFree(value.getDefiningOp(),
                              layouts.getShardType(typeOf(value), sharding));
  Value made = layouts.convert(builder, local.value, typeOf(value),
                               local.sharding, sharding);
  return version = narrow(made, typeOf(value).getElementType());
}

Value BodyPartitioner::getWhole(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !locals.contains(value))
    return scalars.lookup(value);
  return get(value, layouts.getWhole(type.getRank()));
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

void BodyPartitioner::mapCaptured(Operation *op, IRMapping &mapping) {
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  for (Value value : captured)
    mapping.map(value, getWhole(value));
}

/// Everybody computes all of it.
void BodyPartitioner::computeWhole(Operation *op) {
  IRMapping mapping;
  bool isGathered = false;
  auto note = [&](Value value) {
    auto local = locals.find(value);
    isGathered |=
        local != locals.end() && !local->second.isFree() &&
        local->second.sharding != layouts.getWhole(typeOf(value).getRank());
  };
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  llvm::for_each(op->getOperands(), note);
  llvm::for_each(captured, note);
  if (isGathered)
    op->emitRemark() << "'" << op->getName()
                     << "' has no way to be cut like its operands; everybody "
                        "gathers these and computes all of it";
  for (Value operand : op->getOperands())
    mapping.map(operand, getWhole(operand));
  mapCaptured(op, mapping);
  Operation *copy = builder.clone(*op, mapping);
  for (auto [result, local] :
       llvm::zip_equal(op->getResults(), copy->getResults())) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (type && type.hasStaticShape())
      define(result, local, layouts.getWhole(type.getRank()));
    else
      scalars[result] = local;
  }
}

bool BodyPartitioner::startsNeutral(Value init, ReductionKind kind) {
  Operation *op = init.getDefiningOp();
  if (!op)
    return false;
  Attribute value;
  if (auto fill = dyn_cast<linalg::FillOp>(op)) {
    matchPattern(fill.getInputs()[0], m_Constant(&value));
  } else if (matchPattern(op, m_Constant(&value))) {
    auto dense = dyn_cast<DenseElementsAttr>(value);
    value = dense && dense.isSplat() ? dense.getSplatValue<Attribute>()
                                     : Attribute();
  }
  if (!value)
    return false;
  Type type = typeOf(init).getElementType();
  // Both zeros: a sum that starts with +0 has it in each contribution too.
  auto number = dyn_cast<FloatAttr>(value);
  if (number && kind == ReductionKind::Add)
    return number.getValue().isZero();
  return value == getNeutral(kind, type);
}

/// Says which dimensions come together because the operation needs all of them.
void BodyPartitioner::explainGathers(Operation *op, const ShardingRule &rule) {
  for (auto [index, dims] : llvm::enumerate(rule.operands)) {
    Local local = locals.lookup(op->getOperand(index));
    if (local.isFree())
      continue;
    for (auto [dim, factor] : llvm::enumerate(dims))
      if (!local.sharding.getDims()[dim].empty() &&
          (factor == ShardingRule::kWhole || !rule.factors[factor].isCuttable))
        op->emitRemark() << "'" << op->getName() << "' needs all of dimension "
                         << dim << " of operand " << index
                         << ", which is gathered";
  }
}

void BodyPartitioner::cutByRule(Operation *op, const ShardingRule &rule) {
  explainGathers(op, rule);
  Cut cut = chooseCut(op, rule);
  SmallVector<StringAttr> reduced;
  for (auto [factor, axes] : llvm::zip_equal(rule.factors, cut))
    if (factor.isReduced)
      for (Attribute axis : axes)
        reduced.push_back(cast<StringAttr>(axis));

  SmallVector<Value> inputs;
  for (auto [dims, operand] : llvm::zip_equal(rule.operands, op->getOperands()))
    inputs.push_back(isa<RankedTensorType>(operand.getType())
                         ? get(operand, getLayout(dims, cut))
                         : scalars.lookup(operand));
  // Contributions start with nothing; what they start from is added once.
  SmallVector<Value> late(op->getNumResults());
  if (!reduced.empty())
    for (auto [index, init] : llvm::enumerate(rule.inits)) {
      ReductionKind kind = *rule.reductions[index];
      if (startsNeutral(op->getOperand(*init), kind))
        continue;
      auto type = cast<RankedTensorType>(inputs[*init].getType());
      late[index] = std::exchange(
          inputs[*init],
          makeFilled(getNeutral(kind, type.getElementType()), type));
    }

  // Numbers of loops stay global.
  SmallVector<Value> offsets(rule.factors.size());
  op->walk([&](linalg::IndexOp index) {
    if (index->getParentOp() != op)
      return;
    uint64_t loop = index.getDim();
    if (cut[loop].empty() || offsets[loop])
      return;
    Value block = arith::ConstantIndexOp::create(
        builder, rule.factors[loop].size / layouts.getNumBlocks(cut[loop]));
    offsets[loop] = arith::MulIOp::create(
        builder, layouts.getBlockNumber(builder, cut[loop]), block);
  });

  IRMapping mapping;
  mapCaptured(op, mapping);
  SmallVector<Type> types;
  for (auto [dims, result] : llvm::zip_equal(rule.results, op->getResults()))
    types.push_back(layouts.getShardType(typeOf(result), getLayout(dims, cut)));
  Operation *copy =
      op->clone(mapping, Operation::CloneOptions::all().cloneOperands(false));
  builder.insert(copy);
  copy->setOperands(inputs);
  for (auto [result, type] : llvm::zip_equal(copy->getResults(), types))
    result.setType(type);
  if (auto shardable = dyn_cast<ShardableOpInterface>(copy))
    shardable.becomeShardOf(op);
  copy->walk([&](linalg::IndexOp index) {
    if (index->getParentOp() != copy || !offsets[index.getDim()])
      return;
    OpBuilder inner(index->getContext());
    inner.setInsertionPointAfter(index);
    auto global = arith::AddIOp::create(inner, index.getLoc(), index,
                                        offsets[index.getDim()]);
    index.getResult().replaceAllUsesExcept(global, global);
  });

  if (!reduced.empty()) {
    SmallVector<Value> inits;
    for (std::optional<unsigned> init : rule.inits)
      inits.push_back(widen(inputs[*init]));
    if (llvm::any_of(op->getResultTypes(), [](Type type) {
          return isWidened(getElementTypeOrSelf(type));
        })) {
      IRRewriter rewriter(builder.getContext());
      copy->moveBefore(builder.getInsertionBlock(),
                       builder.getInsertionPoint());
      copy = widenSums(rewriter, cast<linalg::LinalgOp>(copy), inits);
    }
  }

  for (auto [index, result] : llvm::enumerate(op->getResults())) {
    ShardingAttr layout = getLayout(rule.results[index], cut);
    Value local = copy->getResult(index);
    if (reduced.empty()) {
      define(result, local, layout);
      continue;
    }
    auto partial = ShardingAttr::get(
        builder.getContext(), layout.getDims(),
        ReductionKindAttr::get(builder.getContext(), *rule.reductions[index]),
        reduced);
    if (!late[index]) {
      define(result, local, partial);
      continue;
    }
    Value sum =
        layouts.convert(builder, local, typeOf(result), partial, layout);
    OperationState state(op->getLoc(), rule.combiners[index]);
    state.addOperands({widen(late[index]), sum});
    state.addTypes(sum.getType());
    define(result,
           narrow(builder.create(state)->getResult(0),
                  typeOf(result).getElementType()),
           layout);
  }
}

void BodyPartitioner::partition(Operation *op) {
  builder.setLoc(op->getLoc());
  if (isFree(op)) {
    locals[op->getResult(0)] = {};
    return;
  }
  if (std::optional<ShardingRule> rule = getShardingRule(op))
    return cutByRule(op, *rule);
  computeWhole(op);
}

//===----------------------------------------------------------------------===//
// Whole
//===----------------------------------------------------------------------===//

FailureOr<func::FuncOp> BodyPartitioner::run() {
  inlined = body.clone();
  if (failed(inlineCalls(inlined->front())))
    return failure();

  SmallVector<Type> inputTypes, resultTypes;
  bool hasPadding = false;
  for (ArrayType type : operands) {
    inputTypes.push_back(getShardTensorType(type, mesh));
    hasPadding |= !isEven(type, mesh);
  }
  for (ArrayType type : results)
    resultTypes.push_back(getShardTensorType(type, mesh));
  builder.clearInsertionPoint();
  auto function =
      func::FuncOp::create(builder, (body.getSymName() + "_sharded").str(),
                           builder.getFunctionType(inputTypes, resultTypes));
  function.setPrivate();
  function->setAttr(PathwaysDialect::kLocalViewAttrName, builder.getUnitAttr());
  // Padding is cut off before anything is computed.
  if (hasPadding)
    function->setAttr(PathwaysDialect::kPointwiseAttrName,
                      builder.getUnitAttr());
  Block *block = function.addEntryBlock();
  builder.setInsertionPointToStart(block);

  Block &from = inlined->front();
  Operation *end = from.getTerminator();
  for (auto [value, type] : llvm::zip_equal(end->getOperands(), results))
    wishLike(value, layouts.getEven(typeOf(value),
                                    layouts.normalize(type.getSharding())));
  for (Operation &op : llvm::reverse(from.without_terminator()))
    wish(&op);

  for (auto [argument, type, shard] :
       llvm::zip_equal(from.getArguments(), operands, block->getArguments())) {
    if (argument.use_empty())
      continue;
    ShardingAttr sharding = layouts.normalize(type.getSharding());
    Value local = layouts.makeEven(builder, shard, typeOf(argument), sharding);
    define(argument, local, layouts.getEven(typeOf(argument), sharding));
  }
  for (Operation &op : from.without_terminator())
    partition(&op);
  builder.setLoc(end->getLoc());
  SmallVector<Value> values;
  for (auto [value, type] : llvm::zip_equal(end->getOperands(), results)) {
    ShardingAttr sharding = layouts.normalize(type.getSharding());
    Value local = get(value, layouts.getEven(typeOf(value), sharding));
    values.push_back(
        layouts.makeUneven(builder, local, typeOf(value), sharding));
  }
  func::ReturnOp::create(builder, values);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*block)))
    if (isOpTriviallyDead(&op))
      op.erase();
  symbols.insert(function);
  return function;
}

FailureOr<func::FuncOp> mlir::pathways::partitionBody(
    func::FuncOp body, MeshAttr mesh, ArrayRef<ArrayType> operands,
    ArrayRef<ArrayType> results, SymbolTable &symbols) {
  return BodyPartitioner(body, mesh, operands, results, symbols).run();
}

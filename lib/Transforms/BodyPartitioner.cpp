//===- BodyPartitioner.cpp - From global to local view --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Walks a body once, from its arguments to what it returns, and cuts each
// operation that has a rule in the cheapest way, where operands lie in some
// layout by now and results are wanted as BodySharding says. An operand in
// another layout is brought there. What comes without work, as constants, is
// made in the layout that is asked for.
//
//===----------------------------------------------------------------------===//

#include "BodyPartitioner.h"

#include "BlockLookup.h"
#include "InlineBody.h"
#include "LocalReshard.h"
#include "WidenSums.h"
#include "pathways/Analysis/BodySharding.h"
#include "pathways/Analysis/CutChoice.h"
#include "pathways/Dialect/Pathways/Layouts.h"
#include "pathways/Dialect/Pathways/UniformControl.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::pathways;

/// Loops that communicate inside are written out up to so many times.
static constexpr uint64_t kMaxWrittenOut = 64;

namespace {

class BodyPartitioner {
public:
  BodyPartitioner(func::FuncOp body, MeshAttr mesh,
                  ArrayRef<ArrayType> operands, ArrayRef<ArrayType> results,
                  SymbolTable &symbols, const BodyExplanations &explanations)
      : body(body), mesh(mesh), operands(operands), results(results),
        symbols(symbols), isExplained(explanations.shardings),
        layouts(mesh, explanations), builder(body.getLoc(), body) {}

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

  void partition(Operation *op);
  bool partitionLoop(scf::ForOp loop);
  bool partitionBranch(scf::IfOp branch);
  void partitionRegion(Block &from, Block &to, Operation *op, Operation *copy,
                       ArrayRef<ShardingAttr> carried);
  /// Layouts that what `op` with regions gives has in all of them; fails where
  /// that is not a tensor that can be cut, nor a number.
  FailureOr<SmallVector<ShardingAttr>> getCarried(Operation *op);
  Value getAs(Value value, ShardingAttr sharding) {
    return sharding ? get(value, sharding) : getWhole(value);
  }
  void defineAs(Value value, Value local, ShardingAttr sharding) {
    if (sharding)
      define(value, local, sharding);
    else
      scalars[value] = local;
  }
  bool keepOrUndo(Operation *op, Operation *copy);
  void setPlaceFor(Value value);
  /// Whether `value` comes from outside of all loops and branches.
  bool isOutside(Value value);
  void cutByRule(Operation *op, const ShardingRule &rule);
  Operation *cloneShard(Operation *op, ValueRange inputs, TypeRange types);
  void explainUneven(ConstrainOp op);
  bool cutInBlocks(Operation *op);
  void explainGathers(Operation *op, const ShardingRule &rule);
  void computeWhole(Operation *op);

  /// The cheapest axes for the factors of `op`.
  Cut chooseCut(Operation *op, const ShardingRule &rule);
  void explainCut(Operation *op, ArrayRef<CutOption> options);
  void explainLayouts(Operation *op);
  ShardingAttr getLayout(ArrayRef<int64_t> dims, const Cut &cut) {
    return mlir::pathways::getLayout(builder.getContext(), dims, cut);
  }
  bool keepContributions(Operation *op, const ShardingRule &rule);
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
  Value getContributions(Value value, ShardingAttr sharding);
  Value getWhole(Value value);
  Value makeFree(Operation *op, RankedTensorType type);
  void define(Value value, Value local, ShardingAttr sharding);
  void mapCaptured(Operation *op, IRMapping &mapping);

  func::FuncOp body;
  MeshAttr mesh;
  ArrayRef<ArrayType> operands, results;
  SymbolTable &symbols;
  bool isExplained;
  LocalReshard layouts;
  ImplicitLocOpBuilder builder;
  OwningOpRef<func::FuncOp> inlined;     // what is walked
  std::optional<BodySharding> shardings; // of its tensors
  llvm::DenseMap<Value, Local> locals;
  llvm::DenseMap<std::pair<Value, Attribute>, Value> versions;
  llvm::DenseMap<Value, Value> scalars;
  /// What is returned as contributions.
  llvm::DenseMap<Value, ShardingAttr> contributions;
  /// Operations with regions that are under way, as they were and as they are.
  SmallVector<std::pair<Operation *, Operation *>> nest;
};

} // namespace

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

Cut BodyPartitioner::chooseCut(Operation *op, const ShardingRule &rule) {
  // What a loop reads from outside is brought to a layout once, before it.
  auto isThere = [&](unsigned index, ShardingAttr layout) {
    Value operand = op->getOperand(index);
    return versions.contains({operand, layout}) || isOutside(operand);
  };
  CutProblem problem{op, rule, mesh, layouts.getRoutes(), {}, {}, isThere};
  for (Value operand : op->getOperands())
    problem.operands.push_back(isa<RankedTensorType>(operand.getType())
                                   ? locals.lookup(operand).sharding
                                   : ShardingAttr());
  for (Value result : op->getResults()) {
    ShardingAttr asked = contributions.lookup(result);
    problem.results.push_back(asked ? asked : shardings->get(result));
  }
  SmallVector<CutOption> options = rankCuts(problem);
  if (isExplained && options.size() > 1)
    explainCut(op, options);
  return options.front().cut;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

void BodyPartitioner::define(Value value, Value local, ShardingAttr sharding) {
  locals[value] = {local, sharding};
  versions[{value, sharding}] = local;
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

/// Makes what follows from `value` where `value` is, not inside of a loop or a
/// branch that it comes into: it is made once, and by all.
void BodyPartitioner::setPlaceFor(Value value) {
  for (auto [op, copy] : nest)
    if (!op->isAncestor(value.getParentBlock()->getParentOp()))
      return builder.setInsertionPoint(copy);
}

bool BodyPartitioner::isOutside(Value value) {
  return !nest.empty() &&
         !nest.front().first->isAncestor(value.getParentBlock()->getParentOp());
}

Value BodyPartitioner::get(Value value, ShardingAttr sharding) {
  Value &version = versions[{value, sharding}];
  if (version)
    return version;
  OpBuilder::InsertionGuard guard(builder);
  setPlaceFor(value);
  const Local &local = locals.find(value)->second;
  if (local.isFree())
    return version = makeFree(value.getDefiningOp(),
                              layouts.getShardType(typeOf(value), sharding));
  Value made = layouts.convert(builder, local.value, typeOf(value),
                               local.sharding, sharding);
  return version = narrow(made, typeOf(value).getElementType());
}

/// Contributions to `value`: those that there are, or all of it from one shard.
Value BodyPartitioner::getContributions(Value value, ShardingAttr sharding) {
  const Local &local = locals.find(value)->second;
  RankedTensorType type = typeOf(value);
  if (!local.isFree() &&
      local.sharding.getPartialKind() == sharding.getPartialKind() &&
      local.sharding.getPartialAxes() == sharding.getPartialAxes())
    return narrow(layouts.convert(builder, local.value, type,
                                  local.sharding.withoutPartial(),
                                  sharding.withoutPartial()),
                  type.getElementType());
  Value whole = get(value, sharding.withoutPartial());
  Value isFirst;
  Value zero = arith::ConstantIndexOp::create(builder, 0);
  for (StringAttr axis : sharding.getPartialAxes()) {
    Value index = ShardIndexOp::create(builder, builder.getIndexType(), axis);
    Value isZero =
        arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, index, zero);
    isFirst =
        isFirst ? arith::AndIOp::create(builder, isFirst, isZero) : isZero;
  }
  Value nothing = makeFilled(
      getNeutral(sharding.getPartialKind().getValue(), type.getElementType()),
      typeOf(whole));
  return arith::SelectOp::create(builder, isFirst, whole, nothing);
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

/// A copy of `op` that computes a shard of `types` from shards of operands.
Operation *BodyPartitioner::cloneShard(Operation *op, ValueRange inputs,
                                       TypeRange types) {
  IRMapping mapping;
  mapCaptured(op, mapping);
  Operation *copy =
      op->clone(mapping, Operation::CloneOptions::all().cloneOperands(false));
  builder.insert(copy);
  copy->setOperands(inputs);
  for (auto [result, type] : llvm::zip_equal(copy->getResults(), types))
    result.setType(type);
  if (auto shardable = dyn_cast<ShardableOpInterface>(copy))
    shardable.becomeShardOf(op);
  return copy;
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
    ArrayRef<Attribute> axes = cut[loop].getValue();
    if (axes.empty() || offsets[loop])
      return;
    Value block = arith::ConstantIndexOp::create(
        builder, rule.factors[loop].size / layouts.getNumBlocks(axes));
    offsets[loop] = arith::MulIOp::create(
        builder, layouts.getBlockNumber(builder, axes), block);
  });

  SmallVector<Type> types;
  for (auto [dims, result] : llvm::zip_equal(rule.results, op->getResults()))
    types.push_back(layouts.getShardType(typeOf(result), getLayout(dims, cut)));
  Operation *copy = cloneShard(op, inputs, types);
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

/// Cuts a look-up in a table that is cut along the dimension of the indices:
/// everybody looks up what it has. False where `op` is none.
bool BodyPartitioner::cutInBlocks(Operation *op) {
  auto gather = dyn_cast<tensor::GatherOp>(op);
  if (!gather || gather.getGatherDims().size() != 1)
    return false;
  ShardingRule rule = getBlockLookupRule(gather);
  Cut cut = chooseCut(op, rule);
  if (cut.back().empty())
    return false;
  Value block = get(gather.getSource(), getLayout(rule.operands[0], cut));
  Value indices = get(gather.getIndices(), getLayout(rule.operands[1], cut));
  Value size = arith::ConstantIndexOp::create(
      builder,
      rule.factors.back().size / layouts.getNumBlocks(cut.back().getValue()));
  Value begin = arith::MulIOp::create(
      builder, layouts.getBlockNumber(builder, cut.back().getValue()), size);
  Value local = lookUpInBlock(builder, gather, block, indices, begin);
  SmallVector<StringAttr> axes;
  for (Attribute axis : cut.back())
    axes.push_back(cast<StringAttr>(axis));
  Type element = typeOf(gather.getResult()).getElementType();
  define(gather.getResult(), local,
         ShardingAttr::get(builder.getContext(),
                           getLayout(rule.results[0], cut).getDims(),
                           ReductionKindAttr::get(builder.getContext(),
                                                  getLookupReduction(element)),
                           axes));
  return true;
}

/// Whether `op` of contributions gives contributions to what `op` gives: it
/// adds them, scales them or only moves elements.
static bool isLinear(Operation *op) {
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp,
          tensor::ExtractSliceOp, linalg::TransposeOp>(op))
    return true;
  auto isScale = [&](unsigned index) {
    Operation *factor = op->getOperand(index).getDefiningOp();
    return factor && isMadeAnywhere(factor);
  };
  if (isa<arith::MulFOp, arith::MulIOp>(op))
    return isScale(0) != isScale(1);
  if (isa<arith::DivFOp>(op))
    return isScale(1) && !isScale(0);
  return isa<arith::AddFOp, arith::AddIOp, arith::NegFOp, arith::SubFOp,
             arith::SubIOp>(op) &&
         llvm::none_of(llvm::seq<unsigned>(0, op->getNumOperands()), isScale);
}

/// Where all that `op` reads are contributions to sums, and it may be done with
/// them as well as with the sums, does so: they are added up later, once.
bool BodyPartitioner::keepContributions(Operation *op,
                                        const ShardingRule &rule) {
  if (!isLinear(op) || isWidened(typeOf(op->getResult(0)).getElementType()))
    return false;
  ShardingAttr common;
  bool areAllThere = true;
  Cut cut(rule.factors.size(), builder.getArrayAttr({}));
  for (auto [dims, operand] :
       llvm::zip_equal(rule.operands, op->getOperands())) {
    Local local = locals.lookup(operand);
    if (local.isFree())
      continue;
    if (!local.sharding.isPartial() || (common && common != local.sharding) ||
        local.sharding.getPartialKind().getValue() != ReductionKind::Add)
      return false;
    common = local.sharding;
    areAllThere &= versions.contains({operand, common.withoutPartial()});
    for (auto [factor, axes] : llvm::zip_equal(dims, common.getDims())) {
      if (axes.empty())
        continue;
      if (factor == ShardingRule::kWhole || !rule.factors[factor].isCuttable)
        return false;
      cut[factor] = axes;
    }
  }
  if (!common || areAllThere)
    return false;
  SmallVector<Value> inputs;
  for (auto [dims, operand] : llvm::zip_equal(rule.operands, op->getOperands()))
    inputs.push_back(locals.lookup(operand).isFree()
                         ? get(operand, getLayout(dims, cut))
                         : locals.lookup(operand).value);
  ShardingAttr layout = getLayout(rule.results[0], cut);
  Value result = op->getResult(0);
  Operation *copy =
      cloneShard(op, inputs, layouts.getShardType(typeOf(result), layout));
  define(result, copy->getResult(0),
         ShardingAttr::get(builder.getContext(), layout.getDims(),
                           common.getPartialKind(), common.getPartialAxes()));
  return true;
}

/// Says which dimensions are not cut as they are asked to be.
void BodyPartitioner::explainUneven(ConstrainOp op) {
  ShardingAttr sharding = layouts.normalize(op.getSharding());
  ShardingAttr even = layouts.getEven(typeOf(op.getSource()), sharding);
  for (auto [dim, axes] : llvm::enumerate(sharding.getDims()))
    if (axes != even.getDims()[dim])
      op.emitRemark() << "dimension " << dim << " of "
                      << typeOf(op.getSource()).getDimSize(dim)
                      << " elements is not cut into "
                      << layouts.getNumBlocks(axes.getValue())
                      << " equal blocks; everybody has all of it";
}

void BodyPartitioner::partition(Operation *op) {
  builder.setLoc(op->getLoc());
  if (isMadeAnywhere(op)) {
    locals[op->getResult(0)] = {};
    return;
  }
  if (auto constrain = dyn_cast<ConstrainOp>(op)) {
    ShardingAttr layout = shardings->get(constrain.getResult()).getClosed();
    explainUneven(constrain);
    define(constrain.getResult(), get(constrain.getSource(), layout), layout);
  } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
    if (!partitionLoop(loop))
      computeWhole(op);
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    if (!partitionBranch(branch))
      computeWhole(op);
  } else if (std::optional<ShardingRule> rule = getShardingRule(op)) {
    if (!cutInBlocks(op) && !keepContributions(op, *rule))
      cutByRule(op, *rule);
  } else {
    computeWhole(op);
  }
  if (isExplained)
    explainLayouts(op);
}

//===----------------------------------------------------------------------===//
// Loops and branches
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<ShardingAttr>>
BodyPartitioner::getCarried(Operation *op) {
  SmallVector<ShardingAttr> carried;
  for (Value result : op->getResults()) {
    ShardingAttr sharding = shardings->get(result);
    if (isa<ShapedType>(result.getType()) &&
        (!sharding || !isCommunicable(typeOf(result).getElementType()) ||
         typeOf(result).getEncoding()))
      return failure();
    carried.push_back(sharding ? sharding.getClosed() : sharding);
  }
  return carried;
}

/// Cuts what is in `from`, which `op` has, into `to`, which `copy` has.
void BodyPartitioner::partitionRegion(Block &from, Block &to, Operation *op,
                                      Operation *copy,
                                      ArrayRef<ShardingAttr> carried) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&to);
  nest.emplace_back(op, copy);
  for (Operation &inner : from.without_terminator())
    partition(&inner);
  builder.setLoc(from.getTerminator()->getLoc());
  SmallVector<Value> values;
  for (auto [value, sharding] :
       llvm::zip_equal(from.getTerminator()->getOperands(), carried))
    values.push_back(getAs(value, sharding));
  scf::YieldOp::create(builder, values);
  nest.pop_back();
}

/// Whether shards may wait for each other at `collective`: all run it equally
/// often, and that is written out later.
static bool mayStandWhereItIs(Operation *collective) {
  auto function = collective->getParentOfType<func::FuncOp>();
  if (findUncertain(collective, function))
    return false;
  uint64_t times = 1;
  for (auto loop = collective->getParentOfType<scf::ForOp>(); loop;
       loop = loop->getParentOfType<scf::ForOp>()) {
    std::optional<llvm::APInt> trips = loop.getStaticTripCount();
    if (!trips || trips->ugt(kMaxWrittenOut))
      return false;
    times *= std::max<uint64_t>(trips->getZExtValue(), 1);
    if (times > kMaxWrittenOut)
      return false;
  }
  return true;
}

/// Keeps `copy` for `op` where shards do not wait for each other inside of it,
/// or do so a known number of times. Else it goes, with a remark, and false is
/// returned.
bool BodyPartitioner::keepOrUndo(Operation *op, Operation *copy) {
  Operation *collective = nullptr;
  copy->walk([&](CollectiveOpInterface found) {
    if (mayStandWhereItIs(found))
      return WalkResult::advance();
    collective = found;
    return WalkResult::interrupt();
  });
  if (!collective)
    return true;
  InFlightDiagnostic remark =
      op->emitRemark() << "'" << op->getName()
                       << "' is not cut: shards would have to wait for each "
                          "other inside of it";
  remark.attachNote(collective->getLoc()) << "they communicate for this";
  copy->erase();
  return false;
}

bool BodyPartitioner::partitionLoop(scf::ForOp loop) {
  FailureOr<SmallVector<ShardingAttr>> carried = getCarried(loop);
  if (failed(carried))
    return false;
  SmallVector<Value> inits;
  for (auto [init, sharding] : llvm::zip_equal(loop.getInits(), *carried))
    inits.push_back(getAs(init, sharding));
  auto copy = scf::ForOp::create(builder, getWhole(loop.getLowerBound()),
                                 getWhole(loop.getUpperBound()),
                                 getWhole(loop.getStep()), inits);
  copy.setUnsignedCmp(loop.getUnsignedCmp());
  Block *body = copy.getBody();
  if (inits.empty()) // else it has no terminator yet
    body->getTerminator()->erase();
  scalars[loop.getInductionVar()] = copy.getInductionVar();
  for (auto [argument, local, sharding] : llvm::zip_equal(
           loop.getRegionIterArgs(), copy.getRegionIterArgs(), *carried))
    defineAs(argument, local, sharding);
  partitionRegion(*loop.getBody(), *body, loop, copy, *carried);
  if (!keepOrUndo(loop, copy))
    return false;
  for (auto [result, local, sharding] :
       llvm::zip_equal(loop.getResults(), copy.getResults(), *carried))
    defineAs(result, local, sharding);
  return true;
}

bool BodyPartitioner::partitionBranch(scf::IfOp branch) {
  FailureOr<SmallVector<ShardingAttr>> carried = getCarried(branch);
  if (failed(carried))
    return false;
  SmallVector<Type> types;
  for (auto [result, sharding] : llvm::zip_equal(branch.getResults(), *carried))
    types.push_back(sharding ? layouts.getShardType(typeOf(result), sharding)
                             : result.getType());
  auto copy = scf::IfOp::create(builder, types, getWhole(branch.getCondition()),
                                /*addThenBlock=*/true,
                                /*addElseBlock=*/branch.elseBlock() != nullptr);
  for (auto [from, to] :
       llvm::zip_equal(branch->getRegions(), copy->getRegions())) {
    if (from.empty())
      continue;
    if (!to.front().empty()) // a branch without results ends already
      to.front().back().erase();
    partitionRegion(from.front(), to.front(), branch, copy, *carried);
  }
  if (!keepOrUndo(branch, copy))
    return false;
  for (auto [result, local, sharding] :
       llvm::zip_equal(branch.getResults(), copy.getResults(), *carried))
    defineAs(result, local, sharding);
  return true;
}

//===----------------------------------------------------------------------===//
// Explanations
//===----------------------------------------------------------------------===//

static std::string toText(ArrayAttr axes) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(
      axes.getAsRange<StringAttr>(), os,
      [&](StringAttr axis) { os << '"' << axis.getValue() << '"'; }, ", ");
  return '{' + text + '}';
}

static std::string toText(const Cut &cut) {
  std::string text;
  for (auto [factor, axes] : llvm::enumerate(cut))
    if (!axes.empty())
      text += (text.empty() ? "" : ", ") + std::string("d") +
              std::to_string(factor) + " " + toText(axes);
  return text.empty() ? "not cut" : text;
}

/// Of each way to cut `op`, what it costs.
void BodyPartitioner::explainCut(Operation *op, ArrayRef<CutOption> options) {
  constexpr size_t kMost = 4;
  InFlightDiagnostic remark =
      op->emitRemark() << "'" << op->getName() << "' of '" << body.getSymName()
                       << "' is cut along " << toText(options.front().cut)
                       << ", " << options.front().ns << " ns";
  for (const CutOption &option : options.drop_front().take_front(kMost - 1))
    remark << "; " << toText(option.cut) << " would be " << option.ns << " ns";
  if (options.size() > kMost)
    remark << "; and " << options.size() - kMost << " more";
}

/// How results of `op` lie, and who said so.
void BodyPartitioner::explainLayouts(Operation *op) {
  for (Value result : op->getResults()) {
    auto local = locals.find(result);
    if (local == locals.end() || local->second.isFree())
      continue;
    std::string reasons;
    llvm::raw_string_ostream why(reasons);
    for (ArrayAttr axes : local->second.sharding.getDims())
      for (auto axis : axes.getAsRange<StringAttr>())
        if (auto origin = shardings->getOrigin(result, axis))
          why << "; \"" << axis.getValue() << "\" is from "
              << describe(*origin);
    op->emitRemark() << "result " << cast<OpResult>(result).getResultNumber()
                     << " of '" << op->getName() << "' lies "
                     << local->second.sharding << reasons;
  }
}

//===----------------------------------------------------------------------===//
// Whole
//===----------------------------------------------------------------------===//

FailureOr<func::FuncOp> BodyPartitioner::run() {
  auto whole = inlineBody(body, symbols);
  if (failed(whole))
    return failure();
  inlined = std::move(*whole);

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
  for (auto [index, type] : llvm::enumerate(operands))
    if (type.getSharding().isPartial())
      function.setArgAttr(index, PathwaysDialect::kAcceptsPartialAttrName,
                          builder.getUnitAttr());
  Block *block = function.addEntryBlock();
  builder.setInsertionPointToStart(block);

  Block &from = inlined->front();
  Operation *end = from.getTerminator();
  SmallVector<ShardingAttr> given, asked;
  for (ArrayType type : operands)
    given.push_back(type.getSharding());
  for (ArrayType type : results)
    asked.push_back(type.getSharding());
  for (auto [value, sharding] : llvm::zip_equal(end->getOperands(), asked))
    if (ShardingAttr normal = layouts.normalize(sharding); normal.isPartial())
      contributions[value] = layouts.getEven(typeOf(value), normal);
  shardings.emplace(from, mesh, given, asked);
  shardings->propagate();

  for (auto [argument, type, shard] :
       llvm::zip_equal(from.getArguments(), operands, block->getArguments())) {
    if (argument.use_empty())
      continue;
    ShardingAttr sharding = layouts.normalize(type.getSharding());
    Value local = layouts.makeEven(builder, shard, typeOf(argument), sharding);
    define(argument, sharding.isPartial() ? widen(local) : local,
           layouts.getEven(typeOf(argument), sharding));
  }
  for (Operation &op : from.without_terminator())
    partition(&op);
  builder.setLoc(end->getLoc());
  SmallVector<Value> values;
  for (auto [value, type] : llvm::zip_equal(end->getOperands(), results)) {
    ShardingAttr sharding = layouts.normalize(type.getSharding());
    ShardingAttr even = layouts.getEven(typeOf(value), sharding);
    Value local =
        even.isPartial() ? getContributions(value, even) : get(value, even);
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

FailureOr<func::FuncOp>
mlir::pathways::partitionBody(func::FuncOp body, MeshAttr mesh,
                              ArrayRef<ArrayType> operands,
                              ArrayRef<ArrayType> results, SymbolTable &symbols,
                              const BodyExplanations &explanations) {
  return BodyPartitioner(body, mesh, operands, results, symbols, explanations)
      .run();
}

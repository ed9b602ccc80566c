//===- Segments.cpp - Cutting of bodies at collectives --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Codegen/Segments.h"

#include "Prepare/StraightCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "pathways/Dialect/Pathways/Pathways.h"
#include "pathways/Support/ElementTypes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::pathways;

//===----------------------------------------------------------------------===//
// Cutting
//===----------------------------------------------------------------------===//

namespace {

/// Returns true if each segment should compute `value` again instead of loading
/// it. This holds for constants, coordinates, the step and values that follow
/// from them with little work.
bool isCheap(Value value, unsigned depth = 0) {
  Operation *op = value.getDefiningOp();
  if (!op || depth > 16)
    return false;
  if (op->hasTrait<OpTrait::ConstantLike>() ||
      isa<tensor::EmptyOp, ShardIndexOp, StepIndexOp>(op))
    return true;
  bool isScalar = op->getNumRegions() == 0 && isPure(op) &&
                  op->getNumResults() == 1 && !isa<ShapedType>(value.getType());
  if (!isScalar && !isa<linalg::FillOp>(op))
    return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    return isCheap(operand, depth + 1);
  });
}

/// Cuts one body.
class Cutter {
public:
  Cutter(func::FuncOp body, MeshAttr mesh, OpBuilder &builder, StringRef name)
      : body(body), block(body.getBody().front()), mesh(mesh), builder(builder),
        name(name) {}

  LogicalResult run(SegmentedBody &out);

private:
  /// A value that a segment stores for later steps, in the order of its
  /// outputs.
  struct Output {
    Value value;
    SegmentValue home;
  };

  LogicalResult findSegments();
  void joinCollectives();
  void placeOps();
  LogicalResult findHomes(SegmentedBody &out);
  LogicalResult giveTemp(Value value, SegmentedBody &out);
  FailureOr<func::FuncOp> writeSegment(unsigned segment, StringRef symbol,
                                       SegmentStep &step);

  func::FuncOp body;
  Block &block;
  MeshAttr mesh;
  OpBuilder &builder;
  StringRef name;
  /// Collectives that run one after the other after each segment except the
  /// last.
  std::vector<SmallVector<Operation *>> collectives;
  /// Segments of all other ops. The terminator is in the last one.
  DenseMap<Operation *, unsigned> segments;
  /// Locations of the values that are used outside of their segment.
  DenseMap<Value, SegmentValue> homes;
  std::vector<SmallVector<Output>> outputs; ///< by segment
};

} // namespace

LogicalResult Cutter::findSegments() {
  WalkResult walk = body.walk([&](CollectiveOpInterface op) -> WalkResult {
    if (op->getBlock() == &block)
      return WalkResult::advance();
    InFlightDiagnostic diag = op->emitOpError(
        "is inside another operation; collectives must be at the top level of "
        "a body, so that all shards reach them");
    diag.attachNote(op->getParentOp()->getLoc()) << "inside this operation";
    return diag;
  });
  if (walk.wasInterrupted())
    return failure();
  joinCollectives();
  placeOps();
  outputs.resize(collectives.size() + 1);
  return success();
}

/// Joins a collective with the previous one, so that there is no segment
/// between them, if none of its operands depends on one of the collectives it
/// joins.
void Cutter::joinCollectives() {
  DenseMap<Operation *, unsigned> earliest;
  for (Operation &top : block) {
    unsigned first = 0;
    top.walk([&](Operation *op) {
      for (Value operand : op->getOperands()) {
        Operation *source = operand.getDefiningOp();
        if (source && source->getBlock() == &block)
          first = std::max(first, earliest.lookup(source) +
                                      isa<CollectiveOpInterface>(source));
      }
    });
    if (isa<CollectiveOpInterface>(top)) {
      if (first == collectives.size())
        collectives.emplace_back();
      first = collectives.size() - 1;
      collectives.back().push_back(&top);
    }
    earliest[&top] = first;
    segments[&top] =
        isa<CollectiveOpInterface>(top) ? first : collectives.size();
  }
}

/// Keeps ops after the collectives that precede them in the body, unless one of
/// these needs them.
void Cutter::placeOps() {
  for (Operation &op : llvm::reverse(block)) {
    if (isa<CollectiveOpInterface>(op))
      continue;
    unsigned &segment = segments[&op];
    for (Operation *user : op.getUsers())
      segment =
          std::min(segment, segments.at(block.findAncestorOpInBlock(*user)));
  }
  for (auto &together : collectives)
    for (Operation *op : together)
      segments.erase(op);
}

LogicalResult Cutter::giveTemp(Value value, SegmentedBody &out) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  if (!tensor) {
    Type element = value.getType();
    if (element.isIndex())
      element = builder.getI64Type();
    tensor = RankedTensorType::get({}, element);
  }
  Type element = tensor.getElementType();
  bool isStorable = tensor.hasStaticShape() && isTensorElementType(element);
  if (!isStorable)
    return emitError(value.getLoc(), "value of type ")
           << value.getType()
           << " is used after a collective, but cannot be stored in a buffer";
  homes[value] = {SegmentValue::Kind::Temp,
                  static_cast<unsigned>(out.temps.size())};
  out.temps.push_back(tensor);
  return success();
}

LogicalResult Cutter::findHomes(SegmentedBody &out) {
  for (BlockArgument argument : block.getArguments())
    homes[argument] = {SegmentValue::Kind::Argument, argument.getArgNumber()};

  // A value that is returned several times is stored in its first result.
  Operation *terminator = block.getTerminator();
  SmallVector<unsigned> copies; // results that copy another result
  for (auto [i, value] : llvm::enumerate(terminator->getOperands())) {
    SegmentValue result{SegmentValue::Kind::Result, static_cast<unsigned>(i)};
    if (homes.try_emplace(value, result).second)
      continue;
    copies.push_back(i);
  }
  // All other values that cross segments get a temporary.
  SetVector<Value> crossing;
  for (Operation &top : block) {
    if (&top == terminator)
      continue;
    bool isCollective = isa<CollectiveOpInterface>(top);
    top.walk([&](Operation *op) {
      for (Value operand : op->getOperands()) {
        if (homes.contains(operand))
          continue;
        if (operand.getParentBlock() != &block)
          continue;
        Operation *definition = operand.getDefiningOp();
        bool isOfCollective = isa<CollectiveOpInterface>(definition);
        if (isCollective || isOfCollective)
          crossing.insert(operand);
        else if (segments.lookup(definition) != segments.lookup(&top) &&
                 !isCheap(operand))
          crossing.insert(operand);
      }
    });
  }
  for (Value value : crossing)
    if (failed(giveTemp(value, out)))
      return failure();

  // Orders the outputs as they are computed.
  for (Operation &top : block)
    if (auto it = segments.find(&top); it != segments.end())
      for (Value result : top.getResults())
        if (auto home = homes.find(result); home != homes.end())
          outputs[it->second].push_back({result, home->second});
  for (unsigned i : copies) {
    Value value = terminator->getOperand(i);
    Operation *definition = value.getDefiningOp();
    bool isComputed = definition && !isa<CollectiveOpInterface>(definition);
    unsigned segment =
        isComputed ? segments.lookup(definition) : collectives.size();
    outputs[segment].push_back({value, {SegmentValue::Kind::Result, i}});
  }
  return success();
}

FailureOr<func::FuncOp> Cutter::writeSegment(unsigned segment, StringRef symbol,
                                             SegmentStep &step) {
  SmallVector<Operation *> ops;
  SetVector<Value> inputs, cheap;
  std::function<void(Value)> need = [&](Value value) {
    if (value.getParentBlock() != &block)
      return;
    Operation *definition = value.getDefiningOp();
    if (definition && !isa<CollectiveOpInterface>(definition)) {
      if (segments.lookup(definition) == segment)
        return;
      if (isCheap(value)) {
        for (Value operand : definition->getOperands())
          need(operand);
        cheap.insert(value);
        return;
      }
    }
    inputs.insert(value);
  };
  for (Operation &top : block) {
    auto it = segments.find(&top);
    if (it == segments.end() || it->second != segment ||
        &top == block.getTerminator())
      continue;
    ops.push_back(&top);
    top.walk([&](Operation *op) { llvm::for_each(op->getOperands(), need); });
  }
  for (const Output &output : outputs[segment])
    need(output.value);

  SmallVector<Type> inputTypes, outputTypes;
  SmallVector<Location> inputLocs;
  auto storedType = [&](Value value) -> Type {
    if (isa<RankedTensorType>(value.getType()))
      return value.getType();
    Type element =
        value.getType().isIndex() ? builder.getI64Type() : value.getType();
    return RankedTensorType::get({}, element);
  };
  for (Value value : inputs) {
    inputTypes.push_back(storedType(value));
    inputLocs.push_back(value.getLoc());
    step.inputs.push_back(homes.lookup(value));
  }
  for (const Output &output : outputs[segment]) {
    outputTypes.push_back(storedType(output.value));
    step.outputs.push_back(output.home);
  }
  auto function =
      func::FuncOp::create(builder, body.getLoc(), symbol,
                           builder.getFunctionType(inputTypes, outputTypes));
  function->setAttr(PathwaysDialect::kLocalViewAttrName, builder.getUnitAttr());
  if (mesh)
    function->setAttr(kSegmentMeshAttrName, mesh);

  OpBuilder::InsertionGuard guard(builder);
  Block *entry =
      builder.createBlock(&function.getBody(), {}, inputTypes, inputLocs);
  IRMapping map;
  for (auto [value, argument] :
       llvm::zip_equal(inputs, entry->getArguments())) {
    Location loc = value.getLoc();
    Value local = argument;
    if (!isa<RankedTensorType>(value.getType())) {
      local = tensor::ExtractOp::create(builder, loc, argument, ValueRange());
      if (value.getType().isIndex())
        local =
            arith::IndexCastOp::create(builder, loc, value.getType(), local);
    }
    map.map(value, local);
  }
  for (Value value : cheap)
    builder.clone(*value.getDefiningOp(), map);
  for (Operation *op : ops)
    builder.clone(*op, map);
  SmallVector<Value> results;
  for (const Output &output : outputs[segment]) {
    Value value = map.lookup(output.value);
    Location loc = output.value.getLoc();
    if (!isa<RankedTensorType>(value.getType())) {
      if (value.getType().isIndex())
        value = arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                           value);
      value = tensor::FromElementsOp::create(
          builder, loc, RankedTensorType::get({}, value.getType()), value);
    }
    results.push_back(value);
  }
  func::ReturnOp::create(builder, block.getTerminator()->getLoc(), results);
  return function;
}

LogicalResult Cutter::run(SegmentedBody &out) {
  if (failed(findSegments()) || failed(findHomes(out)))
    return failure();
  // A segment that has no outputs and no checks is dropped.
  SmallVector<bool> exists(outputs.size());
  for (auto [segment, given] : llvm::enumerate(outputs))
    exists[segment] = !given.empty();
  for (Operation &op : block)
    if (auto it = segments.find(&op); it != segments.end() &&
                                      &op != block.getTerminator() &&
                                      !isMemoryEffectFree(&op))
      exists[it->second] = true;
  bool isAlone = llvm::count(exists, true) == 1;
  unsigned number = 0;
  for (unsigned segment = 0; segment < outputs.size(); ++segment) {
    if (exists[segment]) {
      SegmentStep step;
      step.segment =
          isAlone ? name.str() : (name + "." + Twine(number++)).str();
      FailureOr<func::FuncOp> function =
          writeSegment(segment, step.segment, step);
      if (failed(function))
        return failure();
      out.segments.push_back(*function);
      out.steps.push_back(std::move(step));
    }
    if (segment == collectives.size())
      break;
    for (Operation *op : collectives[segment]) {
      auto collective = cast<CollectiveOpInterface>(op);
      // A collective whose result has no users is dropped.
      auto home = homes.find(collective.getResult());
      if (home == homes.end())
        continue;
      SegmentStep step;
      step.collective = collective;
      step.source = homes.lookup(collective.getSource());
      step.result = home->second;
      out.steps.push_back(std::move(step));
    }
  }
  return success();
}

FailureOr<SegmentedBody>
mlir::pathways::splitAtCollectives(func::FuncOp body, MeshAttr mesh,
                                   ArrayRef<ArrayType> operandTypes,
                                   OpBuilder &builder, StringRef name) {
  if (!llvm::hasSingleElement(body.getBody()))
    return body.emitOpError("expected a body of one block, got ")
           << body.getBody().getBlocks().size();
  SegmentedBody out;
  out.inlined = body.clone();
  if (failed(kernel::makeStraight(*out.inlined, body, mesh, operandTypes)) ||
      failed(Cutter(*out.inlined, mesh, builder, name).run(out)))
    return failure();
  return out;
}

//===----------------------------------------------------------------------===//
// Aliases
//===----------------------------------------------------------------------===//

SegmentAliases::SegmentAliases(const SegmentedBody &body) {
  for (auto [number, step] : llvm::enumerate(body.steps)) {
    auto read = [&, n = static_cast<unsigned>(number)](SegmentValue value) {
      if (value.kind == SegmentValue::Kind::Argument)
        lastReads[value.index] = n;
    };
    auto write = [&, n = static_cast<unsigned>(number)](SegmentValue value,
                                                        bool isCollective) {
      if (value.kind == SegmentValue::Kind::Result)
        firstWrites.try_emplace(value.index, Write{n, isCollective});
    };
    if (step.isCollective()) {
      read(step.source);
      write(step.result, /*isCollective=*/true);
      continue;
    }
    llvm::for_each(step.inputs, read);
    for (const SegmentValue &output : step.outputs)
      write(output, /*isCollective=*/false);
  }
}

bool SegmentAliases::canAlias(unsigned argument, unsigned result) const {
  auto write = firstWrites.find(result);
  if (write == firstWrites.end())
    return false;
  auto read = lastReads.find(argument);
  if (read == lastReads.end() || read->second < write->second.step)
    return true;
  return read->second == write->second.step && !write->second.isCollective;
}

void mlir::pathways::addAliases(SegmentedBody &body,
                                ArrayRef<AliasPair> aliases) {
  unsigned next = 0;
  for (const SegmentStep &step : body.steps) {
    if (step.isCollective())
      continue;
    func::FuncOp function = body.segments[next++];
    // Maps arguments and results to their first positions in the segment.
    llvm::DenseMap<unsigned, int64_t> inputs, outputs;
    for (auto [position, value] : llvm::enumerate(step.inputs))
      if (value.kind == SegmentValue::Kind::Argument)
        inputs.try_emplace(value.index, position);
    for (auto [position, value] : llvm::enumerate(step.outputs))
      if (value.kind == SegmentValue::Kind::Result)
        outputs.try_emplace(value.index, position);
    SmallVector<int64_t> pairs;
    llvm::DenseSet<std::pair<int64_t, int64_t>> known;
    for (auto [argument, result] : aliases) {
      auto input = inputs.find(argument);
      auto output = outputs.find(result);
      if (input != inputs.end() && output != outputs.end() &&
          known.insert({input->second, output->second}).second)
        pairs.append({input->second, output->second});
    }
    if (!pairs.empty())
      function->setAttr(kSegmentAliasAttrName,
                        DenseI64ArrayAttr::get(function.getContext(), pairs));
  }
}

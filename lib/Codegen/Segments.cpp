//===- Segments.cpp - Cut a body at its collectives -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Codegen/Segments.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "pathways/Dialect/Pathways/Pathways.h"
#include "pathways/Dialect/Pathways/UniformControl.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::pathways;

/// Operations of a body after inlining; calls of calls can multiply without
/// end.
static constexpr int64_t kMaxInlinedOps = 1 << 18;
/// Iterations of a loop that has collectives inside: each becomes code.
static constexpr unsigned kMaxUnrolled = 1024;

//===----------------------------------------------------------------------===//
// Inlining
//===----------------------------------------------------------------------===//

namespace {

class Inliner {
public:
  explicit Inliner(func::FuncOp origin) : origin(origin) {}

  LogicalResult run(func::FuncOp clone) {
    stack.push_back(origin);
    return visit(clone.getBody());
  }

private:
  LogicalResult visit(Region &region);
  LogicalResult inlineCall(func::CallOp call);

  func::FuncOp origin;
  SmallVector<func::FuncOp> stack; ///< functions being inlined, outermost first
  int64_t numOps = 0;
};

} // namespace

LogicalResult Inliner::visit(Region &region) {
  for (Block &block : region) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (++numOps > kMaxInlinedOps)
        return op.emitOpError("expected a body of at most ")
               << kMaxInlinedOps << " operations after inlining";
      for (Region &inner : op.getRegions())
        if (failed(visit(inner)))
          return failure();
      if (auto call = dyn_cast<func::CallOp>(op))
        if (failed(inlineCall(call)))
          return failure();
    }
  }
  return success();
}

LogicalResult Inliner::inlineCall(func::CallOp call) {
  // The clone is outside of any module: look from the original.
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      origin, call.getCalleeAttr());
  if (!callee)
    return call.emitOpError("calls '")
           << call.getCallee() << "', which is not a func.func";
  if (callee.isDeclaration()) {
    InFlightDiagnostic diag = call.emitOpError("calls '")
                              << call.getCallee() << "', which has no body";
    diag.attachNote(callee.getLoc()) << "declared here";
    return diag;
  }
  if (llvm::is_contained(stack, callee)) {
    InFlightDiagnostic diag = call.emitOpError("calls '")
                              << call.getCallee()
                              << "', which is recursive, and kernels cannot be";
    diag.attachNote(callee.getLoc()) << "function is here";
    return diag;
  }
  if (!llvm::hasSingleElement(callee.getBody()))
    return call.emitOpError("calls '")
           << call.getCallee() << "', expected a body of one block, got "
           << callee.getBody().getBlocks().size();
  if (callee.getFunctionType() != call.getCalleeType())
    return call.emitOpError("calls '")
           << call.getCallee() << "' as " << call.getCalleeType()
           << ", but it is " << callee.getFunctionType();
  OwningOpRef<func::FuncOp> clone = callee.clone();
  stack.push_back(callee);
  if (failed(visit(clone->getBody())))
    return failure();
  stack.pop_back();

  Block &body = clone->getBody().front();
  for (auto [argument, operand] :
       llvm::zip_equal(body.getArguments(), call.getOperands()))
    argument.replaceAllUsesWith(operand);
  Operation *terminator = body.getTerminator();
  for (auto [result, value] :
       llvm::zip_equal(call.getResults(), terminator->getOperands()))
    result.replaceAllUsesWith(value);
  terminator->erase();
  call->getBlock()->getOperations().splice(Block::iterator(call),
                                           body.getOperations());
  call.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Control flow around collectives
//===----------------------------------------------------------------------===//

namespace {

/// Writes out loops and branches that contain collectives: all shards run them
/// alike, so what is left is the same straight code for all.
class Unroller {
public:
  LogicalResult run(Block &block);

private:
  LogicalResult unroll(scf::ForOp loop);
  LogicalResult choose(scf::IfOp branch);

  int64_t numOps = 0;
};

} // namespace

static bool hasCollective(Operation *op) {
  return op->walk([](CollectiveOpInterface) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// Iterations of `loop`; fails, with a diagnostic, where that is not constant.
static FailureOr<int64_t> getTripCount(scf::ForOp loop, llvm::APInt &begin,
                                       llvm::APInt &step) {
  std::optional<llvm::APInt> lower = evaluate(loop.getLowerBound()),
                             upper = evaluate(loop.getUpperBound()),
                             by = evaluate(loop.getStep());
  if (!lower || !upper || !by)
    return loop.emitOpError("has collectives inside and bounds that are not "
                            "constant");
  // One bit more: bounds may be far apart, and an unsigned one large.
  unsigned width = lower->getBitWidth() + 1;
  auto widen = [&](const llvm::APInt &value) {
    return loop.getUnsignedCmp() ? value.zext(width) : value.sext(width);
  };
  llvm::APInt distance = widen(*upper) - widen(*lower);
  if (!by->isStrictlyPositive())
    return loop.emitOpError("has a step of ")
           << by->getSExtValue() << ", expected at least 1";
  begin = *lower;
  step = *by;
  if (!distance.isStrictlyPositive())
    return 0;
  llvm::APInt trips = (distance - 1).udiv(by->zext(width)) + 1;
  if (trips.ugt(kMaxUnrolled))
    return loop.emitOpError("has collectives inside and runs ")
           << toString(trips, 10, /*Signed=*/false)
           << " times, expected at most " << kMaxUnrolled;
  return static_cast<int64_t>(trips.getZExtValue());
}

LogicalResult Unroller::unroll(scf::ForOp loop) {
  llvm::APInt number, step;
  FailureOr<int64_t> trips = getTripCount(loop, number, step);
  if (failed(trips))
    return failure();
  OpBuilder b(loop);
  SmallVector<Value> carried(loop.getInits());
  for (int64_t trip = 0; trip < *trips; ++trip, number += step) {
    IRMapping map;
    Type type = loop.getInductionVar().getType();
    map.map(loop.getInductionVar(),
            arith::ConstantOp::create(b, loop.getLoc(), type,
                                      b.getIntegerAttr(type, number)));
    map.map(loop.getRegionIterArgs(), carried);
    for (Operation &op : loop.getBody()->without_terminator()) {
      op.walk([&](Operation *) { ++numOps; });
      if (numOps > kMaxInlinedOps)
        return loop.emitOpError("with collectives inside runs ")
               << *trips << " times, which makes a body of more than "
               << kMaxInlinedOps << " operations";
      b.clone(op, map);
    }
    carried.clear();
    for (Value value : loop.getBody()->getTerminator()->getOperands())
      carried.push_back(map.lookupOrDefault(value));
  }
  loop.replaceAllUsesWith(carried);
  loop.erase();
  return success();
}

LogicalResult Unroller::choose(scf::IfOp branch) {
  std::optional<llvm::APInt> condition = evaluate(branch.getCondition());
  if (!condition)
    return branch.emitOpError("has collectives inside and a condition that is "
                              "not constant");
  Region &region =
      condition->isZero() ? branch.getElseRegion() : branch.getThenRegion();
  if (!region.empty()) {
    Block &block = region.front();
    Operation *end = block.getTerminator();
    branch.replaceAllUsesWith(end->getOperands());
    end->erase();
    branch->getBlock()->getOperations().splice(Block::iterator(branch),
                                               block.getOperations());
  }
  branch.erase();
  return success();
}

LogicalResult Unroller::run(Block &block) {
  for (auto it = block.begin(); it != block.end();) {
    Operation *op = &*it;
    if (!isa<scf::ForOp, scf::IfOp>(op) || !hasCollective(op)) {
      ++it;
      continue;
    }
    // What comes in its place may have loops and branches again.
    Operation *before = op->getPrevNode();
    auto loop = dyn_cast<scf::ForOp>(op);
    if (failed(loop ? unroll(loop) : choose(cast<scf::IfOp>(op))))
      return failure();
    it = before ? std::next(before->getIterator()) : block.begin();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Valid extents
//===----------------------------------------------------------------------===//

static LogicalResult expandValidExtents(func::FuncOp body, MeshAttr mesh,
                                        ArrayRef<ArrayType> operandTypes) {
  SmallVector<ValidExtentOp> ops;
  body.walk([&](ValidExtentOp op) { ops.push_back(op); });
  for (ValidExtentOp op : ops) {
    auto argument = dyn_cast<BlockArgument>(op.getSource());
    if (!argument || argument.getOwner() != &body.getBody().front() ||
        argument.getArgNumber() >= operandTypes.size())
      return op.emitOpError("expected an argument of the computation");
    ArrayType type = operandTypes[argument.getArgNumber()];
    int64_t dim = op.getDim();
    if (dim < 0 || dim >= type.getRank())
      return op.emitOpError("has dimension ")
             << dim << ", but the operand has " << type.getRank();
    OpBuilder b(op);
    Location loc = op.getLoc();
    auto constant = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(b, loc, value);
    };
    // Rank of this shard among the blocks of the dimension, major axis first.
    Value rank = constant(0);
    int64_t numBlocks = 1;
    for (Attribute name : type.getSharding().getDims()[dim]) {
      auto axis = cast<StringAttr>(name);
      int64_t position = mesh ? mesh.getAxisIndex(axis) : -1;
      if (position < 0)
        return op.emitOpError("depends on axis '")
               << axis.getValue() << "', which the mesh lacks";
      int64_t size = mesh.getSizes()[position];
      numBlocks *= size;
      rank = arith::MulIOp::create(b, loc, rank, constant(size));
      rank = arith::AddIOp::create(
          b, loc, rank, ShardIndexOp::create(b, loc, b.getIndexType(), axis));
    }
    int64_t size = type.getShape()[dim];
    int64_t block = size / numBlocks + (size % numBlocks != 0);
    Value begin = arith::MulIOp::create(b, loc, rank, constant(block));
    Value left = arith::SubIOp::create(b, loc, constant(size), begin);
    left = arith::MinSIOp::create(b, loc, left, constant(block));
    left = arith::MaxSIOp::create(b, loc, left, constant(0));
    op.replaceAllUsesWith(left);
    op.erase();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Cutting
//===----------------------------------------------------------------------===//

namespace {

/// Whether to compute `value` again in each segment rather than to store it:
/// constants, coordinates, the step and what follows from them with little
/// work.
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
  /// What a segment gives to later steps, in order of its outputs.
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
  /// Those that run one after the other behind each segment but the last.
  std::vector<SmallVector<Operation *>> collectives;
  /// Of each other op; the return is in the last.
  DenseMap<Operation *, unsigned> segments;
  /// Where a value is that is not only used in its own segment.
  DenseMap<Value, SegmentValue> homes;
  std::vector<SmallVector<Output>> outputs; ///< per segment
};

} // namespace

LogicalResult Cutter::findSegments() {
  WalkResult walk = body.walk([&](CollectiveOpInterface op) -> WalkResult {
    if (op->getBlock() == &block)
      return WalkResult::advance();
    InFlightDiagnostic diag = op->emitOpError(
        "is inside another operation, expected all shards to reach it: "
        "collectives must be at the top level of a body");
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

/// Lets a collective follow the one before it, with no segment between them, if
/// nothing that it needs depends on one of those that it follows.
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

/// Ops stay behind the collectives that they are written behind, unless one of
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
  bool isStorable =
      tensor.hasStaticShape() &&
      (isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(element) ||
       element.isInteger(1) || element.isInteger(8) || element.isInteger(32) ||
       element.isInteger(64));
  if (!isStorable)
    return emitError(value.getLoc(), "value of type ")
           << value.getType()
           << " is needed after a collective, but cannot be in a buffer";
  homes[value] = {SegmentValue::Kind::Temp,
                  static_cast<unsigned>(out.temps.size())};
  out.temps.push_back(tensor);
  return success();
}

LogicalResult Cutter::findHomes(SegmentedBody &out) {
  for (BlockArgument argument : block.getArguments())
    homes[argument] = {SegmentValue::Kind::Argument, argument.getArgNumber()};

  // A value that is returned lives in the first result that it is.
  Operation *terminator = block.getTerminator();
  SmallVector<unsigned> copies; // results that are another's copy
  for (auto [i, value] : llvm::enumerate(terminator->getOperands())) {
    SegmentValue result{SegmentValue::Kind::Result, static_cast<unsigned>(i)};
    if (homes.try_emplace(value, result).second)
      continue;
    copies.push_back(i);
  }
  // Everything else that is used behind its segment gets a temporary.
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

  // Outputs in the order in which they are computed.
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
  // A segment that gives nothing and checks nothing does not exist.
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
      // A collective whose result nobody takes says nothing to anybody.
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
  if (failed(Inliner(body).run(*out.inlined)) ||
      failed(Unroller().run(out.inlined->getBody().front())) ||
      failed(expandValidExtents(*out.inlined, mesh, operandTypes)) ||
      failed(Cutter(*out.inlined, mesh, builder, name).run(out)))
    return failure();
  return out;
}

//===----------------------------------------------------------------------===//
// Aliases
//===----------------------------------------------------------------------===//

bool mlir::pathways::canAlias(const SegmentedBody &body, unsigned argument,
                              unsigned result) {
  SegmentValue operand{SegmentValue::Kind::Argument, argument};
  SegmentValue written{SegmentValue::Kind::Result, result};
  bool isWritten = false;
  for (const SegmentStep &step : body.steps) {
    if (step.isCollective()) {
      bool reads = step.source == operand;
      if (reads && (isWritten || step.result == written))
        return false;
      isWritten |= step.result == written;
      continue;
    }
    if (isWritten && llvm::is_contained(step.inputs, operand))
      return false;
    isWritten |= llvm::is_contained(step.outputs, written);
  }
  return isWritten;
}

void mlir::pathways::addAlias(SegmentedBody &body, unsigned argument,
                              unsigned result) {
  SegmentValue operand{SegmentValue::Kind::Argument, argument};
  SegmentValue written{SegmentValue::Kind::Result, result};
  unsigned next = 0;
  for (const SegmentStep &step : body.steps) {
    if (step.isCollective())
      continue;
    func::FuncOp function = body.segments[next++];
    auto input = llvm::find(step.inputs, operand);
    auto output = llvm::find(step.outputs, written);
    if (input == step.inputs.end() || output == step.outputs.end())
      continue;
    SmallVector<int64_t> pairs;
    if (auto old =
            function->getAttrOfType<DenseI64ArrayAttr>(kSegmentAliasAttrName))
      llvm::append_range(pairs, old.asArrayRef());
    int64_t first = input - step.inputs.begin();
    int64_t second = output - step.outputs.begin();
    for (size_t i = 0; i < pairs.size(); i += 2)
      if (pairs[i] == first && pairs[i + 1] == second)
        return;
    pairs.append({first, second});
    function->setAttr(kSegmentAliasAttrName,
                      DenseI64ArrayAttr::get(function.getContext(), pairs));
  }
}

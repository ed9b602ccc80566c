//===- BuildGraph.cpp - Action graphs of placed programs ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphBuilder.h"

#include "mlir/IR/Builders.h"
#include "pathways/Dialect/Pathways/Layouts.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::pathways;
namespace proto = ::pathways::proto;

FailureOr<uint32_t> GraphBuilder::getSlice(FlatSymbolRefAttr name,
                                           Location loc) {
  auto [entry, isNew] = slices.try_emplace(name.getAttr(), graph.slices.size());
  if (!isNew)
    return entry->second;
  auto slice = module.symbols.lookup<SliceOp>(name.getAttr());
  if (!slice)
    return mlir::emitError(loc)
           << "slice '" << name.getValue() << "' is not declared";
  BindOp bind = module.bindings.lookup(name.getAttr());
  if (!bind) {
    InFlightDiagnostic error =
        mlir::emitError(loc) << "slice '" << name.getValue()
                             << "' is not bound to devices; run pw-place first";
    error.attachNote(slice.getLoc()) << "slice is declared here";
    return error;
  }
  graph.slices.push_back({slice, bind});
  return entry->second;
}

FailureOr<GraphBuilder::ArrayInfo> GraphBuilder::getInfo(Value value) {
  auto known = infos.find(value.getType());
  if (known != infos.end())
    return known->second;
  auto type = cast<ArrayType>(value.getType());
  FailureOr<uint32_t> slice = getSlice(type.getSlice(), value.getLoc());
  if (failed(slice))
    return failure();
  ArrayInfo info;
  info.slice = *slice;
  info.shard = getShardTensorType(type, getMesh(*slice));
  info.bytes = getElementBytes(type.getElementType());
  for (int64_t size : info.shard.getShape())
    info.bytes *= size;
  infos[value.getType()] = info;
  return info;
}

LogicalResult GraphBuilder::define(Value value, uint32_t action,
                                   StringRef name) {
  FailureOr<ArrayInfo> info = getInfo(value);
  if (failed(info))
    return failure();
  uint32_t buffer =
      graph.addBuffer(name, info->slice, cast<ArrayType>(value.getType()));
  graph.addWrite(action, buffer);
  buffers[value] = buffer;
  baseNames[value] = name.str();
  return success();
}

LogicalResult GraphBuilder::checkNode(Operation *op) {
  if (auto reshard = dyn_cast<ReshardOp>(op))
    return reshard.emitOpError("is not explicit movement yet; run "
                               "pw-insert-transfers first");
  if (isa<CallOp, TransferOp, CopyOp, ReturnOp>(op))
    return success();
  auto loop = dyn_cast<ForOp>(op);
  if (!loop || !loop->hasAttr(PathwaysDialect::kOrdersAttrName))
    return op->emitOpError("cannot become an action of a plan");
  for (Operation &inner : loop.getBody().front().without_terminator())
    if (!isa<CallOp, TransferOp, CopyOp>(inner))
      return inner.emitOpError("cannot become an action of a loop of a plan");
  return success();
}

LogicalResult GraphBuilder::checkBody() {
  for (Operation &op : program.getBody().front())
    if (failed(checkNode(&op)))
      return failure();
  return success();
}

LogicalResult GraphBuilder::addFeeds() {
  for (BlockArgument argument : program.getBody().getArguments()) {
    std::string name = program.getArgumentName(argument.getArgNumber());
    FailureOr<ArrayInfo> info = getInfo(argument);
    if (failed(info))
      return failure();
    unsigned index = argument.getArgNumber();
    graph
        .addAction(Kind::Feed, name + ".feed", info->slice,
                   costs.getMovementNs(proto::FEED, info->bytes),
                   argument.getLoc())
        .interface = index;
    if (failed(define(argument, graph.lastAction(), name)))
      return failure();
    ActionGraph::Argument &entry = graph.arguments.emplace_back(
        name, graph.lastAction(), program.isArgumentStepped(index));
    if (std::optional<unsigned> from = program.getCarriedResult(index))
      entry.from = *from;
    entry.constant = program.getConstant(index);
  }
  return success();
}

BlockArgument GraphBuilder::getCarriedAt(Value value) {
  uint32_t first = graph.getFirst(graph.getMemory(buffers.lookup(value)));
  uint32_t writer = graph.buffers[first].writer;
  if (!graph.isFeed(writer))
    return nullptr;
  unsigned index = graph.actions[writer].interface;
  return program.getCarriedResult(index) && !carriedInto.contains(value)
             ? program.getBody().getArgument(index)
             : nullptr;
}

bool GraphBuilder::isNextOf(Value result, BlockArgument argument) {
  auto into = carriedInto.find(result);
  if (into == carriedInto.end() || into->second.size() != 1 ||
      into->second.front() != argument)
    return false;
  // The condition on slices is the same as in joinCarried.
  auto slice = cast<ArrayType>(result.getType()).getSlice();
  return credits == 1 || llvm::none_of(result.getUsers(), [&](Operation *user) {
           auto send = dyn_cast<TransferOp>(user);
           return send && cast<ArrayType>(send.getType()).getSlice() != slice;
         });
}

FailureOr<MemoryWishes> GraphBuilder::getDonations(CallOp call) {
  MemoryWishes wanted;
  if (graph.getOpenLoop() != ActionGraph::kNone) {
    if (failed(addLoopDonations(call, wanted)))
      return failure();
    return wanted;
  }
  llvm::DenseMap<Value, unsigned> reads;
  for (Value operand : call.getInputs())
    ++reads[operand];
  llvm::DenseMap<Value, OpResult> nexts; // by carried argument
  for (OpResult result : call->getResults()) {
    // Such a result has its memory, or must not keep that of an argument.
    if (call.isWrittenInto(result.getResultNumber()) ||
        isCarriedByOthers(result))
      continue;
    auto into = carriedInto.find(result);
    if (into == carriedInto.end()) {
      FailureOr<ArrayInfo> info = getInfo(result);
      if (failed(info))
        return failure();
      wanted.open[info->shard].push_back(result.getResultNumber());
    } else if (isNextOf(result, into->second.front())) {
      nexts[into->second.front()] = result;
    }
  }
  ArrayRef<int64_t> donated = call.getDonated(); // sorted
  for (auto [index, operand] : llvm::enumerate(call.getInputs())) {
    bool isDonated =
        !donated.empty() && donated.front() == static_cast<int64_t>(index);
    if (isDonated)
      donated = donated.drop_front();
    // The next value of a carried argument is written to its memory even
    // without a donation, because nothing else can observe that.
    BlockArgument carried = getCarriedAt(operand);
    if (!isDonated && !carried)
      continue;
    // The feed of a carried argument reads one firing late. Donations were
    // resolved to last uses; without that there is no alias.
    if (reads.lookup(operand) != 1 || carriedInto.contains(operand) ||
        !isFixed(buffers.lookup(operand)) ||
        liveness->getLaterRead(operand, call))
      continue;
    FailureOr<ArrayInfo> have = getInfo(operand);
    if (failed(have))
      return failure();
    MemoryWishes::Wish wish{static_cast<unsigned>(index), std::nullopt,
                            isDonated, have->shard};
    if (OpResult next = carried ? nexts.lookup(carried) : OpResult()) {
      FailureOr<ArrayInfo> info = getInfo(next);
      if (failed(info))
        return failure();
      if (info->shard == have->shard)
        wish.best = next.getResultNumber();
    }
    if (wish.best || (isDonated && wanted.open.contains(have->shard)))
      wanted.wishes.push_back(wish);
  }
  return wanted;
}

void GraphBuilder::explainDonations(CallOp call, const PlanKernel &kernel) {
  llvm::SmallDenseSet<int64_t> aliased;
  for (auto [argument, result] : kernel.aliases)
    aliased.insert(argument);
  llvm::SmallDenseSet<Type> shards; // types of the results
  for (Type type : call.getOutputs().getTypes())
    shards.insert(infos.lookup(type).shard);
  for (int64_t index : call.getDonated()) {
    if (aliased.contains(index))
      continue;
    RankedTensorType shard =
        infos.lookup(call.getInputs()[index].getType()).shard;
    bool fits = shards.contains(shard);
    InFlightDiagnostic remark =
        call.emitRemark() << "operand " << index << " of '" << call.getCallee()
                          << "' is donated, but no result takes its memory: ";
    if (!fits)
      remark << "no result has shards of " << shard;
    else
      remark << "results of its type are written before the last read of the "
                "operand, are kept for the next step, or use the memory of "
                "another operand";
  }
}

LogicalResult GraphBuilder::addCall(CallOp call) {
  auto callee =
      module.symbols.lookup<func::FuncOp>(call.getCalleeAttr().getAttr());
  if (!callee || callee.isExternal())
    return call.emitOpError("calls '")
           << call.getCallee() << "', which has no body";
  FailureOr<uint32_t> slice = getSlice(call.getSlice(), call.getLoc());
  if (failed(slice))
    return failure();

  // Segments work on shards, so the body must be written for shards.
  auto check = [&](ValueRange values, TypeRange types, StringRef what) {
    for (auto [index, value, type] : llvm::enumerate(values, types)) {
      FailureOr<ArrayInfo> info = getInfo(value);
      if (failed(info))
        return failure();
      if (info->shard == type)
        continue;
      InFlightDiagnostic error = call.emitOpError("has shards of ")
                                 << info->shard << " as " << what << " "
                                 << index << " of '" << call.getCallee()
                                 << "', which is written for " << type
                                 << "; run pw-partition first";
      error.attachNote(callee.getLoc()) << "callee is here";
      return LogicalResult(error);
    }
    return success();
  };
  if (callee.getNumArguments() != call.getInputs().size() ||
      callee.getNumResults() != call.getOutputs().size())
    return call.emitOpError("does not have the operands and results of '")
           << call.getCallee() << "'";
  if (failed(check(call.getInputs(), callee.getArgumentTypes(), "operand")) ||
      failed(check(call.getOutputs(), callee.getResultTypes(), "result")))
    return failure();

  auto wanted = getDonations(call);
  if (failed(wanted))
    return failure();
  SmallVector<ArrayType> types;
  for (Type type : call.getInputs().getTypes())
    types.push_back(cast<ArrayType>(type));
  PlanKernel *kernel = kernels.get(callee, getMesh(*slice), types, *wanted);
  if (!kernel)
    return failure();

  std::optional<StringRef> label = call.getLabel();
  std::optional<uint64_t> given = label ? byLabel.find(*label) : std::nullopt;
  if (label && !given && !kernel->isMeasured)
    byLabel.addEstimate(*label);
  ActionGraph::Action &gang =
      graph.addAction(Kind::Gang,
                      label ? (call.getSlice().getValue() + "." + *label).str()
                            : call.getCallee().str(),
                      *slice, given.value_or(kernel->costNs), call.getLoc());
  gang.kernel = kernel;
  std::string name = gang.name;
  uint32_t number = graph.lastAction();
  if (auto gangNumber =
          call->getAttrOfType<IntegerAttr>(PathwaysDialect::kGangAttrName))
    gangs[gangNumber.getInt()] = number;
  for (Value operand : call.getInputs())
    graph.addRead(number, buffers.lookup(operand));
  for (auto [index, result] : llvm::enumerate(call.getOutputs()))
    if (failed(define(result, number,
                      call.getNumResults() == 1
                          ? name
                          : name + ".out" + std::to_string(index))))
      return failure();
  explainDonations(call, *kernel);
  for (auto [argument, result] : kernel->aliases)
    graph.addAlias(number, buffers.lookup(call.getInputs()[argument]),
                   buffers.lookup(call.getOutputs()[result]));
  addGuard(number, call.getGuard(), call.getUnless());
  if (failed(addInto(call, number)))
    return failure();
  addSteps(call, *kernel, number);
  for (Value before : call.getAfter())
    graph.addControl(graph.buffers[buffers.lookup(before)].writer, number);
  return success();
}

bool GraphBuilder::isCarriedByOthers(Value value) {
  for (;;) {
    Value next;
    for (OpOperand &use : value.getUses())
      if (auto call = dyn_cast<CallOp>(use.getOwner()))
        for (auto [index, target] :
             llvm::zip_equal(call.getIntoResults(), call.getInto()))
          if (target == value)
            next = call.getOutputs()[index];
    if (!next)
      return false;
    if (carriedInto.contains(next))
      return true;
    value = next;
  }
}

void GraphBuilder::addGuard(uint32_t action, Value guard, bool unless) {
  if (!guard)
    return;
  graph.addRead(action, buffers.lookup(guard));
  graph.actions[action].guard = buffers.lookup(guard);
  graph.actions[action].unless = unless;
}

LogicalResult GraphBuilder::addInto(CallOp call, uint32_t gang) {
  for (auto [index, target] :
       llvm::zip_equal(call.getIntoResults(), call.getInto())) {
    uint32_t buffer = buffers.lookup(target);
    if (liveness->getLaterRead(target, call) || carriedInto.contains(target) ||
        llvm::is_contained(call.getInputs(), target) ||
        graph.buffers[buffer].next != ActionGraph::kNone)
      return call.emitOpError()
             << "of '" << call.getCallee() << "' writes result " << index
             << " into an array that has other uses, so the array cannot be "
                "overwritten";
    graph.addRead(gang, buffer);
    graph.addAlias(gang, buffer, buffers.lookup(call.getOutputs()[index]));
  }
  return success();
}

void GraphBuilder::addSteps(CallOp call, const PlanKernel &kernel,
                            uint32_t gang) {
  const SegmentedBody &body = kernel.body;
  uint32_t slice = graph.actions[gang].slice;
  std::string name = graph.actions[gang].name;
  SmallVector<uint32_t> temps;
  for (RankedTensorType type : body.temps) {
    // A temporary has the size of a shard, which is that of a copy of an array
    // of that shape.
    SmallVector<ArrayAttr> whole(type.getRank(),
                                 ArrayAttr::get(type.getContext(), {}));
    temps.push_back(graph.addBuffer(
        name + ".tmp", slice,
        ArrayType::get(type.getShape(), type.getElementType(), call.getSlice(),
                       ShardingAttr::get(type.getContext(), whole))));
    graph.buffers[temps.back()].slots = 1;
    graph.addWrite(gang, temps.back());
  }
  auto getBuffer = [&](const SegmentValue &value) {
    switch (value.kind) {
    case SegmentValue::Kind::Argument:
      return buffers.lookup(call.getInputs()[value.index]);
    case SegmentValue::Kind::Result:
      return buffers.lookup(call.getOutputs()[value.index]);
    case SegmentValue::Kind::Temp:
      return temps[value.index];
    }
    llvm_unreachable("unknown kind of value");
  };
  llvm::StringMap<uint32_t> segments;
  for (auto [index, function] : llvm::enumerate(body.segments))
    segments[SymbolTable::getSymbolName(function)] = index;
  ActionGraph::Action &action = graph.actions[gang];
  for (const SegmentStep &step : body.steps) {
    ActionGraph::Step &out = action.steps.emplace_back();
    if (step.isCollective()) {
      out.collective = step.collective;
      out.buffers = {getBuffer(step.source), getBuffer(step.result)};
      continue;
    }
    out.segment = segments.lookup(step.segment);
    for (const SegmentValue &value :
         llvm::concat<const SegmentValue>(step.inputs, step.outputs))
      out.buffers.push_back(getBuffer(value));
  }
}

LogicalResult GraphBuilder::addMovement(Operation *op, Value source,
                                        Value result) {
  FailureOr<ArrayInfo> from = getInfo(source), to = getInfo(result);
  if (failed(from) || failed(to))
    return failure();
  // Copies of copies keep the name of the original.
  std::string name = baseNames.lookup(source);
  uint32_t send = graph.actions.size();
  graph
      .addAction(Kind::Send, name + ".send", from->slice,
                 costs.getMovementNs(proto::SEND, from->bytes), op->getLoc())
      .peer = send + 1;
  graph.addRead(send, buffers.lookup(source));
  if (auto transfer = dyn_cast<TransferOp>(op))
    addGuard(send, transfer.getGuard(), transfer.getUnless());
  graph
      .addAction(Kind::Recv, name + ".recv", to->slice,
                 costs.getMovementNs(proto::RECV, to->bytes), op->getLoc())
      .peer = send;
  BindOp sender = graph.slices[from->slice].bind;
  BindOp receiver = graph.slices[to->slice].bind;
  SmallVector<int64_t, 2> islands = sender.getIslands();
  llvm::append_range(islands, receiver.getIslands());
  std::optional<int64_t> island;
  if (llvm::all_equal(islands))
    island = islands.front();
  ActionGraph::Action &recv = graph.actions[send + 1];
  recv.requestNs = costs.getMessageNs(island, 0);
  recv.messageNs = costs.getMessageNs(island, to->bytes);
  return define(result, send + 1, name);
}

LogicalResult GraphBuilder::addFetches() {
  ReturnOp ret = program.getReturn();
  for (auto [index, value] : llvm::enumerate(ret.getResults())) {
    std::string name = program.getResultName(index);
    FailureOr<ArrayInfo> info = getInfo(value);
    if (failed(info))
      return failure();
    graph
        .addAction(Kind::Fetch, name + ".fetch", info->slice,
                   costs.getMovementNs(proto::FETCH, info->bytes), ret.getLoc())
        .interface = index;
    graph.addRead(graph.lastAction(), buffers.lookup(value));
    graph.results.push_back({name, graph.lastAction(),
                             program.isResultStepped(index),
                             program.getExpectation(index)});
  }
  return success();
}

void GraphBuilder::findCarried() {
  ReturnOp ret = program.getReturn();
  OpBuilder b(ret);
  for (BlockArgument argument : program.getBody().getArguments()) {
    std::optional<unsigned> from =
        program.getCarriedResult(argument.getArgNumber());
    if (!from)
      continue;
    Value value = ret.getResults()[*from];
    // With one slot, the feed of the other argument overwrites in the same
    // firing what the feed of this argument reads, and possibly vice versa.
    if (isa<BlockArgument>(value) && value != argument && credits == 1) {
      value = CopyOp::create(b, ret.getLoc(), value);
      ret->setOperand(*from, value);
    }
    carriedInto[value].push_back(argument);
  }
}

LogicalResult GraphBuilder::addNode(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](CallOp call) { return addCall(call); })
      .Case<TransferOp, CopyOp>([&](auto move) {
        return addMovement(move, move.getSource(), move.getResult());
      })
      .Case([&](ForOp loop) { return addLoop(loop); })
      .Default([](Operation *) { return success(); });
}

FailureOr<ActionGraph> GraphBuilder::build() {
  if (failed(checkBody()))
    return failure();
  graph.fingerprint = program.getFingerprint().value_or("").str();
  findCarried();
  ReturnOp ret = program.getReturn();
  liveness.emplace(program);

  if (failed(addFeeds()))
    return failure();
  for (Operation &op : program.getBody().front())
    if (failed(addNode(&op)))
      return failure();
  if (failed(addFetches()))
    return failure();
  for (const ActionGraph::Argument &argument : graph.arguments)
    if (argument.from != ActionGraph::kNone)
      graph.addRead(argument.action,
                    buffers.lookup(ret.getResults()[argument.from]));
  return std::move(graph);
}

FailureOr<ActionGraph>
mlir::pathways::buildGraph(ProgramOp program, PlacedModule &module,
                           const CostModel &costs, LabelCosts &byLabel,
                           KernelTable &kernels, uint32_t credits) {
  return GraphBuilder(program, module, costs, byLabel, kernels, credits)
      .build();
}

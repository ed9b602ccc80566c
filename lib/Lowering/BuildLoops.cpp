//===- BuildLoops.cpp - Loops in action graphs ----------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphBuilder.h"

#include "runtime/base/buffer_bytes.h"

using namespace mlir;
using namespace mlir::pathways;

namespace mlir::pathways {

/// Builds one loop of a graph.
class LoopBuilder {
public:
  LoopBuilder(GraphBuilder &builder, ForOp loop)
      : builder(builder), graph(builder.graph), loop(loop),
        body(&loop.getBody().front()) {}

  LogicalResult build();
  LogicalResult addDonations(CallOp call, MemoryWishes &wanted);

private:
  /// Adds a gang that cuts array `whole` into the parts that iterations take,
  /// or stacks these, without a copy of bytes.
  LogicalResult addView(StringRef name, uint32_t whole, uint32_t part,
                        bool isStack);
  /// Adds the arrays that the iterations begin with.
  LogicalResult addArguments();
  LogicalResult addBody();
  LogicalResult addOrders();
  /// Adds the arrays behind the loop.
  LogicalResult addResults();
  /// Returns the result of `call` that is the next value of `argument`, and of
  /// no other; null if there is none, or if the memory with which the argument
  /// begins has other uses.
  OpResult getNextInPlace(CallOp call, BlockArgument argument);
  Value getYielded(unsigned index) {
    return loop.getYield().getValues()[index];
  }

  GraphBuilder &builder;
  ActionGraph &graph;
  ForOp loop;
  Block *body;
};

} // namespace mlir::pathways

/// Returns the uses of `value` among what the loop around it yields.
static SmallVector<unsigned> getYields(ForOp loop, Value value) {
  SmallVector<unsigned> yields;
  for (auto [index, yielded] : llvm::enumerate(loop.getYield().getValues()))
    if (yielded == value)
      yields.push_back(index);
  return yields;
}

//===----------------------------------------------------------------------===//
// Memory that iterations take over
//===----------------------------------------------------------------------===//

OpResult LoopBuilder::getNextInPlace(CallOp call, BlockArgument argument) {
  std::optional<unsigned> carried =
      loop.getCarriedResult(argument.getArgNumber());
  const ProgramLiveness &liveness = *builder.liveness;
  if (!carried || liveness.getLaterRead(argument, call) ||
      llvm::count(call.getInputs(), argument) != 1)
    return nullptr;
  auto next = dyn_cast<OpResult>(getYielded(*carried));
  if (!next || next.getOwner() != call || getYields(loop, next).size() != 1)
    return nullptr;
  Value init = loop.getInits()[argument.getArgNumber()];
  if (builder.carriedInto.contains(init) || liveness.getLaterRead(init, loop) ||
      llvm::count(loop.getInits(), init) != 1 ||
      !builder.isFixed(builder.buffers.lookup(init)))
    return nullptr;
  return next;
}

LogicalResult LoopBuilder::addDonations(CallOp call, MemoryWishes &wanted) {
  for (OpResult result : call->getResults()) {
    auto info = builder.getInfo(result);
    if (failed(info))
      return failure();
    if (getYields(loop, result).empty())
      wanted.open[info->shard].push_back(result.getResultNumber());
  }
  for (auto [index, operand] : llvm::enumerate(call.getInputs())) {
    auto info = builder.getInfo(operand);
    if (failed(info))
      return failure();
    MemoryWishes::Wish wish{static_cast<unsigned>(index), std::nullopt,
                            /*isDonated=*/false, info->shard};
    auto argument = dyn_cast<BlockArgument>(operand);
    if (argument && argument.getOwner() == body) {
      if (OpResult next = getNextInPlace(call, argument))
        wish.best = next.getResultNumber();
    } else {
      // A yielded array is still needed, and each iteration needs an array from
      // outside.
      wish.isDonated =
          llvm::is_contained(call.getDonated(), static_cast<int64_t>(index)) &&
          operand.getParentBlock() == body &&
          getYields(loop, operand).empty() &&
          llvm::count(call.getInputs(), operand) == 1 &&
          !builder.liveness->getLaterRead(operand, call) &&
          wanted.open.contains(info->shard);
    }
    if (wish.best || wish.isDonated)
      wanted.wishes.push_back(wish);
  }
  return success();
}

LogicalResult GraphBuilder::addLoopDonations(CallOp call,
                                             MemoryWishes &wanted) {
  return LoopBuilder(*this, cast<ForOp>(call->getParentOp()))
      .addDonations(call, wanted);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

LogicalResult LoopBuilder::addView(StringRef name, uint32_t whole,
                                   uint32_t part, bool isStack) {
  uint64_t stride =
      llvm::alignTo(graph.buffers[part].bytes, ::pathways::kBufferAlignment);
  if (graph.buffers[whole].bytes != loop.getTrips() * stride)
    return loop.emitOpError()
           << "has a stepped array with shards of "
           << graph.buffers[whole].bytes << " bytes, expected "
           << loop.getTrips() << " parts of " << stride;
  uint32_t from = isStack ? part : whole, to = isStack ? whole : part;
  graph.addAction(ActionGraph::Kind::Gang, name, graph.buffers[from].slice, 0,
                  loop.getLoc());
  uint32_t gang = graph.lastAction();
  graph.addRead(gang, from);
  graph.addWrite(gang, to);
  graph.addAlias(gang, from, to);
  return success();
}

LogicalResult LoopBuilder::addArguments() {
  uint32_t number = graph.loops.size(); // the loop is added later
  for (auto [index, argument] : llvm::enumerate(body->getArguments())) {
    auto info = builder.getInfo(argument);
    if (failed(info))
      return failure();
    Value init = loop.getInits()[index];
    std::string name = builder.baseNames[init];
    builder.baseNames[argument] = name;
    uint32_t buffer =
        graph.addBuffer(name, info->slice, cast<ArrayType>(argument.getType()));
    builder.buffers[argument] = buffer;
    ActionGraph::Buffer &entry = graph.buffers[buffer];
    entry.loop = number;
    if (loop.getCarriedResult(index)) {
      entry.initial = builder.buffers.lookup(init);
      continue;
    }
    entry.slots = loop.getTrips();
    entry.isReversed = loop.getOperandUse(index) == LoopUse::Reversed;
    if (failed(addView(name + ".split", builder.buffers.lookup(init), buffer,
                       /*isStack=*/false)))
      return failure();
  }
  return success();
}

LogicalResult LoopBuilder::addBody() {
  builder.gangs.clear();
  graph.beginLoop(loop.getLabel().value_or("loop"), loop.getTrips());
  for (Operation &op : body->without_terminator())
    if (failed(builder.addNode(&op)))
      return failure();
  for (auto [index, value] : llvm::enumerate(loop.getYield().getValues())) {
    if (!value.getDefiningOp() || value.getParentBlock() != body)
      return loop.emitOpError("yields a value that is not made in it");
    if (loop.getResultUse(index) == LoopUse::Carried)
      continue;
    ActionGraph::Buffer &part = graph.buffers[builder.buffers.lookup(value)];
    part.slots = loop.getTrips();
    part.isReversed = loop.getResultUse(index) == LoopUse::Reversed;
  }
  for (auto [index, argument] : llvm::enumerate(body->getArguments()))
    if (std::optional<unsigned> next = loop.getCarriedResult(index))
      graph.buffers[builder.buffers.lookup(argument)].carried =
          builder.buffers.lookup(getYielded(*next));
  graph.endLoop();
  return success();
}

LogicalResult LoopBuilder::addResults() {
  auto add = [&](Value value) {
    auto type = cast<ArrayType>(value.getType());
    return graph.addBuffer(builder.baseNames[value],
                           builder.infos.lookup(type).slice, type);
  };
  for (auto [index, argument] : llvm::enumerate(body->getArguments())) {
    Value init = loop.getInits()[index];
    if (loop.getCarriedResult(index) ||
        !builder.liveness->getLaterRead(init, loop))
      continue;
    uint32_t whole = add(init);
    if (failed(addView(builder.baseNames[init] + ".join", whole,
                       builder.buffers.lookup(argument), /*isStack=*/true)))
      return failure();
    builder.buffers[init] = whole;
  }
  for (auto [index, output] : llvm::enumerate(loop.getOutputs())) {
    if (failed(builder.getInfo(output)))
      return failure();
    Value yielded = getYielded(index);
    // A copy, since the insertion moves the names in the map.
    std::string name = builder.baseNames.lookup(yielded);
    builder.baseNames[output] = name;
    uint32_t source = builder.buffers.lookup(yielded), result = add(output);
    builder.buffers[output] = result;
    if (loop.getResultUse(index) == LoopUse::Carried)
      graph.buffers[result].lastOf = source;
    else if (failed(addView(builder.baseNames[output] + ".stack", result,
                            source, /*isStack=*/true)))
      return failure();
  }
  return success();
}

LogicalResult LoopBuilder::addOrders() {
  auto fail = [&] {
    return loop.emitOpError("has orders of another form than "
                            "'pw-unroll-loops' gives them");
  };
  auto orders =
      loop->getAttrOfType<ArrayAttr>(PathwaysDialect::kOrdersAttrName);
  if (!orders)
    return fail();
  for (Attribute attribute : orders) {
    auto run = dyn_cast<ArrayAttr>(attribute);
    if (!run || run.size() != 4)
      return fail();
    auto slice = dyn_cast<FlatSymbolRefAttr>(run[0]);
    auto cells = dyn_cast<DenseI64ArrayAttr>(run[1]),
         iterations = dyn_cast<DenseI64ArrayAttr>(run[2]),
         repeat = dyn_cast<DenseI64ArrayAttr>(run[3]);
    if (!slice || !cells || !iterations || !repeat || repeat.size() != 2 ||
        cells.size() != iterations.size())
      return fail();
    FailureOr<uint32_t> number = builder.getSlice(slice, loop.getLoc());
    if (failed(number))
      return failure();
    ActionGraph::OrderRun order{*number,
                                {},
                                {},
                                static_cast<uint32_t>(repeat[0]),
                                static_cast<uint32_t>(repeat[1])};
    for (auto [cell, iteration] :
         llvm::zip_equal(cells.asArrayRef(), iterations.asArrayRef())) {
      // A call without uses is gone by now.
      auto gang = builder.gangs.find(cell);
      if (gang == builder.gangs.end())
        continue;
      order.gangs.push_back(gang->second);
      order.iterations.push_back(iteration);
    }
    if (!order.gangs.empty())
      graph.loops.back().orders.push_back(std::move(order));
  }
  return success();
}

LogicalResult LoopBuilder::build() {
  return failure(failed(addArguments()) || failed(addBody()) ||
                 failed(addOrders()) || failed(addResults()));
}

LogicalResult GraphBuilder::addLoop(ForOp loop) {
  return LoopBuilder(*this, loop).build();
}

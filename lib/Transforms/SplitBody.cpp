//===- SplitBody.cpp - Cut a function into two halves ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SplitBody.h"
#include "MinimumCut.h"
#include "pathways/Dialect/Pathways/Layouts.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::pathways;

namespace {

class BodySplitter {
public:
  BodySplitter(func::FuncOp body, const llvm::BitVector &isFirst,
               const llvm::BitVector &isKept)
      : body(body), block(body.getBody().front()), isFirst(isFirst),
        isKept(isKept) {}

  std::string split(SplitBody &split);

private:
  /// Returns the result that `op`, or an operation of its regions, reads.
  static llvm::SetVector<Value> getReads(Operation &op);
  /// Returns true if both halves may run `op`, which costs next to nothing.
  bool isRepeated(Operation &op) const;
  /// Returns true if the first half may run `op` without need, to make what is
  /// kept smaller. Others wait for the first half, so it must not run sums,
  /// loops and collectives that the second half could run.
  static bool mayMove(Operation &op);
  /// Returns the bytes of a value; kNever if it cannot be an array.
  static int64_t getBytes(Value value);
  std::string classify();
  void requireFirst();
  std::string cut();
  /// Sets the results, the arguments and the function of a half.
  void build(BodyHalf &half, bool wantsFirst, StringRef suffix);
  bool isResultInFirst(unsigned result) const {
    Operation *op = getOutputs()[result].getDefiningOp();
    return isFirst[result] || (op && inFirst.contains(op));
  }
  OperandRange getOutputs() const {
    return block.getTerminator()->getOperands();
  }

  func::FuncOp body;
  Block &block;
  const llvm::BitVector &isFirst, &isKept;
  llvm::DenseMap<Operation *, llvm::SetVector<Value>> reads;
  llvm::DenseSet<Operation *> repeated;
  /// Operations of the first half: at first those that it needs.
  llvm::DenseSet<Operation *> inFirst;
  llvm::SetVector<Value> crossing;
};

} // namespace

llvm::SetVector<Value> BodySplitter::getReads(Operation &op) {
  llvm::SetVector<Value> found;
  op.walk([&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      Operation *writer = operand.getDefiningOp();
      Block *home =
          writer ? writer->getBlock() : cast<BlockArgument>(operand).getOwner();
      if (home == op.getBlock())
        found.insert(operand);
    }
  });
  return found;
}

bool BodySplitter::isRepeated(Operation &op) const {
  bool isScalar = llvm::none_of(
      op.getResultTypes(), [](Type type) { return isa<ShapedType>(type); });
  if (!isMemoryEffectFree(&op) || op.getNumRegions() > isa<linalg::FillOp>(op))
    return false;
  if (!op.hasTrait<OpTrait::ConstantLike>() && !isScalar &&
      !isa<tensor::EmptyOp, linalg::FillOp>(op))
    return false;
  return llvm::all_of(op.getOperands(), [&](Value operand) {
    Operation *writer = operand.getDefiningOp();
    return writer ? repeated.contains(writer) : isScalar;
  });
}

bool BodySplitter::mayMove(Operation &op) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return linalgOp.getNumReductionLoops() == 0;
  return op.getNumRegions() == 0 && !isa<func::CallOp>(op) &&
         !isa<PathwaysDialect>(op.getDialect());
}

int64_t BodySplitter::getBytes(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || type.getEncoding() ||
      !type.getElementType().isIntOrFloat())
    return MinimumCut::kNever;
  return type.getNumElements() * getElementBytes(type.getElementType());
}

std::string BodySplitter::classify() {
  for (Operation &op : block.without_terminator()) {
    if (!isMemoryEffectFree(&op) && !isa<func::CallOp>(op))
      return "operation '" + op.getName().getStringRef().str() +
             "' has effects beside its results";
    reads[&op] = getReads(op);
    if (isRepeated(op))
      repeated.insert(&op);
  }
  return "";
}

void BodySplitter::requireFirst() {
  SmallVector<Operation *> open;
  auto require = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (op && !repeated.contains(op) && inFirst.insert(op).second)
      open.push_back(op);
  };
  for (unsigned result : isFirst.set_bits())
    require(getOutputs()[result]);
  while (!open.empty())
    for (Value value : reads[open.pop_back_val()])
      require(value);
}

std::string BodySplitter::cut() {
  MinimumCut graph;
  llvm::DenseMap<Operation *, unsigned> nodes;
  llvm::DenseMap<Value, unsigned> values;
  // The node of a value is with the source if an operation of the first half
  // writes it, unless the edge to the node, which costs its bytes, is cut.
  auto addValue = [&](Value value, unsigned writer, int64_t bytes) {
    unsigned node = values[value] = graph.addNode();
    graph.addEdge(writer, node, bytes);
  };
  for (BlockArgument argument : block.getArguments())
    if (isKept[argument.getArgNumber()])
      addValue(argument, MinimumCut::kSource, getBytes(argument));
  for (Operation &op : block.without_terminator()) {
    if (repeated.contains(&op))
      continue;
    unsigned node = nodes[&op] = graph.addNode();
    if (inFirst.contains(&op))
      graph.addEdge(MinimumCut::kSource, node, MinimumCut::kNever);
    else if (!mayMove(op))
      graph.addEdge(node, MinimumCut::kSink, MinimumCut::kNever);
    for (Value value : reads[&op]) {
      if (auto it = values.find(value); it != values.end())
        graph.addEdge(it->second, node, MinimumCut::kNever);
      // The first half must not wait for the second one.
      if (auto it = nodes.find(value.getDefiningOp());
          value.getDefiningOp() && it != nodes.end())
        graph.addEdge(node, it->second, MinimumCut::kNever);
    }
    for (Value result : op.getResults())
      addValue(result, node, getBytes(result));
  }
  bool isAnySecond = false;
  for (Value output : getOutputs()) {
    Operation *op = output.getDefiningOp();
    if (!op || repeated.contains(op) || inFirst.contains(op))
      continue;
    isAnySecond = true;
    graph.addEdge(nodes.at(op), MinimumCut::kSink, MinimumCut::kNever);
  }
  if (!isAnySecond)
    return "nothing is left for the second half";
  if (graph.compute() >= MinimumCut::kNever) {
    for (Operation &op : block.without_terminator())
      for (Value value : reads[&op])
        if (!inFirst.contains(&op) && value.getDefiningOp() &&
            inFirst.contains(value.getDefiningOp()) &&
            getBytes(value) == MinimumCut::kNever) {
          std::string text = "both halves need a value of type '";
          llvm::raw_string_ostream(text)
              << value.getType() << "', which cannot be an array";
          return text;
        }
    return "both halves need values that cannot be arrays";
  }
  for (Operation &op : block)
    if (auto it = nodes.find(&op);
        it != nodes.end() && graph.isWithSource(it->second))
      inFirst.insert(&op);
  return "";
}

void BodySplitter::build(BodyHalf &half, bool wantsFirst, StringRef suffix) {
  for (unsigned i = 0; i < getOutputs().size(); ++i)
    if (isResultInFirst(i) == wantsFirst)
      half.results.push_back(i);
  auto function =
      func::FuncOp::create(body.getLoc(), (body.getSymName() + suffix).str(),
                           FunctionType::get(body.getContext(), {}, {}));
  function.setPrivate();
  function->setDiscardableAttrs(body->getDiscardableAttrDictionary());
  half.function = function;
  Block *entry = function.addEntryBlock();
  OpBuilder builder = OpBuilder::atBlockEnd(entry);
  IRMapping mapping;
  for (BlockArgument argument : block.getArguments())
    mapping.map(argument,
                entry->addArgument(argument.getType(), argument.getLoc()));
  // Scalars cross with rank 1, since each shard of an array with dimensions
  // may have its own value.
  for (Value value : crossing) {
    if (wantsFirst)
      continue;
    auto type = cast<RankedTensorType>(value.getType());
    bool isScalar = type.getRank() == 0;
    Value argument = entry->addArgument(
        isScalar ? RankedTensorType::get({1}, type.getElementType()) : type,
        value.getLoc());
    if (isScalar)
      argument = tensor::CollapseShapeOp::create(
          builder, value.getLoc(), type, argument,
          ArrayRef<ReassociationIndices>());
    mapping.map(value, argument);
  }
  for (Operation &op : block.without_terminator())
    if (repeated.contains(&op) || inFirst.contains(&op) == wantsFirst)
      builder.clone(op, mapping);
  SmallVector<Value> results;
  for (unsigned result : half.results)
    results.push_back(mapping.lookup(getOutputs()[result]));
  for (Value value : crossing) {
    if (!wantsFirst)
      continue;
    Value copy = mapping.lookup(value);
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getRank() == 0)
      copy = tensor::ExpandShapeOp::create(
          builder, value.getLoc(),
          RankedTensorType::get({1}, type.getElementType()), copy,
          ArrayRef<ReassociationIndices>());
    results.push_back(copy);
  }
  func::ReturnOp::create(builder, body.getLoc(), results);
  SmallVector<Operation *> copies;
  for (Operation &op : entry->without_terminator())
    copies.push_back(&op);
  for (Operation *op : llvm::reverse(copies))
    if (isOpTriviallyDead(op))
      op->erase();
  llvm::BitVector unread(entry->getNumArguments());
  unsigned numWhole = block.getNumArguments();
  for (unsigned i = 0; i < numWhole; ++i) {
    if (entry->getArgument(i).use_empty())
      unread.set(i);
    else
      half.arguments.push_back(i);
  }
  entry->eraseArguments(unread);
  function.setFunctionType(FunctionType::get(body.getContext(),
                                             entry->getArgumentTypes(),
                                             ValueRange(results).getTypes()));
  for (auto [index, argument] : llvm::enumerate(half.arguments))
    if (DictionaryAttr attributes = body.getArgAttrDict(argument))
      function.setArgAttrs(index, attributes);
  for (auto [index, result] : llvm::enumerate(half.results))
    if (DictionaryAttr attributes = body.getResultAttrDict(result))
      function.setResultAttrs(index, attributes);
}

std::string BodySplitter::split(SplitBody &split) {
  std::string reason = classify();
  if (!reason.empty())
    return reason;
  requireFirst();
  reason = cut();
  if (!reason.empty())
    return reason;
  for (Operation &op : block.without_terminator()) {
    if (inFirst.contains(&op) || repeated.contains(&op))
      continue;
    for (Value value : reads[&op])
      if (value.getDefiningOp() && inFirst.contains(value.getDefiningOp()))
        crossing.insert(value);
  }
  for (Value value : crossing) {
    auto type = cast<RankedTensorType>(value.getType());
    split.crossing.push_back(
        type.getRank() ? type
                       : RankedTensorType::get({1}, type.getElementType()));
    split.crossingBytes += getBytes(value);
  }
  build(split.first, /*wantsFirst=*/true, "_I");
  build(split.second, /*wantsFirst=*/false, "_W");
  for (unsigned argument : split.second.arguments)
    if (isKept[argument])
      split.keptBytes += getBytes(block.getArgument(argument));
  return "";
}

std::string mlir::pathways::splitBody(func::FuncOp body,
                                      const llvm::BitVector &isFirst,
                                      const llvm::BitVector &isKept,
                                      SplitBody &split) {
  return BodySplitter(body, isFirst, isKept).split(split);
}

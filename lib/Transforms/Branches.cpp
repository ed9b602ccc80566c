//===- Branches.cpp - Branches of programs as guarded nodes ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Branches.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::pathways;

namespace {

/// Replaces one branch.
class BranchFlattener {
public:
  BranchFlattener(IfOp branch, ShardFunctions &functions)
      : branch(branch), functions(functions), builder(branch.getLoc(), branch) {
    conditions[branch.getCondition().getType().getSlice()] =
        branch.getCondition();
  }

  void flatten();

private:
  /// Returns the condition on `slice`.
  Value getCondition(FlatSymbolRefAttr slice);
  /// Lets the calls of `block` run only with that value of the condition.
  void guard(Block &block, bool isUnless);
  /// Returns a value that is true where the call runs now and the condition has
  /// the value for its region. It is defined before the call.
  Value combine(CallOp call, bool isUnless);
  /// Moves the nodes of `block` before the branch.
  void moveOut(Block &block);
  /// Returns a copy of `value` that is made only with that value of the
  /// condition.
  CallOp copy(Value value, bool isUnless);

  IfOp branch;
  ShardFunctions &functions;
  ImplicitLocOpBuilder builder;
  llvm::SmallDenseMap<Attribute, Value> conditions; // by slice
};

} // namespace

Value BranchFlattener::getCondition(FlatSymbolRefAttr slice) {
  Value &condition = conditions[slice];
  if (!condition)
    condition = TransferOp::create(
        builder, branch.getCondition().getType().withSlice(slice),
        branch.getCondition());
  return condition;
}

Value BranchFlattener::combine(CallOp call, bool isUnless) {
  Value inner = call.getGuard(), outer = getCondition(call.getSlice());
  bool innerUnless = call.getUnless();
  std::string what = "pw_and";
  if (innerUnless || isUnless)
    what = innerUnless ? (isUnless ? "pw_nor" : "pw_less") : "pw_unless";
  auto tensor = functions.getShard(cast<ArrayType>(inner.getType()));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(call);
  FlatSymbolRefAttr function = functions.get(
      builder, what, builder.getFunctionType({tensor, tensor}, tensor),
      /*isPartial=*/false, [&](ImplicitLocOpBuilder &b, ValueRange arguments) {
        Value yes = arith::ConstantOp::create(b, b.getBoolAttr(true));
        auto read = [&](Value argument, bool isInverted) -> Value {
          Value bit = tensor::ExtractOp::create(b, argument, ValueRange());
          return isInverted ? arith::XOrIOp::create(b, bit, yes).getResult()
                            : bit;
        };
        Value first = read(arguments[0], innerUnless);
        Value second = read(arguments[1], isUnless);
        Value both = arith::AndIOp::create(b, first, second);
        return SmallVector<Value>{
            tensor::FromElementsOp::create(b, tensor, both)};
      });
  return CallOp::create(builder, TypeRange(inner.getType()),
                        function.getValue(), ValueRange({inner, outer}))
      .getOutputs()
      .front();
}

void BranchFlattener::guard(Block &block, bool isUnless) {
  // Guards of calls that are in a branch of this one, and what they become.
  llvm::DenseMap<std::pair<Value, unsigned>, Value> combined;
  for (CallOp call : llvm::to_vector(block.getOps<CallOp>())) {
    if (!call.getGuard()) {
      call.setGuard(getCondition(call.getSlice()), isUnless);
      continue;
    }
    Value &both = combined[{call.getGuard(), call.getUnless()}];
    if (!both)
      both = combine(call, isUnless);
    call.setGuard(both, /*isUnless=*/false);
  }
}

void BranchFlattener::moveOut(Block &block) {
  block.getTerminator()->dropAllReferences();
  branch->getBlock()->getOperations().splice(
      branch->getIterator(), block.getOperations(), block.begin(),
      std::prev(block.end()));
}

CallOp BranchFlattener::copy(Value value, bool isUnless) {
  auto type = cast<ArrayType>(value.getType());
  RankedTensorType shard = functions.getShard(type);
  FlatSymbolRefAttr function =
      functions.get(builder, "pw_copy", builder.getFunctionType(shard, shard),
                    type.getSharding().isPartial(),
                    [](ImplicitLocOpBuilder &, ValueRange arguments) {
                      return SmallVector<Value>(arguments);
                    });
  auto call = CallOp::create(builder, TypeRange(type), function.getValue(),
                             ValueRange(value));
  call.setGuard(getCondition(type.getSlice()), isUnless);
  return call;
}

/// Returns the call in `block` that makes `value`, if only the end of the block
/// uses it; null otherwise.
static CallOp getProducer(Value value, Block &block) {
  auto call = value.getDefiningOp<CallOp>();
  return call && call->getBlock() == &block && value.hasOneUse() ? call
                                                                 : nullptr;
}

void BranchFlattener::flatten() {
  Block &thenBlock = branch.getThenBody().front(),
        &elseBlock = branch.getElseBody().front();
  SmallVector<Value> first(branch.getThenYield().getValues()),
      second(branch.getElseYield().getValues());
  // Known before the blocks lose their ends.
  SmallVector<bool> isBase;
  for (Value value : first)
    isBase.push_back(getProducer(value, thenBlock) != nullptr);
  SmallVector<CallOp> writers;
  for (Value value : second) {
    CallOp writer = getProducer(value, elseBlock);
    if (writer && writer.isWrittenInto(cast<OpResult>(value).getResultNumber()))
      writer = nullptr;
    writers.push_back(writer);
  }
  guard(thenBlock, /*isUnless=*/false);
  guard(elseBlock, /*isUnless=*/true);
  moveOut(thenBlock);
  // An array from above that both branches yield needs no copy.
  auto isSame = [&](unsigned index) { return first[index] == second[index]; };
  SmallVector<Value> bases = first;
  for (auto [index, base] : llvm::enumerate(bases))
    if (!isBase[index] && !isSame(index))
      base = copy(base, /*isUnless=*/false).getOutputs().front();
  moveOut(elseBlock);
  for (auto [index, output] : llvm::enumerate(branch.getOutputs())) {
    Value merged = second[index];
    if (CallOp writer = writers[index]) {
      writer.addInto(cast<OpResult>(merged).getResultNumber(), bases[index]);
    } else if (!isSame(index)) {
      CallOp call = copy(merged, /*isUnless=*/true);
      call.addInto(0, bases[index]);
      merged = call.getOutputs().front();
    }
    output.replaceAllUsesWith(merged);
  }
  branch.erase();
}

void mlir::pathways::flattenBranch(IfOp branch, ShardFunctions &functions) {
  BranchFlattener(branch, functions).flatten();
}

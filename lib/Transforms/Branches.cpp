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

  /// Returns what the results become.
  SmallVector<Value> flatten();

private:
  /// A result, and the place in memory that it gets.
  struct Result {
    Value yielded[2]; ///< by the regions
    CallOp
        producers[2]; ///< calls that make these for the result alone, or null
    /// The region that yields an array from above in whose place the result is;
    /// none if the result has a place of its own.
    std::optional<unsigned> keeper;
    bool isDirect = false; ///< the other producer writes into that array
    /// An array from above that both regions yield needs no place.
    bool isSame() const { return yielded[0] == yielded[1]; }
  };
  void findPlaces();
  /// Returns true if nothing but this branch uses `old` later, and it yields
  /// the array only once.
  bool mayOverwrite(Value old);
  /// Returns true if all reads of `old` in the branch come before `producer`,
  /// which is in region `side`.
  bool isReadBefore(Value old, CallOp producer, unsigned side);
  /// Lets no call of the regions donate arrays that results are written into.
  void dropDonations();
  /// Returns the condition on `slice`.
  Value getCondition(FlatSymbolRefAttr slice);
  /// Lets the calls and transfers of `block` work only with that value of the
  /// condition.
  void guard(Block &block, bool isUnless);
  using Guards = llvm::DenseMap<std::pair<Value, unsigned>, Value>;
  /// Lets `op`, which is on `slice`, work only with that value of the
  /// condition. `combined` has guards of operations that are in a branch of
  /// this one, and what they become.
  template <typename Op>
  void guard(Op op, FlatSymbolRefAttr slice, bool isUnless, Guards &combined);
  /// Moves the nodes of `block` before the branch.
  void moveOut(Block &block);
  /// Returns a copy of `value` that is made only with that value of the
  /// condition.
  CallOp copy(Value value, bool isUnless);

  IfOp branch;
  ShardFunctions &functions;
  ImplicitLocOpBuilder builder;
  SmallVector<Result> results;
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

Value mlir::pathways::combineConditions(ImplicitLocOpBuilder &builder,
                                        ShardFunctions &functions, Value first,
                                        bool firstUnless, Value second,
                                        bool secondUnless) {
  std::string what = "pw_and";
  if (firstUnless || secondUnless)
    what = !firstUnless ? "pw_unless" : secondUnless ? "pw_nor" : "pw_less";
  auto tensor = functions.getShard(cast<ArrayType>(first.getType()));
  FlatSymbolRefAttr function = functions.get(
      builder, what, builder.getFunctionType({tensor, tensor}, tensor),
      /*isPartial=*/false, [&](ImplicitLocOpBuilder &b, ValueRange arguments) {
        Value yes = arith::ConstantOp::create(b, b.getBoolAttr(true));
        auto read = [&](Value argument, bool isInverted) -> Value {
          Value bit = tensor::ExtractOp::create(b, argument, ValueRange());
          return isInverted ? arith::XOrIOp::create(b, bit, yes).getResult()
                            : bit;
        };
        Value left = read(arguments[0], firstUnless);
        Value right = read(arguments[1], secondUnless);
        Value both = arith::AndIOp::create(b, left, right);
        return SmallVector<Value>{
            tensor::FromElementsOp::create(b, tensor, both)};
      });
  return CallOp::create(builder, TypeRange(first.getType()),
                        function.getValue(), ValueRange({first, second}))
      .getOutputs()
      .front();
}

/// Returns true if a call writes `value` into another array.
static bool isWritten(Value value) {
  auto call = value.getDefiningOp<CallOp>();
  return call && call.isWrittenInto(cast<OpResult>(value).getResultNumber());
}

template <typename Op>
void BranchFlattener::guard(Op op, FlatSymbolRefAttr slice, bool isUnless,
                            Guards &combined) {
  Value outer = getCondition(slice);
  if (!op.getGuard())
    return op.setGuard(outer, isUnless);
  Value &both = combined[{op.getGuard(), op.getUnless()}];
  if (!both) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(op);
    both = combineConditions(builder, functions, op.getGuard(), op.getUnless(),
                             outer, isUnless);
  }
  op.setGuard(both, /*isUnless=*/false);
}

void BranchFlattener::guard(Block &block, bool isUnless) {
  Guards combined;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto call = dyn_cast<CallOp>(op))
      guard(call, call.getSlice(), isUnless, combined);
    else if (auto transfer = dyn_cast<TransferOp>(op))
      guard(transfer, transfer.getSource().getType().getSlice(), isUnless,
            combined);
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
  // Comes first, since it may add the transfer of the condition.
  Value condition = getCondition(type.getSlice());
  auto call = CallOp::create(builder, TypeRange(type), function.getValue(),
                             ValueRange(value));
  call.setGuard(condition, isUnless);
  return call;
}

/// Returns the call in `block` that makes `value`, if only the end of the block
/// uses it; null otherwise.
static CallOp getProducer(Value value, Block &block) {
  auto call = value.getDefiningOp<CallOp>();
  return call && call->getBlock() == &block && value.hasOneUse() ? call
                                                                 : nullptr;
}

bool BranchFlattener::mayOverwrite(Value old) {
  Operation *writer = old.getDefiningOp();
  if (!writer || writer->getBlock() != branch->getBlock() ||
      old == branch.getCondition())
    return false;
  // CSE could give any other array uses later in the text.
  auto call = dyn_cast<CallOp>(writer);
  if (!isa<CopyOp>(writer) && !(call && call.getGuard()))
    return false;
  unsigned yields = 0;
  for (Operation *user : old.getUsers()) {
    Operation *node = branch->getBlock()->findAncestorOpInBlock(*user);
    if (node != branch && branch->isBeforeInBlock(node))
      return false;
    yields += node == branch && isa<YieldOp>(user);
  }
  return yields == 1;
}

bool BranchFlattener::isReadBefore(Value old, CallOp producer, unsigned side) {
  return llvm::all_of(old.getUsers(), [&](Operation *user) {
    if (isa<YieldOp>(user) || !branch->isProperAncestor(user))
      return true;
    if (user->getBlock() == producer->getBlock())
      return user->isBeforeInBlock(producer);
    return side == 1; // The second region comes after the first one.
  });
}

void BranchFlattener::findPlaces() {
  Block *blocks[2] = {&branch.getThenBody().front(),
                      &branch.getElseBody().front()};
  for (auto [first, second] :
       llvm::zip_equal(branch.getThenYield().getValues(),
                       branch.getElseYield().getValues())) {
    Result &result = results.emplace_back(Result{{first, second}, {}, {}});
    for (unsigned side : {0, 1})
      result.producers[side] = getProducer(result.yielded[side], *blocks[side]);
    if (result.isSame())
      continue;
    for (unsigned side : {1, 0}) {
      if (!mayOverwrite(result.yielded[side]))
        continue;
      result.keeper = side;
      CallOp producer = result.producers[1 - side];
      result.isDirect = producer && !isWritten(result.yielded[1 - side]) &&
                        isReadBefore(result.yielded[side], producer, 1 - side);
      break;
    }
  }
}

void BranchFlattener::dropDonations() {
  llvm::SmallDenseSet<Value> kept;
  for (const Result &result : results)
    if (result.keeper)
      kept.insert(result.yielded[*result.keeper]);
  branch.walk([&](CallOp call) {
    SmallVector<int64_t> donated(call.getDonated());
    llvm::erase_if(donated, [&](int64_t index) {
      return kept.contains(call.getInputs()[index]);
    });
    if (donated.size() != call.getDonated().size())
      call.setDonated(donated);
  });
}

SmallVector<Value> BranchFlattener::flatten() {
  findPlaces();
  dropDonations();
  Block &first = branch.getThenBody().front(),
        &second = branch.getElseBody().front();
  guard(first, /*isUnless=*/false);
  guard(second, /*isUnless=*/true);
  moveOut(first);
  // The places of results that have their own, which the first region writes.
  SmallVector<Value> places;
  for (const Result &result : results) {
    Value place = result.yielded[0];
    if (!result.producers[0] && !result.keeper && !result.isSame())
      place = copy(place, /*isUnless=*/false).getOutputs().front();
    places.push_back(place);
  }
  moveOut(second);
  SmallVector<Value> all;
  for (auto [output, result, place] :
       llvm::zip_equal(branch.getOutputs(), results, places)) {
    unsigned side = result.keeper ? 1 - *result.keeper : 1;
    Value target = result.keeper ? result.yielded[*result.keeper] : place;
    Value merged = result.yielded[side];
    bool isDirect = result.keeper ? result.isDirect
                                  : result.producers[1] && !isWritten(merged);
    if (isDirect) {
      result.producers[side].addInto(cast<OpResult>(merged).getResultNumber(),
                                     target);
    } else if (!result.isSame()) {
      CallOp call = copy(merged, /*isUnless=*/side == 1);
      call.addInto(0, target);
      merged = call.getOutputs().front();
    }
    output.replaceAllUsesWith(merged);
    all.push_back(merged);
  }
  branch.erase();
  return all;
}

SmallVector<Value> mlir::pathways::flattenBranch(IfOp branch,
                                                 ShardFunctions &functions) {
  return BranchFlattener(branch, functions).flatten();
}

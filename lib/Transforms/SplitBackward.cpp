//===- SplitBackward.cpp - Split backward calls into halves ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InlineBody.h"
#include "LoopOrder.h"
#include "Schedules.h"
#include "SplitBody.h"
#include "pathways/Dialect/Pathways/Layouts.h"
#include "pathways/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::pathways {
#define GEN_PASS_DEF_SPLITBACKWARD
#include "pathways/Transforms/Passes.h.inc"
} // namespace mlir::pathways

using namespace mlir;
using namespace mlir::pathways;

namespace {

/// Splits the backward calls of one loop.
class BackwardSplitter {
public:
  BackwardSplitter(SymbolTable &symbols, ForOp loop, StringRef schedule)
      : symbols(symbols), loop(loop), schedule(schedule) {}

  LogicalResult run();

private:
  /// Splits the calls with this label, which ends in B.
  LogicalResult split(StringAttr label, ArrayRef<CallOp> calls);
  LogicalResult split(CallOp call, const llvm::BitVector &isFirst);
  /// Returns true if other slices or calls with other labels need `value` in
  /// the same iteration, by way of calls and moves that are no part of another
  /// cell.
  bool flowsOut(Value value, StringAttr label);
  /// Returns true if the function computes on shards of the call's arrays.
  bool isOfShards(CallOp call, func::FuncOp callee);
  /// Returns the arguments of `call` that only this iteration keeps.
  llvm::BitVector findKept(CallOp call);
  /// Returns the array that holds a tensor for each shard of the call's slice.
  ArrayType getCrossingType(CallOp call, RankedTensorType type);
  /// Makes the call of a half and replaces the results that it computes.
  CallOp makeCall(CallOp call, const BodyHalf &half, char kind,
                  ValueRange crossing, TypeRange more);
  LogicalResult fail(Operation *op, StringRef label, StringRef reason) {
    return op->emitOpError()
           << "with label '" << label << "' cannot be split into '"
           << label.drop_back() << "I' and '" << label.drop_back()
           << "W', which schedule '" << schedule << "' needs: " << reason;
  }

  SymbolTable &symbols;
  ForOp loop;
  StringRef schedule;
};

} // namespace

bool BackwardSplitter::flowsOut(Value value, StringAttr label) {
  FlatSymbolRefAttr slice = cast<ArrayType>(value.getType()).getSlice();
  Block &body = loop.getBody().front();
  SmallVector<Value> open = {value};
  llvm::DenseSet<Operation *> seen;
  while (!open.empty())
    for (Operation *user : open.pop_back_val().getUsers()) {
      Operation *node = body.findAncestorOpInBlock(*user);
      if (!node || isa<YieldOp>(node) || !seen.insert(node).second)
        continue;
      auto call = dyn_cast<CallOp>(node);
      auto inner = dyn_cast<ForOp>(node);
      StringAttr other = call    ? call.getLabelAttr()
                         : inner ? inner.getLabelAttr()
                                 : nullptr;
      if (other && other != label)
        return true;
      for (Value result : node->getResults()) {
        if (cast<ArrayType>(result.getType()).getSlice() != slice)
          return true;
        open.push_back(result);
      }
    }
  return false;
}

bool BackwardSplitter::isOfShards(CallOp call, func::FuncOp callee) {
  MeshAttr mesh = symbols.lookup<SliceOp>(call.getSlice().getAttr()).getMesh();
  auto areShards = [&](TypeRange arrays, TypeRange tensors) {
    return llvm::all_of_zip(arrays, tensors, [&](Type array, Type tensor) {
      auto type = cast<ArrayType>(array);
      return !type.getSharding().hasOpenDims() &&
             getShardTensorType(type, mesh) == tensor;
    });
  };
  return areShards(call.getInputs().getTypes(), callee.getArgumentTypes()) &&
         areShards(call.getOutputs().getTypes(), callee.getResultTypes());
}

llvm::BitVector BackwardSplitter::findKept(CallOp call) {
  llvm::BitVector isKept(call.getInputs().size());
  Block &body = loop.getBody().front();
  for (auto [index, input] : llvm::enumerate(call.getInputs())) {
    auto argument = dyn_cast<BlockArgument>(input);
    bool isOfIteration =
        argument ? argument.getOwner() == &body &&
                       !loop.getCarriedResult(argument.getArgNumber())
                 : input.getParentBlock() == &body;
    isKept[index] = isOfIteration && !call.isDonated(index);
  }
  return isKept;
}

ArrayType BackwardSplitter::getCrossingType(CallOp call,
                                            RankedTensorType type) {
  MLIRContext *context = call.getContext();
  MeshAttr mesh = symbols.lookup<SliceOp>(call.getSlice().getAttr()).getMesh();
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<ArrayAttr> dims(type.getRank(), ArrayAttr::get(context, {}));
  if (mesh.getNumShards() > 1) {
    shape.front() *= mesh.getNumShards();
    SmallVector<Attribute> axes(mesh.getNames());
    dims.front() = ArrayAttr::get(context, axes);
  }
  return ArrayType::get(shape, type.getElementType(), call.getSlice(),
                        ShardingAttr::get(context, dims));
}

CallOp BackwardSplitter::makeCall(CallOp call, const BodyHalf &half, char kind,
                                  ValueRange crossing, TypeRange more) {
  OpBuilder builder(call);
  SmallVector<Value> inputs;
  SmallVector<int64_t> donated;
  for (auto [index, argument] : llvm::enumerate(half.arguments)) {
    inputs.push_back(call.getInputs()[argument]);
    if (call.isDonated(argument))
      donated.push_back(index);
  }
  llvm::append_range(inputs, crossing);
  SmallVector<Type> types;
  for (unsigned result : half.results)
    types.push_back(call.getOutputs()[result].getType());
  llvm::append_range(types, more);
  func::FuncOp function = half.function;
  auto made = CallOp::create(builder, call.getLoc(), types,
                             function.getSymName(), inputs);
  made.getAfterMutable().assign(call.getAfter());
  made.setLabel((call.getLabel()->drop_back() + Twine(kind)).str());
  made.setDonated(donated);
  for (auto [result, output] : llvm::zip(half.results, made.getOutputs()))
    call.getOutputs()[result].replaceAllUsesWith(output);
  return made;
}

LogicalResult BackwardSplitter::split(CallOp call,
                                      const llvm::BitVector &isFirst) {
  auto callee = symbols.lookup<func::FuncOp>(call.getCalleeAttr().getAttr());
  StringRef label = *call.getLabel();
  if (!isOfShards(call, callee))
    return fail(call, label,
                "'" + callee.getSymName().str() +
                    "' is not written for one shard; run pw-partition first");
  FailureOr<OwningOpRef<func::FuncOp>> whole = inlineBody(callee, symbols);
  if (failed(whole))
    return failure();
  SplitBody halves;
  std::string reason = splitBody(**whole, isFirst, findKept(call), halves);
  if (!reason.empty())
    return fail(call, label, reason);
  for (BodyHalf *half : {&halves.first, &halves.second}) {
    // Each shard has its own part of the arrays that cross.
    half->function->setAttr(PathwaysDialect::kLocalViewAttrName,
                            UnitAttr::get(call.getContext()));
    symbols.insert(half->function);
  }
  call.emitRemark() << "'" << label << "' is split into '" << label.drop_back()
                    << "I' and '" << label.drop_back()
                    << "W': " << halves.crossingBytes
                    << " bytes cross between the halves on each device, and "
                    << halves.keptBytes
                    << " bytes of operands are kept for the second one";
  SmallVector<Type> types;
  for (RankedTensorType type : halves.crossing)
    types.push_back(getCrossingType(call, type));
  // An operand of both halves is donated to the second one.
  CallOp first = makeCall(call, halves.first, 'I', {}, types);
  SmallVector<int64_t> donated;
  for (int64_t index : first.getDonated())
    if (!llvm::is_contained(halves.second.arguments,
                            halves.first.arguments[index]))
      donated.push_back(index);
  first.setDonated(donated);
  makeCall(call, halves.second, 'W', first.getOutputs().take_back(types.size()),
           {});
  call.erase();
  return success();
}

LogicalResult BackwardSplitter::split(StringAttr label,
                                      ArrayRef<CallOp> calls) {
  SmallVector<llvm::BitVector> flowing;
  bool isAny = false;
  for (CallOp call : calls) {
    llvm::BitVector &bits = flowing.emplace_back(call.getOutputs().size());
    for (auto [index, output] : llvm::enumerate(call.getOutputs()))
      bits[index] = flowsOut(output, label);
    isAny |= bits.any();
  }
  // The first stage of a pipeline may compute a gradient that nobody reads.
  if (!isAny)
    for (auto [call, bits] : llvm::zip_equal(calls, flowing))
      for (auto [index, output] : llvm::enumerate(call->getResults())) {
        bits[index] = output.use_empty();
        isAny |= output.use_empty();
      }
  // The call is a second half as a whole if others wait for none of its
  // results.
  if (!isAny) {
    StringRef stage = label.getValue().drop_back();
    for (CallOp call : calls)
      call.setLabel((stage + "W").str());
    CallOp first = calls.front();
    first.emitRemark() << "'" << label.getValue() << "' becomes '" << stage
                       << "W' as a whole: other slices and calls need none of "
                          "its results";
    return success();
  }
  bool isAnySecond = llvm::any_of(
      flowing, [](const llvm::BitVector &bits) { return !bits.all(); });
  if (!isAnySecond)
    return fail(calls.front(), label,
                "other slices and calls need all of its results");
  for (auto [call, bits] : llvm::zip_equal(calls, flowing)) {
    // One of several calls may be part of one half as a whole.
    StringRef stage = label.getValue().drop_back();
    if (calls.size() > 1 && (bits.none() || bits.all())) {
      CallOp whole = call;
      whole.setLabel((stage + (bits.none() ? "W" : "I")).str());
    } else if (failed(split(call, bits))) {
      return failure();
    }
  }
  return success();
}

LogicalResult BackwardSplitter::run() {
  FailureOr<llvm::StringSet<>> halves = findHalves(schedule);
  if (failed(halves)) // the pass that orders calls reports the file
    return success();
  Block &body = loop.getBody().front();
  llvm::MapVector<StringAttr, SmallVector<CallOp>> calls;
  llvm::StringSet<> labels;
  for (Operation &op : body) {
    auto call = dyn_cast<CallOp>(op);
    auto inner = dyn_cast<ForOp>(op);
    StringAttr label = call    ? call.getLabelAttr()
                       : inner ? inner.getLabelAttr()
                               : nullptr;
    if (!label)
      continue;
    labels.insert(label);
    if (!label.getValue().ends_with("B"))
      continue;
    if (call) {
      calls[label].push_back(call);
      continue;
    }
    StringRef stage = label.getValue().drop_back();
    if (halves->contains(stage) || halves->contains("*"))
      return fail(inner, label, "it is a loop");
  }
  for (auto &[label, ofLabel] : calls) {
    StringRef stage = label.getValue().drop_back();
    if (!halves->contains(stage) && !halves->contains("*"))
      continue;
    if (labels.contains((stage + "I").str()) ||
        labels.contains((stage + "W").str()))
      continue;
    if (failed(split(label, ofLabel)))
      return failure();
  }
  return success();
}

namespace {
class SplitBackwardPass
    : public mlir::pathways::impl::SplitBackwardBase<SplitBackwardPass> {
public:
  using SplitBackwardBase::SplitBackwardBase;

private:
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto program : getOperation().getOps<ProgramOp>()) {
      SmallVector<ForOp> loops;
      program.walk([&](ForOp loop) {
        if (hasLabels(loop))
          loops.push_back(loop);
      });
      // pw-unroll-loops refuses a schedule that may mean several loops.
      bool isGiven = !schedule.empty() && loops.size() == 1;
      for (ForOp loop : loops) {
        std::string name = isGiven ? std::string(schedule)
                                   : loop.getSchedule().value_or("").str();
        if (!name.empty() &&
            failed(BackwardSplitter(symbols, loop, name).run()))
          return signalPassFailure();
      }
    }
  }
};
} // namespace

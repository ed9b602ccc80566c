//===- Partition.cpp - Cut computations over their slices -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BodyPartitioner.h"
#include "pathways/Analysis/ShardingRule.h"
#include "pathways/Dialect/Pathways/Layouts.h"
#include "pathways/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"

namespace mlir::pathways {
#define GEN_PASS_DEF_PARTITION
#include "pathways/Transforms/Passes.h.inc"
} // namespace mlir::pathways

using namespace mlir;
using namespace mlir::pathways;

namespace {
class PartitionPass
    : public mlir::pathways::impl::PartitionBase<PartitionPass> {
public:
  using PartitionBase::PartitionBase;
  PartitionPass(PartitionOptions options, std::vector<ReshardChoice> *choices)
      : PartitionBase(std::move(options)), choices(choices) {}

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<CallOp> calls;
    bool areClosed = true;
    getOperation().walk([&](CallOp call) {
      calls.push_back(call);
      areClosed &= succeeded(checkClosed(call));
    });
    if (!areClosed)
      return signalPassFailure();
    llvm::DenseMap<Attribute, FlatSymbolRefAttr> made;
    llvm::SetVector<Operation *> replaced;
    for (CallOp call : calls) {
      auto callee =
          symbols.lookup<func::FuncOp>(call.getCalleeAttr().getAttr());
      MeshAttr mesh =
          symbols.lookup<SliceOp>(call.getSlice().getAttr()).getMesh();
      if (callee->hasAttr(PathwaysDialect::kLocalViewAttrName) ||
          (mesh.getNumShards() == 1 && !reachesManual(callee, symbols)))
        continue;
      SmallVector<ArrayType> operands, results;
      SmallVector<Attribute> key = {callee.getSymNameAttr(), mesh};
      auto nowhere = FlatSymbolRefAttr::get(&getContext(), "");
      auto add = [&](ValueRange values, SmallVectorImpl<ArrayType> &types) {
        for (Value value : values) {
          types.push_back(cast<ArrayType>(value.getType()));
          key.push_back(TypeAttr::get(types.back().withSlice(nowhere)));
        }
      };
      add(call.getInputs(), operands);
      add(call.getOutputs(), results);
      FlatSymbolRefAttr &function = made[ArrayAttr::get(&getContext(), key)];
      if (!function) {
        explainEmpty(call, mesh);
        FailureOr<func::FuncOp> body =
            partitionBody(callee, mesh, operands, results, symbols,
                          {explain, explainReshards, choices});
        if (failed(body))
          return signalPassFailure();
        function = FlatSymbolRefAttr::get(body->getSymNameAttr());
      }
      call.setCalleeAttr(function);
      replaced.insert(callee);
    }
    removeUnused(replaced, symbols);
    // A single device has everything.
    getOperation().walk([](ConstrainOp op) {
      op.replaceAllUsesWith(op.getSource());
      op.erase();
    });
  }

private:
  LogicalResult checkClosed(CallOp call) {
    for (Value value : llvm::concat<Value>(llvm::to_vector(call.getInputs()),
                                           llvm::to_vector(call.getOutputs())))
      if (auto type = cast<ArrayType>(value.getType());
          type.getSharding().hasOpenDims())
        return call.emitOpError()
               << "of '" << call.getCallee() << "' has an array of type "
               << type << " with an open dimension, which "
               << "'pw-propagate-shardings' closes";
    return success();
  }

  /// Returns true if `callee` or a function that it calls has a `pw.manual`,
  /// which is replaced on one device, too.
  bool reachesManual(func::FuncOp callee, SymbolTable &symbols) {
    llvm::SetVector<Operation *> functions;
    functions.insert(callee);
    for (size_t next = 0; next < functions.size(); ++next) {
      WalkResult walked = functions[next]->walk([&](Operation *op) {
        if (isa<ManualOp>(op))
          return WalkResult::interrupt();
        if (auto call = dyn_cast<func::CallOp>(op))
          if (Operation *inner = symbols.lookup(call.getCallee()))
            functions.insert(inner);
        return WalkResult::advance();
      });
      if (walked.wasInterrupted())
        return true;
    }
    return false;
  }

  /// Reports arrays of which some shards have no element.
  void explainEmpty(CallOp call, MeshAttr mesh) {
    auto check = [&](StringRef kind, ValueRange values) {
      for (auto [index, value] : llvm::enumerate(values)) {
        auto type = cast<ArrayType>(value.getType());
        for (auto [dim, axes] : llvm::enumerate(type.getSharding().getDims())) {
          int64_t size = type.getShape()[dim],
                  blocks = getNumBlocks(mesh, axes);
          if (int64_t empty = countEmptyBlocks(size, blocks))
            call.emitRemark()
                << kind << ' ' << index << " of '" << call.getCallee()
                << "' is " << type << ": dimension " << dim << " of " << size
                << " elements is cut into " << blocks << " blocks, " << empty
                << " of which have none";
        }
      }
    };
    check("operand", call.getInputs());
    check("result", call.getOutputs());
  }

  /// Removes partitioned functions that nothing else calls.
  void removeUnused(const llvm::SetVector<Operation *> &replaced,
                    SymbolTable &symbols) {
    SymbolTableCollection tables;
    SymbolUserMap users(tables, getOperation());
    for (Operation *function : replaced)
      if (cast<func::FuncOp>(function).isPrivate() && users.useEmpty(function))
        symbols.erase(function);
  }

  std::vector<ReshardChoice> *choices = nullptr;
};
} // namespace

std::unique_ptr<Pass>
mlir::pathways::createPartition(PartitionOptions options,
                                std::vector<ReshardChoice> *choices) {
  return std::make_unique<PartitionPass>(std::move(options), choices);
}

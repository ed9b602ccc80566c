//===- Partition.cpp - Cut computations over their slices -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BodyPartitioner.h"
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
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<CallOp> calls;
    getOperation().walk([&](CallOp call) { calls.push_back(call); });
    llvm::DenseMap<Attribute, FlatSymbolRefAttr> made;
    llvm::SetVector<Operation *> replaced;
    for (CallOp call : calls) {
      auto callee =
          symbols.lookup<func::FuncOp>(call.getCalleeAttr().getAttr());
      MeshAttr mesh =
          symbols.lookup<SliceOp>(call.getSlice().getAttr()).getMesh();
      if (callee->hasAttr(PathwaysDialect::kLocalViewAttrName) ||
          mesh.getNumShards() == 1)
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
        FailureOr<func::FuncOp> body =
            partitionBody(callee, mesh, operands, results, symbols);
        if (failed(body))
          return signalPassFailure();
        function = FlatSymbolRefAttr::get(body->getSymNameAttr());
      }
      call.setCalleeAttr(function);
      replaced.insert(callee);
    }
    removeUnused(replaced, symbols);
  }

  /// Removes functions that were partitioned, when nothing else calls them.
  void removeUnused(const llvm::SetVector<Operation *> &replaced,
                    SymbolTable &symbols) {
    SymbolTableCollection tables;
    SymbolUserMap users(tables, getOperation());
    for (Operation *function : replaced)
      if (cast<func::FuncOp>(function).isPrivate() && users.useEmpty(function))
        symbols.erase(function);
  }
};
} // namespace

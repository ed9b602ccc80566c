//===- ExplainMovement.cpp - Remarks on bytes moved -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Analysis/MovedBytes.h"
#include "pathways/Transforms/Passes.h"

#include "llvm/ADT/DenseMap.h"

namespace mlir::pathways {
#define GEN_PASS_DEF_EXPLAINMOVEMENT
#include "pathways/Transforms/Passes.h.inc"
} // namespace mlir::pathways

using namespace mlir;
using namespace mlir::pathways;

namespace {
class ExplainMovementPass
    : public mlir::pathways::impl::ExplainMovementBase<ExplainMovementPass> {
  void runOnOperation() override {
    for (auto bind : getOperation().getOps<BindOp>())
      binds[bind.getSliceAttr().getAttr()] = bind;
    SymbolTable symbols(getOperation());
    WalkResult result =
        getOperation().walk([&](TransferOp transfer) -> WalkResult {
          ArrayType source = transfer.getSource().getType();
          FailureOr<BoundSlice> from = getBound(transfer, source, symbols);
          FailureOr<BoundSlice> to =
              getBound(transfer, transfer.getType(), symbols);
          if (failed(from) || failed(to))
            return failure();
          auto [entry, isNew] =
              bytes.try_emplace({source, transfer.getType()}, MovedBytes());
          if (isNew)
            entry->second =
                countMovedBytes(source, *from, transfer.getType(), *to);
          transfer.emitRemark()
              << "moves " << entry->second.ici << " bytes over ICI and "
              << entry->second.dcn << " over the DCN";
          return success();
        });
    if (result.wasInterrupted())
      signalPassFailure();
    markAllAnalysesPreserved();
  }

  FailureOr<BoundSlice> getBound(TransferOp transfer, ArrayType type,
                                 SymbolTable &symbols) {
    auto slice = symbols.lookup<SliceOp>(type.getSlice().getAttr());
    if (BindOp bind = binds.lookup(type.getSlice().getAttr()))
      return BoundSlice{slice, bind};
    InFlightDiagnostic diagnostic = transfer.emitOpError()
                                    << "moves between slices, but "
                                    << type.getSlice()
                                    << " is not bound; run pw-place first";
    diagnostic.attachNote(slice.getLoc())
        << "slice '" << slice.getSymName() << "' is declared here";
    return diagnostic;
  }

  llvm::DenseMap<StringAttr, BindOp> binds;
  llvm::DenseMap<std::pair<Type, Type>, MovedBytes> bytes;
};
} // namespace

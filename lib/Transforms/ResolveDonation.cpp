//===- ResolveDonation.cpp - Let only last uses donate --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KeepLoops.h"
#include "pathways/Analysis/ProgramLiveness.h"
#include "pathways/Transforms/Passes.h"

#include "mlir/IR/Builders.h"

namespace mlir::pathways {
#define GEN_PASS_DEF_RESOLVEDONATION
#include "pathways/Transforms/Passes.h.inc"
} // namespace mlir::pathways

using namespace mlir;
using namespace mlir::pathways;

namespace {
class ResolveDonationPass
    : public mlir::pathways::impl::ResolveDonationBase<ResolveDonationPass> {
  void runOnOperation() override {
    // Computed before any insertion: a copy only adds a read before a later
    // one.
    auto &liveness = getAnalysis<ProgramLiveness>();
    WalkResult result = getOperation().walk([&](NodeOpInterface node) {
      if (auto call = dyn_cast<CallOp>(*node)) {
        resolve(call, liveness);
      } else if (!node.getDonations().empty()) {
        node->emitOpError("donates an operand, but is not a call; "
                          "pw-resolve-donation supports only calls");
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    getOperation().walk([&](ForOp loop) {
      if (loop->hasAttr(PathwaysDialect::kOrdersAttrName))
        numCopies += separateArrays(loop, liveness);
    });
  }

  void resolve(CallOp call, const ProgramLiveness &liveness) {
    SmallVector<int64_t> donated;
    bool isChanged = false;
    auto drop = [&](int64_t index, StringRef reason) {
      isChanged = true;
      return call.emitRemark()
             << "operand " << index << " of '" << call.getCallee()
             << "' is not donated: " << reason;
    };
    llvm::SmallDenseMap<Value, unsigned, 8> reads;
    if (!call.getDonated().empty())
      for (Value input : call.getInputs())
        ++reads[input];
    for (int64_t index : call.getDonated()) {
      Value value = call.getInputs()[index];
      if (reads.lookup(value) > 1) {
        drop(index, "the call reads it more than once");
        continue;
      }
      Operation *later = liveness.getLaterRead(value, call);
      if (!later) {
        donated.push_back(index);
        continue;
      }
      bool isDonatedAgain = llvm::is_contained(
          llvm::map_range(cast<NodeOpInterface>(later).getDonations(),
                          [](OpOperand *operand) { return operand->get(); }),
          value);
      InFlightDiagnostic remark = call.emitRemark()
                                  << "operand " << index << " of '"
                                  << call.getCallee() << "' is donated, but "
                                  << (isDonatedAgain ? "donated again" : "used")
                                  << " later; a copy is made";
      remark.attachNote(later->getLoc())
          << "the later " << (isDonatedAgain ? "donation" : "use")
          << " is here";
      OpBuilder builder(call);
      auto copy =
          CopyOp::create(builder, call.getLoc(), value.getType(), value);
      call.getInputsMutable()[index].set(copy);
      donated.push_back(index);
      ++numCopies;
    }
    if (isChanged)
      call.setDonated(donated);
  }
};
} // namespace

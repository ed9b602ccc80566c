//===- ResolveDonation.cpp - Let only last uses donate --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

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
    // Last operation that reads each array, before anything is inserted: a copy
    // only adds a read before a later one. `after` waits and does not read.
    llvm::DenseMap<Value, Operation *> lastRead;
    for (Operation &op : getOperation().getBody().front()) {
      auto call = dyn_cast<CallOp>(op);
      for (Value operand : call ? call.getInputs() : op.getOperands())
        lastRead[operand] = &op;
    }
    for (auto call :
         llvm::make_early_inc_range(getOperation().getBody().getOps<CallOp>()))
      resolve(call, lastRead);
  }

  void resolve(CallOp call,
               const llvm::DenseMap<Value, Operation *> &lastRead) {
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
      Operation *last = lastRead.lookup(value);
      if (last == call) {
        donated.push_back(index);
        continue;
      }
      if (cast<ArrayType>(value.getType()).getSharding().isPartial()) {
        drop(index, "it is used later and holds contributions, which are not "
                    "copied")
                .attachNote(last->getLoc())
            << "the later use is here";
        continue;
      }
      InFlightDiagnostic remark =
          call.emitRemark()
          << "operand " << index << " of '" << call.getCallee()
          << "' is donated, but used later; a copy is made";
      remark.attachNote(last->getLoc()) << "the later use is here";
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

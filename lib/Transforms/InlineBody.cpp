//===- InlineBody.cpp - Functions with their callees inlined --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InlineBody.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Verifier.h"
#include "pathways/Dialect/Pathways/Pathways.h"

using namespace mlir;
using namespace mlir::pathways;

/// Largest number of operations in a body with its callees.
static constexpr int64_t kMaxOps = 1 << 18;
/// Largest number of loops and branches inside of each other. Only recursion
/// has more.
static constexpr int64_t kMaxDepth = 256;

/// Inlines the calls in `block`, a block of the copy of `body`, and in loops
/// and branches inside of it. The block is inside of `depth` others. Adds the
/// number of operations that it visits to `numOps`.
static LogicalResult inlineCalls(Block &block, func::FuncOp body,
                                 SymbolTable &symbols, int64_t depth,
                                 int64_t &numOps) {
  if (depth > kMaxDepth)
    return body.emitOpError("has more than ")
           << kMaxDepth
           << " loops and branches inside of each other after inlining what it "
              "calls";
  for (auto it = block.begin(); it != block.end();) {
    Operation *op = &*it++;
    if (++numOps > kMaxOps)
      return body.emitOpError("has more than ")
             << kMaxOps << " operations after inlining what it calls";
    if (isa<ManualOp>(op) || isa_and_present<scf::SCFDialect>(op->getDialect()))
      for (Region &region : op->getRegions())
        for (Block &inner : region)
          if (failed(inlineCalls(inner, body, symbols, depth + 1, numOps)))
            return failure();
    auto call = dyn_cast<func::CallOp>(op);
    if (!call)
      continue;
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    if (!callee || callee.isExternal() || !callee.getBody().hasOneBlock())
      return call.emitOpError("calls '")
             << call.getCallee() << "', which has no body of one block";
    IRMapping mapping;
    mapping.map(callee.getArguments(), call.getOperands());
    OpBuilder builder(call);
    Operation *first = nullptr;
    for (Operation &inlinedOp : callee.front().without_terminator()) {
      Operation *copy = builder.clone(inlinedOp, mapping);
      if (!first)
        first = copy;
    }
    for (auto [result, value] : llvm::zip_equal(
             call.getResults(), callee.front().getTerminator()->getOperands()))
      result.replaceAllUsesWith(mapping.lookup(value));
    // Inlined operations may contain further calls.
    if (first)
      it = first->getIterator();
    call.erase();
  }
  return success();
}

FailureOr<OwningOpRef<func::FuncOp>>
mlir::pathways::inlineBody(func::FuncOp body, SymbolTable &symbols) {
  OwningOpRef<func::FuncOp> inlined = body.clone();
  int64_t numOps = 0;
  if (failed(inlineCalls(inlined->front(), body, symbols, /*depth=*/0, numOps)))
    return failure();
  // A function may be called in a `pw.manual` that its own operations do not
  // allow around them.
  bool hasManual =
      inlined->walk([](ManualOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  if (hasManual && failed(verify(*inlined)))
    return failure();
  return inlined;
}

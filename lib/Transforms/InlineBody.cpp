//===- InlineBody.cpp - Functions with their callees inlined --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InlineBody.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::pathways;

/// Largest number of operations in a body with its callees.
static constexpr int64_t kMaxOps = 1 << 18;

FailureOr<OwningOpRef<func::FuncOp>>
mlir::pathways::inlineBody(func::FuncOp body, SymbolTable &symbols) {
  OwningOpRef<func::FuncOp> inlined = body.clone();
  Block &block = inlined->front();
  int64_t numOps = 0;
  for (auto it = block.begin(); it != block.end();) {
    Operation *op = &*it++;
    if (++numOps > kMaxOps) {
      body.emitOpError("has more than ")
          << kMaxOps << " operations after inlining what it calls";
      return failure();
    }
    auto call = dyn_cast<func::CallOp>(op);
    if (!call)
      continue;
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    if (!callee || callee.isExternal() || !callee.getBody().hasOneBlock()) {
      call.emitOpError("calls '")
          << call.getCallee() << "', which has no body of one block";
      return failure();
    }
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
  return inlined;
}

//===- DedupComputations.cpp - Merge equal functions ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::pathways {
#define GEN_PASS_DEF_DEDUPCOMPUTATIONS
#include "pathways/Transforms/Passes.h.inc"
} // namespace mlir::pathways

using namespace mlir;
using namespace mlir::pathways;

namespace {

/// Equal functions have equal hashes. The hash only selects buckets and never
/// affects the output.
llvm::hash_code hashFunction(func::FuncOp function) {
  llvm::hash_code hash = llvm::hash_combine(
      function.getFunctionType(), function.getArgAttrsAttr(),
      function.getResAttrsAttr(), function->getDiscardableAttrDictionary());
  function.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    hash = llvm::hash_combine(hash, op->getName(), op->getNumOperands(),
                              op->getAttrDictionary(),
                              llvm::hash_combine_range(op->getResultTypes()));
  });
  return hash;
}

bool areEqual(func::FuncOp a, func::FuncOp b) {
  return a.getFunctionType() == b.getFunctionType() &&
         a.getArgAttrsAttr() == b.getArgAttrsAttr() &&
         a.getResAttrsAttr() == b.getResAttrsAttr() &&
         a->getDiscardableAttrDictionary() ==
             b->getDiscardableAttrDictionary() &&
         OperationEquivalence::isRegionEquivalentTo(
             &a.getBody(), &b.getBody(), OperationEquivalence::IgnoreLocations);
}

class DedupComputationsPass
    : public mlir::pathways::impl::DedupComputationsBase<
          DedupComputationsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
    SymbolTable symbols(module);

    // Callees come first, so that callers of equal functions call the same one
    // when they are compared. `leader` is the first of its class in that order.
    llvm::DenseMap<Operation *, func::FuncOp> leader;
    llvm::DenseMap<Operation *, func::FuncOp> firstInModule;
    llvm::DenseMap<size_t, SmallVector<func::FuncOp, 1>> buckets;
    for (func::FuncOp function : orderCalleesFirst(functions, symbols)) {
      function.getBody().walk([&](func::CallOp call) {
        auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
        if (func::FuncOp to = leader.lookup(callee))
          call.setCalleeAttr(FlatSymbolRefAttr::get(to.getSymNameAttr()));
      });
      if (function.isExternal())
        continue;
      SmallVector<func::FuncOp, 1> &bucket = buckets[hashFunction(function)];
      auto *equal = llvm::find_if(bucket, [&](func::FuncOp other) {
        return areEqual(function, other);
      });
      if (equal == bucket.end()) {
        bucket.push_back(function);
        leader[function] = function;
      } else {
        leader[function] = *equal;
        ++numMerged;
      }
    }
    for (func::FuncOp function : functions)
      if (func::FuncOp to = leader.lookup(function))
        firstInModule.try_emplace(to, function);

    // The survivor of a class is the first in the module.
    auto survivor = [&](StringRef name) -> FlatSymbolRefAttr {
      auto callee = symbols.lookup<func::FuncOp>(name);
      func::FuncOp to = callee ? leader.lookup(callee) : nullptr;
      if (!to)
        return {};
      return FlatSymbolRefAttr::get(firstInModule.lookup(to).getSymNameAttr());
    };
    for (func::FuncOp function : functions)
      function.getBody().walk([&](func::CallOp call) {
        if (FlatSymbolRefAttr to = survivor(call.getCallee()))
          call.setCalleeAttr(to);
      });
    module.walk([&](CallOp call) {
      if (FlatSymbolRefAttr to = survivor(call.getCallee()))
        call.setCalleeAttr(to);
    });
    removeUnused(functions, symbols);
  }

  /// Returns the functions in post-order over calls, otherwise in module order.
  /// Uses an explicit stack, because chains of calls may be long.
  SmallVector<func::FuncOp> orderCalleesFirst(ArrayRef<func::FuncOp> functions,
                                              SymbolTable &symbols) {
    struct Frame {
      func::FuncOp function;
      SmallVector<func::FuncOp> callees;
      size_t next = 0;
    };
    SmallVector<func::FuncOp> order;
    llvm::DenseSet<Operation *> entered;
    std::vector<Frame> stack;
    auto enter = [&](func::FuncOp function) {
      if (!entered.insert(function).second)
        return;
      Frame &frame = stack.emplace_back();
      frame.function = function;
      function.getBody().walk([&](func::CallOp call) {
        if (auto callee = symbols.lookup<func::FuncOp>(call.getCallee()))
          frame.callees.push_back(callee);
      });
    };
    for (func::FuncOp function : functions) {
      enter(function);
      while (!stack.empty()) {
        Frame &frame = stack.back();
        if (frame.next == frame.callees.size()) {
          order.push_back(frame.function);
          stack.pop_back();
          continue;
        }
        enter(frame.callees[frame.next++]);
      }
    }
    return order;
  }

  /// Removes private functions that are not reachable from outside.
  void removeUnused(ArrayRef<func::FuncOp> functions, SymbolTable &symbols) {
    llvm::SetVector<Operation *> used;
    bool isKnown = true;
    auto useAllOf = [&](auto *from) {
      std::optional<SymbolTable::UseRange> uses =
          SymbolTable::getSymbolUses(from);
      if (!uses) {
        isKnown = false;
        return;
      }
      for (const SymbolTable::SymbolUse &use : *uses)
        if (Operation *symbol =
                symbols.lookup(use.getSymbolRef().getRootReference()))
          used.insert(symbol);
    };
    for (Operation &op : getOperation().getBody()->getOperations()) {
      auto function = dyn_cast<func::FuncOp>(op);
      if (!function)
        useAllOf(&op);
      else if (!function.isPrivate())
        used.insert(function);
    }
    for (size_t i = 0; i < used.size(); ++i)
      if (isa<func::FuncOp>(used[i]))
        useAllOf(used[i]);
    if (!isKnown)
      return;
    for (func::FuncOp function : functions)
      if (!used.contains(function)) {
        symbols.erase(function);
        ++numRemoved;
      }
  }
};

} // namespace

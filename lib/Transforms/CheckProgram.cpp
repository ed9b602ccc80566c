//===- CheckProgram.cpp - Check that called functions can be compiled -----===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Dialect/Pathways/Layouts.h"
#include "pathways/Transforms/Passes.h"
#include "runtime/base/error_codes.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSwitch.h"

namespace mlir::pathways {
#define GEN_PASS_DEF_CHECKPROGRAM
#include "pathways/Transforms/Passes.h.inc"
} // namespace mlir::pathways

using namespace mlir;
using namespace mlir::pathways;

namespace {

/// Returns true if operations like `op` become object code.
bool isCompilable(Operation *op) {
  if (isa<func::CallOp, func::ReturnOp, cf::AssertOp, CollectiveOpInterface,
          ConstrainOp, IterationIndexOp, ManualOp, ShardIndexOp, StepIndexOp,
          ValidExtentOp, mlir::pathways::YieldOp>(op))
    return true;
  return llvm::StringSwitch<bool>(op->getName().getDialectNamespace())
      .Cases({"affine", "arith", "linalg", "math", "scf", "tensor", "ub"}, true)
      .Default(false);
}

class CheckProgramPass
    : public mlir::pathways::impl::CheckProgramBase<CheckProgramPass> {
  void runOnOperation() override {
    SymbolTableCollection symbols;
    bool failedAny = false;
    getOperation().walk([&](CallOp call) {
      auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(
          call, call.getCalleeAttr());
      failedAny |= failed(checkFunctions(callee, symbols));
    });
    if (failedAny)
      signalPassFailure();
    markAllAnalysesPreserved();
  }

  /// Checks `root` and its callees, each function once per pass. Depth first
  /// with an explicit stack, because chains of calls may be long.
  LogicalResult checkFunctions(func::FuncOp root,
                               SymbolTableCollection &symbols) {
    struct Frame {
      func::FuncOp function;
      SmallVector<func::CallOp> calls;
      size_t next = 0;
    };
    std::vector<Frame> stack;
    bool ok = true;
    auto enter = [&](func::FuncOp function) {
      states[function] = State::OnStack;
      Frame &frame = stack.emplace_back();
      frame.function = function;
      ok &= succeeded(checkBody(function, frame.calls));
    };
    if (!states.contains(root))
      enter(root);
    while (!stack.empty()) {
      Frame &frame = stack.back();
      if (frame.next == frame.calls.size()) {
        states[frame.function] = State::Done;
        stack.pop_back();
        continue;
      }
      func::CallOp call = frame.calls[frame.next++];
      auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(
          call, call.getCalleeAttr());
      if (!callee)
        continue; // the verifier of func.call refuses it
      auto it = states.find(callee);
      if (it == states.end()) {
        enter(callee);
      } else if (it->second == State::OnStack) {
        InFlightDiagnostic diagnostic =
            call.emitOpError()
            << "calls '" << callee.getSymName()
            << "', which is already being called; recursion cannot be compiled"
            << ::pathways::Tag(::pathways::ErrorId::kNotCompilable);
        diagnostic.attachNote(callee.getLoc())
            << "function '" << callee.getSymName() << "' is defined here";
        ok = false;
      }
    }
    return success(ok);
  }

  LogicalResult checkBody(func::FuncOp function,
                          SmallVectorImpl<func::CallOp> &calls) {
    if (function.isExternal())
      return function.emitOpError()
             << "'" << function.getSymName()
             << "' has no body, so there is nothing to compile"
             << ::pathways::Tag(::pathways::ErrorId::kNotCompilable);
    if (!function.getBody().hasOneBlock())
      return function.emitOpError()
             << "'" << function.getSymName()
             << "' has more than one block; use 'scf' for control flow"
             << ::pathways::Tag(::pathways::ErrorId::kNotCompilable);
    bool ok = true;
    function.getBody().walk([&](Operation *op) {
      if (auto call = dyn_cast<func::CallOp>(op))
        calls.push_back(call);
      if (!ok || isCompilable(op))
        return;
      InFlightDiagnostic diagnostic =
          op->emitOpError()
          << "cannot be compiled; functions that programs call may use func, "
             "linalg, tensor, arith, math, scf, affine and cf.assert"
          << ::pathways::Tag(::pathways::ErrorId::kNotCompilable);
      diagnostic.attachNote(function.getLoc())
          << "function '" << function.getSymName() << "' is defined here";
      ok = false;
    });
    return success(ok);
  }

  enum class State { OnStack, Done };
  llvm::DenseMap<Operation *, State> states;
};

} // namespace
